"""show-secret on a model of another computer."""

from __future__ import annotations

import base64
from typing import Any

from pushjuju.cli.commands.secret import secret_table as formatters
from pushjuju.cli.remote.call import Call
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotFound
from pushjuju.core.model.secrets import is_uri
from pushjuju.portable.quote import quote

_MOMENTS = {"created": "create-time", "updated": "update-time", "expires": "expire-time"}


def show_secret(call: Call) -> None:
    """Show a secret; only administrators of the model see the content."""
    which, flags = call.args[0], call.flags
    chosen: dict[str, object] = {"uri" if is_uri(which) else "label": which}
    if flags.revision:
        chosen["revision"] = flags.revision
    with call.target.opened() as (connection, _):
        params = {"show-secrets": flags.reveal, "filter": chosen}
        found = connection.each("Secrets", "ListSecrets", params)
    if not found:
        raise NotFound(f"secret {quote(which)} not found")
    listed = flags.revisions or bool(flags.revision)
    document = {item["uri"].removeprefix("secret:"): _document(item, revisions=listed) for item in found}
    call.cli.output.text(formatters.secrets(call.cli.output.form, document))


def _document(item: dict[str, Any], *, revisions: bool) -> dict[str, object]:
    """Return a secret as `views.listings.user_secrets` does."""
    kind, _, owner = item["owner-tag"].partition("-")
    of_model = kind == "model"
    if kind == "unit":
        application, _, number = owner.rpartition("-")
        owner = f"{application}/{number}"
    found: dict[str, object] = {
        "revision": item["latest-revision"],
        "checksum": item.get("latest-revision-checksum"),
        "rotation": item.get("rotate-policy"),
        "rotates": _moment(item.get("next-rotate-time")),
        "owner": "<model>" if of_model else owner,
        "description": item.get("description"),
        "name" if of_model else "label": item.get("label"),
        **{key: _moment(item.get(name)) for key, name in _MOMENTS.items()},
        "access": [
            {"target": entry["target-tag"], "scope": entry["scope-tag"], "role": entry["role"]}
            for entry in item.get("access") or ()
        ],
        "revisions": [_revision(entry) for entry in item.get("revisions") or ()] if revisions else None,
    }
    if value := item.get("value"):
        found["content"] = {
            key: base64.b64decode(text).decode("utf-8", "surrogateescape")
            for key, text in value["data"].items()
        }
    return {key: value for key, value in found.items() if value not in (None, "", [])}


def _revision(item: dict[str, Any]) -> dict[str, object]:
    found = {"revision": item["revision"], "backend": item.get("backend-name")}
    found |= {key: _moment(item.get(name)) for key, name in _MOMENTS.items()}
    return {key: value for key, value in found.items() if value}


def _moment(text: str | None) -> object:
    return from_iso(text) if text else None
