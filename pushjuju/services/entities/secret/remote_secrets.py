"""Reads secrets of other models that were granted over a relation between models.

The owner's model knows a unit of another model under an alias (`remote-.../0`, or the name of a SAAS), as
relations do; grants and readers are recorded under this alias. Only applications that have read such a secret
are ever queried.

Mirrors: juju apiserver/facades/controller/crossmodelsecrets (3.6)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pushjuju.core.errors import AlreadyExists, NotFound, NotPermitted
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.entities.relation import relations
from pushjuju.services.entities.secret import secrets
from pushjuju.store.rows.records import Application, RemoteApplication, Unit
from pushjuju.store.rows.secret_records import ConsumerRow, SecretRow
from pushjuju.store.tx import ModelTx, Tx

READS_OTHER_MODELS = 2  # value of `application.secrets` for applications that read secrets of other models


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A secret of another model, with the unit that reads it under the unit's alias there."""

    row: SecretRow
    unit: Unit


def uri(model: str, secret: str) -> str:
    """Return the URI of a secret of another model."""
    return f"secret://{model}/{secret}"


def is_of_other_model(text: str) -> bool:
    """Return True when a URI, as units keep it, names a secret of another model."""
    return text.startswith("secret://")


def aliases(tx: Tx, unit: Unit, model: str = "") -> Iterator[Unit]:
    """Yield a unit under its alias in each other model, or in one model only."""
    for remote in tx.list(
        RemoteApplication, "remote_application_of", source=unit.model, application=unit.application
    ):
        if model in ("", remote.model):
            name = relations.renamed(unit.name, remote.name)
            yield replace(unit, model=remote.model, name=name, application=remote.name)


def find(tx: ModelTx, unit: Unit, secret: str) -> Seen:
    """Return a secret of another model that a unit may read, or raise NotFound."""
    known = list(aliases(tx, unit, tx.model))
    row = secrets.find(tx, secret) if known else None
    if row is None:
        raise NotFound(f"secret {quote(uri(tx.model, secret))} not found")
    for alias in known:
        if secrets.may_read(tx, alias, row):
            return Seen(row=row, unit=alias)
    raise NotPermitted("permission denied")


def labelled(tx: ModelTx, unit: Unit, label: str) -> Seen | None:
    """Return the secret of another model to which a unit gave a label, or None."""
    if not reads(tx, unit):
        return None
    for alias in aliases(tx, unit):
        found = tx.find(
            ConsumerRow, "secret_consumer_by_label", model=alias.model, unit=alias.name, label=label
        )
        if found is not None:
            return Seen(row=secrets.get(tx.beside(alias.model), found.secret), unit=alias)
    return None


def reads(tx: Tx, unit: Unit) -> bool:
    """Return True when a unit's application has ever read a secret of another model."""
    found = tx.find(Application, "application_get", model=unit.model, name=unit.application)
    return found is not None and found.secrets >= READS_OTHER_MODELS


def check_label(tx: Tx, unit: Unit, label: str) -> None:
    """Raise AlreadyExists when a unit uses a label for a secret of its own model."""
    taken = tx.find(ConsumerRow, "secret_consumer_by_label", model=unit.model, unit=unit.name, label=label)
    if label and taken is not None:
        raise AlreadyExists(f"secret with label {quote(label)} already exists")


def mark(tx: Tx, unit: Unit) -> None:
    """Record that a unit's application reads secrets of other models."""
    tx.run("secret_mark_far", model=unit.model, name=unit.application)


def consumed(tx: Tx, unit: Unit) -> Iterator[tuple[Unit, Any]]:
    """Yield (alias of a unit, row of `secret_consumed`) for each secret of other models that it reads."""
    for alias in aliases(tx, unit):
        for row in tx.rows("secret_consumed", model=alias.model, unit=alias.name):
            yield alias, row


def may_read(tx: ModelTx, alias: Unit, secret: str) -> bool:
    """Return True when a unit, under its alias in the secret's model, may read the secret now."""
    return secrets.may_read(tx, alias, secrets.get(tx.beside(alias.model), secret))


def forget_unit(tx: ModelTx, unit: Unit) -> None:
    """Delete the records of a removed unit as a reader in other models."""
    for alias in aliases(tx, unit):
        secrets.forget_reader(tx, alias)
