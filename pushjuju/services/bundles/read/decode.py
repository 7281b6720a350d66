"""Makes typed values of a bundle's plain data. Mirrors: juju/charm v12 bundledata.go

Like in Juju, unknown keys are ignored, and a dry run warns of them. A value of a wrong type is a fault here,
where Juju would take an empty value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, cast

from pushjuju.charms.format.yamlsafe import Document
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.read.compose import Composed
from pushjuju.services.bundles.read.values import Application, Bundle, Exposed, Fault, Machine, Offer, Path

_TOP = frozenset(
    (
        "bundle", "applications", "machines", "saas", "relations", "default-base", "series", "tags",
        "description",
    )
)  # fmt: skip
_APPLICATION = frozenset(
    (
        "charm", "channel", "revision", "series", "base", "resources", "num_units", "scale", "to",
        "placement", "expose", "exposed-endpoints", "options", "annotations", "constraints", "storage",
        "devices", "bindings", "offers", "plan", "trust", "requires_trust",
    )
)  # fmt: skip
_MACHINE = frozenset(("constraints", "annotations", "series", "base"))
_SAAS = frozenset(("url",))
_GO = {bool: "bool", int: "int", str: "string", list: "[]string", dict: "map"}
_TAGS = {bool: "!!bool", int: "!!int", float: "!!float", str: "!!str", list: "!!seq", dict: "!!map"}


@dataclass(slots=True)
class _Reader:
    """Reads the fields of maps as typed values, and collects faults."""

    composed: Composed
    faults: list[Fault] = field(default_factory=list)

    def fault(self, text: str, path: Path) -> None:
        place = self.composed.places.at(self.composed.root, path)
        self.faults.append(Fault(text=text, path=path, place=place))

    def wrong(self, value: Any, wanted: type, path: Path) -> None:
        shown = f" `{value}`" if isinstance(value, str | int | float) else ""
        self.fault(f"cannot unmarshal {_TAGS.get(type(value), '!!null')}{shown} into {_GO[wanted]}", path)

    def text(self, owner: Any, key: Any, path: Path) -> str:
        """Return a value as it was written, so that `14.10` stays `14.10` and does not become a number."""
        value = owner.get(key) if isinstance(owner, dict) else owner[key]
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if isinstance(value, list | dict):
            self.wrong(value, str, (*path, key))
            return ""
        place = self.composed.places.of(owner, key)
        return place.text if place and place.text is not None else str(value)

    def number(self, owner: Mapping[Any, Any], key: str, path: Path) -> int | None:
        value = owner.get(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        self.wrong(value, int, (*path, key))
        return None

    def flag(self, owner: Mapping[Any, Any], key: str, path: Path) -> bool:
        value = owner.get(key)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.wrong(value, bool, (*path, key))
        return False

    def map(self, owner: Mapping[Any, Any], key: str, path: Path) -> dict[str, object]:
        value = owner.get(key)
        if value is None or isinstance(value, dict):
            return value or {}
        self.wrong(value, dict, (*path, key))
        return {}

    def texts(self, owner: Any, key: str, path: Path) -> tuple[str, ...]:
        value = owner.get(key) if isinstance(owner, dict) else None
        if value is None:
            return ()
        if not isinstance(value, list):
            self.wrong(value, list, (*path, key))
            return ()
        return tuple(self.text(value, number, (*path, key)) for number in range(len(value)))

    def text_map(self, owner: Mapping[Any, Any], key: str, path: Path) -> dict[str, str]:
        found = self.map(owner, key, path)
        return {str(name): self.text(found, name, (*path, key)) for name in found}

    def maps(self, owner: Mapping[Any, Any], key: str, path: Path) -> dict[str, dict[Any, Any]]:
        """Return a map whose values are maps; a value of null becomes an empty map."""
        found: dict[str, dict[Any, Any]] = {}
        for name, value in self.map(owner, key, path).items():
            if value is not None and not isinstance(value, dict):
                self.wrong(value, dict, (*path, key, name))
            found[str(name)] = value if isinstance(value, dict) else {}
        return found


def decode(composed: Composed) -> tuple[Bundle, list[Fault]]:
    """Return a bundle, and a fault for each value of the wrong type."""
    reader, root = _Reader(composed), composed.root
    applications = {}
    for name, entry in reader.map(root, "applications", ()).items():
        if entry is None:
            reader.fault(
                f"bundle application for key {quote(str(name))} is undefined", ("applications", name)
            )
        elif not isinstance(entry, dict):
            reader.wrong(entry, dict, ("applications", name))
        else:
            applications[str(name)] = _application(reader, str(name), entry)
    bundle = Bundle(
        type=reader.text(root, "bundle", ()),
        description=reader.text(root, "description", ()),
        series=reader.text(root, "series", ()),
        default_base=reader.text(root, "default-base", ()),
        saas={
            name: reader.text(entry, "url", ("saas", name))
            for name, entry in reader.maps(root, "saas", ()).items()
        },
        applications=applications,
        machines={
            name: _machine(reader, name, entry) for name, entry in reader.maps(root, "machines", ()).items()
        },
        relations=_relations(reader, root),
    )
    return bundle, reader.faults


def _application(reader: _Reader, name: str, entry: dict[Any, Any]) -> Application:
    path: Path = ("applications", name)
    units, scale = reader.number(entry, "num_units", path), reader.number(entry, "scale", path)
    if units and scale:
        text = f"cannot specify both scale and num_units for application {quote(name)}"
        reader.fault(text, (*path, "scale"))
    texts = {
        key: reader.text(entry, key, path) for key in ("charm", "channel", "series", "base", "placement")
    }
    maps = {
        key: reader.text_map(entry, key, path) for key in ("annotations", "storage", "devices", "bindings")
    }
    return Application(
        name=name,
        charm=texts["charm"],
        channel=texts["channel"],
        series=texts["series"],
        base=texts["base"],
        placement=texts["placement"],
        revision=reader.number(entry, "revision", path),
        resources=_resources(reader, entry, path, name),
        num_units=units or scale or 0,
        to=reader.texts(entry, "to", path),
        expose=reader.flag(entry, "expose", path),
        exposed_endpoints=_exposures(reader, entry, path),
        options=dict(reader.map(entry, "options", path)),
        annotations=maps["annotations"],
        storage=maps["storage"],
        devices=maps["devices"],
        bindings=maps["bindings"],
        constraints=reader.text(entry, "constraints", path),
        offers=_offers(reader, entry, path),
        trust=reader.flag(entry, "trust", path),
        written=frozenset(str(key) for key in entry),
    )


def _resources(reader: _Reader, entry: dict[Any, Any], path: Path, application: str) -> dict[str, int | str]:
    found: dict[str, int | str] = {}
    for name, value in reader.map(entry, "resources", path).items():
        if isinstance(value, bool) or not isinstance(value, int | str):
            reader.fault(
                f"resource revision {quote(application)} is not int or string", (*path, "resources", name)
            )
        else:
            found[str(name)] = value
    return found


def _exposures(reader: _Reader, entry: dict[Any, Any], path: Path) -> dict[str, Exposed]:
    where = (*path, "exposed-endpoints")
    return {
        name: Exposed(
            spaces=reader.texts(value, "expose-to-spaces", (*where, name)),
            cidrs=reader.texts(value, "expose-to-cidrs", (*where, name)),
        )
        for name, value in reader.maps(entry, "exposed-endpoints", path).items()
    }


def _offers(reader: _Reader, entry: dict[Any, Any], path: Path) -> dict[str, Offer]:
    where = (*path, "offers")
    return {
        name: Offer(
            endpoints=reader.texts(value, "endpoints", (*where, name)),
            acl=reader.text_map(value, "acl", (*where, name)),
        )
        for name, value in reader.maps(entry, "offers", path).items()
    }


def _machine(reader: _Reader, name: str, entry: dict[Any, Any]) -> Machine:
    path: Path = ("machines", name)
    return Machine(
        constraints=reader.text(entry, "constraints", path),
        annotations=reader.text_map(entry, "annotations", path),
        series=reader.text(entry, "series", path),
        base=reader.text(entry, "base", path),
    )


def _relations(reader: _Reader, root: dict[Any, Any]) -> tuple[tuple[str, ...], ...]:
    found = root.get("relations")
    if found is None:
        return ()
    if not isinstance(found, list):
        reader.wrong(found, list, ("relations",))
        return ()
    made: list[tuple[str, ...]] = []
    for number, relation in enumerate(found):
        if not isinstance(relation, list):
            reader.wrong(relation, list, ("relations", number))
            made.append(())
        else:
            items = range(len(relation))
            made.append(tuple(reader.text(relation, item, ("relations", number)) for item in items))
    return tuple(made)


# --- keys that are ignored --------------------------------------------------------------------------------


def complaints(document: Document, number: int) -> list[str]:
    """Return the lines of Juju's strict reader about a document: unknown keys, and keys that come twice."""
    root = document.root if isinstance(document.root, dict) else {}
    found = [(int(text.removeprefix("line ").partition(":")[0]), text) for text in document.doubled]
    unknown: Callable[[Any, frozenset[str], str], None] = lambda owner, known, kind: found.extend(  # noqa: E731
        _unknown(document, owner, known, kind)
    )
    unknown(root, _TOP, "bundle")
    for group, known, kind in (
        ("applications", _APPLICATION, "applications"),
        ("machines", _MACHINE, "machines"),
        ("saas", _SAAS, "saas"),
    ):
        entries = root.get(group)
        for entry in entries.values() if isinstance(entries, dict) else ():
            unknown(entry, known, kind)
    prefix = f"unmarshal document {number}: yaml: unmarshal errors:"
    return [prefix, *(f"  {text}" for _, text in sorted(found))] if found else []


def _unknown(document: Document, owner: Any, known: frozenset[str], kind: str) -> list[tuple[int, str]]:
    if not isinstance(owner, dict):
        return []
    marks = document.marks.get(id(owner), {})
    lines = [(marks[key].line if key in marks else document.line, key) for key in owner if key not in known]
    return [(line, f"line {line}: field {key} not found in {kind}") for line, key in lines]


def has_series(bundle: Bundle) -> bool:
    """Return True when a bundle names a series anywhere; series are the deprecated form of bases."""
    owners = [bundle, *bundle.applications.values(), *bundle.machines.values()]
    return any(cast("Bundle", owner).series for owner in owners)
