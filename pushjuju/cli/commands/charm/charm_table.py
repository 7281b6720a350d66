"""Formats the results of `find` and `info`. Pure. Mirrors: juju cmd/juju/charmhub writers (3.6)"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pushjuju.cli.terminal.table import TabWriter
from pushjuju.core.base import RISKS
from pushjuju.core.errors import NotValid
from pushjuju.portable import output
from pushjuju.portable.gotypes import Struct

Entry = Mapping[str, Any]

_UNITS = ("B", "kB", "MB", "GB", "TB")


def _bases(entry: Entry, key: str = "supports") -> str:
    return ", ".join(f"{base['name']}@{base['channel']}" for base in entry.get(key, ()))


COLUMNS: Mapping[str, tuple[str, Callable[[Entry], str]]] = {
    "n": ("Name", lambda entry: str(entry["name"])),
    "b": ("Bundle", lambda entry: "Y" if entry["type"] == "bundle" else "-"),
    "v": ("Version", lambda entry: str(entry["version"])),
    "p": ("Publisher", lambda entry: str(entry["publisher"])),
    "s": ("Summary", lambda entry: entry["summary"].partition("\n")[0]),
    "a": ("Architectures", lambda entry: ",".join(entry.get("architectures", ()))),
    "o": ("OS", lambda entry: ",".join(entry.get("os", ()))),
    "S": ("Supports", _bases),
}


def check_columns(letters: str) -> None:
    """Refuse columns that `find` does not have."""
    if not letters:
        raise NotValid("expected at least one column")
    for letter in letters:
        if letter not in COLUMNS:
            raise NotValid(f'unexpected column type "{letter}"')


def found_table(found: Sequence[Entry], letters: str) -> str:
    """Return the results of `find` as a table."""
    chosen = [COLUMNS[letter] for letter in letters]
    table = TabWriter()
    table.row(*(head for head, _ in chosen))
    for entry in found:
        table.row(*(cell(entry) for _, cell in chosen))
    return f"{table.text()}\n"


def size_text(size: int) -> str:
    """Return a size as a whole number of the largest unit below it."""
    number, unit = float(size), 0
    while number >= 1000 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{int(number)}{_UNITS[unit]}"


def info_text(entry: Entry, *, arch: str, base: str, unicode: bool) -> str:
    """Return the text of `info`: a YAML document whose channels are a table.

    Args:
        arch: The architecture to show; empty for all.
        base: The base to show; empty for all.
        unicode: Whether the text may use characters beyond ASCII.
    """
    bundle = entry["type"] == "bundle"
    head: dict[str, Any] = {key: entry[key] for key in ("name", "publisher", "summary", "description")}
    head["store-url"] = entry["store-url"]
    head["bundle-id" if bundle else "charm-id"] = entry["id"]
    if supported := _bases(entry):
        head["supports"] = supported
    if entry.get("tags"):
        head["tags"] = ", ".join(entry["tags"])
    charm = entry.get("charm", {})
    if not bundle:
        head["subordinate"] = charm.get("subordinate", False)
    if charm.get("relations"):
        head["relations"] = charm["relations"]
    if entry.get("bundle", {}).get("charms"):
        head["contains"] = [one["name"] for one in entry["bundle"]["charms"]]
    if "config" in charm:
        head["config"] = {
            "settings": {name: _option(option) for name, option in sorted(charm["config"]["Options"].items())}
        }
    return _yaml({key: value for key, value in head.items() if value != ""}) + _channels(
        entry, arch=arch, base=base, unicode=unicode
    )


def _option(option: Entry) -> dict[str, object]:
    found = {"type": option["Type"], "description": option["Description"]}
    return found if option["Default"] is None else {**found, "default": option["Default"]}


def _yaml(document: dict[str, object]) -> str:
    return output.format_yaml(Struct(document.items()))


def _channels(entry: Entry, *, arch: str, base: str, unicode: bool) -> str:
    table = TabWriter()
    for track in entry["tracks"]:
        open_ = False
        for risk in RISKS:
            lines = list(_lines(entry["channels"][track].get(risk, ()), arch=arch, base=base))
            label = f"  {track}/{risk}:"
            for number, line in enumerate(lines):
                table.row(label if not number else " " * len(label), *line)
            if not lines:
                table.row(label, _mark(open_, unicode=unicode))
            open_ = open_ or bool(lines)
    return f"channels: |\n{table.text()}" if entry["tracks"] else ""


def _mark(open_: bool, *, unicode: bool) -> str:
    if open_:
        return "↑" if unicode else "^"
    return "–" if unicode else "--"


def _lines(revisions: Iterable[Entry], *, arch: str, base: str) -> Iterable[tuple[str, ...]]:
    for item in sorted(revisions, key=lambda one: -one["revision"]):
        cells = [item["version"], item["released-at"][:10], f"({item['revision']})", size_text(item["size"])]
        cells += [] if arch else [", ".join(item["architectures"])]
        cells += [] if base else [_bases(item, "bases")]
        yield tuple(cells)
