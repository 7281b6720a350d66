"""Checks the messages of a machine, and returns data of known shape and size.

A program that has taken over a machine can send anything: wrong types, names of other units, huge numbers,
endless texts. Everything that a machine sends passes through this module: frames, the machine's facts, the
events and the result of an operation. What a unit *may* write is checked at the commit (`uniter`).

A frame that breaks the rules ends the contact (`wire.BadFrame`). A result that breaks them makes its
operation fail, so that the unit's status shows the fault.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from pushjuju.core import limits
from pushjuju.core.errors import BadAnswer
from pushjuju.core.storage import MOST as MOST_STORAGE
from pushjuju.core.storage import is_store
from pushjuju.runner.remote.base import wire
from pushjuju.runner.remote.base.results import CHARM_GONE, TIMED_OUT
from pushjuju.runner.trust import frames, secret_writes

if TYPE_CHECKING:
    from pushjuju.portable.frames import (
        Address,
        Asked,
        Event,
        Hello,
        Known,
        Network,
        Nic,
        Port,
        Recalled,
        Request,
        Result,
        Writes,
    )

Document = dict[str, Any]
_MOST = 1 << 53  # limit of whole numbers that every JSON reader keeps exactly
_STREAMS = ("stdout", "stderr")
_EVENT_TEXTS = {
    "log": ("level", "module", "message"),
    "output": ("stream", "line"),
    "status": ("scope", "status", "message"),
    "action-log": ("message",),
    "version": ("version",),
}
_CALL = ("call", "argv", "stdin", "stdin-encoding")
_REQUEST = ("unit", "script", "relation", "remote_unit", "remote_app", "force")
_WRITES = ("status_set", "reboot", "relations", "ports", "state", "storage", "secrets", "action")


class Odd(wire.BadFrame):
    """A field has a wrong type or value; the text names the field and the fault."""


# --- messages ---------------------------------------------------------------------------------------------


def numbered(message: Mapping[str, object], key: str) -> list[tuple[int, Event]]:
    """Return the events of a message, each with its number."""
    items = message.get(key) or []
    if not isinstance(items, list):
        raise Odd(f"{key} is not a list")
    return [_numbered(item) for item in items]


def _numbered(item: object) -> tuple[int, Event]:
    if not isinstance(item, dict):
        raise Odd("an event is not an object")
    number, event = item.get("seq"), item.get("e")
    if not _is_event_number(number):
        raise Odd("an event without a number")
    if not isinstance(event, dict):
        raise Odd("an event that is not an object")
    return number, _known_event(event)


def _known_event(event: Document) -> Any:
    """Return the known fields of an event, or an empty map for an event of unknown kind or shape."""
    kind, time = event.get("k"), event.get("time")
    names = _EVENT_TEXTS.get(kind) if isinstance(kind, str) else None
    if names is None:
        return {}
    for name in names:
        if not isinstance(event.get(name), str):
            return {}
    if (isinstance(time, float) or (time is None and "time" in event)) and len(event) == len(names) + 2:
        return event  # the event has no unknown field
    is_time = isinstance(time, float) or (isinstance(time, int) and abs(time) <= _MOST)
    return {"k": kind, "time": time if is_time else None, **{name: event[name] for name in names}}


def _is_event_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= limits.EVENT_NUMBER


def cost(event: Mapping[str, object]) -> int:
    """Return the bytes of memory that an event takes, which count towards its operation's limit."""
    found = limits.EVENT_COST
    for part in event.values():
        if isinstance(part, str):
            found += len(part) if part.isascii() else 4 * len(part)
    return found


def known_fields(message: Document, size: int) -> Document:
    """Return the known fields of a result and drop all others; a small result is returned as it is."""
    if size < limits.LARGE:
        return message
    found = {key: message[key] for key in _FIELDS if key in message}
    writes = message.get("writes")
    if isinstance(writes, dict):
        found["writes"] = {key: writes[key] for key in _WRITES if key in writes}
    elif writes is not None:
        found["writes"] = ""  # not a map: `read_result` makes the operation fail
    return found


def lease_of(result: Mapping[str, object]) -> int:
    """Return the newest lease that a machine reports, or 0 when the result holds no lease."""
    lease = result.get("lease")
    return lease if isinstance(lease, int) and 0 < lease <= _MOST else 0


