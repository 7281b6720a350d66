"""Asks for a database, and says in its status what it got."""

import ops


class Asker(ops.CharmBase):
    """Wants one database."""

    def __init__(self, framework):
        super().__init__(framework)
        framework.observe(self.on.start, self._nothing)
        framework.observe(self.on.store_relation_created, self._ask)
        framework.observe(self.on.store_relation_changed, self._got)
        framework.observe(self.on.store_relation_broken, self._nothing)

    def _ask(self, event):
        if self.unit.is_leader():
            event.relation.data[self.app]["name"] = self.model.name

    def _got(self, event):
        given, unit = event.relation.data[event.app], event.unit
        if "secret" not in given or unit is None:
            unit = unit or next(iter(event.relation.units), None)
        if "secret" not in given or unit is None:
            return
        password = self.model.get_secret(id=given["secret"]).get_content()["password"]
        endpoint = event.relation.data[unit].get("endpoint", "nowhere")
        text = f"{given['name']} at {endpoint}, password of {len(password)}"
        self.unit.status = ops.ActiveStatus(f"{text} from {event.app.name}")

    def _nothing(self, _event):
        self.unit.status = ops.BlockedStatus("no database")


if __name__ == "__main__":
    ops.main(Asker)
