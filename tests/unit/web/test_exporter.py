"""The metrics of a controller process at an address of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from functools import partial
from pathlib import Path
from typing import IO

import aiohttp
import pytest

from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import NotValid
from pushjuju.services.views.metrics import exposition
from pushjuju.store.processes import process_owner
from pushjuju.store.queue import LEASE_S, WorkQueue
from pushjuju.web.exporter import exporting
from pushjuju.web.server import Address
from pushjuju.workers.counts import Counts
from pushjuju.workers.outcome import Contact, Outcome
from tests.waiting import comes
from tests.world.controller import TestController
from tests.world.runtime import driver


async def test_a_process_serves_its_own_metrics_without_a_login(runtime: TestController) -> None:
    counts = Counts()
    runtime.deploy()
    made = driver(runtime)
    made.counts = counts
    await made.settle()
    own = partial(counts.of_process, made.ctx)
    async with (
        exporting(runtime.ctx, Address("127.0.0.1", 0), own) as (host, port),
        aiohttp.ClientSession(f"http://{host}:{port}") as session,
    ):
        answer = await session.get("/metrics")
        lines = (await answer.text()).splitlines()
        assert (answer.status, answer.headers["Content-Type"]) == (200, exposition.CONTENT_TYPE)
        asked = await session.get("/metrics", headers={"Accept": "application/openmetrics-text"})
        assert asked.headers["Content-Type"] == exposition.OPEN_CONTENT_TYPE
        page = await session.get("/metrics", headers={"Origin": "http://example.com"})
        assert (page.status, (await session.get("/")).status) == (403, 404)
        with pytest.raises(NotValid, match=f"metrics cannot be served at 127.0.0.1:{port}: "):
            async with exporting(runtime.ctx, Address("127.0.0.1", port), list):
                pass
    assert 'pushjuju_units{model="admin/shop",application="web",status="unknown"} 1' in lines
    (claims,) = [
        int(line.split()[1]) for line in lines if line.startswith('pushjuju_claims_total{kind="free"}')
    ]
    assert claims >= 2
    assert f"pushjuju_claim_latency_seconds_count {claims}" in lines
    assert {"pushjuju_claimed_keys 0", "pushjuju_leases_lost_total 0"} <= set(lines)
    assert 'pushjuju_claims_total{kind="takeover"} 0' in lines
    hooks = sum(int(line.split()[1]) for line in lines if line.startswith("pushjuju_hooks_total{"))
    assert f"pushjuju_hook_overhead_seconds_count {hooks}" in lines
    (hits,) = [line for line in lines if line.startswith('pushjuju_cache_reads_total{result="hit"}')]
    assert int(hits.split()[1]) > 10
    assert 'pushjuju_cache_dropped_total{reason="rollback"} 0' in lines


def test_the_overhead_of_hooks_is_the_time_of_contacts_without_the_runs() -> None:
    counts = Counts()
    now = SystemClock().now()
    made = (
        ("ok", 10.0, [2.0, 3.0]),
        ("ok", 7.0, []),
        ("failed", 1.0, [4.0]),
    )  # the last ran before its contact
    contacts = tuple(Contact(result, now, took, runs=runs) for result, took, runs in made)
    counts.note(Outcome(contacts=contacts[:2]))
    counts.note(Outcome(contacts=contacts[2:]))
    found = {item.suffix: item.value for item in counts.samples() if item.family == "hook_overhead_seconds"}
    assert found == {"_sum": 5.0, "_count": 3}


async def test_a_key_that_a_dead_process_held_counts_as_a_takeover(runtime: TestController) -> None:
    runtime.deploy()
    made = driver(runtime)
    made.counts = counts = Counts()
    gone = f"{process_owner().partition(':')[0]}:4194304:1"
    claims = WorkQueue(runtime.ctx.store, gone).claim_some(runtime.model, runtime.clock.now(), 1)
    runtime.clock.advance(7)
    await made.settle()
    assert claims
    found = {(item.family, item.labels): item.value for item in counts.samples() if not item.suffix}
    assert found["claims_total", ("takeover",)] == 1
    assert found["takeovers_total", ("presence",)] == 1
    assert found["takeovers_total", ("lease",)] == 0
    waits = {item.suffix: item.value for item in counts.samples() if item.family == "claim_latency_seconds"}
    assert waits["_sum"] >= 7


async def test_a_key_whose_lease_has_ended_counts_as_taken_over_by_the_lease(
    runtime: TestController,
) -> None:
    runtime.deploy()
    made = driver(runtime)
    made.counts = counts = Counts()
    elsewhere = WorkQueue(runtime.ctx.store, "elsewhere.example:1:1")
    assert elsewhere.claim_some(runtime.model, runtime.clock.now(), 1)
    runtime.clock.advance(LEASE_S + 1)
    await made.settle()
    found = {(item.family, item.labels): item.value for item in counts.samples() if not item.suffix}
    assert found["takeovers_total", ("lease",)] == 1
    assert found["takeovers_total", ("presence",)] == 0


def test_controller_run_says_where_its_metrics_are(runtime: TestController, tmp_path: Path) -> None:
    runtime.focus()
    said = tmp_path / "said"
    with said.open("w") as stream:
        process = _controller_run(runtime, tmp_path, "0", stream)
    try:
        comes(lambda: "/metrics\n" in said.read_text(), said.read_text())
        (address,) = [word for word in said.read_text().split() if word.startswith("http://127.0.0.1:")]
        comes(lambda: b"pushjuju_driver_info{" in urllib.request.urlopen(address, timeout=10).read(), address)
    finally:
        process.terminate()
        assert process.wait(timeout=60) == 0, said.read_text()
    assert runtime.tables()["process"] == []


def test_controller_run_refuses_a_port_that_cannot_be(runtime: TestController, tmp_path: Path) -> None:
    runtime.focus()
    process = _controller_run(runtime, tmp_path, "65536", subprocess.PIPE)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 1
    assert 'ERROR "127.0.0.1:65536" is not an address to listen at: ' in said
    assert runtime.tables()["process"] == []


def _controller_run(
    runtime: TestController, home: Path, listen: str, said: IO[str] | int
) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "pushjuju.cli", "controller", "run", "--metrics", listen]
    env = {
        "PATH": "/usr/bin:/bin", "HOME": str(home), "PUSHJUJU_DATA": str(runtime.ctx.datadir.root),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }  # fmt: skip
    return subprocess.Popen(
        argv, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, text=True
    )
