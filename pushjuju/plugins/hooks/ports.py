"""The tools open-port, close-port and opened-ports.

Changes are buffered. At the end of the hook, openings are applied before closings; opened-ports shows the
result beforehand. A range must not conflict with the ranges of any unit on the machine.

Mirrors: juju worker/uniter/runner/jujuc/ports.go, context/ports.go, core/network/portrange.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import (
    SMART,
    Args,
    Flag,
    Tool,
    ToolContext,
    ToolError,
    atoi,
    check_empty,
    deprecated_format_flag,
    quote,
    trim,
    usage_error,
    warn_format,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable

    Range = tuple[str, int, int]  # protocol, from, to; icmp has -1 for both

_PROTOCOLS = ("tcp", "udp", "icmp")


# --- port ranges ----------------------------------------------------------------------------------


def _port(text: str) -> int:
    try:
        return atoi(text)
    except ValueError as error:
        raise usage_error("invalid port %s: %s" % (quote(text), error)) from None


def _parse_range(text: str) -> Range:
    ports, slash, protocol = text.lower().partition("/")
    if ports == "icmp" and not slash:
        return ("icmp", -1, -1)
    bounds = ports.split("-")
    if len(bounds) > 2:
        raise usage_error("invalid port range %s" % quote(ports))
    found = (protocol if slash else "tcp", _port(bounds[0]), _port(bounds[-1]))
    _validate(found)
    return found


def _validate(found: Range) -> None:
    protocol, start, end = found
    if protocol not in _PROTOCOLS:
        expected = 'invalid protocol %s, expected "tcp", "udp", or "icmp"'
        raise usage_error(expected % quote(protocol))
    if protocol == "icmp":
        raise usage_error('protocol "icmp" doesn\'t support any ports; got "%d"' % start)
    if start > end:
        raise usage_error("invalid port range %s" % _text(found))
    if start < 0 or end > 65535:
        raise usage_error("port range bounds must be between 0 and 65535, got %d-%d" % (start, end))


def _text(found: Range) -> str:
    protocol, start, end = found
    if protocol == "icmp":
        return "icmp"
    return "%d/%s" % (start, protocol) if start == end else "%d-%d/%s" % (start, end, protocol)


def _range(record: dict[str, Any]) -> Range:
    """Return the range of a record, from the snapshot or from the buffered changes."""
    protocol = str(record["protocol"])
    return (protocol, -1, -1) if protocol == "icmp" else (protocol, int(record["from"]), int(record["to"]))


def _record(endpoint: str, found: Range) -> dict[str, object]:
    protocol, start, end = found
    return {"endpoint": endpoint, "protocol": protocol, "from": start, "to": end}


def _overlaps(one: Range, other: Range) -> bool:
    return one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2]


# --- open ports -----------------------------------------------------------------------------------


def _pending(ctx: ToolContext, kind: str) -> list[dict[str, Any]]:
    """Return the buffered changes of `kind`, "open" or "close", for reading only."""
    found: list[dict[str, object]] = ctx.writes.get("ports", {}).get(kind) or []
    return found


def _buffer(ctx: ToolContext) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Return the lists of buffered openings and closings, which the caller may change."""
    ports = ctx.pending("ports")
    return ports.setdefault("open", []), ports.setdefault("close", [])


def _stored(ctx: ToolContext) -> set[tuple[str, Range]]:
    records = (ctx.context.get("ports") or {}).get("unit") or ()
    return {(record.get("endpoint") or "", _range(record)) for record in records}


def _opened(ctx: ToolContext) -> set[tuple[str, Range]]:
    """Return (endpoint, range) for all that is open after the hook; the endpoint "" means all endpoints."""
    opened = _stored(ctx)
    for record in _pending(ctx, "open"):
        endpoint, found = record["endpoint"], _range(record)
        if not endpoint:
            opened = {(name, other) for name, other in opened if other != found}
        if ("", found) not in opened:
            opened.add((endpoint, found))
    for record in _pending(ctx, "close"):
        endpoint, found = record["endpoint"], _range(record)
        if not endpoint:
            opened = {(name, other) for name, other in opened if other != found}
        elif ("", found) in opened:
            opened.remove(("", found))
            opened.update((name, found) for name in ctx.context.get("endpoints") or () if name != endpoint)
        opened.discard((endpoint, found))
    return opened


