"""Figures of the hot path; printed, only what can be counted is asserted."""

from __future__ import annotations

import statistics
import time

import pytest

from pushjuju.runner.session import MachineSession

from .conftest import Machine, hook_op, lines

ROUNDS = 60
TIME_TOOLS = """#!/usr/bin/perl
use Time::HiRes 'time';
my @t;
for (1..60) { my $s = time; system('config-get', 'title') == 0 or die; push @t, time - $s }
@t = sort { $a <=> $b } @t;
printf STDERR "median %.2f ms\\n", 1000 * $t[30];
"""


async def median_run(session: MachineSession, hook: str) -> float:
    """Return the median milliseconds of one hook, with its acknowledgement."""
    times = []
    for _ in range(ROUNDS):
        op = hook_op(hook)
        begin = time.perf_counter()
        await session.run(op)
        times.append(time.perf_counter() - begin)
        await session.ack(op["id"])
    return statistics.median(times) * 1000


@pytest.mark.bench
async def test_figures(machine: Machine) -> None:
    charm = machine.write_charm(install="exit 0")
    (charm / "hooks/start").symlink_to("/bin/true")
    begin = time.perf_counter()
    async with machine.session() as session:
        print(f"\nfirst contact, program sent: {(time.perf_counter() - begin) * 1000:.0f} ms")
        true, missing = await median_run(session, "start"), await median_run(session, "nothing")
        print(f"hook /bin/true, warm: {true:.2f} ms; missing handler: {missing:.2f} ms")
        begin = time.perf_counter()
        async with machine.session():
            print(f"second contact, server alive: {(time.perf_counter() - begin) * 1000:.0f} ms")
    assert await machine.gone()
    begin = time.perf_counter()
    async with machine.session():
        print(f"later contact, program cached: {(time.perf_counter() - begin) * 1000:.0f} ms")


@pytest.mark.bench
@pytest.mark.parametrize("client", ["native", "perl", "python"])
async def test_figures_of_a_tool_call(machine: Machine, client: str) -> None:
    machine.options["client"] = client
    machine.write_charm(config_changed=TIME_TOOLS)
    async with machine.session() as session:
        result = await session.run(hook_op("config-changed"))
    assert result["outcome"] == "ok", lines(result)
    print(f"\nhook tool call, {client}: {lines(result, 'stderr')}")
