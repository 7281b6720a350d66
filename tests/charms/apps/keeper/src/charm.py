"""Gives who asks for a database its name back, and a password in a secret."""

import subprocess

import ops

PORT = 5432


class Keeper(ops.CharmBase):
    """One database for each relation."""

    def __init__(self, framework):
        super().__init__(framework)
        framework.observe(self.on.start, self._start)
        framework.observe(self.on.database_relation_changed, self._give)
        framework.observe(self.on.database_relation_departed, self._tell)
        framework.observe(self.on.database_relation_broken, self._tell)
        framework.observe(self.on.update_status, self._tell)

    def _start(self, _event):
        serve = [
            "systemd-run",
            "-q",
            "--unit",
            "kept",
            "python3",
            "-m",
            "http.server",
            str(PORT),
            "-d",
            "/srv",
        ]
        subprocess.run(serve, check=True)
        self.unit.set_ports(PORT)
        self._tell(None)

    def _give(self, event):
        relation = event.relation
        relation.data[self.unit]["endpoint"] = f"{self._address(relation)}:{PORT}"
        name = relation.data[event.app].get("name")
        mine = relation.data[self.app] if self.unit.is_leader() else None
        if name and mine is not None and mine.get("name") != name:
            secret = self.app.add_secret({"password": f"sesame-{name}"}, label=f"of-{relation.id}")
            secret.grant(relation)
            mine.update({"name": name, "secret": secret.id})
        self._tell(event)

    def _address(self, relation):
        return str(self.model.get_binding(relation).network.ingress_addresses[0])

    def _tell(self, event):
        broken = event.relation if isinstance(event, ops.RelationBrokenEvent) else None
        served = [item for item in self.model.relations["database"] if item.units and item != broken]
        self.unit.status = ops.ActiveStatus(f"{len(served)} served")


if __name__ == "__main__":
    ops.main(Keeper)
