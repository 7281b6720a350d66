"""Serves the metrics of a controller process at an address of their own, without TLS and without a login."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.views.metrics import exposition
from pushjuju.services.views.metrics.reading import Sample
from pushjuju.web.pool import Pool
from pushjuju.web.server import Address, reopened

_GRACE_S = 1.0


@asynccontextmanager
async def exporting(
    ctx: Context, listen: Address, own: Callable[[], Sequence[Sample]]
) -> AsyncIterator[tuple[str, int]]:
    """Serve `/metrics` until the block ends; yield host and port.

    Pages of a browser are refused, so that no site reads the metrics of its visitor's network.

    Args:
        own: Returns the metrics of this process; called in the event loop.
    """
    pool = Pool(lambda: reopened(ctx), threads=1)

    async def answer(request: web.Request) -> web.Response:
        if "Origin" in request.headers or "Sec-Fetch-Site" in request.headers:
            raise web.HTTPForbidden(text="metrics are not for pages of a browser\n")
        more = own()
        per_unit = request.query.get("per-unit") == "true"
        is_open = exposition.wants_open_metrics(request.headers.get("Accept", ""))
        text = await pool.run(
            lambda opened: exposition.text(opened, more, per_unit=per_unit, open_metrics=is_open)
        )
        kind = exposition.content_type(open_metrics=is_open)
        return web.Response(body=text.encode(), headers={"Content-Type": kind})

    made = web.Application()
    made.router.add_get("/metrics", answer)
    runner = web.AppRunner(made, access_log=None, shutdown_timeout=_GRACE_S)
    await runner.setup()
    try:
        site = web.TCPSite(runner, listen.host, listen.port)
        await site.start()
        yield runner.addresses[0][:2]
    except OSError as error:
        raise NotValid(
            f"metrics cannot be served at {listen.host}:{listen.port}: {error.strerror or error}"
        ) from error
    finally:
        await runner.cleanup()
        await pool.close()
