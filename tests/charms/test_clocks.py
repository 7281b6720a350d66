"""Clocks that are wrong or jump: libfaketime under real commands, and under our program on a real machine."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.charms.client import REPOSITORY, Client

pytestmark = pytest.mark.machine

TALLY = REPOSITORY / "tests" / "chaos" / "charms" / "tally"
WRONG_PYTHON = """#!/bin/sh
export LD_PRELOAD=/usr/lib/libfaketime.so.1 FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1
exec /usr/bin/{real} "$@"
"""
FAILS = '[ "$hook" != config-changed ] || [ -e /run/well ]'
SLOW = '[ "$hook" != config-changed ] || { juju-log begins; sleep 1.5; }'


def _library() -> Path:
    found = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if found is None:
        pytest.skip("not installed: faketime")
    return found


class Clocked(Client):
    """A person whose clock is what a test says."""

    def set_clock(self, by: str) -> None:
        """Move the clock of all commands, also of those that run; `by` as in `+365d`, `-1h`, `+0`."""
        new = self.work / "clock.new"
        new.write_text(by + "\n")
        new.rename(self.work / "clock")

    def again(self) -> timedelta:
        """Return in how long the unit is looked at again, by the right clock."""
        found: list[str] = []

        def waits() -> list[str]:  # not yet when a process is about to give the machine back
            listed = self.run("explain", "tally/0", env={"FAKETIME_TIMESTAMP_FILE": os.devnull})
            found[:] = re.findall(r"\d\d \w{3} \d{4} \d\d:\d\d:\d\dZ", listed)
            return found

        self.until(waits)
        return datetime.strptime(found[0], "%d %b %Y %H:%M:%SZ").replace(tzinfo=UTC) - datetime.now(UTC)

    def begun(self) -> int:
        """Return how often config-changed began on the machine."""
        return int(self.on("tally/0", "grep -c ^config-changed /var/log/tally || true"))

    def root(self) -> Path:
        """Return the root directory of the machine."""
        return next(self.data.glob("controllers/*/machines/local/machines/*/root"))


@pytest.fixture(scope="module")
def clocked(shared_client: Client) -> Clocked:
    """One unit at rest; its charm counts its hooks."""
    client = Clocked(shared_client.data, shared_client.work)
    client.run("bootstrap", "local")
    client.run("add-model", "m")
    client.run("deploy", TALLY)
    faked = {"LD_PRELOAD": str(_library()), "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1"}
    client.environ |= faked | {"FAKETIME_TIMESTAMP_FILE": str(client.work / "clock")}
    client.set_clock("+0")
    return client


@pytest.fixture
def well(clocked: Clocked) -> Iterator[Clocked]:
    """The unit at rest, before and after."""
    yield clocked
    clocked.set_clock("+0")
    clocked.run("config", "tally", "--reset", "do")
    assert clocked.agents("tally") == {"tally/0": ("active", "idle")}


def test_clock_jumps_between_commands(well: Clocked) -> None:
    """A year ahead and back, then less far and back, then an hour back: nothing waits, nothing is lost."""
    ran = well.begun()
    for number, by in enumerate(("+365d", "+0", "+100d", "+0", "-1h", "+0", "+1h", "+0")):
        well.set_clock(by)
        well.run("config", "tally", f"number={number + 2}")
        assert well.agents("tally") == {"tally/0": ("active", "idle")}
        if by == "+0":
            assert timedelta() < well.again() < timedelta(minutes=7)
    assert well.begun() == ran + 8


def test_hook_that_failed_ahead_of_time_is_retried_by_the_next_command(well: Clocked) -> None:
    well.set_clock("+365d")
    well.fail("config", "tally", f"do={FAILS}")
    well.set_clock("+0")
    refused = well.fail("config", "tally", "number=40")
    assert "config-changed" in refused.error
    assert 'ran "' not in refused.stderr  # lines of other hooks, by whichever clock
    well.on("tally/0", "touch /run/well")
    well.run("resolved", "tally/0")
    assert well.agents("tally")["tally/0"][1] == "idle"


def test_clock_jumps_under_a_controller_that_runs(well: Clocked) -> None:
    ran, serving = well.begun(), well.start("controller", "run")
    try:
        for number, by in enumerate(("+0", "+365d", "-1h", "+1h", "+0")):
            well.set_clock(by)
            well.run("config", "tally", f"number={number + 60}")
            well.until(lambda wanted=ran + number + 1: well.begun() == wanted)
            well.until(lambda: well.agents("tally")["tally/0"][1] == "idle")
        assert timedelta() < well.again() < timedelta(minutes=7)
    finally:
        serving.terminate()
        said = serving.communicate(timeout=30)
    assert (serving.returncode, "Traceback" in said[1]) == (0, False), said


def test_a_task_is_waited_for_as_long_as_was_said_while_the_clock_jumps(well: Clocked) -> None:
    waiting = well.start(
        "exec", "--unit", "tally/0", "--wait", "60s", "--", "touch /run/began; sleep 3; echo over"
    )
    well.until(lambda: (well.root() / "run").exists() and well.on("0", "ls /run").find("began") >= 0)
    well.set_clock("+365d")
    stdout, stderr = waiting.communicate(timeout=60)
    assert (waiting.returncode, stdout.strip()) == (0, "over"), stderr


def test_clock_of_a_machine_is_off_and_jumps(well: Clocked) -> None:
    """By a year each way, and in the middle of a hook: times are the controller's, hooks run once."""
    root, began, ran = well.root(), datetime.now(UTC).replace(microsecond=0), well.begun()
    python = root / "usr/bin/python3"
    real = python.readlink()
    shutil.copy(_library(), root / "usr/lib/libfaketime.so.1")
    clock = root / "etc/faketimerc"
    clock.write_text("-365d\n")
    python.unlink()
    python.write_text(WRONG_PYTHON.format(real=real))
    python.chmod(0o755)
    well.on("0", "pkill ^pushjuju- || true")
    try:
        well.run("config", "tally", f"do={SLOW}")
        for number, by in enumerate(("+365d", "-1h", "+0")):
            changing = well.start("config", "tally", f"number={number + 80}")
            well.until(lambda wanted=ran + number + 2: well.begun() == wanted)
            clock.write_text(by + "\n")
            _, stderr = changing.communicate(timeout=60)
            assert changing.returncode == 0, stderr
        assert well.run("exec", "--unit", "tally/0", "--", "echo said") == "said\n"
    finally:
        python.unlink()
        python.symlink_to(real)
        well.on("0", "pkill ^pushjuju- || true")
    assert well.begun() == ran + 4
    listed = [run for run in well.json("hooks", "tally/0") if run["hook"] == "config-changed"]
    runs = [run for run in listed if began <= datetime.fromisoformat(run["started"]) <= datetime.now(UTC)]
    assert len(runs) == 4, listed
    assert all(run["seconds"] < 60 for run in runs), runs
