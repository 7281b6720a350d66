"""The tools secret-add, -set, -remove, -grant, -revoke, -get, -ids and -info-get.

The snapshot has the metadata of the secrets that the unit manages; each read of content asks the controller.
Changes are buffered, and the hook that made them sees them.

Mirrors: juju worker/uniter/runner/jujuc/secret-*.go, core/secrets (3.6)
"""

from __future__ import annotations

import binascii
import os
import time

from pushjuju.portable.durations import parse_duration
from pushjuju.runner.remote.toolkit import (
    SMART,
    YAML_FIRST,
    Args,
    Flag,
    Moment,
    Struct,
    Tool,
    ToolContext,
    ToolError,
    check_empty,
    file_error,
    is_application,
    is_unit,
    quote,
    read_settings,
    relation_flag,
    relation_id,
    usage_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    Meta = dict[str, Any]

MOST = 1000000  # bytes in base64 of a value, and of all values together
_ALPHABET = "0123456789abcdefghijklmnopqrstuv"
_ROTATIONS = ("never", "hourly", "daily", "weekly", "monthly", "quarterly", "yearly")
_NOT_LEADER = "this unit is not the leader"


# --- ids ------------------------------------------------------------------------------------------


def _id(text: str) -> str:
    """Return the id in a URI, which may have any of its forms."""
    rest = text[7:] if text.startswith("secret:") else text
    rest = rest[2:] if rest.startswith("//") else rest
    source, slash, name = rest.rpartition("/")
    if len(name) != 20 or name.strip(_ALPHABET) or (slash and not _is_uuid(source)):
        raise usage_error("secret URI %s not valid" % quote(text))
    return name


def _source(ctx: ToolContext, text: str) -> str:
    """Return the model that a URI names, or an empty text for the unit's own model."""
    source = text.rpartition("/")[0].rpartition("/")[2]
    return "" if source == ctx.context["model_uuid"] else source


def _is_uri(text: str) -> bool:
    """Return True when an argument beside a label is a URI, and False when it is a key."""
    return text.startswith("secret:") or (len(text) == 20 and not text.strip(_ALPHABET))


def _is_uuid(text: str) -> bool:
    sizes = [len(part) for part in text.split("-")]
    return sizes == [8, 4, 4, 4, 12] and not text.replace("-", "").strip("0123456789abcdef")


def _first(args: Args) -> str:
    text = args.take()
    if not text:
        raise usage_error("missing secret URI")
    return _id(text)


# --- secrets that the unit manages ----------------------------------------------------------------


def _known(ctx: ToolContext) -> dict[str, Meta]:
    """Return the secrets of the unit, or of its application: id -> metadata."""
    found: dict[str, Meta] = ctx.context.get("secrets") or {}
    return found


def _pending(ctx: ToolContext, what: str) -> dict[str, Any]:
    found: dict[str, object] = (ctx.writes.get("secrets") or {}).get(what) or {}
    return found


def _listed(ctx: ToolContext, what: str) -> list[Meta]:
    """Return the buffered list of grants or revocations; make it on first use."""
    found: list[Meta] = ctx.pending("secrets").setdefault(what, [])
    return found


def _manages(ctx: ToolContext, meta: Meta) -> bool:
    return meta.get("owner") == "unit" or ctx.is_leader()


def _managed(ctx: ToolContext) -> dict[str, Meta]:
    """Return the secrets that the unit may change: with additions of this hook, without its removals."""
    found = {key: meta for key, meta in _known(ctx).items() if _manages(ctx, meta)}
    found.update(_pending(ctx, "create"))
    gone = [key for key, numbers in _pending(ctx, "remove").items() if not numbers]
    return {key: meta for key, meta in found.items() if key not in gone}


def _need_leader(ctx: ToolContext, secret: str) -> None:
    """Refuse to change a secret of the application when the unit is not the leader."""
    meta = _pending(ctx, "create").get(secret) or _known(ctx).get(secret)
    if meta is not None and not _manages(ctx, meta):
        raise ToolError(_NOT_LEADER)


def _label_of(ctx: ToolContext, secret: str, meta: Meta) -> str:
    changed = _pending(ctx, "update").get(secret) or {}
    return str(changed.get("label") or meta.get("label") or "")


def _by_label(ctx: ToolContext, label: str) -> str:
    """Return the id of the managed secret with a label, or an empty text."""
    for secret, meta in sorted(_managed(ctx).items()):
        if _label_of(ctx, secret, meta) == label:
            return secret
    return ""


# --- content --------------------------------------------------------------------------------------


def _encode(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _decode(text: str) -> bytes:
    return binascii.a2b_base64(text)


def _is_key(key: str) -> bool:
    """Return True for a valid key: at least three letters, digits and single dashes; first a letter."""
    plain = key.replace("-", "")
    return (
        len(plain) >= 3
        and key.isascii()
        and plain.isalnum()
        and plain == plain.lower()
        and key[0].isalpha()
        and key[-1] != "-"
        and "--" not in key
    )


def _content(ctx: ToolContext, words: Sequence[str], file: str) -> dict[str, str]:
    """Return the content that the command line gives: key -> value in base64."""
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not value:
            raise usage_error("key value %s not valid" % quote(key))
        if key.endswith("#file"):
            key = key[:-5]
            found[key] = _encode(_file(ctx, key, value))
        else:
            found.update(_pair(key, value))
    if file:
        for key, value in read_settings(ctx, file).items():
            found.update(_pair(key, value))
    _check(found)
    _hide(ctx, found)
    return found


def _hide(ctx: ToolContext, content: dict[str, str]) -> None:
    """Mask these values in everything that this hook logs from now on."""
    masks: list[str] = ctx.reads.setdefault("masks", [])
    for value in content.values():
        text = _decode(value).decode("utf-8", "surrogateescape")
        for part in [text, value, *text.splitlines()]:
            if len(part.strip()) >= 4 and part not in masks:
                masks.append(part)
    masks.sort(key=len, reverse=True)


def _pair(key: str, value: str) -> dict[str, str]:
    if not key.endswith("#base64"):
        return {key: _encode(value.encode("utf-8", "surrogateescape"))}
    key = key[:-7]
    try:
        return {key: _encode(_decode(value))}
    except ValueError:
        raise usage_error("value of key %s is not base64" % quote(key)) from None


def _file(ctx: ToolContext, key: str, name: str) -> bytes:
    path = ctx.path(name)
    try:
        with open(path, "rb") as stream:
            return stream.read(MOST + 1)
    except OSError as error:
        what = "reading content for secret key %s: " % quote(key)
        raise usage_error(what + file_error(name, error).text) from None


def _check(content: dict[str, str]) -> None:
    for key, value in content.items():
        if not _is_key(key):
            raise usage_error("key %s not valid" % quote(key))
        if len(value) > MOST:
            text = "base64 encoded secret content for key %s too large: %d bytes"
            raise usage_error(text % (quote(key), len(value)))
    total = sum(map(len, content.values()))
    if total > MOST:
        raise usage_error("base64 encoded secret content too large: %d bytes" % total)


# --- flags ----------------------------------------------------------------------------------------


def _expiry(text: str) -> str:
    """Return a time in UTC, or `+SECONDS`, which the controller adds to the time of the commit."""
    moment = _moment(text)
    if moment:
        return moment
    try:
        seconds = parse_duration(text)
    except ValueError:
        raise usage_error("expire time or duration %s not valid" % quote(text)) from None
    if seconds <= 0:
        raise usage_error("negative expire duration %s not valid" % quote(text))
    return "+%d" % max(1, seconds)


def _moment(text: str) -> str:
    """Return a time in UTC for RFC 3339, with or without a zone; empty for any other text."""
    if text[4:5] != "-" or text[10:11] not in ("T", "t"):
        return ""
    import datetime  # takes longer to import than all hook tools

    head, dot, rest = text.partition(".")
    zone = rest.lstrip("0123456789") if dot else ""
    plain = (head + zone).upper().replace("Z", "+00:00")
    try:
        found = datetime.datetime.fromisoformat(plain)
        if found.tzinfo is not None:
            found = found.astimezone(datetime.timezone.utc)
    except (ValueError, OverflowError):
        return ""
    return found.replace(tzinfo=None).isoformat() + "Z"


_UPSERT = (
    Flag("label", help="A label used to identify the secret in hooks"),
    Flag("description", help="The secret description"),
    Flag("expire", help="Either a duration or time when the secret should expire"),
    Flag("rotate", help="The secret rotation policy"),
    Flag("file", help="A YAML file containing secret key values"),
    Flag("owner", help="The owner of the secret, either the application or unit", default="application"),
)


def _metadata(args: Args) -> Meta:
    """Return the metadata that the flags set; flags that are not given are left out."""
    found = {key: args[key] for key in ("label", "description") if args[key]}
    if args["expire"]:
        found["expire"] = _expiry(args["expire"])
    if args["rotate"]:
        if args["rotate"] not in _ROTATIONS:
            raise usage_error("rotate policy %s not valid" % quote(args["rotate"]))
        found["rotate"] = args["rotate"]
    if args["owner"] not in ("application", "unit"):
        raise usage_error("secret owner %s not valid" % quote(args["owner"]))
    return found


# --- changes --------------------------------------------------------------------------------------


def _add(ctx: ToolContext, args: Args) -> str:
    if not args.positional and not args["file"]:
        raise usage_error("missing secret value or filename")
    meta = _metadata(args)
    content = _content(ctx, args.positional, args["file"])
    if not content:
        raise ToolError("empty secret value not valid")
    owner = args["owner"]
    if owner == "application" and not ctx.is_leader():
        raise ToolError(_NOT_LEADER)
    label = meta.get("label")
    if label and any(_label_of(ctx, key, item) == label for key, item in _pending(ctx, "create").items()):
        raise ToolError("secret with label %s already exists" % quote(label))
    secret = "".join(_ALPHABET[byte & 31] for byte in os.urandom(20))
    ctx.pending("secrets", "create")[secret] = dict(meta, content=content, owner=owner)
    return "secret://%s/%s\n" % (ctx.context["model_uuid"], secret)


def _set(ctx: ToolContext, args: Args) -> None:
    secret = _first(args)
    change = _metadata(args)
    content = _content(ctx, args.positional, args["file"])
    _need_leader(ctx, secret)
    if content:
        change["content"] = content
    _pending(ctx, "remove").pop(secret, None)
    created = _pending(ctx, "create").get(secret)
    if created is not None:
        created.update(change)
    elif change:
        ctx.pending("secrets", "update").setdefault(secret, {}).update(change)


def _remove(ctx: ToolContext, args: Args) -> None:
    secret = _first(args)
    check_empty(args.positional)
    _need_leader(ctx, secret)
    number = int(args["revision"])
    if number:
        numbers = ctx.pending("secrets", "remove").setdefault(secret, [number])
        if numbers and number not in numbers:
            numbers.append(number)
        return
    created = _pending(ctx, "create").pop(secret, None)
    _pending(ctx, "update").pop(secret, None)
    for what in ("grant", "revoke"):
        listed = _listed(ctx, what)
        listed[:] = [item for item in listed if item["id"] != secret]
    if created is None:
        ctx.pending("secrets", "remove")[secret] = []
    else:
        _pending(ctx, "remove").pop(secret, None)  # the secret will not be stored at all


def _revision(_: Any, text: str) -> int:
    if not text.isdigit() or len(text) > 9:
        raise ValueError("revision %s not valid" % quote(text))
    return int(text)


def _grant(ctx: ToolContext, args: Args) -> None:
    secret = _first(args)
    check_empty(args.positional)
    number = relation_id(ctx, args)
    if number is None:
        raise usage_error("no relation id specified")
    app, unit = _remote_app(ctx, number), args["unit"]
    if unit and not is_unit(unit):
        raise usage_error("unit %s not valid" % quote(unit))
    if unit and unit.partition("/")[0] != app:
        text = "cannot specify unit %s in relation to application %s"
        raise usage_error(text % (quote(unit), quote(app)))
    _need_leader(ctx, secret)
    if secret not in _managed(ctx):
        raise ToolError("secret %s not found" % quote(secret))
    if not unit and _granted_units(ctx, secret, app):
        raise ToolError(
            "any unit level grants need to be revoked before granting access to the corresponding application"
        )
    target = unit or app
    _forget(ctx, "revoke", secret, target)
    _forget(ctx, "grant", secret, target)
    _listed(ctx, "grant").append({"id": secret, "relation": number, "target": target})


def _remote_app(ctx: ToolContext, number: int) -> str:
    relation = ctx.relation(number)
    if relation is None:
        raise ToolError("relation not found")
    return str(relation["remote_app"])


def _granted_units(ctx: ToolContext, secret: str, app: str) -> bool:
    """Return True when a unit of the application has a grant, after the changes of this hook."""
    gone = [item["target"] for item in _listed(ctx, "revoke") if item["id"] == secret]
    present = [item["target"] for item in _listed(ctx, "grant") if item["id"] == secret]
    tags = [item["target"] for item in (_known(ctx).get(secret) or {}).get("access") or ()]
    present += ["/".join(tag[5:].rsplit("-", 1)) for tag in tags if tag.startswith("unit-")]
    return any(
        "/" in name and name.partition("/")[0] == app and name not in gone and app not in gone
        for name in present
    )


def _forget(ctx: ToolContext, what: str, secret: str, target: str) -> None:
    listed = _listed(ctx, what)
    listed[:] = [item for item in listed if (item["id"], item["target"]) != (secret, target)]


def _revoke(ctx: ToolContext, args: Args) -> None:
    secret = _first(args)
    check_empty(args.positional)
    target = _revoked(ctx, args)
    _need_leader(ctx, secret)
    _forget(ctx, "grant", secret, target)
    _listed(ctx, "revoke").append({"id": secret, "target": target})


def _revoked(ctx: ToolContext, args: Args) -> str:
    """Return the unit or application that loses its grant."""
    app, unit = args["application"], args["unit"]
    if app and unit:
        raise usage_error("specify only one of application or unit")
    if app and args["relation"] is not None:
        raise usage_error("do not specify both relation and app")
    if app and not is_application(app):
        raise usage_error("application %s not valid" % quote(app))
    if unit and not is_unit(unit):
        raise usage_error("unit %s not valid" % quote(unit))
    if app or unit:
        return str(app or unit)
    number = relation_id(ctx, args)
    if number is None:
        raise usage_error("missing relation or application or unit")
    return _remote_app(ctx, number)


# --- reads ----------------------------------------------------------------------------------------


def _get(ctx: ToolContext, args: Args) -> Any:
    label = args["label"]
    text = args.take() if args.positional and (not label or _is_uri(args.positional[0])) else ""
    secret = _id(text) if text else ""
    key = args.take()
    check_empty(args.positional)
    if not secret and not label:
        raise usage_error("require either a secret URI or label")
    if args["peek"] and args["refresh"]:
        raise usage_error("specify one of --peek or --refresh but not both")
    source = _source(ctx, text) if secret else ""
    content = _read(ctx, "%s/%s" % (source, secret) if source else secret, label, args)
    if not key:
        return {name: _decode(value).decode("utf-8", "surrogateescape") for name, value in content.items()}
    name = key[:-7] if key.endswith("#base64") else key
    if name not in content:
        raise ToolError("secret key value %s not found" % quote(name))
    if name != key:
        return content[name]
    return _decode(content[name]).decode("utf-8", "surrogateescape")


def _read(ctx: ToolContext, secret: str, label: str, args: Args) -> dict[str, str]:
    """Return the content that this hook wrote, or else the controller's."""
    if not secret:
        secret = _by_label(ctx, label)
        label = "" if secret else label
    content = _own_content(ctx, secret, args)
    if content is not None:
        return content
    mode = "peek" if args["peek"] else "refresh" if args["refresh"] else "get"
    answer: dict[str, str] = ctx.ask_data("secret-get", ["--", mode, secret, label])
    _hide(ctx, answer)
    return answer


def _own_content(ctx: ToolContext, secret: str, args: Args) -> dict[str, str] | None:
    """Return the content that this hook wrote, or None when it wrote none or the flags do not ask for it."""
    created = _pending(ctx, "create").get(secret)
    if created is not None:
        return dict(created["content"])
    if not (args["peek"] or args["refresh"]):
        return None
    content = (_pending(ctx, "update").get(secret) or {}).get("content")
    if content is None:
        return None
    if args["refresh"]:
        ctx.pending("secrets", "track")[secret] = True
    return dict(content)


def _ids(ctx: ToolContext, args: Args) -> list[str]:
    check_empty(args.positional)
    return sorted(_managed(ctx))


def _info(ctx: ToolContext, args: Args) -> dict[str, Struct]:
    text, label = args.take(), args["label"]
    check_empty(args.positional)
    if not text and not label:
        raise usage_error("require either a secret URI or label")
    if text and label:
        raise usage_error("specify either a secret URI or label but not both")
    secret = _id(text) if text else _by_label(ctx, label)
    meta = _managed(ctx).get(secret)
    if meta is None:
        raise ToolError("secret %s not found" % quote(secret or label))
    changed = _pending(ctx, "update").get(secret) or {}
    fields = (
        ("description", changed.get("description") or meta.get("description")),
        ("rotation", changed.get("rotate") or meta.get("rotate") or meta.get("rotation")),
        ("expiry", _shown(changed.get("expire") or meta.get("expire") or meta.get("expiry"))),
        ("rotates", Moment(meta.get("rotates") or "")),
        ("access", [Struct(_ordered(item)) for item in meta.get("access") or ()]),
    )
    found = Struct(
        [("revision", meta.get("revision", 1)), ("label", _label_of(ctx, secret, meta))]
        + [("owner", meta["owner"])]
        + [(key, value) for key, value in fields if value]
    )
    return {secret: found}


def _ordered(item: Meta) -> list[tuple[str, Any]]:
    return [(key, item[key]) for key in ("target", "scope", "role")]


def _shown(expiry: str | None) -> str:
    """Return when a revision expires; `+SECONDS` is added to the present time."""
    if not expiry or expiry[:1] != "+":
        return Moment(expiry or "")
    return Moment(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + int(expiry[1:]))))