def known_call(message: Mapping[str, object]) -> Document:
    """Return the known fields of a hook tool call."""
    found = {key: message[key] for key in _CALL if key in message}
    return found | {key: text(message.get(key), limits.NAME * 16) for key in ("tool", "cwd")}


def live_call(message: Mapping[str, object]) -> Asked:
    """Return the call of a hook tool: ``call``, ``tool``, ``argv``, ``cwd``, and ``stdin`` as bytes."""
    call, argv = message.get("call"), message.get("argv")
    if not isinstance(call, int) or isinstance(call, bool) or not 0 <= call < _MOST:
        raise Odd("a call without a number")
    if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv):
        raise Odd("a call without arguments")
    return {
        "call": call,
        "tool": text(message.get("tool"), limits.NAME * 16),
        "cwd": text(message.get("cwd"), limits.NAME * 16),
        "argv": [text(word, limits.LIVE_CALLS) for word in argv],
        "stdin": as_bytes(message, "stdin"),
    }


def live_cost(call: Asked) -> int:
    """Return the bytes of memory that a call takes while it waits for its answer."""
    words = sum(frames.width(word) + limits.LIVE_WORD for word in call["argv"])
    names = frames.width(call["tool"]) + frames.width(call["cwd"])
    return limits.EVENT_COST + len(call["stdin"]) + names + words


def requests_of(items: object) -> dict[str, Request]:
    """Return the requests of `juju-exec` by their ids."""
    if not isinstance(items, list) or len(items) > limits.REQUESTS:
        raise Odd("requests are not a list, or too many")
    found: dict[str, Any] = {}
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            raise Odd("a request without an id")
        name = text(item["id"], limits.NAME)
        found[name] = {"id": name, **{key: _plain(item[key]) for key in _REQUEST if key in item}}
        if cost(found[name]) > limits.SCRIPT:
            raise Odd("a request that is too large")
    return found


def _plain(value: object) -> object:
    """Return a field of a request; refuse lists, maps and huge numbers."""
    if isinstance(value, (dict, list)):
        raise Odd("a request with a nested field")
    if isinstance(value, int) and abs(value) > _MOST:
        raise Odd("a request with a number that is too large")
    return text(value, limits.SCRIPT) if isinstance(value, str) else value


# --- plain values -----------------------------------------------------------------------------------------


def text(value: object, most: int = limits.MESSAGE) -> str:
    """Return a text that the store can keep: without lone surrogates, cut at `most`; "" for other types."""
    if not isinstance(value, str):
        return ""
    length = len(value)
    if length > most:
        value = value[:most]
    if not value.isascii():
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value if length <= most else f"{value}[... {length - most} more characters]"


def _need_text(where: str, value: object, most: int = limits.MESSAGE) -> str:
    if not isinstance(value, str):
        raise Odd(f"{where} is not a text")
    if len(value) > most:
        raise Odd(f"{where} has more than {most} characters")
    return text(value, most)


def _short_text(where: str, value: object) -> str:
    return "" if value is None else _need_text(where, value, limits.NAME)


