"""`secret-get`: reads a secret for a unit, and records the reading.

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
"""Asks a backend: waits for the network, and needs no store."""


def read(ctx: Context, tx: ModelTx, unit: Unit, mode: str, secret: str, label: str) -> Content | Later:
    """Return the content that a unit reads; the first time it is noted as a reader.

    Args:
        mode: `get` the revision that it tracks, `peek` at the latest, or `refresh` to the latest for good.
        secret: The id, `UUID/id` for a secret of another model; empty to look for the label.
        label: With an id, what the unit calls the secret from now on.
    """
    if mode not in MODES:
        raise NotValid(f"secret-get takes no mode {quote(mode)}")
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
    """Return a secret, and the unit as the secret's model knows it."""
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
    """Return the secret with a label: the owner's of the unit or its application, else the unit's own.

    Raises:
        NotFound: There is no secret of that label.
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
    """Give a secret the name that a unit asks for; return what is left to note for it as a reader.

    The label that the secret's manager gives counts for all units; the application's other units set none.
    """
    if row.application != unit.application or row.owner_kind == OwnerKind.MODEL:
        return row, label
    leads = leadership.holder(tx.beside(unit.model), unit.application) == unit.name
    if row.owner == unit.name or leads:
        return secrets.update(ctx, tx, row, Change(label=label)), ""
    return row, ""
