"""Answers hook tools that a machine cannot answer from the snapshot of its hook."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pushjuju.core.errors import (
    LeaseLost,
    NotFound,
    NotPermitted,
    NotValid,
    PushjujuError,
    StoreError,
    WrongKey,
    not_found,
)
from pushjuju.portable.quote import quote
from pushjuju.runner.remote.toolkit import Tool as PluginTool
from pushjuju.runner.remote.toolkit import run_tool
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import payloads
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.cloud import opened as opened_clouds
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import relations
from pushjuju.services.entities.secret import secret_reads
from pushjuju.services.entities.secret.secret_reads import Later
from pushjuju.store.rows.records import Bag, Relation, Unit
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.input.hookcontext import application_status, charm_state, goal_state
from pushjuju.uniter.input.snapshot import read_view

if TYPE_CHECKING:
    from pushjuju.portable import frames

LiveAnswer = tuple[int, bytes, bytes]
"""Exit code, standard output, standard error."""

AGAIN_S = 1.0  # seconds between attempts while the store cannot be used
_T = TypeVar("_T")

Tool = Callable[[Context, ModelTx, Unit, list[str]], Mapping[str, Any] | Later | None]


async def respond_for_plugin(
    ctx: Context, model: str, unit: str, call: Mapping[str, Any], tools: Mapping[str, PluginTool]
) -> LiveAnswer:
    """Answer a call of a plugin's tool, in a thread.

    The tool knows the unit, its application, its model and whether the unit leads. It has neither buffered
    writes of the hook nor files of the machine, and cannot send live calls, since it runs in the controller.

    Args:
        call: `tool`, `argv`, `stdin`, `cwd`, as the machine sent them.

    Raises:
        LeaseLost: Another controller process works on the machine now and answers instead.
    """
    try:
        context = await _usable(partial(_known, ctx, model, unit))
    except NotFound as error:
        return 1, b"", f"ERROR {error.message}\n".encode()

    def run() -> LiveAnswer:
        return run_tool(
            tools, call["tool"], call["argv"], context, {}, stdin=lambda: call["stdin"], cwd=call["cwd"],
            emit=_forget, live=_not_here, reads={},
        )  # fmt: skip

    return await asyncio.to_thread(run)


def _known(ctx: Context, model: str, unit: str) -> dict[str, Any]:
    """Return what a plugin's tool knows of its unit."""
    with ctx.read(model) as tx:
        found, of = units.get(tx, unit), models.get(tx)
        leads = leadership.holder(tx, found.application) == unit
    return {
        "unit": unit, "app": found.application, "leader": leads,
        "model_name": of.name, "model_uuid": of.uuid,
    }  # fmt: skip


async def _usable(ask: Callable[[], _T]) -> _T:
    """Ask the store; while the store cannot be used, let the hook wait, which is not at fault.

    The machine ends the wait when it takes too long. When this process ends, the next process is asked.
    """
    while True:
        try:
            return ask()
        except LeaseLost:
            raise
        except StoreError:
            await asyncio.sleep(AGAIN_S)


def _forget(_event: frames.Event) -> None:
    """Drop an event of a tool that runs in the controller."""


def _not_here(tool: str, _argv: list[str], _stdin: bytes, _cwd: str) -> LiveAnswer:
    return 1, b"", f"ERROR {tool} cannot be called by a tool that runs in the controller\n".encode()


async def respond(ctx: Context, model: str, unit: str, tool: str, argv: Sequence[str]) -> LiveAnswer:
    """Answer a live call of a machine; wait for secret backends in a thread.

    Raises:
        LeaseLost: Another controller process works on the machine now and answers instead.
    """
    found = await _usable(partial(_asked, ctx, model, unit, tool, argv))
    return await asyncio.to_thread(_told, found) if callable(found) else found


def answer(ctx: Context, model: str, unit: str, tool: str, argv: Sequence[str]) -> LiveAnswer:
    """Answer a live call; wait for secret backends in the caller's thread."""
    found = _asked(ctx, model, unit, tool, argv)
    return _told(found) if callable(found) else found


def _asked(ctx: Context, model: str, unit: str, tool: str, argv: Sequence[str]) -> LiveAnswer | Later:
    act = _TOOLS.get(tool)
    if act is None:
        return 1, b"", f"ERROR {tool} is not answered by this controller\n".encode()
    words = list(argv[1:] if argv[:1] == ["--"] else argv)
    try:
        with ctx.write(model) as tx:
            found = act(ctx, tx, units.get(tx, unit), words)
    except PushjujuError as error:
        if isinstance(error, StoreError) and not isinstance(error, WrongKey):
            raise  # a lost key of the secrets is no store to wait for
        return 1, b"", f"ERROR {error.message}\n".encode()
    return found if callable(found) else _document(found)