def _number(where: str, value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _MOST:
        raise Odd(f"{where} is not a number")
    return value


def _moment(where: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Odd(f"{where} is not a time")
    if not (math.isfinite(value) if isinstance(value, float) else abs(value) <= _MOST):
        raise Odd(f"{where} is not a time")
    return min(max(float(value), 0.0), 1e11)


def _flag(where: str, value: object) -> bool:
    if value is not None and not isinstance(value, bool):
        raise Odd(f"{where} is neither true nor false")
    return bool(value)


def _map(where: str, value: object) -> Document:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Odd(f"{where} is not a map")
    return value


def _list(where: str, value: object, most: int) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise Odd(f"{where} is not a list")
    if len(value) > most:
        raise Odd(f"{where} has more than {most} entries")
    return value


# --- the machine ------------------------------------------------------------------------------------------


def read_hello(message: Mapping[str, object], machine: str) -> Hello:
    """Return the facts of a machine, each field that the controller uses checked for its type.

    Raises:
        BadAnswer: A field has a wrong type or value.
    """
    try:
        return _hello(message)
    except Odd as error:
        raise BadAnswer(f"the facts of {machine} are not valid: {error}") from error


def _hello(message: Mapping[str, object]) -> Hello:
    words = ("program", "python", "arch", "boot_id")
    found: Any = {key: _short_text(key, message.get(key)) for key in words}
    found.update(
        {key: _number(key, message.get(key)) or 0 for key in ("protocol", "pid", "cores", "mem_mib")}
    )
    system = _map("os", message.get("os"))
    found["os"] = {key: _short_text(f"os.{key}", system.get(key)) for key in ("id", "version_id") if system}
    found.update(network_facts(message))
    found["journal"] = [_entry(item) for item in _list("journal", message.get("journal"), limits.JOURNAL)]
    lists = {"running": limits.JOURNAL, "units": limits.NAMED_UNITS, "charms": limits.NAMED_UNITS}
    for key, most in lists.items():
        if key == "charms" and key not in message:
            continue  # an older program does not send the list: not the same as an empty list
        found[key] = [_short_text(key, item) for item in _list(key, message.get(key), most)]
    blobs = _list("blobs", message.get("blobs"), limits.BLOBS)
    found["blobs"] = [_need_text("blobs", item, limits.DIGEST) for item in blobs]
    parts = _map("parts", message.get("parts"))
    if len(parts) > limits.PARTS:
        raise Odd(f"parts has more than {limits.PARTS} entries")
    found["parts"] = {text(key, limits.DIGEST): max(_number("parts", parts[key]) or 0, 0) for key in parts}
    if message.get("requests") is not None:
        found["requests"] = list(requests_of(message["requests"]).values())
    if message.get("recalled") is not None:
        said = _list("recalled", message["recalled"], limits.JOURNAL)
        found["recalled"] = [_recalled(item) for item in said]
    if crash := text(message.get("crash")):
        found["crash"] = crash
    found["ssh"] = _short_text("ssh", message.get("ssh"))
    ssh_reached(found["ssh"])
    checked: Hello = found
    return checked


def ssh_reached(said: str) -> tuple[str, int]:
    """Return the address from which a machine's SSH port was reached, and the port; "" and 0 if unknown.

    Args:
        said: The connection as sshd describes it: `peer port own-address own-port`.
    """
    if not said:
        return "", 0
    words = said.split()
    try:
        peer = ipaddress.ip_address(words[0].partition("%")[0])
        port = int(words[3]) if len(words) == 4 and re.fullmatch("[0-9]{1,5}", words[3]) else 0
    except (ValueError, IndexError):
        raise Odd("ssh does not begin with an address") from None
    if not 0 < port < 1 << 16:
        raise Odd("ssh does not end with a port")
    return str(peer), port


def network_facts(message: Mapping[str, object]) -> Network:
    """Return the facts of a machine that may change while the machine is attached."""
    nics = [_map("nics", nic) for nic in _list("nics", message.get("nics"), limits.DEVICES)]
    addresses = [_list("nics.addresses", nic.get("addresses"), limits.DEVICES) for nic in nics]
    if sum(map(len, addresses)) > limits.DEVICES:
        raise Odd(f"nics has more than {limits.DEVICES} addresses")
    return {
        "hostname": _short_text("hostname", message.get("hostname")),
        "gateway": _gateway(message.get("gateway")),
        "nics": [_nic(nic) for nic in nics],
    }


def _entry(item: object) -> Known:
    entry = _map("journal", item)
    return {"id": _need_text("journal.id", entry.get("id"), limits.NAME), "done": bool(entry.get("done"))}


def _recalled(item: object) -> Recalled:
    entry = _map("recalled", item)
    return {
        "id": _need_text("recalled.id", entry.get("id"), limits.NAME),
        "unit": _need_text("recalled.unit", entry.get("unit"), limits.NAME),
        "name": _need_text("recalled.name", entry.get("name"), limits.NAME),
    }


def _nic(nic: Document) -> Nic:
    found: Nic = {
        "name": _need_text("nics.name", nic.get("name"), limits.NAME),
        "mac": _short_text("nics.mac", nic.get("mac")),
        "up": bool(nic.get("up")),
        "addresses": [_address(each) for each in nic.get("addresses") or ()],
    }
    if mtu := _number("nics.mtu", nic.get("mtu")):
        found["mtu"] = mtu
    if parent := _short_text("nics.parent", nic.get("parent")):
        found["parent"] = parent
    return found


def _gateway(value: object) -> str:
    gateway = _short_text("gateway", value)
    try:
        return str(ipaddress.ip_address(gateway)) if gateway else ""
    except ValueError as error:
        raise Odd(f"gateway: {text(str(error), limits.NAME)}") from None


def _address(item: object) -> Address:
    address = _map("nics.addresses", item)
    value, cidr = (_short_text(f"addresses.{key}", address.get(key)) for key in ("value", "cidr"))
    try:
        ipaddress.ip_network(value)
        ipaddress.ip_network(cidr, strict=False)
    except ValueError as error:
        raise Odd(f"addresses: {text(str(error), limits.NAME)}") from None
    return {"value": value, "cidr": cidr}


# --- an operation -----------------------------------------------------------------------------------------


def read_event(event: object) -> Event | None:
    """Return an event with checked fields, or None for an event of unknown kind or shape."""
    if not isinstance(event, dict):
        return None
    kind = event.get("k")
    names = _EVENT_TEXTS.get(kind) if isinstance(kind, str) else None
    if names is None or not all(isinstance(event.get(name), str) for name in names):
        return None
    try:
        moment = _moment("time", event.get("time"))
    except Odd:
        moment = None
    found: Any = {"k": kind, "time": moment, **{name: text(event[name]) for name in names}}
    checked: Event = found
    return checked


def read_events(items: Iterable[tuple[Any, Any]]) -> tuple[list[tuple[int, Event]], int]:
    """Return the readable events in the order of their numbers, and how many events cannot be read."""
    found: dict[int, Event] = {}
    odd = spent = 0
    for number, event in items:
        good = read_event(event)
        spent += cost(good) if good else 0
        if good is None or not _is_event_number(number) or spent > limits.EVENTS:
            odd += 1
        else:
            found[number] = good
    return sorted(found.items()), odd


def events_of(message: Mapping[str, object]) -> list[tuple[Any, Any]]:
    """Return the events of a result, each with its number, not checked."""
    items = message.get("events")
    listed = items if isinstance(items, list) else []
    return [(item.get("seq"), item.get("e")) for item in listed if isinstance(item, dict)]


def read_result(message: Mapping[str, object]) -> Result:
    """Return the result of an operation, checked and without its events.

    A result that cannot be read becomes the result of a failed operation.
    """
    try:
        return _result(message)
    except (Odd, secret_writes.OddSecret, RecursionError) as error:
        why = f"the machine sent a result that cannot be read: {error}"
        return {"outcome": "failed", "message": why, "writes": {}}


def _result(message: Mapping[str, object]) -> Result:
    result: Any = {"outcome": _short_text("outcome", message.get("outcome"))}
    for key, read in _RESULT.items():
        if key in message:
            result[key] = read(key, message[key])
    for stream in _STREAMS:
        result.update(_stream(message, stream))
    result["writes"] = _writes(_map("writes", message.get("writes")))
    if code := _CODES_OF_OLD.get((result["outcome"], str(result.get("message", "")))):
        result["code"] = code
    checked: Result = result
    return checked


def _message(_: str, value: object) -> str:
    return text(value)


_RESULT: dict[str, Callable[[str, object], Any]] = {
    "exit": _number,
    "signal": _number,
    "errno": _number,
    "lease": _number,
    "via": _short_text,
    "code": _short_text,
    "reboot": _short_text,
    "message": _message,
    "trace": _message,
    "recovered": _flag,
    "started": _moment,
    "ended": _moment,
}


# An older program of pushjuju sends these texts without a code, and may have them in its journal.
_CODES_OF_OLD = {
    ("failed", "charm missing from disk"): CHARM_GONE,
    ("interrupted", "command cancelled"): TIMED_OUT,
}


_FIELDS = (
    "t",
    "id",
    "outcome",
    "events",
    "timed",  # `tool_times` checks them
    *_RESULT,
    *_STREAMS,
    *(f"{stream}-encoding" for stream in _STREAMS),
)


def _stream(message: Mapping[str, object], stream: str) -> Document:
    """Return the output of a stream as text, with the key of its encoding when it is not UTF-8."""
    if message.get(stream) is None:
        return {}
    found: Document = {stream: _need_text(stream, message[stream], limits.OUTPUT)}
    key = f"{stream}-encoding"
    if encoding := message.get(key):
        if encoding != "base64":
            raise Odd(f"{key} is not known")
        as_bytes(found | {key: encoding}, stream)
        found[key] = encoding
    return found


def as_bytes(message: Mapping[str, object], name: str) -> bytes:
    """Return a text field as bytes; its encoding field may say base64."""
    value = message.get(name)
    if value is not None and not isinstance(value, str):
        raise Odd(f"{name} is not a text")
    if message.get(f"{name}-encoding") == "base64":
        try:
            return base64.b64decode(value or "", validate=True)
        except ValueError:
            raise Odd(f"{name} is not base64") from None
    try:
        return (value or "").encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text(value, limits.OUTPUT).encode()


# --- what a hook wrote ------------------------------------------------------------------------------------


def _writes(writes: Document) -> Writes:
    found: Writes = {"status_set": _flag("writes.status_set", writes.get("status_set"))}
    relations = _map("writes.relations", writes.get("relations"))
    if len(relations) > limits.RELATIONS:
        raise Odd(f"writes.relations has more than {limits.RELATIONS} entries")
    if relations:
        found["relations"] = {_relation_id(key): _bags(bags) for key, bags in relations.items()}
    ports = _map("writes.ports", writes.get("ports"))
    if ports:
        found["ports"] = {"open": _ports("open", ports), "close": _ports("close", ports)}
    state = _settings("writes.state", writes.get("state"))
    if state:
        found["state"] = state
    asked = _map("writes.storage", writes.get("storage"))
    if asked:
        found["storage"] = {_store(name): _some(asked[name]) for name in asked}
    if writes.get("secrets"):
        found["secrets"] = secret_writes.read(_map("writes.secrets", writes["secrets"]))
    action = _map("writes.action", writes.get("action"))
    if action:
        found["action"] = {
            "failed": _flag("writes.action.failed", action.get("failed")),
            "message": text(action.get("message")),
            "results": _results(_map("writes.action.results", action.get("results"))),
        }
    return found


def _store(name: str) -> str:
    if not is_store(name) or len(name) > limits.NAME:
        raise Odd("writes.storage names no store")
    return name


def _some(value: object) -> int:
    count = _number("writes.storage", value)
    if count is None or not 0 < count <= MOST_STORAGE:
        raise Odd("writes.storage holds no count")
    return count


def _relation_id(key: str) -> str:
    if not (key.isascii() and key.isdigit() and len(key) < 16):
        raise Odd("writes.relations names no relation")
    return str(int(key))


def _bags(value: object) -> Document:
    bags = _map("writes.relations", value)
    return {side: _settings(f"writes.relations.{side}", bags.get(side)) for side in ("unit", "app")}


def _settings(where: str, value: object) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    settings = _map(where, value)
    if len(settings) > limits.SETTINGS:
        raise Odd(f"{where} has more than {limits.SETTINGS} entries")
    for key, item in settings.items():
        if item is not None and not isinstance(item, str):
            raise Odd(f"{where} holds what is not a text")
        found[text(key, limits.BAG)] = None if item is None else text(item, limits.BAG * 2)
    return found


def _ports(what: str, ports: Document) -> list[Port]:
    return [_port(item) for item in _list(f"writes.ports.{what}", ports.get(what), limits.PORTS)]


def _port(value: object) -> Port:
    port = _map("writes.ports", value)
    protocol = _short_text("writes.ports.protocol", port.get("protocol"))
    first, last = (_number(f"writes.ports.{key}", port.get(key)) for key in ("from", "to"))
    if protocol == "icmp":
        first = last = -1
    elif protocol not in ("tcp", "udp") or first is None or last is None or not 0 <= first <= last <= 65535:
        raise Odd("writes.ports holds no port range")
    endpoint = _short_text("writes.ports.endpoint", port.get("endpoint"))
    return {"endpoint": endpoint, "protocol": protocol, "from": first, "to": last}


def _results(results: Document) -> Document:
    found = _tree("writes.action.results", results, 0)
    if len(json.dumps(found)) > limits.ACTION_RESULTS:
        raise Odd(f"writes.action.results is larger than {limits.ACTION_RESULTS} characters")
    return dict(found)


def _tree(where: str, value: object, depth: int) -> Any:
    """Return a text, or a map of maps and texts: the values that `action-set` can make."""
    if depth > limits.DEPTH:
        raise Odd(f"{where} has more than {limits.DEPTH} levels")
    if isinstance(value, str):
        return text(value, limits.ACTION_RESULTS)
    if not isinstance(value, dict):
        raise Odd(f"{where} holds what is neither a text nor a map")
    return {text(key, limits.MESSAGE): _tree(where, item, depth + 1) for key, item in value.items()}
