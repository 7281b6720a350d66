"""Finds the part of a model that the patterns of `status` can keep, so that `status` reads no other rows.

Names and addresses lead to a few applications and machines. Statuses, networks, ports and exposure are
compared with what is shown of every entity: with such a pattern, `status` reads the whole model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pushjuju.core.status import Agent, MachineStatus, Workload
from pushjuju.core.values import regex
from pushjuju.services.views.status import status_filter

if TYPE_CHECKING:
    from pushjuju.store.tx import ModelTx

MOST = 20  # applications, and machines: the statements for more of them take longer than those for a model
_WORDS = {"exposed", "not", *Agent, *MachineStatus, *Workload}
_NAME = regex(r"[A-Za-z0-9*-]+(?:/[A-Za-z0-9*-]+)*")
_ADDRESS = regex(r"[A-Za-z0-9.:-]+")


class Part(NamedTuple):
    """A part of a model: applications with their units and the machines of these, and machines."""

    applications: Sequence[str]
    machines: Sequence[str]  # machines that are no containers; each stands for itself and its containers
    kept: Collection[str]  # the machines with the units that may be kept; other units have no documents

    def keeps(self, machine: str) -> bool:
        """Return True when the patterns may keep a machine, or a unit on it."""
        return _host(machine) in self.kept


def find(tx: ModelTx, patterns: Sequence[str]) -> Part | None:
    """Return a part with everything that patterns keep, or None when that may be anywhere in the model."""
    if not all(_is_name_or_address(pattern) for pattern in patterns):
        return None
    named = {_host(name) for pattern in patterns for name in _machines(tx, pattern)}
    beside = {pair for pattern in patterns for pair in _beside(tx, pattern.lower())}
    applications = {name for name, _ in beside}
    applications |= {row[0] for name in named for row in tx.rows("shown_applications_on", machine=name)}
    if len(applications) > MOST:
        return None
    machines = named.union(
        row[0] for name in applications for row in tx.rows("shown_hosts", application=name)
    )
    if len(machines) > MOST:
        return None
    return Part(sorted(applications), sorted(machines), named | {_host(machine) for _, machine in beside})


def has_storage(tx: ModelTx, part: Part) -> bool:
    """Return True when a unit or a machine of a part has storage, or a disk of its own."""
    return any(tx.scalar("shown_storage_of", application=name) for name in part.applications) or any(
        tx.scalar("shown_storage_from", machine=name) for name in part.machines
    )


def _host(machine: str) -> str:
    return machine.partition("/")[0]


def _is_name_or_address(pattern: str) -> bool:
    if pattern.lower() in _WORDS or status_filter.is_port(pattern.lower()):
        return False
    return bool(_NAME.fullmatch(pattern) or _ADDRESS.fullmatch(pattern))


def _machines(tx: ModelTx, pattern: str) -> Iterator[str]:
    """Yield the machines that a pattern can name by id or address."""
    if pattern[0].isdigit():
        yield pattern
    if _ADDRESS.fullmatch(pattern):
        yield from (row[0] for row in tx.rows("shown_machines_at", address=pattern))


def _beside(tx: ModelTx, pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the applications that a pattern can name, and application and machine of units beside theirs."""
    name, _, number = pattern.partition("/")
    names = [name]
    if "*" in name:
        every = [row[0] for row in tx.rows("shown_names")]
        names = [found for found in every if status_filter.is_like(found, name)]
    like = "%" if number == "leader" else number.replace("*", "%") or "%"
    yield from ((found, "") for found in names)
    for found in names[:MOST]:
        rows = tx.rows("shown_neighbours", application=found, like=f"{found}/{like}")
        yield from ((row[0], row[1]) for row in rows)
