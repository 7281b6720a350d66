"""What traces cost: nothing without them, and with them no statement and no frame more."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pushjuju.runner.push import bootstrap
from pushjuju.workers import traced
from tests.bench.figures import Report
from tests.bench.simulated import Phase, Simulation
from tests.bench.statements import counted
from tests.world.wire import WireMachine

TOOLS = 20  # calls of hook tools in each hook
ROUNDS = 5
MOST_BYTES = 24  # of a request, for the wish of times
_WRITES = ("INSERT", "UPDATE", "DELETE")
CALLS = {"calls": [["config-get", 1000 * number, 800, 0] for number in range(TOOLS)], "more": 0}


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[bool]:
    """Machines that tell the times of hook tools when they are asked; the hooks with and without the wish."""
    found: Counter[bool] = Counter()
    run = WireMachine._run

    def timed(machine: WireMachine, message: dict[str, Any], result: dict[str, Any]) -> None:
        found["timed" in message] += 1
        run(machine, message, result)
        if "timed" in message:
            result["timed"] = CALLS

    monkeypatch.setattr(WireMachine, "_run", timed)
    # On a busy computer, how many acknowledgements share a frame would depend on its load.
    monkeypatch.setattr(bootstrap, "COMPANY_WAIT", 0.0)
    return found


def at_rest(root: Path, size: int) -> Simulation:
    """Return a model whose units are at rest."""
    made = Simulation(root, size)
    made.deploy()
    made.measure("deploy")
    made.measure("first sweep", made.sweep)
    return made


def swept(made: Simulation, file: Path | None = None) -> tuple[Phase, int, Counter[str]]:
    """Run update-status on every unit, with traces into a file or without.

    Returns:
        The phase; the number of writes, since how often the driver reads the queue meanwhile depends on the
        computer; what was exchanged until the connections were closed, since the last acknowledgements may be
        sent only then.
    """
    before = Counter(asdict(made.cloud.tally))
    traces = traced.open_traces({"PUSHJUJU_TRACE_FILE": str(file)}, pytest.fail) if file else None
    with counted(made.world.ctx.store) as statements, traces.recording() if traces else nullcontext():
        phase = made.measure("sweep", made.sweep)
        writes = sum(text.startswith(_WRITES) for text in statements)
    exchanged = Counter(asdict(made.cloud.tally))
    exchanged.subtract(before)
    return phase, writes, exchanged


def test_traces_take_no_statement_and_no_frame_and_without_them_nothing_is_asked(
    tmp_path: Path, asked: Counter[bool]
) -> None:
    made, file = at_rest(tmp_path, 2), tmp_path / "traces"
    assert set(asked) == {False}
    off, writes, without = swept(made)
    assert set(asked) == {False}
    on, with_traces, exchanged = swept(made, file)
    made.world.ctx.close()
    assert (asked[True], with_traces) == (on.hooks, writes)
    assert on.hooks == off.hooks
    assert [exchanged[name] - without[name] for name in ("frames_out", "frames_in")] == [0, 0]
    assert exchanged["bytes_out"] - without["bytes_out"] <= MOST_BYTES * on.hooks
    sent = [json.loads(line)["resourceSpans"][0] for line in file.read_text().splitlines()]
    names = Counter(span["name"] for item in sent for span in item["scopeSpans"][0]["spans"])
    assert (names["hook update-status"], names["tool config-get"]) == (on.hooks, TOOLS * on.hooks)


@pytest.mark.bench
def test_a_hook_with_traces(tmp_path: Path, report: Report) -> None:
    made = at_rest(tmp_path, 40)
    times: dict[str, list[float]] = {"off": [], "on": []}
    for _ in range(ROUNDS):
        for name, file in (("off", None), ("on", tmp_path / "traces")):
            phase, *_ = swept(made, file)
            times[name].append(1000 * phase.cpu / phase.hooks)
    made.world.ctx.close()
    note = "processor time of the controller; played machines"
    report.add("a hook, traces off", times["off"], note=note)
    report.add(f"a hook, traces on, {TOOLS} hook tools", times["on"], note=f"{note}, spans into a file")
