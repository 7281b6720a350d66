"""What a hook asks of PostgreSQL: statements, and waits for the server. Counted, never timed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from pushjuju.services.requests.controller.new_controllers import Database
from tests.bench.simulated import Simulation
from tests.world.charms import Charms
from tests.world.controller import TestController


def test_a_hook_waits_for_the_server_few_times(tmp_path: Path, postgres_url: str) -> None:
    database = Database(url=postgres_url, insecure=True)
    world = TestController.build(tmp_path, Charms(tmp_path / "charms"), database)
    with closing(world.ctx):
        made = Simulation(tmp_path, 12, world)
        made.deploy()
        pipeline = world.ctx.store.engine.connection
        sent, trips = pipeline.sent, pipeline.trips  # type: ignore[attr-defined]
        hooks = made.measure("deploy to idle").hooks
        assert (pipeline.sent - sent) / hooks < 17  # type: ignore[attr-defined]
        assert (pipeline.trips - trips) / hooks < 2.6  # type: ignore[attr-defined]
