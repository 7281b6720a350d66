"""Random faults on a real machine: what happens is drawn from a seed, when it hits is up to the machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from random import Random

from pushjuju.plugins.providers.local import machines
from pushjuju.plugins.providers.nspawn.cgroups import Cgroup
from pushjuju.services.requests.application import unit_requests
from tests.chaos.controller import Drive, RealController, RealMachine
from tests.chaos.storm import checkpoints
from tests.world.init_process import init_process
from tests.world.said import problems_of

LEASE_S = 1.5
UNIT = "ledger/0"
OTHER = "other"
FAULTS = (
    "kill",
    "kill",
    "die",
    "die",
    "freeze",
    "freeze",
    "join",
    "link",
    "drop",
    "cut",
    "runner",
    "reboot",
    "off",
)
OURS = ("pushjuju-attach", "pushjuju-server", "pushjuju-hook", "pushjuju-spare")
MOST_PROCESSES = 4
# Each hook leaves its begin and its end with the id of its operation, and counts in what it writes.
LEDGER = """#!/bin/bash
hook=${JUJU_DISPATCH_PATH##*/}
log=/var/log/${JUJU_UNIT_NAME//\\//-}
echo "begin $hook $JUJU_CONTEXT_ID" >>"$log"
set -e
count=$(state-get count 2>/dev/null || true)
eval "$(config-get do)"
if [ "$(is-leader)" = True ]; then leader-set "last=$JUJU_CONTEXT_ID"; fi
state-set "count=$((${count:-0} + 1))" "last=$JUJU_CONTEXT_ID"
if [ "$hook" = start ]; then status-set active; fi
if [ "$hook" = config-changed ] && [ -e /etc/ledger-reboot ]; then rm /etc/ledger-reboot; juju-reboot; fi
echo "end $hook $JUJU_CONTEXT_ID" >>"$log"
"""


class Breakage:
    """One machine with one unit, and many schedules one after the other."""

    def __init__(self, world: RealController) -> None:
        self.world = world
        self.story: list[str] = []
        self.struck: Counter[str] = Counter()
        self._processes: list[Drive] = []
        self._stack = ExitStack()
        self._revision = 0

    # --- what people ask for ------------------------------------------------------------------------------

    def deploy(self) -> None:
        """Deploy the unit."""
        self.world.deploy("sleep 0.1", name="ledger", dispatch=LEDGER)

    def ask(self, chance: Random) -> None:
        """Want something that makes hooks run."""
        word = chance.choice(("config", "config", "refresh", "other", "reboot"))
        self.story.append(f"> {word}")
        if word == "refresh":
            self._revision += 1
            self.world.refresh("ledger", force=True, dispatch=LEDGER, revision=str(self._revision))
        elif word == "other" and self._machine_is_there():
            self._other()
        else:
            if word == "reboot" and self._machine_is_there():
                (self.world.machine().root / "etc/ledger-reboot").touch()
            self.world.config("ledger", number=str(chance.randint(2, 10**9)))

    def _other(self) -> None:
        if any(unit.startswith(OTHER) for unit in self.world.units()):
            with contextlib.suppress(Exception):
                self.world.remove(OTHER)
        else:
            self.world.deploy("", name=OTHER, to=["0"], dispatch=LEDGER)

    def _machine_is_there(self) -> bool:
        return bool(self.world.layout.records()) and self.world.machine().record.ready

    # --- one schedule -------------------------------------------------------------------------------------

    async def run(self, seed: int) -> None:
        """Let things fail while hooks run, then let everything come to rest, and look."""
        chance = Random(seed)
        self.story.append(f"--- seed {seed}")
        with self._stack:
            self._start(seed if chance.random() < 0.5 else None)
            for _ in range(chance.randint(0, 1)):
                self._start()
            for _ in range(chance.randint(1, 4)):
                await asyncio.sleep(chance.uniform(0, 0.8))
                await self._happen(chance.choice(FAULTS), chance)
                if chance.random() < 0.3:
                    self.ask(chance)
            await asyncio.sleep(chance.uniform(0, 0.5))
            self._thaw()
        self._processes = []
        await self.rest()
        self.check()

    def _start(self, die: int | None = None) -> None:
        args = ["--lease", str(LEASE_S), "--name-operations"]
        if die is not None:
            step = checkpoints()[die % len(checkpoints())]
            args += ["--die-file", str(self.world.work / f"died-{die}"), "--steps", step]
            self.story.append(f"a process that dies at {step}")
        if sum(drive.process.poll() is None for drive in self._processes) < MOST_PROCESSES:
            self._processes.append(self._stack.enter_context(self.world.process(*args)))

    def _thaw(self) -> None:
        for drive in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(drive.process.pid, signal.SIGCONT)

    # --- what happens -------------------------------------------------------------------------------------

    async def _happen(self, what: str, chance: Random) -> None:
        self.story.append(f"! {what}")
        self.struck[what] += 1
        living = [drive for drive in self._processes if drive.process.poll() is None]
        if what in ("kill", "freeze") and living:
            drive = chance.choice(living)
            os.kill(drive.process.pid, signal.SIGKILL if what == "kill" else signal.SIGSTOP)
            self._start()
            if what == "freeze":
                await asyncio.sleep(chance.uniform(LEASE_S, 2 * LEASE_S))
                os.kill(drive.process.pid, signal.SIGCONT)
        elif what in ("join", "die"):
            self._start(chance.randint(0, 999) if what == "die" else None)
        elif self._machine_is_there():
            with contextlib.suppress(AssertionError, subprocess.CalledProcessError, StopIteration):
                await self._break(what, self.world.machine(), chance)  # it may be down, or boot just now

    async def _break(self, what: str, machine: RealMachine, chance: Random) -> None:
        seconds = chance.uniform(0.05, 1.0)
        match what:
            case "link":
                machine.link("down")
                await asyncio.sleep(seconds)
                machine.link("up")
            case "drop":
                black_hole(machine)
                await asyncio.sleep(seconds)
                heal(machine)
            case "cut":
                machine.cut_connections()
            case "runner":
                machine.kill(*OURS)
            case "reboot":
                machine.run("systemctl", "reboot", *chance.choice((["--no-block"], ["-ff"])))
            case "off":
                await asyncio.to_thread(machines.halt, machine.layout, machine.record.id, 0.0)
                await asyncio.sleep(seconds)
                await self._switch_on()

    async def _switch_on(self) -> None:
        for record in self.world.layout.records():
            if record.ready and not Cgroup.of(self.world.layout.cgroup(record.id)).populated():
                await asyncio.to_thread(machines.resume, self.world.layout, record.id)

    # --- the end ------------------------------------------------------------------------------------------

    async def rest(self) -> None:
        """Let everything answer, and people resolve what failed, until all is at rest."""
        for _ in range(12):
            await self._switch_on()
            for record in self.world.layout.records():
                with contextlib.suppress(AssertionError, subprocess.CalledProcessError):
                    heal(RealMachine(layout=self.world.layout, record=record))
            self.world.work_now()
            settled = await self.world.settle(90)
            if not settled.problems:
                return
            self.story += problems_of(settled)
            unit_requests.resolve_all(self.world.ctx, self.world.uuid, retry=True)
            await asyncio.sleep(0.3)
        raise AssertionError(f"never at rest: {problems_of(settled)}")

    def check(self) -> None:
        """Hold what the machine wrote down against what the store says."""
        machine = self.world.machine()
        for path in (machine.root / "var/log").glob(f"{OTHER}-*"):
            once(path)
        begun, ended = once(machine.root / "var/log/ledger-0")
        rows = hooks_in_store(self.world.ctx.controller.store_path, UNIT)
        assert set(begun) <= set(rows), f"the store never heard of {set(begun) - set(rows)}"
        good = [name for name, (state, outcome) in rows.items() if outcome == "ok"]
        assert set(good) <= set(ended), f"committed and not run to the end: {set(good) - set(ended)}"
        assert {state for state, _ in rows.values()} <= {"committed"}, rows
        kept = self._state()
        assert kept.get("count") == str(len(good)), f"{kept}, and {len(good)} hooks ran well"
        assert kept.get("last") in good
        assert self.world.agent(UNIT) == ("idle", "")
        assert not self.world.open_operations()

    def _state(self) -> dict[str, str]:
        with self.world.ctx.read(self.world.uuid) as tx:
            rows = tx.rows("charm_state_list", unit=UNIT)
        return {row["key"]: row["value"] for row in rows}


def once(path: Path) -> tuple[list[str], list[str]]:
    """Return the operations that began and those that ended in a log; fail when one did twice."""
    words = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    begun, ended = ([name for word, _, name in words if word == kind] for kind in ("begin", "end"))
    for names in (begun, ended):
        twice = [name for name, count in Counter(names).items() if count > 1]
        assert not twice, f"run twice: {twice}"
    assert set(ended) <= set(begun)
    return begun, ended


def hooks_in_store(path: Path, unit: str) -> dict[str, tuple[str, str]]:
    """Return the hooks of a unit as the store knows them: operation -> state and outcome."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        query = "SELECT id, state, outcome, name FROM operation WHERE unit = ? AND name NOT LIKE 'charm %'"
        return {name: (state, outcome) for name, state, outcome, _ in connection.execute(query, [unit])}
    finally:
        connection.close()


def black_hole(machine: RealMachine) -> None:
    """Let a machine neither hear nor say anything, without a word to those who talk to it."""
    _net(machine, "add table inet chaos")
    for hook in ("input", "output"):
        rule = f"{{ type filter hook {hook} priority 0 ; policy drop ; }}"
        _net(machine, f"add chain inet chaos {hook} {rule}")


def heal(machine: RealMachine) -> None:
    """Give a machine its network back."""
    machine.link("up")
    with contextlib.suppress(subprocess.CalledProcessError):
        _net(machine, "delete table inet chaos")


def _net(machine: RealMachine, command: str) -> None:
    init = init_process(machine.layout.cgroup(machine.record.id))
    assert init, "the machine does not run"
    argv = ["nsenter", "--target", str(init), "--net", "nft", *command.split()]
    subprocess.run(argv, check=True, capture_output=True, timeout=30)
