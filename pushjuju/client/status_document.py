"""Makes the document of `status` from the answer of FullStatus.

The document is that of `pushjuju.services.views.status.document`, so the same formats show it.
Mirrors: juju cmd/juju/status/formatter.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pushjuju.charms.format.url import name_in
from pushjuju.core.clock import from_iso
from pushjuju.portable.natural import natural_key

Wire = Mapping[str, Any]
Moment = Callable[[str], str]
ALPHA, ALLOCATING, LOCAL = "alpha", "allocating", "local:"
Status = Callable[[Wire], dict[str, object]]
_KINDS = {1: "block", 2: "filesystem"}


def document(full: Wire, controller: str, moment: Moment) -> dict[str, Any]:
    """Return the document of `status`.

    Args:
        full: The answer of FullStatus, with storage.
        controller: The name of the controller on this client.
        moment: Converts a time of the wire to the document's form.
    """
    return _Reader(full, controller, moment).document()


def relation_rows(full: Wire) -> list[Mapping[str, Any]]:
    """Return the rows of `status --relations`, as `services.views.relation_rows` does."""
    return [_relation_row(item) for item in _listed(full, "relations")]


def status(wire: Wire, moment: Moment, *, version: bool = False) -> dict[str, object]:
    """Return a status without its empty fields."""
    found: dict[str, object] = {"current": wire.get("status", "")}
    if wire.get("info"):
        found["message"] = wire["info"]
    if wire.get("since"):
        found["since"] = moment(wire["since"])
    if version and wire.get("version"):
        found["version"] = wire["version"]
    if wire.get("life"):
        found["life"] = wire["life"]
    return found


def _listed(wire: Wire, key: str) -> list[Any]:
    return list(wire.get(key) or ())


def _named(wire: Wire, key: str) -> list[tuple[str, Any]]:
    """Return the entries of a map by their names in natural order."""
    return sorted((wire.get(key) or {}).items(), key=lambda pair: natural_key(pair[0]))


def _filled(found: Wire, always: Collection[str] = ()) -> dict[str, object]:
    """Return a map without empty values, except those of the keys that are always shown."""
    return {key: value for key, value in found.items() if value or key in always}


class _Reader:
    """Reads one answer."""

    def __init__(self, full: Wire, controller: str, moment: Moment) -> None:
        self.full, self.controller, self.moment = full, controller, moment
        self.relations = {item["id"]: item for item in _listed(full, "relations")}

    def document(self) -> dict[str, Any]:
        others = {
            "application-endpoints": {
                name: self._saas(item) for name, item in _named(self.full, "remote-applications")
            },
            "offers": {name: _offer(item) for name, item in _named(self.full, "offers")},
        }
        return {
            "model": self._model(),
            "machines": self._machines(self.full, "machines"),
            "applications": {
                name: self._application(name, item) for name, item in _named(self.full, "applications")
            },
            **_filled(others),
            "storage": combined(self.full, lambda wire: status(wire, self.moment)),
            "controller": {"timestamp": from_iso(self.full["controller-timestamp"])},
        }

    def _model(self) -> dict[str, object]:
        model = self.full["model"]
        shown = status(model["model-status"], self.moment)
        if reason := (model["model-status"].get("data") or {}).get("reason"):
            shown = {"current": shown["current"], "message": shown["message"], "reason": reason, **shown}
        return {
            "name": model["name"],
            "type": model.get("type", ""),
            "controller": self.controller,
            "cloud": model["cloud-tag"].removeprefix("cloud-"),
            "region": model.get("region", ""),
            "version": model.get("version", ""),
            "model-status": shown,
            "sla": model.get("sla", ""),
        }

    def _machines(self, wire: Wire, key: str) -> dict[str, object]:
        return {name: self._machine(item) for name, item in _named(wire, key)}

    def _machine(self, wire: Wire) -> dict[str, object]:
        return _filled(
            {
                "juju-status": status(wire["agent-status"], self.moment, version=True),
                "hostname": wire.get("hostname"),
                "dns-name": wire.get("dns-name"),
                "ip-addresses": wire.get("ip-addresses"),
                "instance-id": wire.get("instance-id"),
                "display-name": wire.get("display-name"),
                "machine-status": status(wire["instance-status"], self.moment),
                "modification-status": status(wire["modification-status"], self.moment),
                "base": wire["base"],
                "network-interfaces": wire.get("network-interfaces"),
                "containers": self._machines(wire, "containers"),
                "constraints": wire.get("constraints"),
                "hardware": wire.get("hardware"),
                "lxd-profiles": wire.get("lxd-profiles"),
            }
        )

    def _application(self, name: str, wire: Wire) -> dict[str, object]:
        url, bindings = wire["charm"], wire.get("endpoint-bindings") or {}
        is_local = url.startswith(LOCAL)
        found = {
            "charm": url if is_local else name_in(url),
            "base": wire["base"],
            "charm-origin": "local" if is_local else "charmhub",
            "charm-name": name_in(url),
            "charm-rev": wire.get("charm-rev", 0),
            "charm-channel": wire.get("charm-channel"),
            "charm-version": wire.get("charm-version"),
            "can-upgrade-to": wire.get("can-upgrade-to"),
            "exposed": wire.get("exposed", False),
            "life": wire.get("life"),
            "application-status": status(wire["status"], self.moment),
            "relations": self._relations(name),
            "subordinate-to": _listed(wire, "subordinate-to"),
            "units": {unit: self._unit(unit, item) for unit, item in _named(wire, "units")},
            "version": wire.get("workload-version"),
            "endpoint-bindings": bindings if set(bindings.values()) - {ALPHA} else {},
        }
        return _filled(found, always=("charm-rev", "exposed"))

    def _relations(self, name: str) -> dict[str, list[dict[str, str]]]:
        """Return endpoint -> the related applications of an application."""
        found: dict[str, list[dict[str, str]]] = {}
        for relation in self.relations.values():
            own = next((end for end in relation["endpoints"] if end["application"] == name), None)
            if own is None:
                continue
            entry = {
                "related-application": _other_end(relation, name)["application"],
                "interface": relation["interface"],
                "scope": relation["scope"],
            }
            found.setdefault(own["name"], []).append(entry)
        for entries in found.values():
            entries.sort(key=lambda entry: entry["related-application"])
        return dict(sorted(found.items()))

    def _unit(self, name: str, wire: Wire) -> dict[str, object]:
        agent = wire["agent-status"]
        return _filled(
            {
                "workload-status": self._workload(name, wire["workload-status"]),
                "juju-status": status(agent, self.moment, version=agent["status"] != ALLOCATING),
                "leader": wire.get("leader"),
                "upgrading-from": wire.get("charm"),
                "machine": wire.get("machine"),
                "open-ports": wire.get("opened-ports"),
                "public-address": wire.get("public-address"),
                "subordinates": {
                    other: self._unit(other, item) for other, item in _named(wire, "subordinates")
                },
            }
        )

    def _workload(self, unit: str, wire: Wire) -> dict[str, object]:
        """Return the workload status; the error of a relation hook names the remote endpoint."""
        found, number = status(wire, self.moment), (wire.get("data") or {}).get("relation-id")
        if found["current"] != "error" or number is None or int(number) not in self.relations:
            return found
        application = unit.partition("/")[0]
        other = _other_end(self.relations[int(number)], application)
        if other["application"] != application:
            found["message"] = f"{found.get('message', '')} for {other['application']}:{other['name']}"
        return found

    def _saas(self, wire: Wire) -> dict[str, object]:
        return _filled(
            {
                "url": wire["offer-url"],
                "endpoints": _endpoints(_listed(wire, "endpoints")),
                "life": wire.get("life"),
                "application-status": status(wire["status"], self.moment),
                "relations": wire.get("relations"),
            }
        )


def _offer(wire: Wire) -> dict[str, object]:
    counts = ("total-connected-count", "active-connected-count")
    return {
        "application": wire["application-name"],
        "charm": wire["charm"],
        **_filled({name: wire.get(name) for name in counts}),
        "endpoints": _endpoints((wire.get("endpoints") or {}).values()),
    }


def _endpoints(ends: Any) -> dict[str, dict[str, str]]:
    return {end["name"]: {"interface": end["interface"], "role": end["role"]} for end in ends}


def _other_end(relation: Wire, application: str) -> Wire:
    """Return the end of another application; of a peer relation its only end."""
    others: Iterator[Wire] = (end for end in relation["endpoints"] if end["application"] != application)
    found: Wire = next(others, relation["endpoints"][0])
    return found


def _relation_row(wire: Wire) -> dict[str, object]:
    ends = wire["endpoints"]
    provider = next((end for end in ends if end["role"] != "requirer"), ends[0])
    requirer = next((end for end in ends if end["role"] == "requirer"), provider)
    kind = "subordinate" if wire["scope"] == "container" else "regular"
    return {
        "provider": f"{provider['application']}:{provider['name']}",
        "requirer": f"{requirer['application']}:{requirer['name']}",
        "interface": wire["interface"],
        "type": "peer" if provider["role"] == "peer" else kind,
        "status": wire["status"]["status"],
        "message": wire["status"]["info"],
    }


def combined(full: Wire, status: Status) -> dict[str, object]:
    """Return {storage, filesystems, volumes}, without empty ones."""
    found = {
        "storage": {
            _name(item["storage-tag"]): _instance(item, status) for item in full.get("storage") or ()
        },
        "filesystems": {
            _place(item["filesystem-tag"]): _backing(item, "filesystem-id", status)
            for item in full.get("filesystems") or ()
        },
        "volumes": {
            _place(item["volume-tag"]): _backing(item, "volume-id", status)
            for item in full.get("volumes") or ()
        },
    }
    return {key: value for key, value in found.items() if value}


def _name(tag: str) -> str:
    """Return `data/0` of `storage-data-0`, and `web/0` of `unit-web-0`."""
    name, _, number = tag.partition("-")[2].rpartition("-")
    return f"{name}/{number}"


def _place(tag: str) -> str:
    """Return `0/lxd/1` of `machine-0-lxd-1`; the same for volumes and filesystems."""
    return tag.partition("-")[2].replace("-", "/")


def _instance(wire: Wire, status: Status) -> dict[str, object]:
    units = {
        _name(tag): _filled(
            {
                "machine": _place(item.get("machine-tag") or ""),
                "location": item.get("location"),
                "life": item.get("life"),
            }
        )
        for tag, item in (wire.get("attachments") or {}).items()
    }
    return {
        "kind": _KINDS.get(wire["kind"], ""),
        "life": wire["life"],
        "status": status(wire["status"]),
        "persistent": wire["persistent"],
        **_filled({"attachments": {"units": units} if units else {}}),
    }


def _backing(wire: Wire, key: str, status: Status) -> dict[str, object]:
    """Return a filesystem or a volume."""
    info, storage = wire["info"], wire.get("storage") or {}
    machines = {_place(tag): _host(item) for tag, item in (wire.get("machine-attachments") or {}).items()}
    units = {
        _name(tag): {"machine": _place(item.get("machine-tag") or ""), "life": item.get("life", "")}
        for tag, item in (storage.get("attachments") or {}).items()
    }
    rest = {
        "provider-id": info.get(key),
        "volume": _place(wire.get("volume-tag") or "") if key == "filesystem-id" else "",
        "storage": _name(storage["storage-tag"]) if storage else "",
        "attachments": _filled({"machines": machines, "units": units}) if machines else {},
        "pool": info.get("pool"),
        "hardware-id": info.get("hardware-id"),
        "wwn": info.get("wwn"),
    }
    found = {**_filled(rest), "size": info["size"]}
    if "persistent" in info:
        found["persistent"] = info["persistent"]
    return {**found, "life": wire["life"], "status": status(wire["status"])}


def _host(wire: Wire) -> dict[str, object]:
    return {"device" if key == "device-name" else key: value for key, value in wire.items()}
