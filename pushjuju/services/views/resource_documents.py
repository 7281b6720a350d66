"""The documents of `resources`, `charm-resources` and `payloads`, as plain data.

Keys and order are those of Juju's JSON. Mirrors: juju cmd/juju/resource formatter.go, list.go,
cmd/juju/payload/list.go (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pushjuju.charms.values.model import ResourceMeta
from pushjuju.core.charmstore import StoreResource
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import not_found
from pushjuju.core.values import dataclass
from pushjuju.portable.gotypes import Moment, Struct
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.application import applications, resources, units
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.origin_records import ResourceLatest
from pushjuju.store.rows.records import Application, Resource, UnitResource
from pushjuju.store.tx import ModelTx

_NEVER = "0001-01-01T00:00:00Z"
_UNKNOWN = -1  # Juju's number for an unknown progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A resource as users see it; `time` is empty when no file is attached."""

    application: str
    name: str
    type: str = ""
    path: str = ""
    description: str = ""
    origin: str = ""
    revision: int = 0
    fingerprint: str = ""
    size: int = 0
    username: str = ""
    time: str = ""

    @property
    def supplier(self) -> str:
        """The user who uploaded the resource, or the kind of its origin."""
        return self.username if self.origin == resources.UPLOAD and self.username else self.origin

    @property
    def revision_text(self) -> str:
        """The revision in a store, or the time of the upload."""
        if self.origin == resources.STORE:
            return str(self.revision) if self.revision >= 0 else "-"
        return f"{from_iso(self.time):%Y-%m-%dT%H:%M}" if self.time else "-"

    def document(self) -> Struct:
        """Return the resource in the form of Juju's JSON."""
        found: dict[str, object] = {}
        if self.application:
            found = {"resourceid": f"{self.application}/{self.name}", "applicationId": self.application}
        found |= _named(self.name, self.type, self.path, self.description)
        found |= {
            "revision": str(self.revision) if self.revision >= 0 else "-",
            "fingerprint": self.fingerprint,
            "size": self.size,
            "origin": self.origin,
            "used": bool(self.time),
            "timestamp": Moment(f"{from_iso(self.time):%Y-%m-%dT%H:%M:%SZ}" if self.time else _NEVER),
        }
        if self.username:
            found["username"] = self.username
        return Struct(found.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """The revision of a resource that a unit has, and the revision that it should have."""

    unit: str
    has: Shown
    expected: Shown

    def document(self) -> Struct:
        """Return the detail in the form of Juju's JSON."""
        return Struct(
            [
                ("unitID", self.unit),
                ("unit", self.has.document()),
                ("expected", self.expected.document()),
                ("progress", _UNKNOWN),
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The resources of an application and of its units; `updates` has newer revisions in the store."""

    resources: list[Shown]
    units: list[str]
    fetched: dict[tuple[str, str], Shown]
    updates: list[ResourceLatest]

    def unit_resources(self, unit: str) -> list[Shown]:
        """Return the resources of a unit; those that it has not fetched are listed without a revision."""
        self._require(unit)
        own = {name: shown for (owner, name), shown in self.fetched.items() if owner == unit}
        found = [own.pop(item.name, replace(item, revision=_UNKNOWN)) for item in self.resources]
        return [*found, *(own[name] for name in sorted(own))]

    def details(self, unit: str = "") -> list[Detail]:
        """Return the details of all resources, for one unit or for all."""
        if unit:
            self._require(unit)
        return [
            Detail(unit=each, has=self.fetched.get((each, item.name), _NOTHING), expected=item)
            for each in ([unit] if unit else self.units)
            for item in self.resources
        ]

    def _require(self, unit: str) -> None:
        if unit not in self.units:
            raise not_found("unit", unit)


_NOTHING = Shown(application="", name="", revision=_UNKNOWN)


def listing(ctx: Context, model: str, name: str) -> Listing:
    """Return the resources of an application and its units."""
    with ctx.read(model) as tx:
        application = applications.get(tx, name)
        return _listing(tx, application, resources.of_application(tx, application))


def of_model(ctx: Context, model: str) -> dict[str, Listing]:
    """Return application -> resources, for all applications that have any."""
    with ctx.read(model) as tx:
        every = tx.list(Application, "application_list")
        found = [(item, resources.of_application(tx, item)) for item in every]
        return {item.name: _listing(tx, item, rows) for item, rows in found if rows}


def _listing(tx: ModelTx, application: Application, every: list[Resource]) -> Listing:
    name = application.name
    return Listing(
        resources=[_shown(name, row) for row in every],
        units=[unit.name for unit in units.of_application(tx, name)],
        fetched={(row.unit, row.name): _shown(name, row) for row in resources.of_units(tx, application)},
        updates=_updates(tx, name, every),
    )


def content(ctx: Context, model: str, application: str, name: str) -> tuple[Path, Shown]:
    """Return the file of an application's resource, and the resource.

    Raises:
        NotFound: The resource does not exist, or the controller does not have its content.
    """
    with ctx.read(model) as tx:
        found = resources.of_application(tx, applications.get(tx, application))
        row = next((item for item in found if item.name == name), None)
    if row is None or not row.sha256:
        raise not_found("resource", f"{application}/{name}")
    return ctx.controller.blobs.path(row.sha256), _shown(application, row)


def _updates(tx: ModelTx, application: str, known: Iterable[Resource]) -> list[ResourceLatest]:
    """Return the newer revisions in the store's last answer, which leaves out uploaded resources."""
    rows = tx.list(ResourceLatest, "resource_latest_list", application=application)
    latest = {row.name: row for row in rows}
    return [
        new
        for row in known
        if row.origin == resources.STORE
        and (new := latest.get(row.name)) is not None
        and new.revision != row.revision
    ]


def _named(name: str, kind: str, path: str, description: str) -> dict[str, object]:
    """Return the fields with which the document of a resource begins."""
    found: dict[str, object] = {"name": name, "type": kind, "path": path}
    return found | ({"description": description} if description else {})


def update_document(new: ResourceLatest) -> Struct:
    """Return a newer revision that the store has, in the form of Juju's JSON."""
    found = _named(new.name, new.type, new.path, new.description)
    found |= {"revision": new.revision, "fingerprint": new.fingerprint, "size": new.size}
    return Struct((found | {"origin": resources.STORE}).items())


def in_store(found: Iterable[StoreResource]) -> list[Struct]:
    """Return the document of `charm-resources` for a charm of a store."""
    documents = []
    for item in found:
        entry = _named(item.name, item.type, item.filename, item.description)
        entry |= {"revision": item.revision, "fingerprint": item.download.sha384}
        entry |= {"size": item.download.size, "origin": resources.STORE}
        documents.append(Struct(entry.items()))
    return documents


def _shown(application: str, row: Resource | UnitResource) -> Shown:
    return Shown(
        application=application, name=row.name, type=row.type, path=row.path, description=row.description,
        origin=row.origin, revision=row.revision, fingerprint=row.fingerprint, size=row.size,
        username=row.username, time=row.time,
    )  # fmt: skip


def declared(metas: Iterable[ResourceMeta]) -> list[Struct]:
    """Return the document of `charm-resources` for a charm that is not in a store."""
    found = []
    for meta in sorted(metas, key=lambda item: item.name):
        entry = _named(meta.name, meta.type, meta.filename, meta.description)
        entry |= {"fingerprint": "", "size": 0, "origin": resources.UPLOAD}
        found.append(Struct(entry.items()))
    return found


def payloads(ctx: Context, model: str, patterns: Sequence[str] = ()) -> list[dict[str, object]]:
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
