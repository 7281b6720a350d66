"""Secrets of a unit: what its decision sees, what its hooks see, what its hooks write.

Applications that have never used a secret skip this module.

Mirrors: juju worker/uniter/remotestate, worker/uniter/runner/context/secrets.go,
apiserver/facades/agent/secretsmanager (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pushjuju.core import limits
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import AlreadyExists, NotFound, NotPermitted, NotValid, PushjujuError
from pushjuju.core.model.secrets import OwnerKind, parse_uri, uri
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import remote_secrets, secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.store.rows.records import Unit
from pushjuju.store.rows.secret_records import GrantRow, SecretRow
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.decide.decision import Effect
from pushjuju.uniter.decide.remote import ConsumedSecret, OwnedSecret, RemoteState, SecretRevision
from pushjuju.uniter.decide.state import LocalState

Writes = Mapping[str, Any]
_TIME = "%Y-%m-%dT%H:%M:%SZ"


# --- what a decision sees ---------------------------------------------------------------------------------


def with_secrets(
    tx: ModelTx, unit: Unit, local: LocalState, remote: RemoteState, *, far: bool
) -> RemoteState:
    """Return a remote state with the secrets that a unit reads or manages.

    Args:
        far: True when its application has ever read a secret of another model.
    """
    found = _with_own(tx, unit, local, remote)
    return _with_far(tx, unit, local, found) if far else found


def _with_far(tx: ModelTx, unit: Unit, local: LocalState, remote: RemoteState) -> RemoteState:
    """Add the secrets of other models that a unit reads, when they have revisions that it has not seen."""
    read: set[str] = set()
    news: dict[str, ConsumedSecret] = {}
    for alias, row in remote_secrets.consumed(tx, unit):
        name = remote_secrets.uri(alias.model, row["secret"])
        read.add(name)
        # Changes of a suspended relation are reported when the relation is resumed.
        if row["latest"] > row["noted"] and remote_secrets.may_read(tx, alias, row["secret"]):
            news[name] = ConsumedSecret(revision=row["latest"], label=row["label"])
    noted = {name for name in local.secret_revisions if remote_secrets.is_of_other_model(name)}
    return replace(
        remote,
        secrets_consumed={**remote.secrets_consumed, **news},
        secrets_deleted=(*remote.secrets_deleted, *sorted(noted - read)),
    )


def _with_own(tx: ModelTx, unit: Unit, local: LocalState, remote: RemoteState) -> RemoteState:
    here = {"model": unit.model, "application": unit.application, "unit": unit.name}
    consumed = tx.rows("secret_consumed", unit=unit.name)
    owned = secrets.managed(tx, unit)
    known = {uri(row["secret"]) for row in consumed} | {uri(row.id) for row in owned}
    every = local.secret_revisions.keys() | local.secret_obsolete_revisions.keys()
    noted = {name for name in every if not remote_secrets.is_of_other_model(name)}
    obsolete: dict[str, tuple[int, ...]] = {}
    for row in tx.rows("secret_obsolete_managed", **here):
        obsolete[uri(row["secret"])] = (*obsolete.get(uri(row["secret"]), ()), row["revision"])
    due = sorted((row for row in owned if row.rotation_due), key=lambda row: (row.next_rotation, row.id))
    return replace(
        remote,
        secrets_expired=tuple(
            SecretRevision(uri=uri(row["secret"]), revision=row["revision"])
            for row in tx.rows("secret_expired_managed", **here)
        ),
        secrets_rotate=tuple(uri(row.id) for row in due),
        secrets_consumed={
            uri(row["secret"]): ConsumedSecret(revision=row["latest"], label=row["label"])
            for row in consumed
            if row["latest"] > row["noted"]
        },
        secrets_owned={
            uri(row.id): OwnedSecret(
                revision=row.latest, label=row.label, application=row.owner_kind == OwnerKind.APPLICATION
            )
            for row in owned
        },
        secrets_obsolete=obsolete,
        secrets_deleted=tuple(sorted(noted - known)),
    )


def note(tx: ModelTx, effect: Effect, *, rotated: bool) -> None:
    """Record that secret-rotate or secret-expired ran for a secret, unless the secret was deleted."""
    row = secrets.find(tx, parse_uri(effect.secret_uri)[1])
    if row is None:
        return
    if rotated:
        secrets.rotated(tx, row, effect.revision)
    else:
        secrets.expiry_seen(tx, row, effect.revision)


# --- what a hook sees -------------------------------------------------------------------------------------


def context_secrets(tx: ModelTx, unit: Unit, *, leader: bool) -> dict[str, object]:
    """Return the secrets that a unit and its application own: id -> metadata, without content.

    Units that are not the leader see only the owner of a secret of the application.
    """
    here = {"model": unit.model, "application": unit.application, "unit": unit.name}
    expiries = {row["secret"]: row["expires"] for row in tx.rows("secret_latest_managed", **here)}
    access = _access(tx, tx.list(GrantRow, "secret_grants_managed", **here))
    found: dict[str, object] = {}
    for row in secrets.managed(tx, unit):
        kind = "unit" if row.owner_kind == OwnerKind.UNIT else "application"
        visible = leader or kind == "unit"
        told = _metadata(row, expiries.get(row.id), access.get(row.id, [])) if visible else {}
        found[row.id] = {"owner": kind, **told}
    return found


def _access(tx: ModelTx, grants: Iterable[GrantRow]) -> dict[str, list[dict[str, str]]]:
    """Return the grants of secrets as tools show them; read each relation once."""
    scopes: dict[int | None, str] = {}
    found: dict[str, list[dict[str, str]]] = {}
    for item in grants:
        if item.relation not in scopes:
            scopes[item.relation] = secrets.scope(tx, item)
        found.setdefault(item.secret, []).append(secrets.grant_document(item, scopes[item.relation]))
    return found


def _metadata(row: SecretRow, expires: str | None, access: list[dict[str, str]]) -> dict[str, object]:
    fields = {
        "label": row.label,
        "description": row.description,
        "rotation": row.rotation,
        "expiry": from_iso(expires).strftime(_TIME) if expires else "",
        "rotates": row.next_rotation.strftime(_TIME) if row.next_rotation else "",
        "access": access,
    }
    return {"revision": row.latest, **{key: value for key, value in fields.items() if value}}


# --- what a hook wrote ------------------------------------------------------------------------------------


def secrets_refused(tx: ModelTx, unit: Unit, writes: Writes, *, leader: bool) -> str:
    """Return why a hook's changes to secrets are refused, or ""; change nothing."""
    asked = writes.get("secrets")
    if not asked:
        return ""
    try:
        _check(tx, unit, asked, leader=leader)
    except PushjujuError as error:
        return error.message
    return ""


