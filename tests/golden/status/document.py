"""The model of the golden status texts: a shop with a database, a log shipper beside it, and a web front."""

from __future__ import annotations

import copy
from typing import Any

SINCE = "01 Mar 2025 08:59:30Z"


def _status(current: str, message: str = "", since: str = SINCE, version: str = "") -> dict[str, Any]:
    fields = {"current": current, "message": message, "since": since, "version": version}
    return {key: value for key, value in fields.items() if value}


def _unit(
    workload: tuple[str, str],
    agent: tuple[str, str],
    *,
    leader: bool = False,
    machine: str = "",
    ports: tuple[str, ...] = (),
    address: str = "",
    subordinates: dict[str, Any] | None = None,
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "workload-status": _status(*workload),
        "juju-status": _status(*agent, version="3.6.14"),
        "leader": leader,
        "machine": machine,
        "open-ports": list(ports),
        "public-address": address,
        "subordinates": subordinates,
    }
    return {key: value for key, value in fields.items() if value}


def _machine(
    agent: str, address: str, instance: str, base: str, message: str, *, hardware: str = "", display: str = ""
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "juju-status": _status(agent, version="3.6.14"),
        "dns-name": address,
        "ip-addresses": [address] if address else [],
        "instance-id": instance,
        "display-name": display,
        "machine-status": _status("running" if address else "pending", message),
        "modification-status": _status("idle"),
        "base": {"name": "ubuntu", "channel": base},
        "hardware": hardware,
    }
    return {key: value for key, value in fields.items() if value}


_SUBORDINATE = [{"related-application": "logship", "interface": "juju-info", "scope": "container"}]

DOCUMENT: dict[str, Any] = {
    "model": {
        "name": "shop",
        "type": "iaas",
        "controller": "home",
        "cloud": "lab",
        "region": "default",
        "version": "3.6.14",
        "upgrade-available": "3.6.15",
        "model-status": {"current": "available", "since": "01 Mar 2025 08:58:10Z"},
        "sla": "unsupported",
    },
    "machines": {
        "3": _machine("pending", "", "pending", "24.04", ""),
        "0": _machine(
            "started", "10.20.0.11", "manual:10.20.0.11", "22.04", "Manually provisioned machine",
            hardware="arch=amd64 cores=4 mem=7960M",
        ),
        "1": _machine("started", "10.20.0.12", "manual:10.20.0.12", "22.04", "Manually provisioned machine"),
        "2": _machine("started", "10.20.0.13", "i-7", "24.04", "Running", hardware="availability-zone=az-1")
        | {
            "containers": {
                "2/lxd/0": _machine(
                    "started", "10.20.9.4", "juju-3f2a1c-2-lxd-0", "24.04", "Container started",
                    hardware="availability-zone=az-1",
                )
            }
        },
    },
    "applications": {
        "web": {
            "charm": "local:webshop-0",
            "base": {"name": "ubuntu", "channel": "24.04"},
            "charm-origin": "local",
            "charm-name": "webshop",
            "charm-rev": 0,
            "exposed": True,
            "application-status": _status("waiting", "waiting for machine"),
            "units": {
                "web/0": _unit(
                    ("active", "serving"), ("idle", ""), leader=True, machine="2", address="10.20.0.13",
                    ports=("80/tcp", "443/tcp", "8080/tcp", "8081/tcp", "161/udp"),
                ),
                "web/1": _unit(("waiting", "waiting for machine"), ("allocating", ""), machine="3"),
            },
        },
        "pg": {
            "charm": "postgresql",
            "base": {"name": "ubuntu", "channel": "22.04"},
            "charm-origin": "charmhub",
            "charm-name": "postgresql",
            "charm-rev": 553,
            "charm-channel": "14/stable",
            "exposed": False,
            "application-status": _status("active", "Primary", "01 Mar 2025 09:04:40Z"),
            "relations": {
                "database": [
                    {"related-application": "web", "interface": "postgresql_client", "scope": "global"}
                ],
                "juju-info": _SUBORDINATE,
                "peers": [{"related-application": "pg", "interface": "pg_peers", "scope": "global"}],
            },
            "units": {
                "pg/1": _unit(
                    ("active", ""), ("idle", ""), machine="1", address="10.20.0.12", ports=("5432/tcp",),
                    subordinates={"logship/1": _unit(("active", ""), ("idle", ""), address="10.20.0.12")},
                ),
                "pg/0": _unit(
                    ("active", "Primary"), ("executing", "running update-status hook"),
                    leader=True, machine="0", address="10.20.0.11", ports=("5432/tcp",),
                    subordinates={
                        "logship/0": _unit(("active", ""), ("idle", ""), leader=True, address="10.20.0.11")
                    },
                ),
            },
            "version": "14.11",
        },
        "logship": {
            "charm": "filebeat",
            "charm-origin": "charmhub",
            "charm-name": "filebeat",
            "charm-rev": 49,
            "charm-channel": "latest/stable",
            "exposed": False,
            "application-status": _status("active"),
            "subordinate-to": ["pg"],
            "version": "8.11.3",
        },
    },
    "application-endpoints": {
        "mail": {
            "url": "admin/infra.mail",
            "endpoints": {"smtp": {"interface": "smtp", "role": "provider"}},
            "application-status": _status("active"),
        }
    },
    "offers": {
        "pg": {
            "application": "pg",
            "charm": "ch:amd64/jammy/postgresql-553",
            "total-connected-count": 1,
            "active-connected-count": 1,
            "endpoints": {
                "db": {"interface": "pgsql", "role": "provider"},
                "database": {"interface": "postgresql_client", "role": "provider"},
            },
        }
    },
    "storage": {
        "storage": {
            "cache/1": {
                "kind": "filesystem",
                "life": "alive",
                "status": _status("pending", "waiting for machine"),
                "persistent": False,
                "attachments": {"units": {"web/1": {"machine": "3", "life": "alive"}}},
            },
            "pgdata/0": {
                "kind": "filesystem",
                "life": "alive",
                "status": _status("attached"),
                "persistent": False,
                "attachments": {
                    "units": {"pg/0": {"machine": "0", "location": "/var/lib/pg", "life": "alive"}}
                },
            },
        },
        "filesystems": {
            "0/0": {"storage": "pgdata/0", "pool": "rootfs", "size": 8192, "life": "alive"},
            "3/0": {"storage": "cache/1", "pool": "rootfs", "size": 0, "life": "alive"},
        },
    },
    "controller": {"timestamp": "09:12:44Z"},
}  # fmt: skip

