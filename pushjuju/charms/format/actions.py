"""Reads a charm's actions, and checks the parameters that users pass. Mirrors: juju/charm actions.go."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pushjuju.charms.format import plain_schema, yamlload
from pushjuju.charms.format.coerce import Report
from pushjuju.charms.values.model import ActionSpec
from pushjuju.charms.values.problems import Problems
from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.portable.quote import quote

if TYPE_CHECKING:
    from pushjuju.charms.format.draft4 import Draft4

FILE = "actions.yaml"
PREFIX = f'parsing "{FILE}" file: '
RESERVED = "juju"

_NAME = regex(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_PROHIBITED = ("$ref", "$schema")
_OWN_KEYS = ("description", "title", "params", "parallel", "execution-group")
_DESCRIPTION = "No description"


def read_actions(data: bytes, charm: str, problems: Problems) -> dict[str, ActionSpec]:
    """Return the actions of `actions.yaml`; faults go to `problems`.

    Args:
        data: Bytes of the file.
        charm: The charm's name; only charms named `juju-*` may use reserved names.
    """
    try:
        raw = yamlload.load(data, text_keys=2)
    except NotValid as error:
        problems.add(FILE, PREFIX + error.message)
        return {}
    return actions_from(raw, charm, problems)


def actions_from(raw: Any, charm: str, problems: Problems) -> dict[str, ActionSpec]:
    """Return the actions of a decoded document; faults go to `problems`."""
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        problems.add(FILE, f"{PREFIX}actions failed to parse as a map")
        return {}
    found = {}
    for name, entry in raw.items():
        before = len(problems.found)
        spec = _action(name, entry, charm, _reporter(name, problems))
        if len(problems.found) == before:
            found[name] = spec
    return found


def _reporter(name: str, problems: Problems) -> Report:
    return lambda key, text: problems.add(FILE, PREFIX + text, key=f"{name}.{key}" if key else name)


def _action(name: str, entry: Any, charm: str, report: Report) -> ActionSpec:
    """Return an action; each fault is reported with its key inside the action."""
    _check_name(name, charm, report)
    entry = {} if entry is None else entry
    if not isinstance(entry, dict):
        report("", f"action {quote(name)} failed to parse as a map")
        entry = {}
    sound = not list(_check_keys(entry, "", report))
    description = _text(entry, "description", _DESCRIPTION, report)
    title = _text(entry, "title", name, report)
    group = _text(entry, "execution-group", "", report)
    parallel = entry.get("parallel", False)
    if not isinstance(parallel, bool):
        report("parallel", 'value for schema key "parallel" must be a bool')
    schema = _schema(entry, title, description, report)
    if sound:
        _check_schema(name, schema, report)
    return ActionSpec(
        name=name,
        description=description,
        title=title,
        schema=schema,
        parallel=parallel,
        execution_group=group,
    )


def _check_name(name: str, charm: str, report: Report) -> None:
    if not _NAME.fullmatch(name):
        report("", f"bad action name {name}")
    elif charm.startswith(f"{RESERVED}-"):
        return
    elif name == RESERVED:
        report("", f'cannot use action name {name}: "juju" is a reserved name')
    elif name.startswith(f"{RESERVED}-"):
        report("", f'cannot use action name {name}: the "juju-" prefix is reserved')


def _check_keys(value: Any, path: str, report: Report) -> Iterator[str]:
    """Report keys that are not text and references to other schemas, at any depth; yield their paths."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _check_keys(item, f"{path}[{number}]", report)
    for key, item in value.items() if isinstance(value, dict) else ():
        here = f"{path}.{key}" if path else str(key)
        if not isinstance(key, str):
            report(here, "map keyed with non-string value")
            yield here
        elif key in _PROHIBITED:
            report(here, f"schema key {quote(key)} not compatible with this version of juju")
            yield here
        yield from _check_keys(item, here, report)


def _text(entry: Mapping[str, Any], key: str, default: str, report: Report) -> str:
    value = entry.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        report(key, f"value for schema key {quote(key)} must be a string")
        return default
    return value