@contextmanager
def _doing(what: str) -> Iterator[None]:
    """Prefix the message of an error with what the hook was doing, as Juju does."""
    try:
        yield
    except (AlreadyExists, NotFound, NotPermitted, NotValid) as error:
        raise NotValid(f"{what}: {error.message}") from error


def _check(tx: ModelTx, unit: Unit, asked: Writes, *, leader: bool) -> None:
    """Check every change against the store and against the changes before it."""
    made = {secret: _owner(unit, item["owner"], leader=leader) for secret, item in asked["create"].items()}
    with _doing("creating secrets"):
        _check_new(tx, unit, asked["create"], made)
    for what, listed in (
        ("updating secrets", asked["update"]),
        ("granting secrets access", [item["id"] for item in asked["grant"]]),
        ("revoking secrets access", [item["id"] for item in asked["revoke"]]),
        ("removing secrets", asked["remove"]),
    ):
        with _doing(what):
            for secret in listed:
                if secret not in made:
                    _managed(tx, unit, secret, leader=leader)
    with _doing("updating secrets"):
        for secret, item in asked["update"].items():
            if item.get("label") and secret not in made:
                secrets.check_label(tx, secrets.get(tx, secret), item["label"])
    with _doing("granting secrets access"):
        for item in asked["grant"]:
            _check_grant(tx, unit, item)


