"""The steps of remove-machine, remove-unit and remove-application: plan, question, report.

Mirrors: juju cmd/juju/application/removeunit.go, removeapplication.go, machine/remove.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.cli.terminal.times import since_text
from pushjuju.cli.work import drive, hints, suggest
from pushjuju.core.errors import Conflict, NotFound, NotPermitted, NotValid, PushjujuError, UsageError
from pushjuju.core.names import is_machine
from pushjuju.core.values import dataclass
from pushjuju.services.lifecycle import forced_ends, removal
from pushjuju.services.views import removal_plan

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.entities.model.sessions import Session

# shown in the help of all three commands
HOW = """\
--force puts what is not gone after a minute out of the model, without its hooks; with --no-wait at once.
Asks first, unless --no-prompt is given or the model's `mode` is without `requires-prompts`."""
FLAGS = (
    flags.switch("dry-run", "Print what this command would remove without removing"),
    flags.switch("no-wait", "Rush through removal without waiting for each step; only with --force"),
)

_REFUSALS = (NotFound, NotValid, NotPermitted, Conflict)


@dataclass(slots=True)
class Plan:
    """What a removal does to each entity. If one cannot be removed, all stay; the error names all faults."""

    failed: str  # the start of an error, with `{}` for the entity: `removing unit {} failed`
    # entity -> the lines that tell what its removal does
    lines: dict[str, list[str]] = field(default_factory=dict)
    refused: list[PushjujuError] = field(default_factory=list)

    @classmethod
    def of(cls, names: Iterable[str], lines: Callable[[list[str]], list[str]], *, failed: str) -> Plan:
        """Make the plan for some entities, whose lines come from a function."""
        plan = cls(failed)
        for name in names:
            try:
                plan.lines[name] = lines([name])
            except _REFUSALS as error:
                plan.refused.append(error.prefixed(failed.format(name)))
        return plan

    def text(self) -> list[str]:
        """Return the lines of all entities."""
        return [line for lines in self.lines.values() for line in lines]

    def carry_out(self, remove: Callable[[list[str]], None]) -> None:
        """Remove all entities, or none."""
        try:
            remove(list(self.lines))
        except _REFUSALS as error:
            about = error.subject.name if error.subject else ""
            named = about if about in self.lines else next(iter(self.lines))
            raise error.prefixed(self.failed.format(named)) from None

    def check(self, cli: Cli) -> None:
        """Print all faults but the last.

        Raises:
            PushjujuError: The last fault.
        """
        for error in self.refused[:-1]:
            suggest.advise(error, cli)
            cli.console.error(error)
        if self.refused:
            raise self.refused[-1]


def force(*, force: bool, no_wait: bool) -> removal.Force | None:
    """Return how to force a removal, or None when it is not forced."""
    if no_wait and not force:
        raise UsageError("--no-wait without --force not valid")
    return removal.Force(wait_s=0.0 if no_wait else removal.MAX_WAIT_S) if force else None


def confirm(
    cli: Cli,
    opened: Session,
    plan: Plan,
    *,
    what: str,
    no_prompt: bool,
    dry_run: bool,
    needs_force: bool = False,
) -> bool:
    """Show the plan for a dry run, or when the model's `mode` requires prompts; then ask.

    Returns:
        True when the plan was shown.
    """
    plan.check(cli)
    asks = not no_prompt and removal_plan.asks_first(opened.ctx, opened.uuid)
    return ask(cli, plan, what=what, asks=asks, dry_run=dry_run, needs_force=needs_force)


def ask(cli: Cli, plan: Plan, *, what: str, asks: bool, dry_run: bool, needs_force: bool = False) -> bool:
    """Show the plan for a dry run, or ask whether to go on; return True when the plan was shown."""
    if not (asks or dry_run):
        return False
    cli.console.warn("This command will perform the following actions:")
    tell(cli, plan.text())
    if needs_force:
        cli.console.info("\nThis will require `--force`")
    if not dry_run:
        cli.console.confirm("\nContinue [y/N]? ", what=what)
    return True


def finish(cli: Cli, opened: Session, plan: Plan, *, told: bool, touched: Sequence[str]) -> None:
    """Print what the removal removed, then work on the model.

    Args:
        plan: The plan after `carry_out`.
        told: True when the user has seen the plan already.
        touched: Entities whose failures make the command fail.
    """
    if not told:
        tell(cli, plan.text())
    settle(cli, opened, touched=touched)
    _tell_kept(cli, opened, touched)


def _tell_kept(cli: Cli, opened: Session, names: Sequence[str]) -> None:
    """Print which machines without units stay because of their storage, and what lets them end."""
    at = hints.model_flag(cli, opened.ctx, opened.model)
    ids = list(filter(is_machine, names))
    for name, text, stored in removal_plan.kept(opened.ctx, opened.uuid, ids):
        cli.console.info(f"machine {name} is {text}")
        cli.console.info(f"{cli.program} remove-storage{at} {stored}    lets the machine go")


def settle(cli: Cli, opened: Session, *, touched: Sequence[str], no_wait: bool = False) -> None:
    """Do the work of a removal; a background process goes on with what must be forced later."""
    try:
        drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)
    finally:
        ends = forced_ends.forced_ends(opened.ctx, opened.uuid) if drive.waits(cli, no_wait=no_wait) else []
        for end in ends:
            cli.console.info(f"{end.reason}: {since_text(end.due, utc=False)}")
        if ends:
            drive.background(cli, opened.ctx, opened.uuid)


def tell(cli: Cli, lines: Sequence[str]) -> None:
    """Print the plan on stdout, where scripts read it."""
    if lines:
        cli.output.text("".join(f"{line}\n" for line in lines))
