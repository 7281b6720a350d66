"""What a hook asks of PostgreSQL: statements, and waits for the server. Counted, never timed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pushjuju.services.requests.controller.new_controllers import Database
from tests.bench.simulated import Simulation
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.turns_loop import TurnsLoop


def test_a_hook_waits_for_the_server_few_times(tmp_path: Path, postgres_url: str) -> None:
    database = Database(url=postgres_url, insecure=True)
    world = TestController.build(tmp_path, Charms(tmp_path / "charms"), database)
    with closing(world.ctx):
        made = Simulation(tmp_path, 12, world)
        made.deploy()
        statements, waits = _asked(made, "deploy to idle")
        assert statements < 16
        assert waits < 1.6
        statements, waits = _asked(made, "update-status sweep", made.sweep)
        assert statements < 14
        assert waits < 1.1


def _asked(made: Simulation, name: str, prepare: Callable[[], object] = lambda: None) -> tuple[float, float]:
    """Return the statements and waits for each hook of a phase, the same however busy the computer is."""
    pipeline = made.world.ctx.store.engine.connection
    sent, trips = pipeline.sent, pipeline.trips  # type: ignore[attr-defined]
    hooks = made.measure(name, prepare, TurnsLoop).hooks
    return (pipeline.sent - sent) / hooks, (pipeline.trips - trips) / hooks  # type: ignore[attr-defined]
