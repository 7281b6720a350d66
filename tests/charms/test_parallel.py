"""Several units on one real machine: what runs beside what."""

from __future__ import annotations

import re

import pytest

from tests.charms.client import HELLO, Client

pytestmark = pytest.mark.machine

# Each waits for the other one's file, so they come to an end only when they run at the same time.
MEET = """
touch "/tmp/met-${JUJU_UNIT_NAME%%/*}"
for _ in $(seq 100); do
  [ -e /tmp/met-left ] && [ -e /tmp/met-right ] && exit 0
  sleep 0.1
done
exit 1
"""
ALONE = "mkdir /tmp/alone || exit 1; sleep 0.3; rmdir /tmp/alone"


@pytest.fixture(scope="module")
def pair(shared_client: Client) -> Client:
    """Two applications on one machine."""
    shared_client.run("deploy", HELLO, "left")
    shared_client.run("deploy", HELLO, "right", "--to", "0", "--config", "port=8081")
    return shared_client


def codes(client: Client, *words: str) -> list[int]:
    found = client.json("exec", *words)
    return [task["results"]["return-code"] for task in found.values()]


def test_commands_on_two_units_of_a_machine_run_at_the_same_time(pair: Client) -> None:
    assert codes(pair, "--unit", "left/0,right/0", MEET) == [0, 0]


def test_commands_that_must_not_be_parallel_run_one_by_one(pair: Client) -> None:
    assert codes(pair, "--parallel=false", "--unit", "left/0,right/0", ALONE) == [0, 0]


def test_a_hook_of_one_unit_runs_beside_commands_on_another(pair: Client) -> None:
    until = "for _ in $(seq 100); do curl -sf localhost:8082 && exit 0; sleep 0.1; done; exit 1"
    done = pair.try_run("exec", "--background", "--unit", "left/0", until)
    found = re.search(r"with task (\d+)\n", done.stderr)
    assert found, str(done)
    pair.run("config", "right", "port=8082")
    assert pair.json("show-task", found[1], "--wait", "20s")["results"]["return-code"] == 0
    pair.end_processes()
