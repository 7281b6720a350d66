"""Many machines that are started at once."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

from pushjuju.plugins.api.providers import Provider, StartRequest
from pushjuju.testing.blocking import calls_that_block


async def start_twenty(provider: Provider, request: Callable[[str], StartRequest]) -> float:
    """Start twenty machines, while the event loop waits for nobody; return the seconds that it took."""
    before = time.monotonic()
    with calls_that_block() as found:
        started = await asyncio.gather(*(provider.start(request(str(number))) for number in range(20)))
    taken = time.monotonic() - before
    print(json.dumps({"20 machines, s": round(taken, 2)}))
    assert len({item.instance.id for item in started}) == 20
    assert found == []
    return taken
