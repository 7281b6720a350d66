"""The status as tables. Pure. Mirrors: juju cmd/juju/status/output_tabular.go (3.6)"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pushjuju import JUJU_VERSION
from pushjuju.cli.commands.machine.machine_table import machine_section
from pushjuju.cli.commands.storage.storage_table import status_section
from pushjuju.cli.terminal.paint import (
    BRIGHT_MAGENTA,
    CYAN,
    GRAY,
    GREEN,
    MAGENTA,
    RED,
    YELLOW,
    Joined,
    paint,
    paint_status,
)
from pushjuju.cli.terminal.table import TabWriter, heads, message, naturally
from pushjuju.core.values import regex
from pushjuju.portable.natural import natural_key

_CHARM_URL = regex(r"(?:.*[:/])?(?P<name>[^/:]+?)(?:-(?P<revision>\d+))?")
_RELATION_COLOURS = {"suspended": YELLOW, "suspending": YELLOW, "broken": RED, "error": RED}
Document = Mapping[str, Any]
Units = Sequence["UnitEntry"]
_RUNNING = regex(r"running (?:action (\S+)|(\S+) hook\b)")
_WORKING = ("idle", "executing", "running")


def tabular(
    document: Document,
    *,
    relations: Sequence[Document] | None = None,
    storage: bool = False,
    colour: bool = False,
) -> str:
    """Return the tables of a status document.

    Args:
        document: The document of `status --format json`.
        relations: Rows of the relation section, or None for no section: dicts with `provider`,
            `requirer` (both `application:endpoint`), `interface`, `type` (`regular`, `peer`,
            `subordinate`), `status`, `message`.
        storage: Whether to show the storage section.
    """
    applications = document.get("applications", {})
    units = list(walk(applications))
    sections = (
        model_section(document, colour=colour),
        saas_section(document.get("application-endpoints", {}), colour=colour),
        application_section(applications, units, colour=colour),
        unit_section(units, colour=colour),
        machine_section(document.get("machines", {}), colour=colour),
        offer_section(document.get("offers", {}), colour=colour),
        relation_section(relations or (), colour=colour),
        status_section(document.get("storage", {}), colour=colour) if storage else "",
    )
    return "\n".join(section for section in sections if section)


def model_section(document: Document, *, colour: bool = False) -> str:
    """Return the section of the model; columns without content are left out."""
    model = document["model"]
    if "status-error" in model:
        return f"{model['status-error']}\n"
    place = "/".join(part for part in (model.get("cloud", ""), model.get("region", "")) if part)
    version = model.get("version", "")
    old = natural_key(version) < natural_key(JUJU_VERSION)
    columns = [
        ("Model", model["name"]),
        ("Controller", model.get("controller", "")),
        ("Cloud/Region", place),
        ("Version", paint(version, YELLOW) if old else version),
        ("SLA", model.get("sla", "")),
        ("Timestamp", document.get("controller", {}).get("timestamp", "")),
        ("Notes", _notes(model)),
    ]
    shown = [column for number, column in enumerate(columns) if number < 4 or column[1]]
    table = TabWriter(colour=colour)
    table.row(*heads(*(title for title, _ in shown)))
    table.row(*(value for _, value in shown))
    return table.text()


def _notes(model: Document) -> str:
    text = str(model.get("model-status", {}).get("message", ""))
    newer = model.get("upgrade-available")
    return text or (f"upgrade available: {newer}" if newer else "")


def saas_section(remote: Document, *, colour: bool = False) -> str:
    """Return the section of applications of other models."""
    if not remote:
        return ""
    table = TabWriter("SAAS", "Status", "Store", "URL", colour=colour)
    for name, application in naturally(remote):
        store, _, url = application.get("url", "").rpartition(":")
        status = application.get("application-status", {}).get("current", "")
        table.row(name, paint_status(status), store or "local", url)
    return table.text()


def application_section(applications: Document, units: Units, *, colour: bool = False) -> str:
    if not applications:
        return ""
    scales = _scales(units)
    table = TabWriter(
        "App",
        "Version",
        "Status",
        "Scale",
        "Charm",
        "Channel",
        "Rev",
        "Exposed",
        "Message",
        right=(3, 6),
        colour=colour,
    )
    for name, application in naturally(applications):
        table.row(name, *_application_cells(application, scales.get(name, (0, 0))))
    return table.text()


def _application_cells(application: Document, scale: tuple[int, int]) -> tuple[str, ...]:
    if "status-error" in application:
        return ("", "", "", "", "", "", "", message(application["status-error"]))
    status = application.get("application-status", {})
    current, wanted = scale
    revision = str(application.get("charm-rev", ""))
    return (
        _short_version(application.get("version", "")),
        paint_status(status.get("current", "")),
        str(current) if current == wanted else paint(f"{current}/{wanted}", YELLOW),
        application.get("charm-name", ""),
        application.get("charm-channel", ""),
        paint(revision, YELLOW) if application.get("can-upgrade-to") else revision,
        paint("yes", GREEN) if application.get("exposed") else "no",
        message(status.get("message", status.get("status-error", ""))),
    )


def _short_version(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= 15 else f"{line[:12]}..."


def _scales(units: Units) -> dict[str, tuple[int, int]]:
    """Return application -> (units that work, units); subordinates of all principals are counted."""
    found: dict[str, tuple[int, int]] = {}
    for name, unit, _level in units:
        application = name.partition("/")[0]
        current, wanted = found.get(application, (0, 0))
        found[application] = (current + works(unit), wanted + 1)
    return found


def unit_section(units: Units, *, colour: bool = False) -> str:
    """Return the section of units, subordinates indented below their principals."""
    if not units:
        return ""
    table = TabWriter(
        "Unit", "Workload", "Agent", "Machine", "Public address", "Ports", "Message", colour=colour
    )
    for name, unit, level in units:
        table.row(
            f"{'  ' * level}{name}{'*' if unit.get('leader') else ''}",
            paint_status(workload_of(unit)),
            paint_status(agent_of(unit)),
            unit.get("machine", ""),
            paint(unit.get("public-address", ""), CYAN),
            paint(ports_text(unit.get("open-ports", ())), BRIGHT_MAGENTA),
            message(shown_message(unit)),
        )
    return table.text()


def offer_section(offers: Document, *, colour: bool = False) -> str:
    """Return the section of offers, with a line for each endpoint."""
    if not offers:
        return ""
    table = TabWriter(
        "Offer", "Application", "Charm", "Rev", "Connected", "Endpoint", "Interface", "Role", colour=colour
    )
    for name, offer in naturally(offers):
        charm, revision = charm_parts(offer.get("charm", ""))
        connected = f"{offer.get('active-connected-count', 0)}/{offer.get('total-connected-count', 0)}"
        lead: tuple[str, ...] = (name, offer.get("application", ""), charm, revision, connected)
        for endpoint, entry in naturally(offer.get("endpoints", {})):
            table.row(*lead, endpoint, entry.get("interface", ""), entry.get("role", ""))
            lead = ("", "", "", "", "")
    return table.text()


def charm_parts(url: str) -> tuple[str, str]:
    """Return name and revision of a charm URL: `ch:amd64/jammy/pg-14` gives `pg` and `14`."""
    found = _CHARM_URL.fullmatch(url)
    return (found["name"], found["revision"] or "") if found else (url, "")


def relation_section(relations: Sequence[Document], *, colour: bool = False) -> str:
    """Return the section of relations; see `tabular` for the keys."""
    if not relations:
        return ""
    table = TabWriter("Integration provider", "Requirer", "Interface", "Type", "Message", colour=colour)
    for relation in sorted(relations, key=lambda entry: (entry["provider"], entry["requirer"])):
        ends = (_end(relation["provider"]), _end(relation["requirer"]))
        cells = (*ends, relation["interface"], relation["type"])
        status = relation.get("status", "")
        if status in ("", "joined"):
            table.closed(*cells)
        else:
            shown = paint(status, _RELATION_COLOURS.get(status, ""))
            table.row(*cells, shown, paint(relation.get("message", ""), GRAY))
    return table.text()


def _end(text: str) -> str:
    """Return `application:endpoint` with the endpoint in its colour."""
    application, colon, endpoint = text.partition(":")
    return Joined(application, paint(colon + endpoint, MAGENTA))


class UnitEntry(NamedTuple):
    """A unit, with `level` 0 for principals and 1 for their subordinates."""

    name: str
    unit: Mapping[str, Any]
    level: int


def walk(applications: Mapping[str, Any]) -> Iterator[UnitEntry]:
    """Yield every unit: principals in natural order of their names, each followed by its subordinates."""
    principals = {
        name: unit
        for application in applications.values()
        for name, unit in application.get("units", {}).items()
    }
    yield from _walk(principals, 0)


def _walk(units: Mapping[str, Any], level: int) -> Iterator[UnitEntry]:
    for name, unit in naturally(units):
        yield UnitEntry(name, unit, level)
        yield from _walk(unit.get("subordinates", {}), level + 1)


def workload_of(unit: Mapping[str, Any]) -> str:
    """Return the word of the workload status."""
    return str(unit.get("workload-status", {}).get("current", ""))


def agent_of(unit: Mapping[str, Any]) -> str:
    """Return the word of the agent status."""
    return str(unit.get("juju-status", {}).get("current", ""))


def works(unit: Mapping[str, Any]) -> bool:
    """Return True when a unit counts as working in the application's scale."""
    return agent_of(unit) in _WORKING and workload_of(unit) != "terminated"


