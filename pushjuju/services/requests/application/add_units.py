"""The request of add-unit. Mirrors: juju apiserver/facades/client/application AddUnits (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core import limits
from pushjuju.core.base import Base
from pushjuju.core.errors import UsageError
from pushjuju.core.model.placement import Placement
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis.callbacks import SILENT, Notices, Precheck, unchecked
from pushjuju.services.entities.basis.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class AddUnitsOptions:
    """What a user asks `add-unit` for.

    Attributes:
        placements: The placements of the first units; further units get new machines.
        attach_storage: Existing storage for the unit; possible only with `num_units` 1.

    Raises:
        UsageError: The options contradict each other; the messages are Juju's.
    """

    application: str
    num_units: int = 1
    placements: Sequence[Placement] = ()
    attach_storage: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_number(self.num_units, self.attach_storage)
        if not is_application(self.application):
            raise UsageError(f'invalid application name "{self.application}"')


def add_units(
    ctx: Context,
    model: str,
    options: AddUnitsOptions,
    *,
    notices: Notices = SILENT,
    precheck: Precheck = unchecked,
) -> list[str]:
    """Add units to an application, and return the names of the units.

    Raises:
        PushjujuError: The cloud or the model refuses one of the units; no unit is added.
    """
    name, count, placements = options.application, options.num_units, options.placements
    with ctx.read(model) as tx:
        found = applications.get(tx, name)
    base, wanted = Base.parse(found.base), found.constraints
    precheck(ctx, model, base=base, constraints=wanted, count=count, placements=placements, warn=notices.warn)
    added = units.add_units(ctx, model, name, count, placements, options.attach_storage)
    return [unit.name for unit in added]


def check_number(units: int, attach_storage: Sequence[str], least: int = 1) -> None:
    """Refuse a number of units that one command cannot add.

    Raises:
        UsageError: The number is too small or too large, or is not 1 and storage is to be attached.
    """
    if units < least:
        raise UsageError("--num-units must be a positive integer")
    if units > limits.UNITS:
        raise UsageError(f"--num-units must be at most {limits.UNITS}")
    if attach_storage and units != 1:
        raise UsageError("--attach-storage cannot be used with -n")
