"""Merges the documents of a bundle and of its overlay files into one document.

Mirrors: juju/charm v12 overlay.go, juju cmd/juju/application/bundle (3.6)
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path as FilePath
from typing import Any

from pushjuju.charms.format.yamlsafe import Document, YamlLimits, load_documents
from pushjuju.core.errors import NotValid
from pushjuju.core.ids import is_uuid
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.read.source import Source
from pushjuju.services.bundles.read.values import Fault, Path, Place

_TEXT_KEYS = 6  # levels of maps whose keys stay text, such as an application named 1.0
_LIMITS = YamlLimits()
_MERGED = (
    "options", "annotations", "resources", "storage", "devices", "bindings", "offers", "exposed-endpoints",
)  # fmt: skip
_FILE, _BASE64 = "include-file://", "include-base64://"
OVERLAY_ONLY = ("offers", "exposed-endpoints")

Include = Callable[[FilePath | None, str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One document of a bundle or overlay; `number` counts the documents of the file."""

    source: Source
    document: Document
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The merged document of a bundle, with the file and line of each value."""

    root: dict[str, Any]
    places: Places
    # the parts that could not be merged, and included files that do not exist
    faults: list[Fault] = field(default_factory=list)
    # the place where the first document begins, which faults name for missing keys
    begin: Place | None = None

    def add(self, text: str, *path: str | int, owner: Any, key: Any) -> None:
        """Add a fault at the item `key` of the list or map `owner`."""
        self.faults.append(Fault(text=text, path=path, place=self.places.of(owner, key)))


def parts(source: Source) -> list[Part]:
    """Return the documents of a file, without empty ones except the first.

    Raises:
        NotValid: The text is not YAML, or a document is not a map; the message is Juju's.
    """
    try:
        found = load_documents(source.text, _LIMITS, text_keys=_TEXT_KEYS)
    except NotValid as error:
        raise NotValid(
            f"cannot unmarshal bundle contents: unmarshal document 0: {error.message}", detail=source.file
        ) from None
    for number, document in enumerate(found):
        if document.root is not None and not isinstance(document.root, dict):
            text = f"unmarshal document {number}: line {document.line}: a map was expected"
            raise NotValid(f"cannot unmarshal bundle contents: {text}", detail=source.file)
    return [
        Part(source=source, document=document, number=number)
        for number, document in enumerate(found)
        if document.root or number == 0
    ]


def base(part: Part, include: Include) -> Composed:
    """Return the first document, which Juju also verifies without the overlays."""
    if not part.document.root:
        raise NotValid("malformed bundle: bundle is empty", detail=part.source.file)
    return _prepared(part, Places(), include, [])


def compose(listed: Sequence[Part], include: Include) -> Composed:
    """Merge all parts in order; a part of a document that cannot be merged becomes a fault."""
    first, *others = listed
    made = base(first, include)
    for part in others:
        extra = _prepared(part, made.places, include, made.faults)
        if "services" in extra.root:
            text = "bundle overlay file used deprecated 'services' key"
            text += ", this is not valid for bundle overlay files"
            made.add(text, "services", owner=extra.root, key="services")
        _merge(made, extra.root)
    return made


def overlay_faults(first: Composed) -> Iterator[Fault]:
    """Yield a fault for each key that only overlays may have."""
    applications = _map(first.root.get("applications"))
    for name in sorted(applications):
        for key in OVERLAY_ONLY:
            for path in _paths(applications[name], key):
                text = f"applications.{name}.{path} can only appear in an overlay section"
                where = ("applications", name, key)
                yield Fault(text=text, path=where, place=first.places.at(first.root, where))


def _paths(application: Any, key: str) -> list[str]:
    if not isinstance(application, dict) or key not in application:
        return []
    found = [key]
    for name, entry in sorted(_map(application[key]).items()):
        fields = ("endpoints", "acl") if key == "offers" else ("expose-to-spaces", "expose-to-cidrs")
        found += [f"{key}.{name}.{field}" for field in fields if field in _map(entry)]
    return found


def _map(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


# --- one part ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A document that is being read, and the document that it is merged into."""

    part: Part
    made: Composed
    include: Include

    @property
    def folder(self) -> FilePath | None:
        return self.part.source.folder


