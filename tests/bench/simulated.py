"""One controller, many played machines: `python -m tests.bench.simulated --machines 1000`.

`--postgres` has the store in a PostgreSQL that waits for its disk, `--models` parts the machines.
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
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.cli import entry
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import jump_hosts, models
from pushjuju.services.requests.application import new_application, settings, unit_requests
from pushjuju.services.requests.application.new_application import NewApplication
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.relation import integrate
from tests.bench import copies
from tests.postgres import databases, server
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
    """Models of stacks on played machines.

    Args:
        size: The number of machines, of all models together.
        first: The same as for `WireCloud`.
        models: How many models share the machines.
    """

    def __init__(
        self,
        root: Path,
        size: int,
        world: TestController | None = None,
        first: int | None = None,
        models: int = 1,
    ) -> None:
        self.world = world = world or TestController.build(root, Charms(root / "charms"))
        self.charms = world.charms
        if isinstance(world.ctx.store.place, Path):
            world.ctx.store._connection.execute("PRAGMA synchronous = FULL")
        self.cloud = WireCloud(first)
        self.size = size
        self.worlds = [world, *(self._another(f"more{number}") for number in range(1, models))]
        self.prefix = world.model if models == 1 else ""
        self.phases: list[Phase] = []

    def packed(self, name: str) -> PackedCharm:
        """Return the charm of an application of the stack; those with relations have peers."""
        peers = PEERS if name == "db" else None
        return self.charms.make(name, peers=peers, config={"title": {"type": "string"}}, **STACK[name])

    def _another(self, name: str) -> TestController:
        """Add a model."""
        add_model(self.world.ctx, AddModelOptions(name=name))
        model = models.resolve(self.world.ctx, name)
        return TestController(self.world.ctx, self.world.clock, self.charms, model)

    def deploy(self, *, first: bool = False) -> None:
        """Ask for all machines, applications and relations; nothing runs yet.

        Args:
            first: True to ask for those of the first model alone.
        """
        for world in self.worlds[:1] if first else self.worlds:
            self._deploy(world, self.size // len(self.worlds))

    def copy(self) -> None:
        """Copy the first model, which is at rest, to the others."""
        store = self.world.ctx.store
        copies.copy(str(store.place), self.world.model, [each.model for each in self.worlds[1:]], self.cloud)
        store.forget()

    def _deploy(self, world: TestController, size: int) -> None:
        for first in range(0, size, SPREAD):
            hosts = range(first, min(first + SPREAD, size))
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

    def measure(
        self,
        name: str,
        prepare: Callable[[], object] = lambda: None,
        loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
    ) -> Phase:
        """Prepare something, then drive it to rest in a new process's manner, and keep what that cost."""
        gc.collect()
        with asyncio.Runner(loop_factory=loop) as runner:
            return runner.run(self._drive({name: prepare}))

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

        driver = wire.driver(self.world.ctx, self.prefix, self.cloud)
        settled = await driver.settle(at_rest, routine=True)  # a sweep is not cut off
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
        for world in self.worlds:
            world.write(jump_hosts.changed)

    def sweep(self) -> None:
        """Make update-status due for every unit."""
        for world in self.worlds:
            unit_requests.make_due(world.ctx, world.model)

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
        return sum(len(world.units()) for world in self.worlds)


def run(
    size: int,
    profile: str = "",
    *,
    models: int = 1,
    postgres: bool = False,
    copied: bool = False,
    last: str = "",
) -> dict[str, Any]:
    """Simulate models of some size; return their figures.

    Args:
        copied: Deploy one model, and copy its rows to the others.
        last: The phase to stop after; "": measure all.
    """
    root = Path(tempfile.mkdtemp(prefix="pushjuju-simulated-"))
    try:
        with ExitStack() as stack:
            made = Simulation(root, size, _in_database(root, stack) if postgres else None, models=models)
            return _measured(made, profile, last, copied=copied)
    finally:
        shutil.rmtree(root)


def _in_database(root: Path, stack: ExitStack) -> TestController:
    """Return a controller in a PostgreSQL that waits for its disk as a server in use does."""
    folder = root / "server"
    folder.mkdir()
    url = stack.enter_context(databases.database(stack.enter_context(server.running(folder, durable=True))))
    return TestController.build(root, Charms(root / "charms"), Database(url=url, insecure=True))


def _measured(made: Simulation, profile: str, last: str, *, copied: bool = False) -> dict[str, Any]:
    with closing(made.world.ctx):
        made.measure("an empty model")
        base = made.phases.pop().rss
        begin = time.process_time()
        made.deploy(first=copied)
        asked = time.process_time() - begin
        for name, prepare in {"deploy to idle": lambda: None, **made.passes()}.items():
            with _profiled(name, profile):
                made.measure(name, prepare)
            if copied and name == "deploy to idle":
                made.copy()
            if name == last:
                break
        else:
            _serve(made, profile)
        return {
            "machines": made.size, "units": made.units(), "base_rss": base, "asking_cpu": asked,
            "phases": [asdict(phase) for phase in made.phases],
        }  # fmt: skip


def _serve(made: Simulation, profile: str) -> None:
    """Measure the passes again, in a process that goes on."""
    passes = {f"{name}, serving": do for name, do in made.passes().items()}
    with _profiled("serving", profile):
        made.serve({"serving": made.sweep, **passes})


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
    entry.collect_seldom()  # as in every process of the program
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=1000)
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--postgres", action="store_true", help="have the store in PostgreSQL")
    parser.add_argument("--copied", action="store_true", help="deploy one model and copy it (PostgreSQL)")
    parser.add_argument("--profile", default="", help="phase to show a profile of, on stderr")
    parser.add_argument("--last", default="", help="phase to stop after")
    options = vars(parser.parse_args())
    if options["copied"] and not options["postgres"]:
        parser.error("--copied needs --postgres")
    print(json.dumps(run(options.pop("machines"), **options), indent=1))


if __name__ == "__main__":
    main()
