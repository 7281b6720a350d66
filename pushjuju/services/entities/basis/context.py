"""The context of requests and views: the controller's store, the user and the clock."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pushjuju.core.clock import Clock, SystemClock
from pushjuju.core.errors import NotFound, StoreGone
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis.audit import Caller, Noting, answer, noted
from pushjuju.store import processes
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.db import Store
from pushjuju.store.faults import FROM_COPY
from pushjuju.store.tx import ModelTx, Tx

if TYPE_CHECKING:
    from random import Random

DEFAULT_USER = "admin"
AT_ONCE = 100  # as `controller run --lanes`
AUDITING = "auditing-enabled"
AUDITING_OFF = f"controller-config {AUDITING}"  # begins the name of a change that is logged in any case


def _unseeded() -> Random:
    return cast("Random", random)  # the module has the methods; few commands use them and so import it


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """An opened controller, as a user works with it."""

    datadir: DataDir
    controller: ControllerDir
    store: Store
    clock: Clock = field(default_factory=SystemClock)
    user: str = DEFAULT_USER
    environ: Mapping[str, str] = field(default_factory=dict)  # the process environment, for plugins
    random: Random = field(default_factory=_unseeded)  # source of jitter; tests seed it
    # update-status hooks that become due after this time are left to other processes; None to run all of
    # them
    routine_until: datetime | None = None
    caller: Caller = field(default_factory=Caller)  # who asks for the changes that `change` makes
    # names of pools whose models this process works, besides the pools of its host
    more_pools: tuple[str, ...] = ()
    api: list[str] = field(default_factory=list)  # addresses at which this process serves the API, HOST:PORT
    at_once: int = AT_ONCE  # the number of machines and loops that this process works at the same time

    @property
    def pools(self) -> frozenset[str]:
        """The pools whose models this process works, besides models of no pool."""
        return processes.own_pools(self.datadir.root, self.more_pools)

    def require(self) -> None:
        """Check that this host still has the controller: the store that was opened, and its other files.

        Raises:
            StoreGone: The controller was removed, unregistered or restored.
        """
        self.store.require_file()
        if not self.controller.exists():
            raise StoreGone(f"controller {self.controller.name} is no longer registered on this host")

    def read(self, model: str) -> AbstractContextManager[ModelTx]:
        """Open a read transaction of a model, which sees the store as it is at one moment."""
        return _OfModel(self, model, self.store.read(model))

    def write(self, model: str, *, whole: bool = False) -> AbstractContextManager[ModelTx]:
        """Open the write transaction of a model, which rolls back on an exception.

        Args:
            whole: True when the block also reads other models, except those that offers connect with the
                model, or writes what belongs to no model.

        The store decides when the commit becomes durable: at the end, or with the next shared commit.
        """
        return _OfModel(self, model, self.store.write("" if whole else model))

    @contextmanager
    def change(self, model: str) -> Iterator[ModelTx]:
        """Open the write transaction of a request, which also writes the request's line of the audit log."""
        with self.store.write() as tx, self._noted(tx, model=model) as of_request:
            yield self.of(of_request, model)
        self.caller.course.recorded = True

    @contextmanager
    def change_controller(self, *files: str) -> Iterator[Tx]:
        """Do the same as `change` for a request that concerns more than one model, or none.

        Args:
            files: Names for people of what the block changes in files of the controller.
        """
        with self.store.write() as tx, self._noted(tx, files=files) as of_request:
            yield of_request
        self.caller.course.recorded = True

    @contextmanager
    def _noted(self, tx: Tx, *, model: str = "", files: tuple[str, ...] = ()) -> Iterator[Tx]:
        is_off = self.controller.config().get(AUDITING) is False
        if is_off and not any(name.startswith(AUDITING_OFF) for name in files):
            yield tx
            return
        noting = Noting(user=self.user, caller=self.caller, now=self.clock.now(), model=model, files=files)
        with noted(tx, noting) as of_request:
            yield of_request

    def answered(self, *, asked: bool = False, **result: object) -> None:
        """Write the line of the audit log with the result of a request that has begun a change.

        Args:
            asked: True for a request that asks for a change, although it may have failed before it began one.
            result: `exit` of a command, `error` with the code of an error.
        """
        course = self.caller.course
        if not (asked or course.cause) or not (course.hashes or any(result.values())):
            return  # nothing was asked for, or there was nothing to change
        if self.controller.config().get(AUDITING) is False:
            return
        noting = Noting(user=self.user, caller=self.caller, now=self.clock.now())
        with self.store.write() as tx:
            answer(tx, noting, result)

    def of(self, tx: Tx, model: str) -> ModelTx:
        """Return a transaction whose statements are about a model."""
        return ModelTx(tx, model, self.clock.now())

    def close(self) -> None:
        self.store.close()


class _OfModel:
    """Opens a transaction of a model for a block; a generator would take twice the time."""

    __slots__ = ("_ctx", "_model", "_opened")

    def __init__(self, ctx: Context, model: str, opened: AbstractContextManager[Tx]) -> None:
        self._ctx = ctx
        self._model = model
        self._opened = opened

    def __enter__(self) -> ModelTx:
        tx = self._opened.__enter__()
        try:
            return self._ctx.of(tx, self._model)
        except BaseException as error:
            self._opened.__exit__(type(error), error, error.__traceback__)
            raise

    def __exit__(self, *raised: Any) -> bool | None:
        return self._opened.__exit__(*raised)


def _place(controller: ControllerDir) -> Path | str:
    """Return where the store of a controller is."""
    try:
        place = controller.store_place
        there = isinstance(place, str) or place.exists()
    except PermissionError:  # `Store.open` reports the error
        return controller.store_path
    if not there:
        text = f"the store of controller {controller.name} is missing: {controller.store_path}"
        raise NotFound(text, hint=FROM_COPY)
    return place


def _clock(store: Store, own: Clock) -> Clock:
    """Return the clock of the store instead of this host's, if it has one; tests keep theirs."""
    return (store.engine.clock() or own) if isinstance(own, SystemClock) else own


def open_context(
    datadir: DataDir,
    name: str,
    *,
    clock: Clock | None = None,
    environ: Mapping[str, str] | None = None,
    caller: Caller | None = None,
    waits: bool = False,
) -> Context:
    """Open a controller by its name; a command waits for a server that does not answer (`Store.open`)."""
    controller = datadir.controller(name)
    place = _place(controller)
    store = Store.open(place, waits=waits)
    if isinstance(place, str):
        try:
            with store.read() as tx:
                controller.exchange(tx)
        except BaseException:
            store.close()
            raise
    return Context(
        datadir=datadir,
        controller=controller,
        store=store,
        clock=_clock(store, clock or SystemClock()),
        environ=environ or {},
        caller=caller or Caller(),
    )