# --- open-port, close-port ------------------------------------------------------------------------


def _conflict(
    ctx: ToolContext, verb: str, found: Range, others: Iterable[tuple[str, Range]], note: str = ""
) -> None:
    """Refuse `found` when it overlaps the range of one of the (unit, range) pairs."""
    for unit, other in sorted(others):
        if _overlaps(found, other) and not (unit == ctx.unit and found == other):
            text = "cannot %s %s (unit %s): port range conflicts with %s (unit %s)%s"
            raise ToolError(text % (verb, _text(found), quote(ctx.unit), _text(other), quote(unit), note))


def _own(ctx: ToolContext) -> set[tuple[str, Range]]:
    """Return the unit's open ranges, without those that a buffered closing closes."""
    closing = {_range(record) for record in _pending(ctx, "close")}
    return {(ctx.unit, found) for _, found in _stored(ctx) if found not in closing}


def _open(ctx: ToolContext, endpoints: list[str], found: Range) -> None:
    machine = (ctx.context.get("ports") or {}).get("machine") or ()
    others = {(str(record["unit"]), _range(record)) for record in machine}
    pending = {(ctx.unit, _range(record)) for record in _pending(ctx, "open")}
    _conflict(ctx, "open", found, pending, " requested earlier")
    _conflict(ctx, "open", found, others | _own(ctx))
    stored = _stored(ctx)
    opening, closing = _buffer(ctx)
    for endpoint in endpoints:
        record = _record(endpoint, found)
        if record in closing:
            closing.remove(record)
        if record not in opening and (endpoint, found) not in stored:
            opening.append(record)


def _close(ctx: ToolContext, endpoints: list[str], found: Range) -> None:
    pending = {(ctx.unit, _range(record)) for record in _pending(ctx, "open")}
    _conflict(ctx, "close", found, pending, " requested earlier")
    _conflict(ctx, "close", found, _own(ctx))
    opening, closing = _buffer(ctx)
    for endpoint in endpoints:
        record = _record(endpoint, found)
        # An opening of this hook that is then closed for all endpoints is dropped from the buffer.
        opening[:] = [
            other for other in opening if not (other == record or (not endpoint and _range(other) == found))
        ]
        open_for = {name for name, other in _opened(ctx) if other == found}
        concerned = bool(open_for) if not endpoint else bool(open_for & {"", endpoint})
        if concerned and record not in closing:
            closing.append(record)


def _change_tool(name: str, summary: str, apply: Any) -> Tool:
    def run(ctx: ToolContext, args: Args) -> None:
        if not args.positional:
            raise usage_error("no port or range specified")
        found = _parse_range(args.take())
        check_empty(args.positional)
        warn_format(ctx, args, name)
        endpoints = [trim(endpoint) for endpoint in args["endpoints"].split(",")]
        apply(ctx, [endpoint for endpoint in endpoints if endpoint] or [""], found)

    return Tool(
        name,
        run,
        usage="<port>[/<protocol>] or <from>-<to>[/<protocol>] or icmp",
        summary=summary,
        details="The protocol is tcp (default), udp or icmp. Takes effect when the hook succeeds.",
        flags=[
            Flag("endpoints", help="A comma-delimited list of application endpoints to target"),
            deprecated_format_flag(),
        ],
    )


# --- opened-ports ---------------------------------------------------------------------------------


def _opened_ports(ctx: ToolContext, args: Args) -> list[str]:
    check_empty(args.positional)
    by_range: dict[Range, set[str]] = {}
    for endpoint, found in _opened(ctx):
        by_range.setdefault(found, set()).add(endpoint or "*")
    if not args["endpoints"]:
        return [_text(found) for found in sorted(by_range)]
    return ["%s (%s)" % (_text(found), ", ".join(sorted(by_range[found]))) for found in sorted(by_range)]


TOOLS = {
    "open-port": _change_tool("open-port", "Register a request to open a port or port range.", _open),
    "close-port": _change_tool("close-port", "Register a request to close a port or port range.", _close),
    "opened-ports": Tool(
        "opened-ports",
        _opened_ports,
        summary="List all ports or port ranges opened by the unit.",
        flags=[Flag("endpoints", help="Also show the endpoints a range is open for", boolean=True)],
        formats=SMART,
    ),
}
