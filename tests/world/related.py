"""Charms with endpoints, and the relations of a model."""

from __future__ import annotations

from typing import Any

from pushjuju.core.base import Base
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views.relation_rows import relation_rows
from tests.world.charms import PEERS, UBUNTU
from tests.world.controller import TestController

CONTAINER = {"scope": "container"}
METADATA: dict[str, dict[str, Any]] = {
    "web": {
        "peers": PEERS,
        "requires": {"db": {"interface": "mysql", "limit": 1}, "cache": {"interface": "mem"}},
        "provides": {"site": {"interface": "http"}},
    },
    "mysql": {"provides": {"server": {"interface": "mysql"}, "admin": {"interface": "root"}}},
    "twins": {"provides": {"a": {"interface": "mysql"}, "b": {"interface": "mysql"}}},
    "log": {
        "subordinate": True,
        "requires": {
            "host": {"interface": "juju-info", **CONTAINER},
            "access": {"interface": "http", **CONTAINER},
        },
        "provides": {"lines": {"interface": "lines", **CONTAINER}},
    },
    "shipper": {
        "subordinate": True,
        "requires": {
            "host": {"interface": "juju-info", **CONTAINER},
            "source": {"interface": "lines", **CONTAINER},
        },
    },
    "monitor": {"requires": {"target": {"interface": "juju-info"}}},
    "guest": {"requires": {"house": {"interface": "http", **CONTAINER}}},
}


def deploy(world: TestController, *names: str, count: int = 1, base: Base = UBUNTU, **more: Any) -> None:
    """Deploy applications of these charms; subordinates get no units."""
    for name in names:
        metadata = {"peers": None, **METADATA[name]}
        packed = world.charms.make(name, config=None, **metadata)
        number = 0 if metadata.get("subordinate") else count
        world.deploy(name, number, packed=packed, base=base, **more)


def suspend(world: TestController, relation: int, *, value: bool = True, reason: str = "") -> None:
    """Suspend or resume a relation, and work until all is at rest."""
    integrate.set_suspended(world.ctx, world.model, [str(relation)], suspended=value, reason=reason)
    world.settle()


def rows(world: TestController) -> dict[str, tuple[str, str, str]]:
    """Return the non-peer relations: requirer and provider -> type, status, message."""
    return {
        f"{row['requirer']} {row['provider']}": (row["type"], row["status"], row["message"])
        for row in relation_rows(world.ctx, world.model)
        if row["type"] != "peer"
    }