_URI = "<ID>"
_WORDS = "[key[#base64|#file]=value...]"
TOOLS = {
    "secret-add": Tool(
        "secret-add",
        _add,
        usage=_WORDS,
        summary="Add a new secret.",
        details="The secret is stored when the hook succeeds; its URI is valid at once.",
        flags=_UPSERT,
    ),
    "secret-set": Tool(
        "secret-set",
        _set,
        usage="%s %s" % (_URI, _WORDS),
        summary="Update an existing secret.",
        details="New content makes a new revision, without the old keys, when the hook succeeds.",
        flags=_UPSERT,
    ),
    "secret-remove": Tool(
        "secret-remove",
        _remove,
        usage=_URI,
        summary="Remove an existing secret.",
        details="Removes all revisions, or the given one, when the hook succeeds.",
        flags=[Flag("revision", help="Remove the specified revision", default=0, convert=_revision)],
    ),
    "secret-grant": Tool(
        "secret-grant",
        _grant,
        usage=_URI,
        summary="Grant access to a secret.",
        details="The relation's remote application, or one unit of it, may read it until the relation ends.",
        flags=[relation_flag(), Flag("unit", help="The unit to grant access")],
    ),
    "secret-revoke": Tool(
        "secret-revoke",
        _revoke,
        usage=_URI,
        summary="Revoke access to a secret.",
        flags=[
            relation_flag(),
            Flag("app", "application", help="Revoke access from all units in an application"),
            Flag("unit", help="Revoke access from a unit"),
        ],
    ),
    "secret-get": Tool(
        "secret-get",
        _get,
        usage="[<ID>] [<key>[#base64]]",
        summary="Get the content of a secret.",
        details="Prints the revision that was read first, until --refresh; --peek prints the latest once.",
        flags=[
            Flag("label", help="A label used to identify the secret in hooks"),
            Flag("peek", help="Get the latest revision just this time", boolean=True),
            Flag("refresh", help="Get the latest revision from now on", boolean=True),
        ],
        formats=YAML_FIRST,
    ),
    "secret-ids": Tool("secret-ids", _ids, summary="Print secret IDs.", formats=SMART),
    "secret-info-get": Tool(
        "secret-info-get",
        _info,
        usage="[<ID>]",
        summary="Get a secret's metadata info.",
        flags=[Flag("label", help="A label used to identify the secret in hooks")],
        formats=YAML_FIRST,
    ),
}
