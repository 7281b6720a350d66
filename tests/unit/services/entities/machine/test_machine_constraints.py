"""The constraints of new machines: the model's under their own, by the rules of the model's cloud."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import constraints
from pushjuju.services.requests.model import model_config
from tests.world.charms import UBUNTU
from tests.world.controller import TestController


def _cloud(runtime: TestController, name: str) -> None:
    with contextlib.closing(sqlite3.connect(runtime.ctx.controller.store_path)) as store, store:
        store.execute("UPDATE model SET cloud_type = ?", (name,))


@pytest.mark.parametrize(
    ("cloud", "model", "own", "merged"),
    [
        ("ec2", {"instance-type": "m5.large", "root-disk": 9}, {"cores": 2}, {"cores": 2, "root-disk": 9}),
        (
            "ec2",
            {"cores": 2, "mem": 5, "arch": "arm64"},
            {"instance-type": "a1"},
            {"instance-type": "a1", "arch": "arm64"},
        ),
        ("lxd", {"instance-type": "c2-m4"}, {"cores": 2}, {"instance-type": "c2-m4", "cores": 2}),
        ("nobody's", {"instance-type": "big"}, {"mem": 1}, {"mem": 1}),
        ("ec2", {"instance-type": "big"}, {"mem": None}, {"instance-type": "big"}),
        ("ec2", {"mem": 5, "cores": 2}, {"mem": None}, {"cores": 2}),
        ("ec2", {}, {"mem": None, "cores": 1}, {"cores": 1}),
    ],
)
def test_the_cloud_says_what_excludes_each_other(
    runtime: TestController, cloud: str, model: dict[str, Any], own: dict[str, Any], merged: dict[str, Any]
) -> None:
    _cloud(runtime, cloud)
    model_config.set_constraints(runtime.ctx, runtime.model, model)
    assert runtime.read(lambda tx: constraints.for_machine(tx, own)) == merged
    made = machines.add_machine(runtime.ctx, runtime.model, base=Base.parse(str(UBUNTU)), constraints=own)
    assert runtime.machine(made.id).constraints == merged
