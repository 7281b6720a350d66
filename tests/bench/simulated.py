"""One controller, many played machines: `python -m tests.bench.simulated --machines 1000`.

Prints JSON. A process of its own, so that its processor time and memory are the controller's and no test's.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import jump_hosts
from pushjuju.services.requests.application import new_application, settings, update_status
from pushjuju.services.requests.application.new_application import NewApplication
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.relation import integrate
from pushjuju.store.rows.records import Unit
from tests.world import wire
from tests.world.charms import UBUNTU, Charms
from tests.world.controller import TestController
from tests.world.wire import WireCloud

SPREAD = 4  # machines that the applications of one stack share; each has one unit on every one of them
STACK: dict[str, dict[str, Any]] = {
    "web": {"requires": {"db": {"interface": "sql"}, "cache": {"interface": "mem"}}},
    "db": {"provides": {"server": {"interface": "sql"}}},
    "cache": {"provides": {"fast": {"interface": "mem"}}},
    "log": {},
    "mon": {},
}
PAIRS = (("web", "db"), ("web", "cache"))
PEERS = {"cluster": {"interface": "peer"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What one drive to rest cost.

    Attributes:
        cpu: Seconds of processor time of the controller, the played machines taken off.
        rss: Peak memory of the process until now, MiB.
    """

    name: str
    wall: float
    cpu: float
    hooks: int
    turns: int
    frames_out: int
    frames_in: int
    bytes_out: int
    bytes_in: int
    rss: float


class Simulation:
    """A model of stacks on played machines; `first`: as for `WireCloud`."""

    def __init__(
        self, root: Path, size: int, world: TestController | None = None, first: int | None = None
    ) -> None:
        self.world = world = world or TestController.build(root, Charms(root / "charms"))
        self.charms = world.charms
        if isinstance(world.ctx.store.place, Path):
            world.ctx.store._connection.execute("PRAGMA synchronous = FULL")
        self.cloud = WireCloud(first)
        self.size = size
        self.phases: list[Phase] = []

    def packed(self, name: str) -> PackedCharm:
        """Return the charm of an application of the stack; those with relations have peers."""
        peers = PEERS if name == "db" else None
        return self.charms.make(name, peers=peers, config={"title": {"type": "string"}}, **STACK[name])

    def deploy(self) -> None:
        """Ask for all machines, applications and relations; nothing runs yet."""
        world = self.world
        for first in range(0, self.size, SPREAD):
            hosts = range(first, min(first + SPREAD, self.size))
            world.write(lambda tx, hosts=hosts: [self._machine(tx) for _ in hosts])
            places = [Placement(PlacementKind.MACHINE, str(host)) for host in hosts]
            for name in STACK:
                request = NewApplication(
                    application=f"{name}-s{first}x", packed=self.packed(name), base=UBUNTU,
                    count=len(places), placements=places,
                )  # fmt: skip
                new_application.add(world.ctx, world.model, request)
            for one, other in PAIRS:
                integrate.integrate(world.ctx, world.model, f"{one}-s{first}x", f"{other}-s{first}x")

    def _machine(self, tx: Any) -> None:
        machines.new_machine(tx, base=UBUNTU, constraints={})

    def measure(self, name: str, prepare: Callable[[], object] = lambda: None) -> Phase:
        """Prepare something, then drive it to rest in a new process's manner, and keep what that cost."""
        gc.collect()
        return asyncio.run(self._drive({name: prepare}))

    def serve(self, phases: Mapping[str, Callable[[], object]]) -> None:
        """Do the same in a process that serves: what comes second finds connections and memory warm."""
        gc.collect()
        asyncio.run(self._drive(phases))

    async def _drive(self, phases: Mapping[str, Callable[[], object]]) -> Phase:
        """Prepare and drive one phase after the other, each until nothing is due."""
        waiting = list(phases.items())
        name, prepare = waiting.pop(0)
        begun = self._now()
        prepare()

        def at_rest() -> bool:
            nonlocal name, begun
            self._keep(name, begun)
            if not waiting:
                return True
            begun = self._now()
            name, prepare = waiting.pop(0)
            prepare()
            return False

        settled = await wire.driver(self.world.ctx, self.world.model, self.cloud).settle(at_rest)
        assert not settled.problems, settled.problems[:5]
        return self.phases[-1]

    def _now(self) -> dict[str, float]:
        return {"wall": time.perf_counter(), "cpu": time.process_time(), **asdict(self.cloud.tally)}

    def _keep(self, name: str, begun: dict[str, float]) -> None:
        used = {key: value - begun[key] for key, value in self._now().items()}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cpu = used.pop("cpu") - used.pop("seconds")
        self.phases.append(Phase(name=name, cpu=cpu, rss=peak, **used))  # type: ignore[arg-type]

    # --- what can become due ------------------------------------------------------------------------------

    def touch_all(self) -> None:
        """Let every lane look again; nothing has changed."""
        self.world.clock.now()
        self.world.write(jump_hosts.changed)

    def sweep(self) -> None:
        """Make update-status due for every unit."""
        update_status.make_due(self.world.ctx, self.world.model)

    def change_one(self) -> None:
        """Change a setting of one application."""
        number = len(self.phases)
        settings.set_config(
            self.world.ctx,
            self.world.model,
            ConfigOptions(application="log-s0x", values={"title": str(number)}),
        )

    def passes(self) -> dict[str, Callable[[], object]]:
        """Return what is measured once all is at rest: name -> what prepares it."""
        return {
            "nothing due": lambda: None,
            "idle pass": self.touch_all,
            "update-status sweep": self.sweep,
            "one change": self.change_one,
        }

    def units(self) -> int:
        """Return how many units there are."""
        with self.world.ctx.read(self.world.model) as tx:
            return len(tx.list(Unit, "unit_list"))


def run(size: int, profile: str = "") -> dict[str, Any]:
    """Simulate a model of some size; return its figures."""
    root = Path(tempfile.mkdtemp(prefix="pushjuju-simulated-"))
    try:
        made = Simulation(root, size)
        made.measure("an empty model")
        base = made.phases.pop().rss
        begin = time.process_time()
        made.deploy()
        asked = time.process_time() - begin
        with _profiled("deploy to idle", profile):
            made.measure("deploy to idle")
        for name, prepare in made.passes().items():
            with _profiled(name, profile):
                made.measure(name, prepare)
        with _profiled("serving", profile):
            made.serve(
                {"serving": made.sweep, **{f"{name}, serving": do for name, do in made.passes().items()}}
            )
        found = {
            "machines": size, "units": made.units(), "base_rss": base, "asking_cpu": asked,
            "phases": [asdict(phase) for phase in made.phases],
        }  # fmt: skip
        made.world.ctx.close()
        return found
    finally:
        shutil.rmtree(root)


@contextmanager
def _profiled(name: str, wanted: str) -> Iterator[None]:
    """Show a profile of one phase on stderr, if it is the one that is wanted."""
    if name != wanted:
        yield
        return
    import cProfile
    import pstats

    with cProfile.Profile() as profile:
        yield
    pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(45)


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=1000)
    parser.add_argument("--profile", default="", help="phase to show a profile of, on stderr")
    asked = parser.parse_args()
    print(json.dumps(run(asked.machines, asked.profile), indent=1))


if __name__ == "__main__":
    main()
