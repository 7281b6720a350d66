"""Picks an instance type for constraints. Pure. Mirrors: juju environs/instances/instancetype.go (3.6)"""

from __future__ import annotations

from collections.abc import Iterable

from pushjuju.core.constraints import Constraints, render
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass

DEFAULT_CORES = 1
DEFAULT_MEM = 2048  # MiB
LEAST_ROOT_DISK = 8192  # MiB, where a cloud can size it


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """An instance type of a cloud. Sizes are in MiB; None or 0 means unknown, or not fixed.

    Attributes:
        cost: A number to compare types by; the unit does not matter.
        root_disk: The size of the disk that comes with the type; 0 when the cloud makes a disk of any size.
    """

    name: str
    cores: int
    mem: int
    arches: tuple[str, ...] = ("amd64",)
    cost: float = 0.0
    cpu_power: int | None = None
    root_disk: int = 0
    tags: tuple[str, ...] = ()
    virt_type: str = ""
    deprecated: bool = False


def pick(types: Iterable[InstanceType], constraints: Constraints, *, region: str) -> InstanceType:
    """Return the cheapest type that satisfies the constraints."""
    listed = list(types)
    wanted = dict(constraints)
    if not wanted.get("instance-type"):
        wanted["cores"] = wanted.get("cores") or DEFAULT_CORES
        wanted["mem"] = wanted.get("mem") if wanted.get("mem") is not None else DEFAULT_MEM
    fitting = [item for item in listed if _fits(item, wanted)]
    if not fitting and constraints.get("mem") is None:
        enough = [item for item in listed if _fits(item, constraints)]
        most = max((item.mem for item in enough), default=0)
        fitting = [item for item in enough if item.mem == most]
    if not fitting:
        raise NotValid(f'no instance types in {region} matching constraints "{render(constraints)}"')
    return min(fitting, key=_order)


def _fits(item: InstanceType, wanted: Constraints) -> bool:
    name = wanted.get("instance-type")
    if name:
        return item.name == name and _has_arch(item, wanted)
    return (
        not item.deprecated
        and _has_arch(item, wanted)
        and item.cores >= (wanted.get("cores") or 0)
        and (item.cpu_power is None or item.cpu_power >= (wanted.get("cpu-power") or 0))
        and item.mem >= (wanted.get("mem") or 0)
        and (not item.root_disk or item.root_disk >= (wanted.get("root-disk") or 0))
        and set(wanted.get("tags") or ()) <= set(item.tags)
        and (wanted.get("virt-type") or item.virt_type) == item.virt_type
    )


def _has_arch(item: InstanceType, wanted: Constraints) -> bool:
    if wanted.get("instance-type") and not wanted.get("arch"):
        return True
    return (wanted.get("arch") or "amd64") in item.arches


def _order(item: InstanceType) -> tuple[float, int, int, int, int, str]:
    return item.cost, item.mem, item.cpu_power or 0, item.cores, item.root_disk, item.name
