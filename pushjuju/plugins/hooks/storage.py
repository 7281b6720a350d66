"""The tools storage-list, storage-get and storage-add.

The snapshot has the unit's storage; additions are buffered until the hook succeeds.

Mirrors: juju worker/uniter/runner/jujuc/storage-*.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import (
    SMART,
    Args,
    Flag,
    Tool,
    ToolContext,
    ToolError,
    check_empty,
    is_application,
    quote,
    usage_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SIZES = "MGTPEZY"
_NAME = 256  # characters of a name; the controller has the same limit
_MOST = 1000  # instances of one storage name; the controller has the same limit


def _known(ctx: ToolContext) -> dict[str, Any]:
    """Return the unit's storage: id -> kind and location; without a location it is not attached yet."""
    found: dict[str, Any] = ctx.context.get("storage") or {}
    return found


def _order(storage: str) -> tuple[str, int]:
    name, _, number = storage.rpartition("/")
    return (name, int(number))


def _storage_list(ctx: ToolContext, args: Args) -> list[str]:
    name = args.take()
    check_empty(args.positional)
    found = sorted(_known(ctx), key=_order)
    return [item for item in found if not name or item.rpartition("/")[0] == name]


def _storage_id(ctx: ToolContext, text: str) -> str:
    name, _, number = text.rpartition("/")
    plain = number.isascii() and number.isdigit() and (number == "0" or number[0] != "0")
    if not plain or not is_application(name):
        raise ValueError("invalid storage ID %s" % quote(text))
    if text not in _known(ctx):
        raise ValueError("storage not found")
    if not _known(ctx)[text].get("location"):
        raise ValueError("storage %s not provisioned" % quote(text))
    return text


def _storage_get(ctx: ToolContext, args: Args) -> Any:
    wanted = args["s"] or ctx.context.get("hook_storage")
    if not wanted:
        raise usage_error("no storage instance specified")
    key = args.take()
    check_empty(args.positional)
    found = _known(ctx).get(wanted)
    if found is None or not found.get("location"):
        raise ToolError("storage %s not found" % quote(str(wanted)))
    values = {"kind": found["kind"], "location": found["location"]}
    if not key:
        return values
    if key not in values:
        raise ToolError("invalid storage attribute %s" % quote(key))
    return values[key]


def _count(name: str, text: str) -> int:
    """Return the count in `NAME=COUNT`; anything else than a count is refused."""
    found = 0
    prefix = "cannot parse constraints for storage %s: " % quote(name)
    for part in text.split(","):
        digits = part[1:] if part.startswith("-") else part
        if digits.isascii() and digits.isdigit():
            if int(part) <= 0:
                raise usage_error(
                    "%scannot parse count: count must be greater than zero, got %s" % (prefix, quote(part))
                )
            found = int(part)
        elif part[:1].isalpha() or (part and part.rstrip("iB")[-1:] in _SIZES and part[0].isdigit()):
            raise usage_error("only count can be specified for %s" % quote(name))
        elif part:
            raise usage_error("%sunrecognized storage constraint %s not valid" % (prefix, quote(part)))
    if not found:
        raise usage_error(prefix + "storage constraints require at least one field to be specified")
    return found


def _storage_add(ctx: ToolContext, args: Args) -> None:
    if not args.positional:
        raise usage_error("storage add requires a storage directive")
    wanted: dict[str, int] = {}
    for word in args.positional:
        name, equals, text = word.partition("=")
        if not name:
            raise usage_error('expected "name=constraints" or "name", got %s' % quote(word))
        if name in wanted:
            raise usage_error("storage %s specified more than once" % quote(name))
        wanted[name] = _count(name, text) if equals else 1
        if not is_application(name) or len(name) > _NAME:  # names of storage follow the same rule
            raise ToolError("charm storage %s not found" % quote(name))
        if wanted[name] > _MOST:
            raise ToolError("adding storage %s: at most %d at once" % (name, _MOST))
    pending = ctx.pending("storage")
    for name, count in wanted.items():
        pending[name] = pending.get(name, 0) + count


TOOLS = {
    "storage-list": Tool(
        "storage-list",
        _storage_list,
        usage="[<storage-name>]",
        summary="List storage attached to the unit.",
        details="Lists storage that is attached or will be, with one name or all names.",
        formats=SMART,
    ),
    "storage-get": Tool(
        "storage-get",
        _storage_get,
        usage="[<key>]",
        summary="Print information for the storage instance with the specified ID.",
        details="The keys are kind and location; without a key, both are printed.",
        flags=[Flag("s", help="Specify a storage instance by id", default=None, convert=_storage_id)],
        formats=SMART,
    ),
    "storage-add": Tool(
        "storage-add",
        _storage_add,
        usage="<storage name>[=<count>] ...",
        summary="Add storage instances.",
        details="The instances are added when the hook succeeds; <storage name>-storage-attached follows.",
    ),
}
