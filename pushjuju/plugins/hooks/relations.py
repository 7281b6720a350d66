"""The tools relation-ids, relation-list, relation-get, relation-set and relation-model-get.

Reads use the snapshot and the buffered writes of this hook; writes are buffered.

Mirrors: juju worker/uniter/runner/jujuc/relation-*.go, context/relation.go (3.6)
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
    deprecated_format_flag,
    file_flag,
    is_application,
    is_unit,
    key_values,
    quote,
    read_settings,
    relation_flag,
    relation_id,
    usage_error,
    warn_format,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Bag = dict[str, str]


def _required(ctx: ToolContext, args: Args) -> int:
    found = relation_id(ctx, args)
    if found is None:
        raise usage_error("no relation id specified")
    return found


def _snapshot(ctx: ToolContext, wanted: int) -> dict[str, Any]:
    found = ctx.relation(wanted)
    if found is None:  # the hook's own relation is missing from its snapshot
        raise ToolError("relation not found")
    return found


def _members(ctx: ToolContext, wanted: int, relation: dict[str, Any]) -> list[str]:
    """Return the remote units in the unit's view: with a joining unit, without a departing unit."""
    members = set(relation.get("members") or ())
    hook = ctx.hook_relation
    if hook is not None and int(hook["id"]) == wanted:
        kind = str(ctx.context.get("hook") or "")
        if kind.endswith("-relation-joined") and hook.get("remote_unit"):
            members.add(hook["remote_unit"])
        if kind.endswith("-relation-departed"):
            members.discard(hook.get("departing_unit") or hook.get("remote_unit"))
    members.discard(ctx.unit)
    return sorted(members)


# --- relation-ids, relation-list, relation-model-get --------------------------------------------


def _is_broken(ctx: ToolContext, wanted: int, relation: dict[str, object]) -> bool:
    if relation.get("role") == "peer":
        return False
    ending = relation.get("life", "alive") != "alive" or relation.get("suspended")
    return bool(ending) and not _members(ctx, wanted, relation)


def _relation_ids(ctx: ToolContext, args: Args) -> list[str]:
    hook = ctx.hook_relation
    endpoint = args.take(hook["endpoint"] if hook else "")
    if not endpoint:
        raise usage_error("no endpoint name specified")
    check_empty(args.positional)
    found = []
    for number, relation in ctx.context.get("relations", {}).items():
        if relation["endpoint"] != endpoint or relation.get("life") == "dead":
            continue
        if not _is_broken(ctx, int(number), relation):
            found.append("%s:%s" % (endpoint, number))
    return sorted(found)


def _relation_list(ctx: ToolContext, args: Args) -> Any:
    wanted = _required(ctx, args)
    check_empty(args.positional)
    relation = _snapshot(ctx, wanted)
    if args["app"]:
        return ctx.app if relation.get("role") == "peer" else relation["remote_app"]
    return _members(ctx, wanted, relation)


def _relation_model_get(ctx: ToolContext, args: Args) -> dict[str, str]:
    wanted = _required(ctx, args)
    check_empty(args.positional)
    return {"uuid": _snapshot(ctx, wanted).get("remote_model_uuid") or ctx.context["model_uuid"]}


# --- relation-get ---------------------------------------------------------------------------------


def _merged(bag: Bag | None, pending: dict[str, str | None]) -> Bag:
    merged: Bag = dict(bag or {})
    for key, value in pending.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = value
    return merged


def _pending(ctx: ToolContext, wanted: int, scope: str) -> dict[str, str | None]:
    found: dict[str, str | None] = ctx.writes.get("relations", {}).get(str(wanted), {}).get(scope, {})
    return found


def _unit_bag(ctx: ToolContext, wanted: int, unit: str) -> Bag:
    relation = _snapshot(ctx, wanted)
    bags = relation.get("unit_bags") or {}
    if unit == ctx.unit:
        return _merged(bags.get(unit), _pending(ctx, wanted, "unit"))
    if unit.partition("/")[0] not in (ctx.app, relation["remote_app"]):
        raise ToolError("permission denied")
    if unit not in bags and unit.partition("/")[0] == ctx.app and relation.get("role") != "peer":
        found: Bag = ctx.ask_data("relation-get", [str(wanted), unit])  # too rarely read for the snapshot
        return found
    if unit not in bags:
        text = "cannot read settings for unit %s in relation %s: unit %s: settings not found"
        raise ToolError(text % (quote(unit), quote(relation["key"]), quote(unit)))
    return dict(bags[unit])


