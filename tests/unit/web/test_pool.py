"""Threads that open the controller for themselves."""

from __future__ import annotations

import pytest

from pushjuju.core.errors import StoreAway
from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.web.pool import Pool
from tests.world.controller import TestController


async def test_a_thread_whose_store_is_away_opens_the_store_at_a_later_request(
    runtime: TestController,
) -> None:
    refusals = [StoreAway("the store cannot be reached")] * 2

    def opened() -> Context:
        if refusals:
            raise refusals.pop()
        return open_context(runtime.ctx.datadir, runtime.ctx.controller.name)

    pool = Pool(opened, threads=1)
    for _ in range(2):
        with pytest.raises(StoreAway, match="cannot be reached"):
            await pool.run(lambda ctx: ctx.user)
    assert await pool.run(lambda ctx: ctx.user) == "admin"
    await pool.close()