def _prepared(part: Part, places: Places, include: Include, faults: list[Fault]) -> Composed:
    """Return a document with its included files read and its paths absolute."""
    places.take(part.document, part.source.file)
    root = places.copy(part.document.root)
    begin = Place(file=part.source.file, line=part.document.line)
    made = Composed(root=root, places=places, faults=faults, begin=begin)
    reading = _Reading(part=part, made=made, include=include)
    for group, keys in (("applications", ("options", "annotations")), ("machines", ("annotations",))):
        if isinstance(root.get(group), dict):
            root[group] = entries = places.copy(root[group])
            for name, entry in entries.items():
                if isinstance(entry, dict):
                    entries[name] = _entry(places.copy(entry), keys, (group, name), reading)
    return made


def _entry(
    entry: dict[Any, Any], keys: Sequence[str], owner: tuple[str, str], reading: _Reading
) -> dict[Any, Any]:
    charm, made = entry.get("charm"), reading.made
    folder = reading.folder
    if owner[0] == "applications" and folder is None:
        _refuse_paths(entry, owner[1], reading)
    elif owner[0] == "applications" and folder and isinstance(charm, str) and charm.startswith("."):
        entry["charm"] = str((folder / charm).resolve())
    for key in keys:
        if isinstance(entry.get(key), dict):
            entry[key] = values = made.places.copy(entry[key])
            for name, value in values.items():
                if isinstance(value, str):
                    values[name] = _included(value, (*owner, key, name), values, reading)
    return entry


def _refuse_paths(entry: dict[Any, Any], application: str, reading: _Reading) -> None:
    """Add faults for local paths in a bundle archive: its author must not read files of this computer."""
    charm, listed, made = entry.get("charm"), entry.get("resources"), reading.made
    resources: dict[Any, Any] = listed if isinstance(listed, dict) else {}
    if isinstance(charm, str) and charm.startswith((".", "/")):
        text = f"charm path {quote(charm)} in application {quote(application)}: an archive holds no charms"
        made.add(text, "applications", application, "charm", owner=entry, key="charm")
    for name, value in list(resources.items()):
        if isinstance(value, str) and not (reading.part.source.has_ids and is_uuid(value)):
            text = f"resource {quote(str(name))} of application {quote(application)} names the file "
            text += f"{quote(value)}: a bundle in an archive gets no file of this computer; "
            text += "name the file with --overlay"
            made.add(text, "applications", application, "resources", name, owner=resources, key=name)
            del resources[name]  # no later check may tell the archive's author whether the file exists


def _included(value: str, path: tuple[str, str, str, Any], values: Any, reading: _Reading) -> str:
    """Return the content of the file that a value includes, or the value itself when there is a fault."""
    kind, owner, key, name = path
    prefix = next((prefix for prefix in (_FILE, _BASE64) if value.startswith(prefix)), "")
    if not prefix:
        return value
    try:
        content = reading.include(reading.folder, value.removeprefix(prefix))
        return content.decode() if prefix == _FILE else base64.b64encode(content).decode()
    except (NotValid, UnicodeDecodeError) as error:
        text = error.message if isinstance(error, NotValid) else "the file is not UTF-8 text"
        what = "option" if key == "options" else "annotation"
        whose = "application" if kind == "applications" else "machine"
        where = f"processing {what} {quote(str(name))} for {whose} {quote(str(owner))}"
        text = f"{where}: resolving include {quote(value)}: {text}"
        reading.made.add(text, *path, owner=values, key=name)
        return value


# --- merging ----------------------------------------------------------------------------------------------


def _merge(made: Composed, extra: dict[str, Any]) -> None:
    """Merge a later document into the merged document."""
    root, places = made.root, made.places
    for key in ("applications", "saas"):
        if isinstance(extra.get(key), dict):
            root[key] = known = places.copy(_map(root.get(key)))
            for name, entry in extra[key].items():
                _merge_entry(made, known, name, entry, extra[key])
    for key in ("series", "default-base"):
        if extra.get(key):
            root[key] = extra[key]
            places.move(extra, root, key)
    if isinstance(extra.get("relations"), list):
        old = root.get("relations") if isinstance(root.get("relations"), list) else []
        root["relations"] = joined = [*(old or []), *extra["relations"]]
        for number in range(len(old or [])):
            places.move(old, joined, number)
        for number in range(len(extra["relations"])):
            places.move(extra["relations"], joined, number, new=number + len(old or []))
        if not old:
            places.move(extra, root, "relations")
    if "machines" in extra:
        root["machines"] = extra["machines"]
        places.move(extra, root, "machines")


