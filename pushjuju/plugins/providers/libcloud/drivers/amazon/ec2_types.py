"""The instance types of EC2: those of the region, with the prices of libcloud's table. Blocking.

Mirrors: juju provider/ec2/instance_information.go (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from pushjuju.core.clock import Clock
from pushjuju.core.errors import ProviderError
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.values import regex
from pushjuju.plugins.providers.libcloud.drivers.amazon.ec2_api import ask, every, text
from pushjuju.plugins.providers.libcloud.drivers.library import keep

FRESH = timedelta(days=1)  # how long the region's types are cached
_PAGES = 100  # pages; more mean that the server repeats pages
_ARM = regex(r"(a1|[a-z]+[0-9]+[a-z]*g[a-z]*)\.")
_OLD = regex(
    r"(t1|t2|m1|m2|m3|m4|c1|c3|c4|cc[0-9]|cg1|cr1|hi1|hs1|g2|i2|r3|r4|mac[0-9a-z-]*|.*metal.*)(\.|$)"
)
_ARCHES = {"x86_64": "amd64", "arm64": "arm64"}


def described(driver: Any) -> list[InstanceType]:
    """Return the types that the region offers now, with the prices that libcloud knows.

    Raises:
        Exception: An error of the library; not every endpoint supports this request.
    """
    prices = {item.name: item.cost for item in listed(driver)}
    return [replace(item, cost=prices.get(item.name, float("inf"))) for item in _told(driver)]


def listed(driver: Any) -> list[InstanceType]:
    """Return the types of libcloud's table, with their prices; send no request."""
    return [
        InstanceType(
            name=size.id,
            cores=int(size.extra.get("vcpu") or size.extra.get("cpu") or 1),
            mem=int(size.ram),
            arches=("arm64",) if _ARM.match(size.id) else ("amd64",),
            cost=float(size.price) if size.price else float("inf"),
            deprecated=bool(_OLD.match(size.id)),
        )
        for size in driver.list_sizes()
    ]


def _told(driver: Any) -> Iterator[InstanceType]:
    token = ""
    for _ in range(_PAGES):
        root = ask(driver, "DescribeInstanceTypes", {"NextToken": token} if token else {})
        for item in every(root, "instanceTypeSet/item"):
            yield from _read(item)
        token = text(root, "nextToken")
        if not token:
            return


def _read(item: Element) -> Iterator[InstanceType]:
    """Yield an instance type, unless it does not suit machines of a model."""
    spoken = [one.text or "" for one in every(item, "processorInfo/supportedArchitectures/item")]
    arches = tuple(_ARCHES[word] for word in spoken if word in _ARCHES)
    name, mem = text(item, "instanceType"), text(item, "memoryInfo/sizeInMiB")
    cores = text(item, "vCpuInfo/defaultVCpus")
    if name and mem and cores and arches:
        old = text(item, "currentGeneration") == "false" or text(item, "bareMetal") == "true"
        yield InstanceType(name=name, cores=int(cores), mem=int(mem), arches=arches, deprecated=old)


def known(driver: Any, file: Path, clock: Clock) -> list[InstanceType]:
    """Return the types of a region, at most a day old: from a file, the cloud, or libcloud's table.

    Args:
        file: The cache file of the endpoint and region.
    """
    found = _kept(file, clock)
    if found:
        return found
    try:
        found = described(driver)
    except Exception as error:
        if not _is_unknown(error):
            raise
    if not found:
        return listed(driver)
    _keep(file, found)
    return found


def _is_unknown(error: Exception) -> bool:
    """Return True when endpoint or credential refuse this request, although others may succeed."""
    text = str(getattr(error, "message", "") or error)
    head = text.split(":", maxsplit=1)[0]
    return head in ("InvalidAction", "UnauthorizedOperation", "UnsupportedOperation", "Unsupported") or (
        getattr(error, "code", 0) in (404, 501)
    )


def _kept(file: Path, clock: Clock) -> list[InstanceType]:
    try:
        age = clock.now().timestamp() - file.stat().st_mtime
        rows = json.loads(file.read_text()) if abs(age) < FRESH.total_seconds() else []
        return [_of(row) for row in rows]
    except (OSError, ValueError, TypeError, KeyError):
        return []  # the caller requests the types again


def _of(row: dict[str, Any]) -> InstanceType:
    cost = float("inf") if row["cost"] is None else float(row["cost"])
    return InstanceType(**{**row, "cost": cost, "arches": tuple(row["arches"]), "tags": tuple(row["tags"])})


def _keep(file: Path, found: Iterable[InstanceType]) -> None:
    rows = [asdict(item) for item in found]
    for row in rows:
        row["cost"] = None if row["cost"] == float("inf") else row["cost"]
    with suppress(ProviderError):  # without the file, the next command requests the types again
        keep(file, json.dumps(rows))
