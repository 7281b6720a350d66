"""The last line of a hook, which is only shown."""

from __future__ import annotations

import pytest

from pushjuju.runner.session import TAIL
from pushjuju.services.entities.basis import logs
from pushjuju.workers.machine.running_operations import EventSink
from tests.waiting import until
from tests.world.controller import TestController


async def test_a_line_that_is_only_shown_is_kept_nowhere(runtime: TestController) -> None:
    runtime.deploy("web")
    dispatch = runtime.until("install", "web/0")
    shown: list[str] = []
    before = logs.newest(runtime.ctx.store, runtime.model)
    sink = EventSink(runtime.ctx, dispatch.id, shown.append)
    sink.take(TAIL, {"k": "tail", "line": "Setting up nginx"})
    sink.take(TAIL, {"k": "log", "level": "ERROR", "module": "m", "message": "forged", "line": ""})
    await until(lambda: shown == ["Setting up nginx", "forged"])
    sink.close()
    assert logs.newest(runtime.ctx.store, runtime.model) == before


@pytest.mark.parametrize("line", ["", "  ", 7, None])
async def test_nothing_is_shown_of_nothing(runtime: TestController, line: object) -> None:
    shown: list[str] = []
    sink = EventSink(runtime.ctx, "x", shown.append)
    sink.take(TAIL, {"k": "tail", "line": line if isinstance(line, str) else ""})
    sink.close()
    assert shown == []
    quiet = EventSink(runtime.ctx, "x")  # nobody looks on, and it says something all the same
    quiet.take(TAIL, {"k": "tail", "line": "unasked"})
    quiet.close()
