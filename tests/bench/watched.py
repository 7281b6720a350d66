"""A served model, in a process of its own: `python -m tests.bench.watched --units 2000`.

Prints where it listens as a line of JSON, then obeys lines of the standard input: `write UNIT WORD` sets a
status and prints the moment after the commit; `usage` prints processor time and memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.web import limits
from tests.bench.models import crowd
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController

_PAGE = os.sysconf("SC_PAGE_SIZE")


def change(ctx: Context, model: str, unit: str, message: str) -> float:
    """Set the message of a unit's status; return the moment after the commit, on every process's clock."""
    with ctx.write(model) as tx:
        statuses.set_status(tx, StatusKind.WORKLOAD, unit, "active", message=message, now=ctx.clock.now())
    return time.monotonic()


def usage() -> dict[str, float]:
    """Return processor time in seconds, and memory in KiB now and at most, of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"cpu": time.process_time(), "rss": pages * _PAGE / 1024, "peak": peak}


def _obey(house: TestController, line: str) -> Any:
    word, *rest = line.split()
    return change(house.ctx, house.model, *rest) if word == "write" else usage()


async def _serve(house: TestController) -> None:
    limits.MOST_OF_USER = limits.MOST_OF_ADDRESS = 10_000  # one client plays all users
    async with ApiWorld.serve(house.ctx) as served:
        where = {"endpoint": served.endpoint, "ca": served.api.ca, "model": house.model}
        print(json.dumps({**where, "data": str(house.ctx.datadir.root)}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(_obey(house, line)), flush=True)


def main() -> None:
    """Build a model and serve it until the standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=2000)
    units = parser.parse_args().units
    with tempfile.TemporaryDirectory() as folder:
        house = TestController.build(Path(folder), Charms(Path(folder) / "charms"))
        crowd(house, units, max(1, units // 5))
        asyncio.run(_serve(house))
        house.ctx.close()


if __name__ == "__main__":
    main()
