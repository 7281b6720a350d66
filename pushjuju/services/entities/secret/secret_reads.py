"""Reads a secret for a unit's `secret-get`, and records the unit as a reader.

Mirrors: juju apiserver/common/secrets/access.go, apiserver/facades/agent/secretsmanager (3.6)
"""

from __future__ import annotations

from collections.abc import Callable

from pushjuju.core.errors import NotFound, NotPermitted, NotValid
from pushjuju.core.model.secrets import Content, OwnerKind, parse_uri
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import remote_secrets, secret_backends, secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.store.rows.records import Unit
from pushjuju.store.rows.secret_records import ConsumerRow, SecretRow
from pushjuju.store.tx import ModelTx

MODES = ("get", "peek", "refresh")
Later = Callable[[], Content]
"""Fetches content from a backend: waits for the network, and needs no transaction."""


def read(ctx: Context, tx: ModelTx, unit: Unit, mode: str, secret: str, label: str) -> Content | Later:
    """Return the content that a unit reads, or a function that fetches the content from a backend.

    Args:
        mode: `get` for the revision that the unit tracks, `peek` for the latest revision, or `refresh` to
            track the latest revision from now on.
        secret: The id, or `UUID/id` for a secret of another model; empty to find the secret by its label.
        label: The unit's label for the secret; together with an id, a new label.
    """
    if mode not in MODES:
        raise NotValid(f"secret-get has no mode {quote(mode)}")
    row, reader = _meant(tx, unit, secret, label)
    if not secrets.may_read(tx, reader, row):
        raise NotPermitted("permission denied")
    if reader.model != unit.model:
        remote_secrets.mark(tx, unit)
        if secret:
            remote_secrets.check_label(tx, unit, label)
    unit = reader
    if secret and label:
        row, label = _call(ctx, tx, unit, row, label)
    else:
        label = ""
    before = secrets.consumer(tx, row, unit.name)
    latest = before is None or mode != "get"
    number = row.latest if latest or before is None else before.revision
    found = secrets.revision(tx, row, number)
    if before is None or mode == "refresh" or label:
        kept = before.revision if before is not None and mode != "refresh" else number
        secrets.track(tx, row, unit, kept, label or None)
    return secrets.stored(ctx, found).content or secret_backends.reader(ctx, tx, found)


def _meant(tx: ModelTx, unit: Unit, secret: str, label: str) -> tuple[SecretRow, Unit]:
    """Return the secret that the arguments name, and the unit under its alias in the secret's model."""
    model, number = parse_uri(secret) if "/" in secret else ("", secret)
    if model not in ("", unit.model):
        found = remote_secrets.find(tx.beside(model), unit, number)
        return found.row, found.unit
    if number:
        return secrets.get(tx.beside(unit.model), number), unit
    try:
        return _labelled(tx, unit, label), unit
    except NotFound:
        seen = remote_secrets.labelled(tx, unit, label) if label else None
        if seen is None:
            raise
        return seen.row, seen.unit


def _labelled(tx: ModelTx, unit: Unit, label: str) -> SecretRow:
    """Return a secret by its owner's label, when unit or application own it, else by the unit's own label.

    Raises:
        NotFound: No secret has the label.
    """
    for kind, name in ((OwnerKind.UNIT, unit.name), (OwnerKind.APPLICATION, unit.application)):
        owned = secrets.by_label(tx.beside(unit.model), Owner(kind=kind, name=name), label)
        if owned is not None:
            return owned
    found = tx.find(ConsumerRow, "secret_consumer_by_label", model=unit.model, unit=unit.name, label=label)
    if not label or found is None:
        raise NotFound(f"consumer label {quote(label)} not found")
    return secrets.get(tx.beside(unit.model), found.secret)


def _call(ctx: Context, tx: ModelTx, unit: Unit, row: SecretRow, label: str) -> tuple[SecretRow, str]:
    """Set a secret's label: for all units when the reader manages the secret, else for this unit only.

    A unit that does not manage a secret of its own application cannot set a label.

    Returns:
        The secret, and the label to record for the unit as a reader, or an empty text for no label.
    """
    if row.application != unit.application or row.owner_kind == OwnerKind.MODEL:
        return row, label
    leads = leadership.holder(tx.beside(unit.model), unit.application) == unit.name
    if row.owner == unit.name or leads:
        return secrets.update(ctx, tx, row, Change(label=label)), ""
    return row, ""