def _schema(entry: Mapping[str, Any], title: str, description: str, report: Report) -> dict[str, object]:
    params = entry.get("params")
    if params is not None and not isinstance(params, dict):
        report("params", "params failed to parse as a map")
        params = None
    required = entry.get("required")
    if "required" in entry and not isinstance(required, list):
        report("required", 'value for schema key "required" must be a YAML list')
        required = None
    schema = {"description": description, "type": "object", "title": title, "properties": params or {}}
    # Users write an empty "required" for "nothing is required"; draft 4 does not allow an empty list.
    dropped = _OWN_KEYS if required else (*_OWN_KEYS, "required")
    return schema | {key: value for key, value in entry.items() if key not in dropped}


def _check_schema(name: str, schema: Mapping[str, Any], report: Report) -> None:
    if plain_schema.is_plain(schema):
        return
    error = _draft4().schema_fault(schema)
    if error is not None:
        path = ".".join(map(str, error.absolute_path)) or "(root)"
        text = f"invalid params schema for action schema {name}: {path}: {error.message}"
        report(_written(error.absolute_path), text)


def _draft4() -> type[Draft4]:
    from pushjuju.charms.format.draft4 import Draft4  # jsonschema: slow to import, seldom needed

    return Draft4


def _written(path: Iterable[str | int]) -> str:
    """Return the key path in actions.yaml for a path in the schema: `properties` is `params` in the file."""
    first, *more = [f"[{part}]" if isinstance(part, int) else str(part) for part in path] or [""]
    return ".".join(["params" if first == "properties" else first, *more]).replace(".[", "[")


def juju_exec() -> ActionSpec:
    """Return the action that every unit has: run a command."""
    properties = {
        "command": {"type": "string", "description": "command to be ran under juju-exec"},
        "timeout": {"type": "number", "description": "timeout for command execution"},
        "workload-context": {"type": "boolean", "description": "run the command in k8s workload context"},
    }
    schema = {
        "type": "object",
        "title": "juju-exec",
        "description": "predefined juju-exec action",
        "required": ["command", "timeout"],
        "properties": properties,
    }
    return ActionSpec(
        name="juju-exec",
        description="predefined juju-exec action",
        title="juju-exec",
        schema=schema,
        parallel=True,
    )


# --- the parameters of one action run ---------------------------------------------------------------------


def validate_params(spec: ActionSpec, params: Mapping[str, Any]) -> None:
    """Check the parameters of the user, before defaults are added.

    Raises:
        NotValid: A parameter does not fit the schema; the message names every fault.
    """
    if plain_schema.fits(spec.schema, params):
        return
    errors = sorted(_draft4().faults(spec.schema, params), key=lambda item: list(map(str, item.path)))
    texts = [text for error in errors for text in _fault_texts(error)]
    if texts:
        raise NotValid("validation failed: " + "; ".join(texts))


def _fault_texts(error: Any) -> Iterator[str]:
    where = ".".join(["(root)", *map(str, error.absolute_path)])
    given = f"given {_shown(error.instance)}"
    if error.validator == "type":
        wanted = error.validator_value
        kinds = wanted if isinstance(wanted, str) else ", ".join(wanted)
        yield f"{where} : must be of type {kinds}, {given}"
    elif error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", {})
        for name in sorted(error.instance):
            if name not in known and not any(re.search(pattern, name) for pattern in patterns):
                yield f"{where} : additional property {quote(name)} is not allowed, {given}"
    elif error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        # jsonschema reports each missing name as a fault of its own; its text contains the name.
        name = next((item for item in missing if repr(item) in error.message), missing[0])
        yield f"{where} : {quote(name)} property is missing and required, {given}"
    else:
        yield f"{where} : {error.message}, {given}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def insert_defaults(spec: ActionSpec, params: Mapping[str, Any]) -> dict[str, object]:
    """Return the parameters with the schema's defaults added, at any depth."""
    return _with_defaults(spec.schema, dict(params))


def _with_defaults(schema: Mapping[str, Any], params: dict[str, Any]) -> dict[str, object]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return params
    for name, entry in properties.items():
        if not isinstance(entry, Mapping):
            continue
        if name not in params and "default" in entry:
            params[name] = copy.deepcopy(entry["default"])
        elif "properties" in entry and isinstance(params.get(name, {}), Mapping):
            inner = _with_defaults(entry, dict(params.get(name, {})))
            if inner or name in params:
                params[name] = inner
    return params
