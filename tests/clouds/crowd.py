"""Many machines that are started at once."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

from pushjuju.plugins.types import Provider, StartRequest


async def start_twenty(provider: Provider, request: Callable[[str], StartRequest], *, ticks: int) -> float:
    """Start twenty machines; return the seconds that it took.

    Args:
        ticks: How many hundredths of a second the event loop must have seen meanwhile.
    """
    seen = 0

    async def tick() -> None:
        nonlocal seen
        while True:
            seen += 1
            await asyncio.sleep(0.01)

    beat = asyncio.create_task(tick())
    before = time.monotonic()
    started = await asyncio.gather(*(provider.start(request(str(number))) for number in range(20)))
    taken = time.monotonic() - before
    beat.cancel()
    print(json.dumps({"20 machines, s": round(taken, 2)}))
    assert len({item.instance.id for item in started}) == 20
    assert seen > ticks
    return taken
