"""The command upgrade-machine. Mirrors: juju cmd/juju/machine/upgrademachine.go (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, failures, session, waiting
from pushjuju.core.base import Base
from pushjuju.core.errors import Conflict, UsageError
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.names import application_of, is_machine
from pushjuju.core.problems import Problem
from pushjuju.portable.quote import quote
from pushjuju.services.entities.machine import upgrade_machine
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.machine import upgrade_machine as request

_STEPS = {"prepare": 3, "complete": 2}  # step -> number of arguments

_READY = (
    "Juju is now ready for the machine base to be updated.\n"
    'Perform any manual steps required along with "do-release-upgrade".\n'
    "When ready, run the following to complete the upgrade{what} process:\n\n"
    "{program} upgrade-machine {machine} complete"
)


@command(
    "upgrade-machine",
    usage="<machine> prepare <base> | <machine> complete",
    summary="Upgrade the Ubuntu base of a machine.",
    flags=(
        *flags.IN_MODEL,
        flags.switch("force", "Upgrade although a charm on the machine does not name the base"),
        flags.switch("yes", "Do not ask for confirmation; the upgrade cannot be cancelled", short="y"),
        *flags.NO_WAIT,
    ),
    details=(
        "Run `prepare` before, and `complete` after, your upgrade of the machine (`do-release-upgrade`).\n\n"
        "`prepare` lets every unit of the machine run its pre-series-upgrade hook. Then the units rest: no\n"
        "hook runs there, whatever changes, and the machine cannot be removed.\n\n"
        "`complete` lets the units run post-series-upgrade and gives the machine its new base.\n"
        "Afterwards the charms run hooks for what has changed meanwhile.\n\n"
        "Every charm on the machine must name the base, unless `--force` is given."
    ),
    examples="    pushjuju upgrade-machine 3 prepare ubuntu@24.04\n    pushjuju upgrade-machine 3 complete\n",
    see_also=("machines", "status", "refresh", "set-application-base"),
)
def upgrade(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, yes: bool, no_wait: bool) -> None:
    step, machine = _step(args), args[0]
    base = _base(cli, args[2]) if step == "prepare" else None
    opened = session.open_model(cli, model)
    if base is not None:
        _prepare(cli, opened, machine, base, force=force, yes=yes, no_wait=no_wait)
    else:
        _complete(cli, opened, machine, no_wait=no_wait)


def _step(args: Sequence[str]) -> str:
    if len(args) < min(_STEPS.values()):
        raise UsageError("wrong number of arguments")
    machine, step, *_ = args
    if step not in _STEPS:
        known = ", ".join(_STEPS)
        raise UsageError(
            f"invalid argument: {quote(step)} is an invalid upgrade-machine command; "
            f"valid commands are: {known}."
        )
    if len(args) != _STEPS[step]:
        raise UsageError("wrong number of arguments")
    if not is_machine(machine):
        raise UsageError(f"{quote(machine)} is an invalid machine name")
    return step


def _base(cli: Cli, text: str) -> Base:
    """Parse the base to upgrade to; an old series name gives a warning."""
    if "@" in text:
        base = Base.parse(text)
    else:
        cli.console.warn("series argument is deprecated, use base instead")
        base = Base.from_series(text.lower())
    request.check_supported(base)
    return base


def _prepare(
    cli: Cli, opened: sessions.Session, machine: str, base: Base, *, force: bool, yes: bool, no_wait: bool
) -> None:
    try:
        affected = request.plan(opened.ctx, opened.uuid, machine, base, force=force)
        if not yes:
            cli.output.text(_warning(machine, base, affected))
            cli.console.confirm("\nContinue [y/N]? ", what="upgrade machine")
        request.prepare(opened.ctx, opened.uuid, machine, base, force=force)
    except upgrade_machine.Locked as locked:
        raise Conflict(_locked(cli, machine, locked.status)) from None
    if no_wait:
        drive.background(cli, opened.ctx, opened.uuid)
        return
    problems = _Follower(cli, opened, machine, affected, seen=0).follow(SeriesStatus.PREPARE_COMPLETED)
    cli.console.info("\n" + _ready(cli, machine, what=" base") + "\n")
    failures.judge(cli, opened.ctx, opened.uuid, problems, (machine, *affected))


def _complete(cli: Cli, opened: sessions.Session, machine: str, *, no_wait: bool) -> None:
    seen = request.complete(opened.ctx, opened.uuid, machine)
    if no_wait:
        drive.background(cli, opened.ctx, opened.uuid)
        return
    affected = request.units_of(opened.ctx, opened.uuid, machine)
    problems = _Follower(cli, opened, machine, affected, seen=seen).follow(SeriesStatus.NOT_STARTED)
    cli.console.info(f"\nUpgrade machine base {quote(machine)} has successfully completed\n")
    failures.judge(cli, opened.ctx, opened.uuid, problems, (machine, *affected))


def _warning(machine: str, base: Base, affected: Sequence[str]) -> str:
    """Return the text that the user must confirm."""
    applications = sorted({application_of(unit) for unit in affected})
    return (
        f"WARNING: This command will mark machine {quote(machine)} as being upgraded to "
        f"{quote(base.display)}.\n"
        "This operation cannot be reverted or canceled once started.\n"
        "Units running on the machine will also be upgraded. These units include:\n"
        f"  {_listed(affected)}\n\n"
        "Leadership for the following applications will be pinned and not\n"
        'subject to change until the "complete" command is run:\n'
        f"  {_listed(applications)}\n"
    )


def _listed(names: Sequence[str]) -> str:
    return "\n  ".join(f"- {name}" for name in names)


def _ready(cli: Cli, machine: str, *, what: str) -> str:
    return _READY.format(program=cli.program, machine=machine, what=what)


def _locked(cli: Cli, machine: str, status: SeriesStatus) -> str:
    """Return the state of an upgrade that began earlier, and its next step."""
    name = quote(machine)
    if status is SeriesStatus.PREPARE_COMPLETED:
        return (
            f"Upgrade machine base is already prepared for machine {name} and the\n"
            f"current state is {quote(status)}.\n\n{_ready(cli, machine, what='')}"
        )
    if status is SeriesStatus.PREPARE_STARTED:
        return f"Upgrade machine base is currently being prepared for machine {name}."
    return f"Upgrade base is currently completing for machine {name}."


class _Follower:
    """Prints the messages of an upgrade while it runs."""

    def __init__(
        self, cli: Cli, opened: sessions.Session, machine: str, affected: Sequence[str], *, seen: int
    ) -> None:
        """Prepare to follow an upgrade.

        Args:
            affected: Units of the machine; their failures are shown.
            seen: The last message before this upgrade.
        """
        self._cli, self._opened, self._machine = cli, opened, machine
        self._affected, self._seen = affected, seen
        self._status = SeriesStatus.NOT_STARTED
        self._wanted = SeriesStatus.NOT_STARTED
        self._failed: Sequence[Problem] = ()

    def follow(self, wanted: SeriesStatus) -> Sequence[Problem]:
        """Work until the machine has reached a step; return failures of other entities."""
        if self._cli.rehearsal:
            return ()
        self._wanted = wanted
        self._cli.on_interrupt = (
            "Stopped watching. The upgrade goes on with the next command;\n"
            f"{self._cli.program} show-machine {self._machine}    tells how far it is"
        )
        problems: Sequence[Problem] = ()
        if drive.waits(self._cli):
            problems = waiting.attend(self._cli, self._opened, self.look)
        else:
            waiting.work(self._cli, self._opened, self.look)
        ctx, uuid = self._opened.ctx, self._opened.uuid
        if self._status is wanted:
            return problems
        failures.judge(self._cli, ctx, uuid, problems or self._failed, (self._machine, *self._affected))
        raise Conflict(_locked(self._cli, self._machine, self._status))

    def look(self) -> bool:
        """Print new messages; return True when the step is reached or cannot be reached."""
        ctx, uuid = self._opened.ctx, self._opened.uuid
        found = request.progress(ctx, uuid, self._machine, self._affected, self._seen)
        self._status, self._failed = found.status, found.failed
        for item in found.new:
            self._seen = item.id
            self._cli.console.info(item.message)
        return self._status is self._wanted or bool(self._failed)
