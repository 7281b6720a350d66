"""What remove-machine, remove-unit and remove-application share: the plan, the question, the report.

Mirrors: juju cmd/juju/application/removeunit.go, removeapplication.go, machine/remove.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.cli.terminal.times import since_text
from pushjuju.cli.work import drive, hints, suggest
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import Conflict, NotFound, NotPermitted, NotValid, PushjujuError, UsageError
from pushjuju.core.model.life import Life
from pushjuju.core.names import is_machine
from pushjuju.services.entities.application import units
from pushjuju.services.entities.application.applications import get as get_application
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.storage import disks, storage_instances
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Machine

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.cli.work.session import Session
    from pushjuju.store.rows.records import Unit
    from pushjuju.store.tx import Tx

# What the help of all three says.
HOW = """\
--force puts what is not gone after a minute out of the model, without its hooks; with --no-wait at once.
Asks first, unless --no-prompt is given or the model's `mode` is without `requires-prompts`."""
DISK = "- will remove volume "  # storage of the machine itself needs no further consent
FLAGS = (
    flags.switch("dry-run", "Print what this command would remove without removing"),
    flags.switch("no-wait", "Rush through removal without waiting for each step; only with --force"),
)

_REFUSALS = (NotFound, NotValid, NotPermitted, Conflict)


@dataclass
class Plan:
    """What a removal is about, entity by entity. When one is refused all stay; the error names all faults.

    Attributes:
        failed: The start of an error, with a place for the entity: `removing unit {} failed`.
        lines: Entity -> what its removal means, line by line.
        refused: The faults of the other entities.
    """

    failed: str
    lines: dict[str, list[str]] = field(default_factory=dict)
    refused: list[PushjujuError] = field(default_factory=list)

    @classmethod
    def of(cls, names: Iterable[str], lines: Callable[[list[str]], list[str]], *, failed: str) -> Plan:
        """Look at each entity.

        Args:
            names: The entities.
            lines: The lines to show for the removal of some entities.
            failed: As the attribute.
        """
        plan = cls(failed)
        for name in names:
            try:
                plan.lines[name] = lines([name])
            except _REFUSALS as error:
                error.message = f"{failed.format(name)}: {error.message}"
                plan.refused.append(error)
        return plan

    def text(self) -> list[str]:
        """Return all lines."""
        return [line for lines in self.lines.values() for line in lines]

    def carry_out(self, remove: Callable[[list[str]], None]) -> None:
        """Remove all, or none.

        Raises:
            PushjujuError: An entity cannot be removed; the message names it.
        """
        try:
            remove(list(self.lines))
        except _REFUSALS as error:
            named = next((name for name in self.lines if name in error.message), next(iter(self.lines)))
            error.message = f"{self.failed.format(named)}: {error.message}"
            raise

    def check(self, cli: Cli) -> None:
        """Report what is refused.

        Raises:
            PushjujuError: The last of it.
        """
        for error in self.refused[:-1]:
            suggest.advise(error, cli)
            cli.console.error(error)
        if self.refused:
            raise self.refused[-1]


def force(*, force: bool, no_wait: bool) -> removal.Force | None:
    """Return how a removal is forced, or None.

    Raises:
        UsageError: `--no-wait` alone.
    """
    if no_wait and not force:
        raise UsageError("--no-wait without --force not valid")
    return removal.Force(wait_s=0.0 if no_wait else removal.MAX_WAIT_S) if force else None


def machine_lines(opened: Session, ids: Sequence[str], *, keep_instance: bool) -> list[str]:
    """Return what removing machines means, line by line.

    Raises:
        NotFound: No such machine.
    """
    kept = " (but retaining cloud instance)" if keep_instance else ""
    lines = []
    with opened.ctx.store.read() as tx:
        for name in ids:
            machines.get(tx, opened.uuid, name)
            lines.append(f"will remove machine {name}{kept}")
            lines += _on_machine(tx, opened.uuid, name)
            for container in machines.containers_on(tx, opened.uuid, name):
                lines.append(f"will remove machine {container.id}{kept}")
                lines += _on_machine(tx, opened.uuid, container.id)
    return lines


def _on_machine(tx: Tx, model: str, name: str) -> list[str]:
    there = machines.units_on(tx, model, name)
    units_ = [f"- will remove unit {unit.name}" for unit in there]
    stored = [f"- will remove storage {item}" for item in storage_instances.kept_on(tx, model, name)]
    own = [f"{DISK}{backing.id}" for _, backing in disks.of_machine(tx, model, name)]
    return units_ + stored + own


