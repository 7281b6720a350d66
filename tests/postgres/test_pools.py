"""Work in the pool of another host, in a real PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.machine import machine_work
from pushjuju.services.entities.model import model_config, pools
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.web.pages.loopback import Loopback
from tests.world.charms import Charms
from tests.world.controller import TestController


def test_work_of_another_pool_is_not_left_to_this_host(postgres_url: str, tmp_path: Path) -> None:
    database = Database(url=postgres_url, insecure=True)
    world = TestController.build(tmp_path, Charms(tmp_path / "charms"), database)
    try:
        for pool, is_ours in (("elsewhere", False), ("", True)):
            world.write(lambda tx, pool=pool: model_config.change(tx, {pools.POOL: pool}))
            world.write(lambda tx: wake.machine(tx, "7", "a test"))
            world.clock.advance(10)
            assert machine_work.is_any_left(world.ctx) is is_ours
            assert (pools.unworked(world.ctx, world.model) is None) is is_ours
    finally:
        world.ctx.close()


async def test_a_page_says_who_may_work_the_model(postgres_url: str, tmp_path: Path) -> None:
    database = Database(url=postgres_url, insecure=True)
    world = TestController.build(tmp_path, Charms(tmp_path / "charms"), database)
    world.write(lambda tx: model_config.change(tx, {pools.POOL: "Far:/data"}))
    server = Loopback(world.ctx)
    await server.start()
    try:
        link = await server.link("admin")
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            await session.get(link)
            page = await session.get(link.partition("enter?")[0] + "m/admin/shop/log")
            text = await page.text()
    finally:
        await server.close()
        world.ctx.close()
    assert "No process works on the model now: it is in the pool Far:/data." in text
    assert "<code>pushjuju controller run</code> on the host Far; elsewhere with --pool Far:/data." in text
