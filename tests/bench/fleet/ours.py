"""pushjuju's part that no command does at once: `setup`, `hooks10`, `undo10`. Run as `ours.py FILE WORD`."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
from pathlib import Path

from pushjuju.charms.archive.pack import pack
from pushjuju.core.base import Base
from pushjuju.core.model.placement import Placement
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.model import models
from pushjuju.services.requests.application import new_application
from pushjuju.services.requests.relation import integrate
from pushjuju.store.datadir import DataDir
from pushjuju.workers.driver import Driver

OS = platform.freedesktop_os_release()
BASE = Base.parse(f"{OS['ID']}@{OS['VERSION_ID']}")
setting = json.loads(Path(sys.argv[1]).read_text())


async def setup(ctx: context.Context, model: str) -> None:
    """Take all hosts in, and deploy the charm to them."""
    from pushjuju.workers.provision.enlist import add_given_machine
    from pushjuju.workers.runtime import Runtime

    shop, at_once = Runtime(ctx), asyncio.Semaphore(10)

    async def take(host: str) -> None:
        async with at_once:
            target = f"ssh:root@{host}"
            await add_given_machine(shop, model, target, identities=[Path(setting["key"])])

    await asyncio.gather(*(take(host) for host in setting["hosts"]))
    await shop.close()
    folder = Path(setting["folder"])
    packed = pack(folder / "bench", folder / "bench.charm")
    places = [Placement.parse(str(number)) for number in range(len(setting["hosts"]))]
    request = new_application.NewApplication(
        application="bench", packed=packed, base=BASE, count=len(places), placements=places
    )
    new_application.add(ctx, model, request)
    packed = pack(folder / "sink", folder / "sink.charm")
    new_application.add(
        ctx, model, new_application.NewApplication(application="sink", packed=packed, base=BASE, count=0)
    )
    await settle(ctx, model)


async def hooks10(ctx: context.Context, model: str) -> None:
    """Ten relations with an application that has no units: ten relation-created hooks on each unit."""
    for number in range(10):
        integrate.integrate(ctx, model, f"bench:e{number}", "sink:all")
    await settle(ctx, model)


async def undo10(ctx: context.Context, model: str) -> None:
    """Their end: ten relation-broken hooks on each unit."""
    for number in range(10):
        integrate.remove_relation(ctx, model, [f"bench:e{number}", "sink:all"])
    await settle(ctx, model)


async def settle(ctx: context.Context, model: str) -> None:
    """Drive to rest."""
    settled = await Driver(ctx, model).settle()
    if settled.problems:
        raise SystemExit("\n".join(map(str, settled.problems)))


async def main() -> None:
    """Do one part."""
    ctx = context.open_context(
        DataDir(Path(os.environ["PUSHJUJU_DATA"])),
        "bench",
        environ=dict(os.environ),
        clock=context.SystemClock(),
    )
    model = models.resolve(ctx, "bench").uuid
    await {"setup": setup, "hooks10": hooks10, "undo10": undo10}[sys.argv[2]](ctx, model)


asyncio.run(main())
