"""A hook run without a machine: runs hook tools on one snapshot, and keeps their writes and events."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pushjuju.plugins.hooks import (
    actions,
    config,
    credentials,
    goalstate,
    leadership,
    logging,
    metrics,
    network,
    payloads,
    ports,
    reboot,
    relations,
    resources,
    secrets,
    state,
    status,
    storage,
    unsupported,
    version,
)
from pushjuju.runner.remote import toolkit

FAMILIES = (
    actions,
    config,
    credentials,
    goalstate,
    leadership,
    logging,
    metrics,
    network,
    payloads,
    ports,
    reboot,
    relations,
    resources,
    secrets,
    state,
    status,
    storage,
    unsupported,
    version,
)
REGISTRY: dict[str, toolkit.Tool] = {name: tool for family in FAMILIES for name, tool in family.TOOLS.items()}

ADDRESS = {"hostname": "", "value": "10.1.2.3", "cidr": "10.1.2.0/24"}
DEVICE = {"mac-address": "00:16:3e:aa:bb:cc", "interface-name": "eth0", "addresses": [ADDRESS]}
NETWORK = {
    "bind-addresses": [DEVICE],
    "egress-subnets": ["10.1.2.3/32"],
    "ingress-addresses": ["10.1.2.3"],
}
AUTOMATIC = {
    "private-address": "10.1.2.3",
    "ingress-address": "10.1.2.3",
    "egress-subnets": "10.1.2.3/32",
}

# the unit of the reference's examples: web/0 is leader and has the relations cluster:0 (peer, with web/1),
# db:1 (to pg) and site:2 (provided to lb)
SNAPSHOT: dict[str, Any] = {
    "unit": "web/0",
    "app": "web",
    "model_uuid": "deadbeef-0bad-400d-8000-4b1d0d06f00d",
    "model_name": "m",
    "kind": "hook",
    "hook": "config-changed",
    "relation": None,
    "config": {"debug": False, "motd": None, "port": 8080},
    "leader": True,
    "leader_settings": {},
    "status": {
        "unit": {"status": "active", "message": "up", "data": {}},
    },
    "relations": {
        "0": {
            "endpoint": "cluster",
            "interface": "web-peer",
            "role": "peer",
            "life": "alive",
            "suspended": False,
            "remote_app": "web",
            "members": ["web/1"],
            "unit_bags": {"web/0": dict(AUTOMATIC), "web/1": {"ingress-address": "10.1.2.4"}},
            "app_bags": {"web": {"token": "t0"}},
            "key": "web:cluster",
        },
        "1": {
            "endpoint": "db",
            "interface": "pgsql",
            "role": "requirer",
            "life": "alive",
            "suspended": False,
            "remote_app": "pg",
            "members": ["pg/0"],
            "unit_bags": {"web/0": dict(AUTOMATIC), "pg/0": {"host": "10.0.0.9", "port": "5432"}},
            "app_bags": {"web": {"pool": "8"}},
            "key": "web:db pg:server",
            "remote_model_uuid": "8f14e45f-ceea-467f-9575-6a9b3f0a1c11",
        },
        "2": {
            "endpoint": "site",
            "interface": "http",
            "role": "provider",
            "life": "alive",
            "suspended": False,
            "remote_app": "lb",
            "members": [],
            "unit_bags": {"web/0": dict(AUTOMATIC), "lb/7": {"gone": "yes"}},
            "app_bags": {},
            "key": "lb:backend web:site",
        },
    },
    "endpoints": ["cluster", "db", "juju-info", "site"],
    "ports": {
        "unit": [],
        "machine": [{"unit": "b/1", "protocol": "tcp", "from": 100, "to": 200}],
    },
    "network": {
        "bindings": {name: copy.deepcopy(NETWORK) for name in ("cluster", "db", "site", "juju-info")},
        "relations": {"2": {"egress-subnets": ["192.0.2.0/24"]}},
        "private_address": "10.1.2.3",
        "public_address": "203.0.113.5",
    },
    "state": {},
    "payload_classes": {},
    "storage": {},
    "secrets": {},
    "action": None,
}


# the controller's answers to live calls of tools
LIVE: dict[str, Any] = {
    "status-get": {
        "app": {"status": "active", "message": "", "data": {}},
        "units": {
            "web/0": {"status": "active", "message": "up", "data": {}},
            "web/1": {"status": "waiting", "message": "for db", "data": {}},
        },
    },
    "goal-state": {
        "units": {"web/0": {"status": "active", "since": "2025-03-01 10:00:00Z"}},
        "relations": {
            "db": {
                "pg": {"status": "joined", "since": "2025-03-01 10:00:00Z"},
                "pg/0": {"status": "active", "since": "2025-03-01 10:00:00Z"},
            }
        },
    },
}


class HookRun:
    """A hook run: calls tools by command lines, as a charm does."""

    def __init__(self, cwd: Path) -> None:
        self.context = copy.deepcopy(SNAPSHOT)
        self.known = dict(LIVE)
        self.cwd = cwd
        self.live: list[tuple[str, list[str]]] = []
        self.live_answer: tuple[int, bytes, bytes] | None = None
        self.again()

    def again(self) -> None:
        """Start another run on the same snapshot."""
        self.writes: dict[str, Any] = {}
        self.reads: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []

    def in_relation_hook(
        self, hook: str, number: int, unit: str = "", app: str = "", departing: str = ""
    ) -> None:
        """Make this the run of a relation hook."""
        endpoint = self.context["relations"][str(number)]["endpoint"]
        self.context["hook"] = f"{endpoint}-relation-{hook}"
        self.context["relation"] = {
            "id": number,
            "endpoint": endpoint,
            "remote_unit": unit,
            "remote_app": app or unit.partition("/")[0],
            "departing_unit": departing,
        }

    def run(self, name: str, *argv: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Call a tool and return exit code, stdout, stderr."""
        before = copy.deepcopy(self.context)
        answer = toolkit.run_tool(
            REGISTRY,
            name,
            list(argv),
            self.context,
            self.writes,
            stdin=lambda: stdin,
            cwd=str(self.cwd),
            emit=self.events.append,
            live=self._answer_live,
            reads=self.reads,
        )
        assert self.context == before, "a tool changed the snapshot"
        assert not (answer[0] and answer[1]), "a failing tool printed on stdout"
        return answer

    def line(self, text: str, stdin: str = "") -> tuple[int, str, str]:
        """Run a command line of a tool; return exit code, stdout and stderr as text."""
        rc, out, err = self.run(*shlex.split(text), stdin=stdin.encode())
        return rc, out.decode(), err.decode()

    def ok(self, text: str, stdin: str = "") -> str:
        """Run a tool that must succeed with an empty stderr; return its stdout."""
        rc, out, err = self.line(text, stdin)
        assert (rc, err) == (0, ""), f"{text}: rc {rc}: {err}"
        return out

    def fails(self, text: str, stdin: str = "") -> tuple[int, str]:
        """Run a tool that must fail; return its exit code, and its message without "ERROR "."""
        rc, out, err = self.line(text, stdin)
        assert rc, f"{text} succeeded: {out}"
        assert err.startswith("ERROR ")
        assert err.endswith("\n")
        return rc, err[len("ERROR ") : -1]

    def _answer_live(
        self, tool: str, argv: Iterable[str], stdin: bytes, cwd: str
    ) -> tuple[int, bytes, bytes]:
        self.live.append((tool, list(argv)))
        known = json.dumps(self.known[tool]).encode() if tool in self.known else b""
        return self.live_answer or (0, known, b"")
