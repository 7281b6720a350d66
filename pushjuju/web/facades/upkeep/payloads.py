"""Payloads: workloads that charms have registered. Mirrors: juju apiserver/facades/client/payloads (3.6)"""

from __future__ import annotations

from pushjuju.services.views import resource_documents
from pushjuju.web import tags
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes.common import Results


@facade("Payloads")
class Payloads(Facade):
    """The payloads of the model."""

    @method(Needs.READ)
    def list(self, patterns: list[str]) -> Results:
        found = []
        for entry in resource_documents.payloads(self.ctx, self.model, patterns):
            machine = str(entry["machine"])
            found.append(
                {
                    "class": entry["payload-class"],
                    "type": entry["type"],
                    "id": entry["id"],
                    "status": entry["status"],
                    "labels": entry.get("labels", []),
                    "unit": tags.of_unit(str(entry["unit"])),
                    "machine": tags.of_machine(machine) if machine else "",
                }
            )
        return {"results": found}
