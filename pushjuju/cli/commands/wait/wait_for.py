"""wait-for: wait for an entity to reach a specified state. Mirrors: juju cmd/juju/waitfor (3.6)"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import render
from pushjuju.cli.work import drive, session, waiting
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.core.names import is_machine, is_model
from pushjuju.core.values import dataclass
from pushjuju.portable.gotypes import Struct
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.views.query import run, scopes

_POLL_S = 0.2  # how often to look for a model that does not exist yet


class Gone(NotFound, code="removed"):
    """The entity was removed before it reached the state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A subcommand: its checks, its default query, and the keys of its summary, in order."""

    fits: Callable[[str], bool]
    noun: str
    called: str
    query: str
    info: str
    within: Sequence[str] = ()


_ACTIVE = 'life=="alive" && status=="active"'

_KINDS = {
    "application": _Kind(
        fits=is_application, noun="an application", called="application name", query=_ACTIVE,
        info="ApplicationInfo", within=("units", "machines"),
    ),
    "machine": _Kind(
        fits=is_machine, noun="an machine", called="machine id",
        query='life=="alive" && status=="started"', info="MachineInfo",
    ),
    "model": _Kind(
        fits=is_model, noun="an model", called="model name",
        query='life=="alive" && status=="available"', info="ModelInfo",
        within=("applications", "machines", "units"),
    ),
    "unit": _Kind(
        fits=is_unit, noun="an unit", called="unit name",
        query='life=="alive" && workload-status=="active"', info="UnitInfo", within=("machines",),
    ),
}  # fmt: skip


@command(
    "wait-for",
    usage="application|machine|model|unit <name>",
    summary="Wait for an entity to reach a specified state.",
    flags=(*flags.IN_MODEL, *flags.WAIT),
    details="Waits until the query holds; the entity need not exist yet. Without --query it waits for\n"
    "applications and units to be active, machines to be started and models to be available.\n\n"
    'A query compares what the entity has, as in life=="alive" && status=="active", with ==, !=, <, <=, >,\n'
    ">=, &&, || and brackets. Functions: len(x), print(x), startsWith(x, y), endsWith(x, y), int(x), and\n"
    'forEach(units, unit => unit.workload-status=="active") for all units, machines or applications.',
    examples="    pushjuju wait-for application web\n"
    "    pushjuju wait-for unit web/0 --query='workload-message==\"ready\"' --timeout 2m\n"
    "    pushjuju wait-for model shop --query='forEach(units, u => u.workload-status==\"active\")'\n",
    see_also=("status", "run"),
)
def wait_for(
    cli: Cli, args: tuple[str, ...], *, model: str, query: str, timeout: float, summary: bool
) -> None:
    word, name = _target(args)

    asked = run.Query(query if "query" in cli.given else _KINDS[word].query, cli.output.text)
    deadline = time.monotonic() + timeout
    if word == "model":
        ctx = session.open_controller(cli, session.split_model(model)[0])
        watch = _Watch(cli, ctx, scopes.Goal(kind=word, name=name, within=ctx.user), asked, deadline)
        opened = watch.model_when_there()
    else:
        opened = session.open_model(cli, model)
        ctx = opened.ctx
        watch = _Watch(cli, ctx, scopes.Goal(kind=word, name=name, within=opened.uuid), asked, deadline)
        watch.model = opened.identifier
    try:
        watch.follow(opened)
    finally:
        if summary:
            watch.summarise()


def _target(args: tuple[str, ...]) -> tuple[str, str]:
    """Return the kind and the name of the entity to wait for."""
    if not args:
        raise UsageError("no subcommand specified: wait-for application|machine|model|unit")
    word, *names = args
    if word not in _KINDS:
        raise UsageError(f"unrecognized command: pushjuju wait-for {word}")
    kind = _KINDS[word]
    if not names:
        raise UsageError(f"{kind.called} must be supplied when waiting for {kind.noun}")
    if len(names) > 1:
        raise UsageError(f"only one {kind.called} can be supplied as an argument to this command")
    if not kind.fits(names[0]):
        raise UsageError(f"{quote(names[0])} is not valid {kind.called}")
    return word, names[0]


class _Watch:
    """Checks the query for an entity whenever the store has changed."""

    def __init__(
        self, cli: Cli, ctx: context.Context, goal: scopes.Goal, query: run.Query, deadline: float
    ) -> None:
        self._cli, self._ctx, self._goal = cli, ctx, goal
        self._word, self._name = goal.kind, goal.name
        self._query, self._deadline = query, deadline
        self.model = ""  # name of the model in messages; empty when the entity is a model
        self._seen: tuple[int, int] | None = None  # the store's version at the last check
        self._asked: run.Asked | None = None  # the document of the entity, from when it existed
        self._said = ""
        self._life = ""
        self._holds = False

    def model_when_there(self) -> sessions.Session:
        """Wait until the model exists, and open it."""
        while True:
            try:
                return sessions.Session(ctx=self._ctx, model=models.resolve(self._ctx, self._name))
            except NotFound:
                self.look()
                time.sleep(_POLL_S)

    def follow(self, opened: sessions.Session) -> None:
        """Work on the model, or wait for the background process, until the query holds.

        Raises:
            TimedOut: The query does not hold at the time limit.
        """
        self._cli.on_interrupt = "Stopped waiting. What was asked for goes on with the next command."
        try:
            waiting.work(self._cli, opened, self.look)
        except waiting.TimedOut:
            drive.background(self._cli, self._ctx, opened.uuid)
            raise

    def look(self) -> bool:
        """Return True when the query holds; read the store only when it has changed."""
        version = self._ctx.store.version()
        if not self._holds and version != self._seen:
            self._seen = version
            self._holds = self._evaluate()
        if not self._holds and time.monotonic() > self._deadline:
            raise waiting.TimedOut(f"timed out waiting for {quote(self._name)} to reach goal state")
        return self._holds

    def _evaluate(self) -> bool:
        found = scopes.answer(self._ctx, self._goal, self._query)
        if found is None:
            return self._missing()
        self._life, self._asked = found.life, found.asked
        if not found.holds:
            how = f"found with {quote(found.status)}" if found.status else "found"
            self._say(f"{self._word} {quote(self._name)} {how}, waiting...")
        return found.holds

    def _missing(self) -> bool:
        """Return True when the query holds for an entity that does not exist: removed, or not added yet."""
        if self.model and not models.exists(self._ctx, self._goal.within):
            raise Gone(f"model {self.model} removed")
        if self._asked is None:
            self._say(f"{self._word} {quote(self._name)} not found, waiting...")
            return False

        self._life = "dead"
        if not self._query.holds(scopes.ghost(_KINDS[self._word].info, self._asked)):
            raise Gone(f"{self._word} {self._name} removed")
        return True

    def _say(self, text: str) -> None:
        """Print what the command waits for, unless it printed the same text before."""
        if text != self._said:
            self._said = text
            self._cli.console.info(text)

    def summarise(self) -> None:
        """Print the state of the entity, and what the query has printed."""
        if self._asked is None:
            return
        if self._life in ("dead", "dying"):
            how = "has been removed" if self._life == "dead" else "is being removed"
            self._cli.console.info(f"{self._word} {quote(self._name)} {how}")
            return
        if self._holds:
            self._cli.console.info(f"{self._word} {quote(self._name)} is running")
        self._cli.output.text(_summary(self._asked, _KINDS[self._word].within))


def _summary(asked: run.Asked, within: Sequence[str]) -> str:
    parts: list[tuple[str, Any]] = [("properties", asked.values)]
    found = ((kind, asked.within.get(kind, {})) for kind in within)
    parts += [(kind, {name: each.values for name, each in inner.items()}) for kind, inner in found if inner]
    return render("yaml", Struct(parts))
