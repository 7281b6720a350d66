"""A real machine: from nothing to active, what a hook costs, what stays behind."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from pushjuju.testing.machines import LocalCloud
from pushjuju.workers.driver import Driver
from tests.bench.figures import ROOT, Report
from tests.bench.hot import CHARM, Hot, memory

pytestmark = [pytest.mark.machine, pytest.mark.asyncio(loop_scope="module")]
HELLO = ROOT / "contrib" / "charms" / "hello-page"
HOOKS = 100
VISITS = 30
CONTACTS = 10
DEPLOYS = 3
LINGER_S = 0.3


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def hot(local_cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hot]:
    """One unit of a charm whose hooks do nothing, at rest."""
    made = Hot(local_cloud.data_dir(), local_cloud.base)
    made.deploy(CHARM, tmp_path_factory.mktemp("quick"))
    await made.settle()
    yield made
    made.close()
    local_cloud.sweep_data_dir(made.ctx.controller.machines)


async def test_a_hook_is_one_frame_out_and_one_frame_back(hot: Hot) -> None:
    async with hot.session() as session:
        for _ in range(3):
            hot.change()
            hook = await hot.hook(session)
            hot.rest()
            assert hook.frames == (1, 1)


async def test_a_controller_sends_one_frame_for_each_hook(hot: Hot) -> None:
    seen: dict[str, list[tuple[int, int]]] = {"prepared": [], "result": []}

    def note(step: str) -> None:
        if step in seen:
            ((session, _),) = driver.runtime._sessions.values()
            seen[step].append((session.frames_out, session.frames_in))

    hot.change()
    driver = Driver(hot.ctx, hot.model, checkpoint=note)
    assert not (await driver.settle()).problems
    (before,), (after,) = seen["prepared"], seen["result"]
    assert (after[0] - before[0], after[1] - before[1]) == (1, 1)


async def test_nothing_of_ours_runs_after_the_linger_time(hot: Hot) -> None:
    async with hot.session(linger=LINGER_S) as session:
        hot.change()
        await hot.hook(session)
        hot.rest()
        assert hot.processes("pushjuju")
    await _until(lambda: not hot.processes("pushjuju"))


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - nothing tells of the end of a process elsewhere
            await asyncio.sleep(0.02)


@pytest.mark.bench
async def test_deploy(report: Report, local_cloud: LocalCloud, tmp_path: Path) -> None:
    samples = []
    for _ in range(DEPLOYS):
        begin = time.perf_counter()
        fresh = Hot(local_cloud.data_dir(), local_cloud.base)
        try:
            fresh.deploy(HELLO, tmp_path)
            await fresh.settle()
            samples.append((time.perf_counter() - begin) * 1000)
        finally:
            fresh.close()
            local_cloud.sweep_data_dir(fresh.ctx.controller.machines)
    note = "bootstrap, model, machine, charm and six hooks; base built before"
    report.add("deploy of hello-page, nothing to active", samples, target="< 5000 ms", note=note)


@pytest.mark.bench
async def test_contact(report: Report, hot: Hot) -> None:
    async def once(**options: float) -> float:
        begin = time.perf_counter()
        async with hot.session(**options):
            return (time.perf_counter() - begin) * 1000

    await once()
    alive = [await once() for _ in range(CONTACTS)]
    gone = []
    for _ in range(CONTACTS):
        await once(linger=LINGER_S)
        await _until(lambda: not hot.processes("pushjuju"))
        gone.append(await once(linger=LINGER_S))
    report.add("contact, its runner still there", alive, note="SSH login until the machine's first message")
    report.add("contact, its runner ended before", gone)


@pytest.mark.bench
async def test_hook(report: Report, hot: Hot) -> None:
    async with hot.session() as session:
        bare = statistics.median((await hot.timed(session))["hook"])
        hooks = []
        for _ in range(HOOKS):
            hot.change()
            hooks.append(await hot.hook(session))
            hot.rest()
    report.add(
        "overhead of a hook", [hook.wall - bare for hook in hooks], target="<= 10 ms",
        note=f"decision to acknowledgement, warm connection, without the hook's own {bare:.2f} ms",
    )  # fmt: skip
    report.add("... decide and prepare", [hook.turn for hook in hooks])
    report.add("... request to result", [hook.run for hook in hooks], note="the hook's run is in it")
    report.add(
        "... of it, on the machine", [hook.machine for hook in hooks], note="two fsyncs and the hook's run"
    )
    report.add("... commit", [hook.commit for hook in hooks])
    report.add("controller's processor time of a hook", [hook.cpu for hook in hooks])


@pytest.mark.bench
async def test_visit(report: Report, hot: Hot) -> None:
    async with hot.shop() as shop:
        await hot.visit(shop)
        idle = [await hot.visit(shop) for _ in range(VISITS)]
        busy = []
        for _ in range(VISITS):
            hot.change()
            busy.append(await hot.visit(shop))
    report.add("a lane looks, nothing is due", idle)
    report.add(
        "a lane looks, runs one hook, comes to rest", busy, note="warm connection, the hook's run is in it"
    )


@pytest.mark.bench
@pytest.mark.parametrize(
    ("client", "target"), [("native", "<= 1 ms"), ("perl", "<= 4 ms"), ("python", "<= 10 ms")]
)
async def test_hook_tool(report: Report, hot: Hot, client: str, target: str) -> None:
    async with hot.session(client=client) as session:
        found = await hot.timed(session)
    true = statistics.median(found["true"])
    report.add(f"a hook tool call, {client}", found["tool"], target=target, note=f"/bin/true: {true:.2f} ms")


@pytest.mark.bench
async def test_memory(report: Report, hot: Hot) -> None:
    async with hot.session() as session:
        for _ in range(HOOKS):
            hot.change()
            await hot.hook(session)
            hot.rest()
        await asyncio.sleep(0.5)
        (server,), spares = hot.processes("pushjuju-server"), hot.processes("pushjuju-spare")
        used = [memory(pid) for pid in (server, *spares)]
    own = sum(private for _, private in used)
    report.add(
        "idle memory of the runner", [used[0][0]], "MiB", target="< 25 MiB",
        note=f"resident, after {HOOKS} hooks; with the spare process {own:.1f} MiB are its own",
    )  # fmt: skip