def _app_bag(ctx: ToolContext, wanted: int, app: str) -> Bag:
    relation = _snapshot(ctx, wanted)
    bag = (relation.get("app_bags") or {}).get(app)
    if app == ctx.app:
        if ctx.is_leader():
            return _merged(bag, _pending(ctx, wanted, "app"))
        if relation.get("role") == "peer":
            return dict(bag or {})
    elif app == relation["remote_app"]:
        return dict(bag or {})
    raise ToolError("permission denied")


def _named_target(name: str, of_app: bool) -> str:
    """Return the unit or application whose settings the second argument names."""
    if of_app:
        return name.partition("/")[0] if is_unit(name) else name
    if is_unit(name):
        return name
    if is_application(name):
        raise usage_error("expected unit name, got application name %s" % quote(name))
    raise usage_error("invalid unit name %s" % quote(name))


def _hook_target(ctx: ToolContext, of_app: bool) -> tuple[str, bool]:
    """Return (name, True when it is an application) of the remote side of the running hook."""
    hook = ctx.hook_relation or {}
    unit, app = hook.get("remote_unit") or "", hook.get("remote_app") or ""
    if unit and not of_app:
        return unit, False
    if not app:
        raise usage_error("no unit or application specified")
    return app, True


def _relation_get(ctx: ToolContext, args: Args) -> Any:
    wanted = _required(ctx, args)
    key, name = args.take(), args.take()
    of_app = bool(args["app"])
    if name:
        target = _named_target(name, of_app)
    else:
        target, of_app = _hook_target(ctx, of_app)
    check_empty(args.positional)
    bag = _app_bag(ctx, wanted, target) if of_app else _unit_bag(ctx, wanted, target)
    return bag if key in ("", "-") else bag.get(key)


# --- relation-set ---------------------------------------------------------------------------------


def _relation_set(ctx: ToolContext, args: Args) -> None:
    wanted = _required(ctx, args)
    overrides = key_values(args.positional)
    warn_format(ctx, args, "relation-set")
    settings = read_settings(ctx, args["file"])
    settings.update(overrides)
    if args["app"] and not ctx.is_leader():
        raise ToolError("cannot write relation settings")
    if settings:
        changes = ctx.pending("relations", str(wanted), "app" if args["app"] else "unit")
        changes.update((key, value or None) for key, value in settings.items())


TOOLS = {
    "relation-ids": Tool(
        "relation-ids",
        _relation_ids,
        usage="[<endpoint>]",
        summary="List all relation ids for the given endpoint.",
        formats=SMART,
    ),
    "relation-list": Tool(
        "relation-list",
        _relation_list,
        summary="List relation units.",
        flags=[
            Flag("app", help="List remote application instead of participating units", boolean=True),
            relation_flag(),
        ],
        formats=SMART,
    ),
    "relation-model-get": Tool(
        "relation-model-get",
        _relation_model_get,
        summary="Get details about the model hosting a related application.",
        flags=[relation_flag()],
        formats=SMART,
    ),
    "relation-get": Tool(
        "relation-get",
        _relation_get,
        usage="[<key> [<unit or application>]]",
        summary="Get relation settings.",
        details='Print one value, or the whole bag when no key, or "-", is given.',
        flags=[
            Flag(
                "app", help="Get the relation data for the overall application, not only a unit", boolean=True
            ),
            relation_flag(),
        ],
        formats=SMART,
    ),
    "relation-set": Tool(
        "relation-set",
        _relation_set,
        usage="<key>=<value> [...]",
        summary="Set relation settings.",
        details=(
            "Written when the hook succeeds. An empty value deletes the key.\nArguments override the file."
        ),
        flags=[
            Flag("app", help="Set the data for the overall application, not only a unit", boolean=True),
            file_flag(),
            deprecated_format_flag(),
            relation_flag(),
        ],
    ),
}