def shown_message(unit: Mapping[str, Any]) -> str:
    """Return the message of a unit's row: the workload's message, after what the agent is doing."""
    if "status-error" in unit:
        return str(unit["status-error"])
    text = str(unit.get("workload-status", {}).get("message", ""))
    doing = str(unit.get("juju-status", {}).get("message", ""))
    if agent_of(unit) == "allocating" and not text:
        return doing
    found = _RUNNING.match(doing) if agent_of(unit) == "executing" else None
    return f"({found[1] or found[2]}) {text}".rstrip() if found else text


def ports_text(ports: Iterable[str]) -> str:
    """Return `80,443,8080-8081/tcp 161/udp` for single ports and ranges.

    Adjacent single ports join into a range; ranges that a charm opened stay.

    Args:
        ports: Texts such as `80/tcp`, `1000-1010/udp`, `icmp`.
    """
    by_protocol: dict[str, set[str]] = {}
    for text in ports:
        number, slash, protocol = text.partition("/")
        by_protocol.setdefault(protocol if slash else number, set()).update([number] if slash else [])
    groups = (
        f"{','.join(_joined(numbers))}/{protocol}" if numbers else protocol
        for protocol, numbers in sorted(by_protocol.items())
    )
    return " ".join(groups)


def _joined(numbers: Iterable[str]) -> list[str]:
    """Return the ports in order, with adjacent single ports joined."""
    found: list[str] = []
    run: list[int] = []
    for text in sorted(numbers, key=lambda text: (len(text), text)):
        if run and (not text.isdigit() or int(text) != run[-1] + 1):
            found.append(_run_text(run))
            run = []
        if text.isdigit():
            run.append(int(text))
        else:
            found.append(text)
    return [*found, _run_text(run)] if run else found


def _run_text(run: list[int]) -> str:
    return str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}"
