"""The document of `payloads`. Mirrors: juju cmd/juju/payload/list.go (3.6)"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis.context import Context


def document(ctx: Context, model: str, patterns: Sequence[str] = ()) -> list[dict[str, object]]:
    """Return the payloads of a model that match all patterns, as `payloads` shows them.

    Mirrors: juju payload/filter.go (3.6)
    """
    wanted = [pattern.lower() for pattern in patterns]
    found = []
    with ctx.read(model) as tx:
        for row in tx.rows("payload_of_model"):
            entry: dict[str, Any] = {
                "unit": row["unit"],
                "machine": row["machine"] or "",
                "id": row["id"],
                "type": row["type"],
                "payload-class": row["payload_class"],
                "labels": json.loads(row["labels"]),
                "status": row["status"],
            }
            words = {str(entry[key]).lower() for key in entry if key != "labels"}
            words |= {str(label).lower() for label in entry["labels"]}
            if words.issuperset(wanted):
                if not entry["labels"]:
                    del entry["labels"]
                found.append(entry)
    return sorted(found, key=lambda item: (natural_key(item["unit"]), item["payload-class"], item["id"]))
