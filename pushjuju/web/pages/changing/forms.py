"""The pages with forms: the options of an application, and the actions of its charm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pushjuju.charms.values.model import ActionSpec
from pushjuju.core.model.secrets import uri
from pushjuju.core.values import dataclass
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.secret.secrets import MODEL
from pushjuju.services.views import application_documents
from pushjuju.services.views.listings import applications as listings
from pushjuju.services.views.listings import user_secrets
from pushjuju.web.pages import cells
from pushjuju.web.pages.cells import Table
from pushjuju.web.pages.visit import Content, Visit

_INPUTS = {"integer": "number", "number": "number", "string": "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A field for a parameter of an action."""

    name: str
    kind: str  # `text`, `number`, `choice` for a list of `choices`, or `yaml`
    description: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    default: str = ""  # the default as text, or empty
    is_text: bool = False  # True when the value is a string as it stands, and not YAML: `on`, `1`
    is_secret: bool = False  # True when the charm expects the URI of a secret


def config(visit: Visit) -> Content:
    """Return the page of an application's options."""
    name = visit.path["name"]
    document = listings.config(visit.ctx, visit.model.uuid, name)
    options = {key: _option(item) for key, item in document["settings"].items()}
    values = {
        "application": name,
        "options": options,
        "table": _options(options),
        "secrets": _secrets(visit),
    }
    return _of_application(visit, "Configuration", f"config {name}", values, document)


def _options(options: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the options for users who may look at them only."""
    rows = [
        cells.row(key, item["text"], item["source"], item["type"], item.get("description"))
        for key, item in options.items()
    ]
    heads = ("Option", "Value", "From", "Type", "Description")
    return Table(name="Options", heads=heads, rows=rows, none="The charm has no options.")


def _secrets(visit: Visit) -> list[tuple[str, str]]:
    """Return the URI and name of each secret of the model, for users who may see the page of secrets."""
    if not visit.may("admin"):
        return []
    document: Mapping[str, Any] = user_secrets.documents(visit.ctx, visit.model.uuid, MODEL)
    return [(uri(number), item.get("name", "")) for number, item in document.items()]


def _option(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an option with its value as the text that a form shows and sends."""
    return {**item, "text": _text(item.get("value")), "default": _text(item.get("default"))}


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def charm_actions(visit: Visit) -> Content:
    """Return the page of the actions of an application's charm."""
    name = visit.path["name"]
    with visit.ctx.read(visit.model.uuid) as tx:
        specs = actions.specs(tx, applications.get(tx, name))
    listed = [(spec, parameters(spec)) for _, spec in sorted(specs.items())]
    names = application_documents.units(visit.ctx, visit.model.uuid, name)
    values = {
        "application": name,
        "actions": listed,
        "secrets": _secrets(visit),
        "units": [*names, *([f"{name}/leader"] if names else [])],
    }
    schemas = {key: spec.schema for key, spec in specs.items()}
    return _of_application(visit, "Actions", f"actions {name} --schema", values, schemas)


def _of_application(
    visit: Visit, what: str, line: str, values: Mapping[str, Any], document: Mapping[str, Any]
) -> Content:
    name = visit.path["name"]
    return Content(
        title=f"{what} of {name}",
        command=visit.command(line),
        values=values,
        crumbs=((name, visit.pages.entity("application", name)),),
        document=lambda: document,
    )


def parameters(spec: ActionSpec) -> list[Parameter]:
    """Return the fields for the parameters of an action, the required ones first."""
    properties, required = spec.schema.get("properties"), spec.schema.get("required")
    listed = properties.items() if isinstance(properties, Mapping) else ()
    needed = required if isinstance(required, list) else []
    found = [_parameter(str(name), schema, required=name in needed) for name, schema in listed]
    return sorted(found, key=lambda item: not item.required)


def _parameter(name: str, schema: Any, *, required: bool) -> Parameter:
    """Return the field for a parameter; what no simple field can hold is YAML text."""
    told = schema if isinstance(schema, Mapping) else {}
    default = told.get("default")
    choices = ["true", "false"] if told.get("type") == "boolean" else told.get("enum")
    kind = "choice" if isinstance(choices, list) else _INPUTS.get(str(told.get("type")), "yaml")
    return Parameter(
        name=name,
        kind=kind,
        description=str(told.get("description", "")),
        required=required and default is None,
        choices=tuple(_text(choice) for choice in choices) if isinstance(choices, list) else (),
        default=_text(default),
        is_text=told.get("type") == "string",
        is_secret=any("secret" in str(told.get(key)) for key in ("type", "format")),
    )
