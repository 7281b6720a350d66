"""What workers report of their work: events of progress, which users see, and steps, which traces have."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pushjuju.core.values import dataclass
from pushjuju.store.rows.records import Model

if TYPE_CHECKING:
    from pushjuju.portable.frames import Op
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.rows.records import Machine
    from pushjuju.uniter.commit import Committed
    from pushjuju.uniter.dispatch import Dispatch
    from pushjuju.uniter.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step of progress."""

    entity: str  # `machine 0`, `web/0`, `model dev`
    text: str = ""  # the step: `running install hook`
    state: str = "running"  # `running`, `done`, `failed` or `waiting`
    parent: str = ""  # the machine of a unit, `machine 0`; "" for other entities
    line: str = ""  # a line of the operation's output, or ""; with a line, the other fields have no news
    model: str = ""  # UUID of the entity's model, when the process works on several models
    operation: str = ""  # the id of the operation, or ""
    of: str = ""  # the name of the model, for people who see several models, or ""

    @property
    def shown(self) -> str:
        """The entity, with the name of its model where people see several."""
        return f"{self.entity} ({self.of})" if self.of else self.entity

    @property
    def shown_parent(self) -> str:
        """The machine of a unit as `shown` of the machine has it; "" for other entities."""
        return f"{self.parent} ({self.of})" if self.of and self.parent else self.parent


P = TypeVar("P")
Tell = Callable[[Event], None]


def silent(event: Event) -> None:
    """Ignore an event."""


class Observer:
    """Gets the steps of the work; this class ignores them."""

    def of(self, ctx: Context) -> Self:  # noqa: ARG002 - for traces
        """Return the observer of the work on a controller."""
        return self

    def contact(self, machine: Machine, *, reused: bool, serves: bool) -> AbstractContextManager[None]:  # noqa: ARG002
        """Return a context manager around the contact with a machine.

        Args:
            reused: True when the session with the machine is open already.
            serves: True in a process that works until somebody stops it, not for one command.
        """
        return nullcontext()

    def decision(self, unit: str, act: Callable[[], Turn]) -> Turn:  # noqa: ARG002 - for traces
        """Return what `act` returns: the turn of a unit."""
        return act()

    def commit(self, unit: str, act: Callable[[], Committed]) -> Committed:  # noqa: ARG002 - for traces
        """Return what `act` returns: the end of an operation, in the transaction with its result."""
        return act()

    def calls(self, provider: P) -> P:
        """Return a provider whose calls are steps."""
        return provider

    def request(self, frame: Op) -> Op:
        """Return the request for an operation, which may ask the machine for times."""
        return frame

    def operation(
        self,
        dispatch: Dispatch,
        result: Mapping[str, Any],
        done: Committed,
        tools: Callable[[], Container[str]],
    ) -> None:
        """Get an operation whose result is committed, within a contact.

        Args:
            tools: Returns the names of the hook tools that the machine has.
        """


OBSERVER: ContextVar[Observer] = ContextVar("observer", default=Observer())  # noqa: B039 - no state
"""The observer of the command that this process runs."""

PLACE: ContextVar[tuple[str, str]] = ContextVar("place", default=("", ""))
"""The numbers of the trace and of the span of the contact at work; empty without traces."""


class ModelNames:
    """The names of models, each read once.

    Args:
        own: The model whose events need no name, or "".
    """

    def __init__(self, ctx: Context, own: str) -> None:
        self._ctx = ctx
        self._own = own
        self._names: dict[str, str] = {}

    def named(self, event: Event) -> Event:
        """Add the model's name to an event, unless it is the own model."""
        if not event.model or event.model == self._own:
            return event
        return replace(event, of=self.of(event.model))

    def of(self, model: str) -> str:
        """Return the name of a model; only the first call for a model must be in the thread of the store."""
        if model not in self._names:
            with self._ctx.store.read() as tx:
                found = tx.find(Model, "model_by_uuid", uuid=model)
            self._names[model] = found.name if found is not None else model
        return self._names[model]
