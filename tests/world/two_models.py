"""Two models of one controller: `shop` consumes an offer of `prod`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushjuju.core.model.offerurl import parse
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import relations
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.relation import cross_model, integrate
from pushjuju.store.rows.records import Offer, Relation
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine

METADATA: dict[str, dict[str, Any]] = {
    "web": {
        "requires": {"db": {"interface": "sql", "limit": 1}, "cache": {"interface": "mem"}},
        "provides": {"site": {"interface": "http"}},
    },
    "db": {"provides": {"server": {"interface": "sql"}, "fast": {"interface": "mem"}}},
    "log": {
        "subordinate": True,
        "requires": {"host": {"interface": "juju-info", "scope": "container"}},
    },
    "one": {"provides": {"server": {"interface": "sql", "limit": 1}}},
    "proxy": {"requires": {"backend": {"interface": "http"}}},
}


class TwoModels:
    """The consuming and the offering model."""

    def __init__(self, root: Path, charms: Charms) -> None:
        self.shop = TestController.build(root, charms)
        ctx = self.shop.ctx
        self.prod = TestController(ctx, self.shop.clock, charms, add_model(ctx, AddModelOptions(name="prod")))
        self.prod.played_machines = OtherMachines(self.prod)
        self.charms = charms

    @classmethod
    def copy(cls, source: Path, root: Path, charms: Charms) -> TwoModels:
        """Copy a controller that `keep` made and that no process has open, with new machines."""
        made = cls.__new__(cls)
        made.shop = TestController.copy(source, root, charms)
        ctx = made.shop.ctx
        made.prod = TestController(ctx, made.shop.clock, charms, models.resolve(ctx, "prod"))
        made.prod.played_machines = OtherMachines(made.prod)
        made.charms = charms
        return made

    @property
    def ctx(self) -> Any:
        """The context of the controller, which both models share."""
        return self.shop.ctx

    def keep(self) -> Path:
        """Make `shop` current and close the controller; return the data directory, to be copied."""
        return self.shop.keep()

    def deploy(self, world: TestController, *names: str, count: int = 1) -> None:
        for name in names:
            packed = self.charms.make(name, config=None, peers=None, **METADATA[name])
            number = 0 if METADATA[name].get("subordinate") else count
            world.deploy(name, number, packed=packed)

    def offer(self, *endpoints: str, application: str = "db", name: str = "") -> Offer:
        """Offer endpoints of an application of `prod`."""
        return cross_model.offer(self.ctx, self.prod.model, application, list(endpoints) or ["server"], name)

    def consume(self, url: str = "prod.db", alias: str = "") -> str:
        """Consume an offer in `shop`."""
        return cross_model.consume(self.ctx, self.shop.model, parse(url), alias)

    def relate(self, first: str = "web:db", url: str = "prod.db", **more: Any) -> int:
        """Relate an application of `shop` to an offer; return the id of the relation in `shop`."""
        found = parse(url)
        second = f"{found.offer}:{found.endpoint}" if found.endpoint else found.offer
        return integrate.integrate(self.ctx, self.shop.model, first, second, offer=found, **more)

    def settle(self) -> None:
        """Work both models until they are at rest."""
        for _ in range(50):
            busy = False
            for world in (self.shop, self.prod):
                for machine in world.machine_ids():
                    busy |= world.work(machine)
            if not busy:
                return
        raise AssertionError("never at rest")

    def ready(self, count: int = 1) -> int:
        """Deploy and relate web and db, work until all is at rest; return the relation's id in `shop`."""
        self.deploy(self.shop, "web")
        self.deploy(self.prod, "db", count=count)
        self.offer()
        made = self.relate()
        self.settle()
        return made

    def ready_relation(self) -> int:
        """Relate web to the offer, and work until all is at rest; return the relation's id in `shop`."""
        made = self.relate()
        self.settle()
        return made

    def proxy(self) -> str:
        """Return the name of web's proxy in `prod`."""
        found = self.shop.read(lambda tx: tx.list(Relation, "relation_to_other_models"))
        return str(found[0].far_alias)

    def bag(self, world: TestController, relation: int, entity: str) -> Mapping[str, str]:
        """Return the settings of an entity, as one of the models has them."""
        found: Mapping[str, str] = world.read(lambda tx: relations.bag(tx, relation, entity))
        return found

    def relations(self, world: TestController) -> list[Relation]:
        """Return the relations of a model to other models."""
        found: list[Relation] = world.read(lambda tx: tx.list(Relation, "relation_to_other_models"))
        return found

    def clear(self) -> None:
        """Forget the hooks that ran."""
        self.shop.clear()
        self.prod.clear()


class OtherMachines(dict[str, PlayedMachine]):
    """Machines whose addresses differ from those of the first model."""

    def __init__(self, world: TestController) -> None:
        super().__init__()
        self.world = world

    def __setitem__(self, key: str, played: PlayedMachine) -> None:
        played.address = f"10.9.0.{int(key) + 2}"
        super().__setitem__(key, played)