RELATIONS = [
    {
        "provider": provider, "requirer": requirer, "interface": interface, "type": kind,
        "status": status, "message": message,
    }
    for provider, requirer, interface, kind, status, message in (
        ("pg:peers", "pg:peers", "pg_peers", "peer", "joined", ""),
        ("pg:juju-info", "logship:juju-info", "juju-info", "subordinate", "joined", ""),
        ("pg:database", "web:db", "postgresql_client", "regular", "joined", ""),
        ("mail:smtp", "web:smtp", "smtp", "regular", "suspended", "maintenance window"),
    )
]  # fmt: skip


def one_application() -> dict[str, Any]:
    """Return the part of the model that the yaml text shows."""
    document = copy.deepcopy(DOCUMENT)
    machine = document["machines"]["0"]
    machine["juju-status"]["since"] = "01 Mar 2025 08:59:30Z"
    machine["machine-status"]["since"] = "01 Mar 2025 08:59:02Z"
    machine["modification-status"]["since"] = "01 Mar 2025 08:59:01Z"
    document["machines"] = {"0": _with_network(machine)}
    pg = document["applications"]["pg"]
    unit = pg["units"]["pg/0"]
    unit["workload-status"]["since"] = "01 Mar 2025 09:04:40Z"
    unit["juju-status"]["since"] = "01 Mar 2025 09:12:43Z"
    subordinate = unit["subordinates"]["logship/0"]
    subordinate["workload-status"]["since"] = "01 Mar 2025 09:06:10Z"
    subordinate["juju-status"]["since"] = "01 Mar 2025 09:06:11Z"
    pg["units"] = {"pg/0": unit}
    storage = document["storage"]["storage"]["pgdata/0"]
    storage["status"]["since"] = "01 Mar 2025 09:01:00Z"
    return {
        "model": document["model"],
        "machines": document["machines"],
        "applications": {"pg": pg},
        "storage": {"storage": {"pgdata/0": storage}},
        "controller": document["controller"],
    }


def _with_network(machine: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in machine.items():
        if key == "dns-name":
            fields["hostname"] = "alpha"
        if key == "hardware":
            fields["network-interfaces"] = {
                "eth0": {
                    "ip-addresses": ["10.20.0.11"],
                    "mac-address": "02:ab:00:00:00:01",
                    "gateway": "10.20.0.1",
                    "space": "alpha",
                    "is-up": True,
                }
            }
        fields[key] = value
    fields["machine-status"]["current"] = "running"
    return fields