def _merge_entry(made: Composed, known: dict[Any, Any], name: Any, entry: Any, owner: dict[Any, Any]) -> None:
    """Merge an application or SAAS; an empty entry removes it, with the relations that name it."""
    root, places = made.root, made.places
    if not entry:
        known.pop(name, None)
        _drop_relations(root, str(name), places)
    elif name not in known or not isinstance(entry, dict):
        known[name] = entry
        places.move(owner, known, name)
    elif not isinstance(known[name], dict):
        text = f"base application {quote(str(name))} has no body"
        made.add(text, "applications", str(name), owner=known, key=name)
    else:
        known[name] = _merged_fields(known[name], entry, places)


def _drop_relations(root: dict[str, object], name: str, places: Places) -> None:
    old = root.get("relations")
    if not isinstance(old, list):
        return
    kept = [number for number, relation in enumerate(old) if not _names(relation, name)]
    root["relations"] = fresh = [old[number] for number in kept]
    for new, number in enumerate(kept):
        places.move(old, fresh, number, new=new)


def _names(relation: Any, name: str) -> bool:
    return isinstance(relation, list) and any(str(item).partition(":")[0] == name for item in relation)


def _merged_fields(old: dict[Any, Any], extra: dict[Any, Any], places: Places) -> dict[Any, Any]:
    made = places.copy(old)
    for key, value in extra.items():
        if key == "scale":
            made.pop("num_units", None)
        elif key == "num_units":
            made.pop("scale", None)
        if key in _MERGED and isinstance(value, dict) and value and isinstance(made.get(key), dict):
            made[key] = _merged_map(made[key], value, places)
        else:
            made[key] = value
            places.move(extra, made, key)
    return made


def _merged_map(old: dict[Any, Any], extra: dict[Any, Any], places: Places) -> dict[Any, Any]:
    made = places.copy(old)
    for key, value in extra.items():
        if isinstance(old.get(key), dict | list) and not value:
            made.pop(key, None)
            continue
        made[key] = value
        places.move(extra, made, key)
    return made


class Places:
    """The places of values in lists and maps; it grows while documents are merged."""

    def __init__(self) -> None:
        self._of: dict[int, dict[Any, Place]] = {}
        self._kept: list[Any] = []  # keeps containers alive, because the keys of `_of` are their `id()`

    def take(self, document: Document, file: str) -> None:
        self._kept.append(document.root)
        for container in _containers(document.root):
            marks = document.marks.get(id(container), {})
            self._of[id(container)] = {
                key: Place(file=file, line=mark.line, text=mark.text) for key, mark in marks.items()
            }

    def of(self, container: Any, key: Any) -> Place | None:
        """Return the place of an item of a list or map, or None for an item without a place."""
        return self._of.get(id(container), {}).get(key)

    def copy(self, container: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return a shallow copy of a map, for changes; the copy has the same places."""
        made = dict(container)
        self._kept.append(made)
        self._of[id(made)] = dict(self._of.get(id(container), {}))
        return made

    def move(self, source: Any, target: Any, key: Any, *, new: Any = None) -> None:
        """Give an item of `target` the place of an item of `source`; `new` is another key in `target`."""
        place = self.of(source, key)
        if id(target) not in self._of:
            self._kept.append(target)
        own = self._of.setdefault(id(target), {})
        if place is None:
            own.pop(key if new is None else new, None)
        else:
            own[key if new is None else new] = place

    def at(self, root: Any, path: Path) -> Place | None:
        """Return the place of the innermost value on a path that has a place, or None."""
        found: Place | None = None
        here = root
        for part in path:
            found = self.of(here, part) or found
            try:
                here = here[part]
            except (KeyError, IndexError, TypeError):
                break
        return found


def _containers(root: Any) -> Iterator[Any]:
    """Yield every list and map inside a document once."""
    waiting, seen = [root], set[int]()
    while waiting:
        here = waiting.pop()
        if not isinstance(here, list | dict) or id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        waiting.extend(here.values() if isinstance(here, dict) else here)
