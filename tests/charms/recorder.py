"""Small charms that write down what they see: every hook, with its relation, goes to the log of the model.

The log outlives units and machines. `recorded` reads it back, `check` holds it against the order that charms
rely on: the same rules that the simulated models are held against.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.charms.client import Client
from tests.world.witness import Witness

_DISPATCH = r"""#!/bin/bash
set -eu
name=${JUJU_DISPATCH_PATH#hooks/}
members= settings= ids=
if [ -n "${JUJU_RELATION:-}" ]; then
  members=$(relation-list | tr '\n' ' ')
  ids=$(relation-ids | tr '\n' ' ')
  [ -z "$JUJU_REMOTE_UNIT" ] || settings=$(relation-get --format=json - "$JUJU_REMOTE_UNIT")
fi
juju-log "recorded $name|${JUJU_RELATION_ID:-}|${JUJU_REMOTE_UNIT:-}|${JUJU_REMOTE_APP:-}|\
${JUJU_DEPARTING_UNIT:-}|$members|$ids|$(is-leader)|$settings"
case $name in
  start) status-set active ;;
  *-relation-created) relation-set "name=$JUJU_UNIT_NAME" ;;
  *-relation-joined) relation-set "met=$JUJU_REMOTE_UNIT" ;;
esac
"""
_BASES = [{"name": "ubuntu", "channel": channel, "architectures": ["all"]} for channel in ("24.04", "22.04")]
_CONTAINER = {"scope": "container"}
CHARMS: dict[str, dict[str, Any]] = {
    "store": {
        "peers": {"ring": {"interface": "ring"}},
        "provides": {"server": {"interface": "sql"}},
    },
    "front": {
        "peers": {"cluster": {"interface": "cluster"}},
        "requires": {"db": {"interface": "sql"}},
        "provides": {"site": {"interface": "http"}},
    },
    "agent": {
        "subordinate": True,
        "peers": {"mates": {"interface": "mates"}},
        "requires": {
            "host": {"interface": "juju-info", **_CONTAINER},
            "access": {"interface": "http", **_CONTAINER},
        },
    },
    "any-charm": {
        "provides": {"provide-db": {"interface": "db"}, "provide-ingress": {"interface": "ingress"}},
    },
}
_PEERS = {name for metadata in CHARMS.values() for name in metadata.get("peers", {})}


def charm(folder: Path, name: str) -> Path:
    """Write one of the charms."""
    tree = folder / name
    tree.mkdir()
    metadata = {"name": name, "summary": "Writes down what it sees", "description": "-", **CHARMS[name]}
    (tree / "metadata.yaml").write_text(yaml.safe_dump(metadata))
    (tree / "manifest.yaml").write_text(yaml.safe_dump({"bases": _BASES}))
    (tree / "dispatch").write_text(_DISPATCH)
    (tree / "dispatch").chmod(0o755)
    return tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One hook as the charm saw it.

    Attributes:
        relation: Its id, -1 for a hook of no relation.
        members: What relation-list said.
        ids: What relation-ids said of the endpoint.
        settings: What relation-get said of the remote unit; None without one.
    """

    unit: str
    hook: str
    relation: int
    remote: str
    application: str
    departing: str
    members: tuple[str, ...]
    ids: tuple[str, ...]
    leader: bool
    settings: Mapping[str, str] | None = field(default=None)


def recorded(client: Client) -> list[Seen]:
    """Return every hook of a model, in the order in which the controller heard of them."""
    found = []
    for line in client.log():
        where, mark, rest = line.partition("recorded ")
        if mark:
            found.append(_seen(where.partition(":")[0].strip(), rest))
    return found


def _seen(tag: str, text: str) -> Seen:
    hook, relation, remote, application, departing, members, ids, leader, settings = text.split("|", 8)
    application_name, _, number = tag.removeprefix("unit-").rpartition("-")
    return Seen(
        unit=f"{application_name}/{number}",
        hook=hook,
        relation=int(relation.rpartition(":")[2]) if relation else -1,
        remote=remote,
        application=application,
        departing=departing,
        members=tuple(members.split()),
        ids=tuple(ids.split()),
        leader=leader == "True",
        settings=json.loads(settings) if settings.strip() else None,
    )


class Recording:
    """A model with recording charms, and what was seen since the last look.

    Attributes:
        witness: What every unit knew at the last look.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.witness = Witness()
        self._looked = 0

    def deploy(self, name: str, *to: int) -> None:
        """Deploy one of the charms with a unit on each of these machines."""
        words = ["-n", str(len(to)), "--to", ",".join(map(str, to))] if to else []
        self.client.run("deploy", charm(self.client.work, name), *words)

    def news(self) -> list[Seen]:
        """Return what was seen since the last call; all of it so far must be in order."""
        every = recorded(self.client)
        self.witness = check(every)
        found, self._looked = every[self._looked :], len(every)
        return found


def check(seen: Iterable[Seen]) -> Witness:
    """Hold what was seen against the order of hooks; return what every unit knows now."""
    witness = Witness()
    for number, item in enumerate(seen):
        frame = _frame(item, number)
        witness.began(frame)
        witness.sent(frame, {})
        witness.committed(frame["id"], "ok", item.unit)
    return witness


def _frame(item: Seen, number: int) -> dict[str, Any]:
    """Return the request that the controller must have sent."""
    context: dict[str, Any] = {"relation": None, "leader": item.leader, "relations": {}}
    if item.relation >= 0:
        peer = item.hook.rpartition("-relation-")[0] in _PEERS
        context["relation"] = {"id": item.relation, "remote_unit": item.remote}
        context["relations"][str(item.relation)] = {
            "role": "peer" if peer else "other",
            "members": list(item.members),
            "unit_bags": {item.remote: item.settings} if item.settings else {},
        }
    return {
        "id": str(number), "kind": "hook", "unit": item.unit, "hook": item.hook, "context": context,
        "env": {"JUJU_DEPARTING_UNIT": item.departing},
    }  # fmt: skip