def _check_new(tx: ModelTx, unit: Unit, create: Writes, made: Mapping[str, Owner]) -> None:
    """Check that ids and labels of new secrets are not used yet, and that limits are kept."""
    labels: set[tuple[str, str]] = set()
    for secret, item in create.items():
        if secrets.find(tx, secret) is not None:
            raise AlreadyExists(f"secret {quote(secret)} already exists")
        owner, label = made[secret], item.get("label", "")
        if label and ((owner.name, label) in labels or _label_taken(tx, unit, owner, label)):
            raise AlreadyExists(f"secret with label {quote(label)} already exists")
        labels.add((owner.name, label))
    if create and len(secrets.managed(tx, unit)) + len(create) > 2 * limits.SECRETS:
        raise NotValid(f"{unit.application} has too many secrets")
    for owner in set(made.values()):
        present = secrets.count(tx, owner)
        if present + sum(1 for other in made.values() if other == owner) > limits.SECRETS:
            raise NotValid(f"{owner.name} has {present} secrets already")


def _label_taken(tx: ModelTx, unit: Unit, owner: Owner, label: str) -> bool:
    return (
        tx.scalar(
            "secret_label_clash", application=unit.application, label=label, id="",
            owner=owner.name, owner_kind=owner.kind
        )
        is not None
    )  # fmt: skip


def _owner(unit: Unit, word: str, *, leader: bool) -> Owner:
    """Return the owner of a new secret."""
    if word == "unit":
        return Owner(kind=OwnerKind.UNIT, name=unit.name)
    if not leader:
        raise NotValid("creating secrets: this unit is not the leader")
    return Owner(kind=OwnerKind.APPLICATION, name=unit.application)


def _managed(tx: ModelTx, unit: Unit, secret: str, *, leader: bool) -> SecretRow:
    """Return the row of a secret; raise an error when the unit may not change it."""
    row = secrets.get(tx, secret)
    if row.owner == unit.name and row.owner_kind == OwnerKind.UNIT:
        return row
    if row.owner != unit.application or row.owner_kind != OwnerKind.APPLICATION:
        raise NotFound(f"secret {quote(secret)} not found")
    if not leader:
        raise NotPermitted("this unit is not the leader")
    return row


def _check_grant(tx: ModelTx, unit: Unit, item: Mapping[str, Any]) -> None:
    """Check that a grant goes to the other side of one of the unit's relations."""
    sides = {side["application"] for side in tx.rows("relation_endpoints", relation=item["relation"])}
    if unit.application not in sides:
        raise NotFound(f"relation {item['relation']} not found")
    remote = next((name for name in sorted(sides) if name != unit.application), unit.application)
    if item["target"].partition("/")[0] != remote:
        raise NotValid(f"{quote(item['target'])} is not in relation {item['relation']}")


def flush_secrets(ctx: Context, tx: ModelTx, unit: Unit, writes: Writes, *, leader: bool) -> None:
    """Write a hook's changes to secrets in Juju's order, after `secrets_refused` has accepted them."""
    asked = writes.get("secrets")
    if not asked:
        return
    now = ctx.clock.now()
    for secret, item in asked["create"].items():
        owner = _owner(unit, item["owner"], leader=leader)
        secrets.create(ctx, tx, secret, owner, _change(item, now))
    for secret, item in asked["update"].items():
        secrets.update(ctx, tx, secrets.get(tx, secret), _change(item, now))
    # While the hook ran, the secret may have been deleted or its grant revoked: then nothing is tracked.
    for secret in asked["track"]:
        row = secrets.find(tx, secret)
        if row is not None and secrets.may_read(tx, unit, row):
            secrets.track(tx, row, unit, row.latest)
    for item in asked["grant"]:
        _grant(tx, item)
    for item in asked["revoke"]:
        secrets.revoke(tx, secrets.get(tx, item["id"]), item["target"])
    for secret, numbers in asked["remove"].items():
        secrets.remove(tx, secrets.get(tx, secret), numbers or None)


def _grant(tx: ModelTx, item: Mapping[str, Any]) -> None:
    target = item["target"]
    kind = OwnerKind.UNIT if "/" in target else OwnerKind.APPLICATION
    row = secrets.get(tx, item["id"])
    if kind is OwnerKind.APPLICATION:
        secrets.revoke(tx, row, target)  # replaces the grants of its units
    secrets.grant(tx, row, kind, target, item["relation"])


def _change(item: Mapping[str, Any], now: datetime) -> Change:
    expire = item.get("expire")
    return Change(
        content=item.get("content"),
        label=item.get("label"),
        description=item.get("description"),
        rotation=item.get("rotate"),
        expires=now + timedelta(seconds=expire) if isinstance(expire, int) else expire,
    )