def unit_lines(opened: Session, names: Sequence[str], *, destroy_storage: bool = False) -> list[str]:
    """Return what removing units means.

    Raises:
        NotFound: No such unit.
        NotValid: A subordinate.
    """
    with opened.ctx.store.read() as tx:
        lines = []
        for unit in removal.plan_units(tx, opened.uuid, list(names)):
            lines.append(f"will remove unit {unit.name}")
            lines += _storage_lines(tx, [unit], destroy=destroy_storage)
    return lines


def _storage_lines(tx: Tx, units_: Sequence[Unit], *, destroy: bool) -> list[str]:
    """Return what becomes of the storage of units that go: it stays, unless it was to go already."""
    with_storage = [unit for unit in units_ if unit.storage]
    found = [
        storage_instances.get(tx, unit.model, row.storage)
        for unit in with_storage
        for row in storage_instances.of_unit(tx, unit.model, unit.name)
    ]
    gone = [item.id for item in found if destroy or item.life != Life.ALIVE]
    kept = [item.id for item in found if item.id not in gone]
    return [
        *(f"- will remove storage {name}" for name in gone),
        *(f"- will detach storage {name}" for name in kept),
    ]


def application_lines(opened: Session, names: Sequence[str], *, destroy_storage: bool = False) -> list[str]:
    """Return what removing applications means.

    Raises:
        NotFound: No such application.
    """
    lines = []
    with opened.ctx.store.read() as tx:
        for name in names:
            get_application(tx, opened.uuid, name)
            lines.append(f"will remove application {name}")
            listed = units.of_application(tx, opened.uuid, name)
            lines += [f"- will remove unit {unit.name}" for unit in listed]
            lines += _storage_lines(tx, listed, destroy=destroy_storage)
    return lines


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
    """Show the plan for a dry run, or where the model's `mode` wants to be asked; then ask.

    Returns:
        Whether the plan was shown.

    Raises:
        Aborted: The answer is not yes.
        PushjujuError: An entity cannot be removed.
    """
    plan.check(cli)
    with opened.ctx.store.read() as tx:
        mode = str(model_config.get(tx, opened.uuid, "mode") or "")
    asks = not no_prompt and "requires-prompts" in mode.replace(" ", ",").split(",")
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
    """Show what the removal takes away, then work the model.

    Args:
        cli: The call.
        opened: The model.
        plan: The plan that was carried out.
        told: True when the plan was shown before.
        touched: Entities whose errors are this command's.

    Raises:
        HookFailed: Something that was touched is in error.
    """
    if not told:
        tell(cli, plan.text())
    settle(cli, opened, touched=touched)
    _tell_kept(cli, opened, touched)


def _tell_kept(cli: Cli, opened: Session, names: Sequence[str]) -> None:
    """Say which machines without units stay for storage, and what lets them go."""
    at = hints.model_flag(cli, opened.ctx, opened.model)
    with opened.ctx.store.read() as tx:
        for name in filter(is_machine, names):
            machine = tx.find(Machine, "machine_get", model=opened.uuid, id=name)
            if machine is None or machine.life != Life.ALIVE:
                continue
            if text := removal.kept_text(tx, machine):
                stored = " ".join(storage_instances.kept_on(tx, opened.uuid, name))
                cli.console.info(f"machine {name} is {text}")
                cli.console.info(f"{cli.program} remove-storage{at} {stored}    lets the machine go")


def settle(cli: Cli, opened: Session, *, touched: Sequence[str], no_wait: bool = False) -> None:
    """Work a removal; then show what waits for its forced end, and leave that to a background process.

    Raises:
        HookFailed: Something that was touched is in error.
    """
    try:
        drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)
    finally:
        ends = removal.forced_ends(opened.ctx, opened.uuid) if drive.waits(cli, no_wait=no_wait) else []
        for end in ends:
            cli.console.info(f"{end.reason}: {since_text(from_iso(end.due), utc=False)}")
        if ends:
            drive.background(cli, opened.ctx)


def tell(cli: Cli, lines: Sequence[str]) -> None:
    """Print the plan on stdout, as scripts read it."""
    if lines:
        cli.output.text("".join(f"{line}\n" for line in lines))