def _told(ask: Later) -> LiveAnswer:
    try:
        return _document(ask())
    except PushjujuError as error:
        return 1, b"", f"ERROR {error.message}\n".encode()


def _document(found: Mapping[str, Any] | None) -> LiveAnswer:
    return 0, b"" if found is None else json.dumps(dict(found)).encode(), b""


def _status_get(_: Context, tx: ModelTx, unit: Unit, words: list[str]) -> Mapping[str, Any]:
    if words != ["--application"] or leadership.holder(tx, unit.application) != unit.name:
        raise NotValid("finding application status: this unit is not the leader")
    return application_status(tx, unit)


def _goal_state(_: Context, tx: ModelTx, unit: Unit, words: list[str]) -> Mapping[str, Any]:
    _exactly(words, 0)
    view = read_view(tx, unit.name)
    if view is None:
        raise not_found("unit", unit.name)
    return goal_state(tx, view)


def _relation_get(_: Context, tx: ModelTx, unit: Unit, words: list[str]) -> Mapping[str, Any]:
    """Return the settings that another unit of the same application has in a relation."""
    number, name = _exactly(words, 2)
    relation = tx.find(Relation, "relation_get", id=number) if number.isdigit() else None
    if relation is None:
        raise NotFound("relation not found")
    sides = relations.endpoints(tx, relation.id)
    own = name.partition("/")[0] == unit.application
    if not own or all(side.application != unit.application for side in sides):
        raise NotValid("permission denied")
    bag = tx.find(Bag, "bag_get", relation=relation.id, entity=name)
    if bag is None or relation.scope == "container":
        where = f"unit {quote(name)} in relation {quote(relation.key)}"
        raise NotFound(f"cannot read settings for {where}: unit {quote(name)}: settings not found")
    return bag.data


def _state_get(_: Context, tx: ModelTx, unit: Unit, words: list[str]) -> Mapping[str, Any]:
    """Return a charm's state that is too large to be sent with each hook."""
    _exactly(words, 0)
    return charm_state(tx, unit)


def _credential_get(ctx: Context, tx: ModelTx, unit: Unit, words: list[str]) -> Mapping[str, Any]:
    """Return the credential of the model's cloud to a unit of a trusted application."""
    _exactly(words, 0)
    if not applications.get(tx, unit.application).trust:
        raise NotPermitted("cannot access cloud credentials: permission denied")
    model = models.get(tx)
    return opened_clouds.document(
        clouds.folders(ctx.datadir, ctx.controller), model.cloud, model.region, model.credential
    )


def _leader_set(_: Context, tx: ModelTx, unit: Unit, words: list[str]) -> None:
    if not all("=" in word for word in words):
        raise NotValid("leader-set takes key=value")
    changes = dict(word.split("=", 1) for word in words)
    leadership.set_settings(tx, unit, changes)


def _payload_register(_: Context, tx: ModelTx, unit: Unit, words: list[str]) -> None:
    kind, name, number = _exactly(words[:3], 3)
    payloads.register(tx, unit, kind, name, number, words[3:])


def _payload_unregister(_: Context, tx: ModelTx, unit: Unit, words: list[str]) -> None:
    name, number = _exactly(words, 2)
    payloads.unregister(tx, unit, name, number)


def _payload_status_set(_: Context, tx: ModelTx, unit: Unit, words: list[str]) -> None:
    name, number, status = _exactly(words, 3)
    payloads.set_status(tx, unit, name, number, status)


def _secret_get(ctx: Context, tx: ModelTx, unit: Unit, words: list[str]) -> Mapping[str, Any] | Later:
    mode, secret, label = _exactly(words, 3)
    return secret_reads.read(ctx, tx, unit, mode, secret, label)


def _exactly(words: list[str], count: int) -> list[str]:
    """Return the words if there are `count` of them; a compromised machine may send any number."""
    if len(words) != count:
        raise NotValid(f"expected {count} arguments, got {len(words)}")
    return words


_TOOLS: dict[str, Tool] = {
    "credential-get": _credential_get,
    "goal-state": _goal_state,
    "leader-set": _leader_set,
    "relation-get": _relation_get,
    "secret-get": _secret_get,
    "state-get": _state_get,
    "status-get": _status_get,
    "payload-register": _payload_register,
    "payload-unregister": _payload_unregister,
    "payload-status-set": _payload_status_set,
}
ANSWERED = frozenset(_TOOLS)
"""The tools whose calls machines send to the controller."""
