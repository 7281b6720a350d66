"""Documents of secrets. Mirrors: juju cmd/juju/secrets/list.go, show.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.model.secrets import Content, OwnerKind
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import secret_backends, secrets
from pushjuju.services.requests.secret import user_secrets
from pushjuju.store.rows.secret_records import RevisionRow, SecretRow
from pushjuju.store.tx import ModelTx, Tx


def documents(ctx: Context, model: str, owner: secrets.Owner | None = None) -> dict[str, object]:
    """Return the secrets of a model as `secrets` shows them: id -> secret, without content."""
    with ctx.read(model) as tx:
        rows = tx.list(SecretRow, "secret_list")
        chosen = [row for row in rows if owner is None or secrets.owner_of(row) == owner]
        return {row.id: _document(tx, row) for row in chosen}


def grants(ctx: Context, model: str) -> dict[str, list[str]]:
    """Return id -> who may read the secret, besides its owner: `web`, `unit db/0`."""
    with ctx.read(model) as tx:
        rows = tx.list(SecretRow, "secret_list")
        return {row.id: [f"{item.kind} {item.target}" for item in secrets.grants(tx, row)] for row in rows}


def show(
    ctx: Context, model: str, which: str, *, reveal: bool = False, every: bool = False, number: int = 0
) -> dict[str, Any]:
    """Return id -> secret, as `show-secret` shows it.

    Args:
        reveal: True to include the content.
        every: True to include all revisions.
        number: The revision whose content is shown; 0 for the latest.

    Raises:
        NotFound: The secret or the revision does not exist.
    """
    with ctx.write(model) as tx:  # a write transaction waits for a process that renews the key
        row = user_secrets.lookup(tx, which)
        document = _document(tx, row)
        chosen = secrets.revision(tx, row, number or row.latest) if number or reveal else None
        if number or every:
            listed = [chosen] if chosen is not None and number else secrets.revisions(tx, row)
            document["revisions"] = [_revision(tx, item) for item in listed]
        document["access"] = secrets.access(tx, row)
        found = secrets.stored(ctx, chosen) if reveal and chosen is not None else None
        away = secret_backends.reader(ctx, tx, found.revision) if found and not found.content else None
    if found is not None:
        content = found.content or (away() if away else Content({}))
        document = {"revision": document.pop("revision"), "checksum": found.checksum, **document}
        document["content"] = content.plain()
    if not document["access"]:
        del document["access"]
    return {row.id: document}


def _document(tx: ModelTx, row: SecretRow) -> dict[str, object]:
    of_model = row.owner_kind == OwnerKind.MODEL
    latest = tx.find(RevisionRow, "secret_revision_get", secret=row.id, revision=row.latest)
    found: Mapping[str, Any] = {
        "revision": row.latest,
        "expires": latest.expires if latest else None,
        "rotation": row.rotation,
        "rotates": row.next_rotation,
        "owner": "<model>" if of_model else row.owner,
        "description": row.description,
        "name": row.label if of_model else "",
        "label": "" if of_model else row.label,
        "created": row.created,
        "updated": row.updated,
    }
    return {key: value for key, value in found.items() if value not in (None, "")}


def _revision(tx: Tx, item: RevisionRow) -> dict[str, object]:
    found = {
        "revision": item.revision,
        "backend": secret_backends.name_of(tx, item.backend),
        "created": item.created,
        "updated": item.updated,
        "expires": item.expires,
    }
    return {key: value for key, value in found.items() if value is not None}
