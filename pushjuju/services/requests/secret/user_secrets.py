"""Secrets of the model itself: what admins add, change, show and grant.

Mirrors: juju apiserver/facades/client/secrets/secrets.go (3.6)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.core import limits
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotFound, NotPermitted, NotValid
from pushjuju.core.model.secrets import Content, OwnerKind, is_uri, new_id, parse_uri, uri
from pushjuju.core.problems import Subject
from pushjuju.portable.quote import quote
from pushjuju.runner.remote.tools import goyaml
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import secret_backends, secrets
from pushjuju.services.entities.secret.secrets import MODEL, Change
from pushjuju.store.rows.records import Application
from pushjuju.store.rows.secret_records import RevisionRow, SecretRow
from pushjuju.store.tx import Tx

_LINE = re.compile(r"\bline [0-9]+")


def add(ctx: Context, model: str, name: str, content: Content, description: str = "") -> str:
    """Add a secret of the model; return its URI.

    Raises:
        AlreadyExists: The name is taken.
    """
    change = Change(content=content, label=name, description=description)
    with ctx.store.write() as tx:
        return uri(secrets.create(ctx, tx, model, new_id(os.urandom), MODEL, change).id)


def goes_to_backend(ctx: Context, model: str) -> bool:
    """Return True when a model keeps new content in a backend, so that it has to be sent there."""
    with ctx.store.read() as tx:
        return bool(secrets.active_backend(tx, model))


def update(ctx: Context, model: str, which: str, change: Change) -> None:
    """Change a secret of the model.

    Raises:
        NotFound: The secret does not exist.
        NotPermitted: The secret belongs to a charm.
        AlreadyExists: The new name is taken.
    """
    with ctx.store.write() as tx:
        secrets.update(ctx, tx, own(tx, model, which), change)


def remove(ctx: Context, model: str, which: str, revision: int | None = None) -> None:
    """Remove a secret of the model, or one revision of it.

    Raises:
        NotFound: The secret does not exist.
        NotPermitted: The secret belongs to a charm.
    """
    with ctx.store.write() as tx:
        row = own(tx, model, which)
        if revision is not None:
            secrets.revision(tx, row, revision)
        secrets.remove(tx, row, None if revision is None else [revision], ctx.clock.now())


def grant(ctx: Context, model: str, which: str, applications: Iterable[str]) -> None:
    """Let applications read a secret of the model; all of them or, after a refusal, none.

    Raises:
        NotFound: No such secret or application.
        NotPermitted: The secret belongs to a charm.
    """
    with ctx.store.write() as tx:
        row = own(tx, model, which)
        for name in applications:
            _application(tx, model, name)
            secrets.grant(tx, row, OwnerKind.APPLICATION, name)


def revoke(ctx: Context, model: str, which: str, applications: Iterable[str]) -> None:
    """Take grants of a secret of the model back.

    Raises:
        NotFound: No such secret or application.
        NotPermitted: The secret belongs to a charm.
    """
    with ctx.store.write() as tx:
        row = own(tx, model, which)
        for name in applications:
            _application(tx, model, name)
            secrets.revoke(tx, row, name)


def _application(tx: Tx, model: str, name: str) -> None:
    tx.get(Application, "application_get", Subject("application", name), model=model, name=name)


def lookup(tx: Tx, model: str, which: str) -> SecretRow:
    """Return the secret that an id, a URI or the name of a secret of the model means.

    Raises:
        NotFound: The secret does not exist.
        NotValid: The URI is of another model.
    """
    if is_uri(which):
        source, secret = parse_uri(which)
        if source and source != model:
            raise NotValid(f"secret {quote(which)} is of another model")
        found = secrets.find(tx, model, secret)
        if found is not None:
            return found
    named = secrets.by_label(tx, model, MODEL, which)
    if named is None:
        raise NotFound(f"secret {quote(which)} not found")
    return named


def own(tx: Tx, model: str, which: str) -> SecretRow:
    """Return a secret of the model itself.

    Raises:
        NotFound: The secret does not exist.
        NotPermitted: The secret belongs to a charm.
    """
    row = lookup(tx, model, which)
    if row.owner_kind != OwnerKind.MODEL:
        raise NotPermitted(
            f"secret {quote(which)} is owned by {row.owner_kind} {row.owner}: only its charm can change it"
        )
    return row


# --- showing ----------------------------------------------------------------------------------------------


def documents(ctx: Context, model: str, owner: secrets.Owner | None = None) -> dict[str, Any]:
    """Return the secrets of a model as `secrets` shows them: id -> secret, without content."""
    with ctx.store.read() as tx:
        rows = tx.list(SecretRow, "secret_list", model=model)
        chosen = [row for row in rows if owner is None or secrets.owner_of(row) == owner]
        return {row.id: _document(tx, row) for row in chosen}


def show(
    ctx: Context, model: str, which: str, *, reveal: bool = False, every: bool = False, number: int = 0
) -> dict[str, Any]:
    """Return a secret as `show-secret` does: id -> secret.

    Args:
        reveal: With the content.
        every: With all revisions.
        number: The revision to show; 0 for the latest.

    Raises:
        NotFound: No such secret or revision.
        WrongKey: The key file does not open it.
        BackendError: Its backend does not give the content.
    """
    with ctx.store.write() as tx:  # a write, so that it waits for a process that renews the key
        row = lookup(tx, model, which)
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


def _document(tx: Tx, row: SecretRow) -> dict[str, Any]:
    of_model = row.owner_kind == OwnerKind.MODEL
    latest = tx.find(RevisionRow, "secret_revision_get", model=row.model, secret=row.id, revision=row.latest)
    found: Mapping[str, Any] = {
        "revision": row.latest,
        "expires": from_iso(latest.expires) if latest and latest.expires else None,
        "rotation": row.rotation,
        "rotates": from_iso(row.next_rotation) if row.next_rotation else None,
        "owner": "<model>" if of_model else row.owner,
        "description": row.description,
        "name": row.label if of_model else "",
        "label": "" if of_model else row.label,
        "created": from_iso(row.created),
        "updated": from_iso(row.updated),
    }
    return {key: value for key, value in found.items() if value not in (None, "")}


def _revision(tx: Tx, item: RevisionRow) -> dict[str, Any]:
    found = {
        "revision": item.revision,
        "backend": secret_backends.name_of(tx, item.backend),
        "created": from_iso(item.created),
        "updated": from_iso(item.updated),
        "expires": from_iso(item.expires) if item.expires else None,
    }
    return {key: value for key, value in found.items() if value is not None}


def read_settings(name: str, data: bytes) -> dict[str, str]:
    """Read the content of a secret from a file, a number as written; an error never quotes the file.

    Raises:
        NotValid: The file is not a map of texts.
    """
    if len(data) > limits.SECRET:
        raise NotValid(f"secret content in file {quote(name)} too large: {len(data)} bytes")
    try:
        return goyaml.read_settings(data)
    except goyaml.YamlError as error:
        line = _LINE.search(str(error))
        raise NotValid(f"{name}: {line[0] + ': ' if line else ''}not a map of keys and texts") from None
