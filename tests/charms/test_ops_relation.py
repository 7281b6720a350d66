"""The integration test of `ops` for relations, as its authors wrote it, with our program for juju's.

The charm under test and the test itself come unmodified from the source distribution of ops. The counterpart,
which they take from the store, is one of our recording charms.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import jubilant
import pytest

from tests.charms.client import Client
from tests.charms.recorder import charm, check, recorded
from tests.charms.test_jubilant import bootstrapped, controller, juju  # noqa: F401
from tests.charms_tools.packing import ops_charm, ops_source

pytestmark = pytest.mark.machine


class Juju(jubilant.Juju):
    """jubilant, with a charm of ours for the one that is in the store."""

    def __init__(self, model: jubilant.Juju, counterpart: Path) -> None:
        super().__init__(model=model.model, wait_timeout=model.wait_timeout)
        self.counterpart = counterpart

    def deploy(self, charm: Any, app: str | None = None, **more: Any) -> None:
        """Deploy a charm; `any-charm` is ours, whatever the channel."""
        if charm == "any-charm":
            charm = self.counterpart
            more.pop("channel")
        super().deploy(charm, app, **more)


def _upstream() -> ModuleType:
    path = ops_source() / "test" / "integration" / "test_relation.py"
    spec = importlib.util.spec_from_file_location("ops_test_relation", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_relation_test_of_ops(
    juju: jubilant.Juju,  # noqa: F811
    controller: Client,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Three units of the charm with three of one counterpart and two of another, each on its own machine."""
    archive = str(ops_charm("test_relation"))
    _upstream().test_relation_units(lambda: archive, Juju(juju, charm(tmp_path, "any-charm")))
    controller.run("switch", str(juju.model))
    controller.until(lambda: jubilant.all_agents_idle(juju.status()))
    seen = recorded(controller)
    check(seen)
    met = {(item.unit, item.remote) for item in seen if item.hook.endswith("-relation-joined")}
    assert len(met) == 3 * 3 + 2 * 3


def test_the_same_spread_over_two_zones(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Each application has its units in both zones of a cloud with two."""
    cloud = {"type": "local", "zones": ["rack-1", "rack-2"], "regions": {"here": {}}}
    (client.work / "racks.yaml").write_text(json.dumps({"clouds": {"racks": cloud}}))
    client.run("add-cloud", "racks", "racks.yaml", "--client")
    bootstrapped(client, monkeypatch, "racks")
    with jubilant.temp_model() as model:
        model.wait_timeout = 120
        archive = str(ops_charm("test_relation"))
        _upstream().test_relation_units(lambda: archive, Juju(model, charm(tmp_path, "any-charm")))
        status = model.status()
        for application in status.apps.values():
            assert application.app_status.current == "active"
            zones = Counter(
                status.machines[unit.machine].hardware.partition("availability-zone=")[2].split()[0]
                for unit in application.units.values()
            )
            assert max(zones.values()) - min(zones.values()) <= 1, zones
            assert set(zones) == {"rack-1", "rack-2"}
