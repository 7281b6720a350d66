"""Secrets of a model: their owners, readers, revisions, rotation and expiry.

Content is sealed before it is stored (`store.keys`). A change of a secret wakes the units concerned:
consumers run secret-changed, and owners run secret-remove for revisions that no unit reads any more.

Mirrors: juju state/secrets.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from pushjuju.charms.values.model import Role
from pushjuju.core import limits
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import AlreadyExists, NotValid, StoreError
from pushjuju.core.model.secrets import RETRY, Content, OwnerKind, Rotation
from pushjuju.core.problems import Subject
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import notices, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.relation import relations
from pushjuju.store.keys import Sealed
from pushjuju.store.queue import model_key
from pushjuju.store.queue import touch as touch_key
from pushjuju.store.rows.records import Unit
from pushjuju.store.rows.secret_records import BackendRow, ConsumerRow, GrantRow, RevisionRow, SecretRow
from pushjuju.store.tx import ModelTx, Tx

LOOP = "secrets"
INTERNAL = "internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The owner of a secret."""

    kind: OwnerKind
    name: str = ""  # name of the application or unit; empty for the model

    @property
    def application(self) -> str:
        """The application that owns the secret, itself or through its unit; empty for the model."""
        return self.name.partition("/")[0]


MODEL = Owner(kind=OwnerKind.MODEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Changes of a secret; None leaves an attribute unchanged."""

    # the whole content of a new revision; no revision is added when the content is the same
    content: Content | None = None
    label: str | None = None
    description: str | None = None
    rotation: Rotation | None = None
    expires: datetime | None = None  # the time when the latest revision, or the new revision, expires
    auto_prune: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The content of a revision, with its checksum; the content is None when a backend keeps it."""

    revision: RevisionRow
    checksum: str
    content: Content | None


# --- reading ----------------------------------------------------------------------------------------------


def find(tx: ModelTx, secret: str) -> SecretRow | None:
    """Return a secret, or None when the model does not have it."""
    return tx.find(SecretRow, "secret_get", id=secret)


def get(tx: ModelTx, secret: str) -> SecretRow:
    """Return a secret, or raise NotFound."""
    return tx.get(SecretRow, "secret_get", f"secret {quote(secret)} not found", id=secret)


def owner_of(row: SecretRow) -> Owner:
    return Owner(kind=OwnerKind(row.owner_kind), name=row.owner)


def by_label(tx: ModelTx, owner: Owner, label: str) -> SecretRow | None:
    """Return the secret to which its owner gave a label, or None."""
    return tx.find(SecretRow, "secret_by_label", owner_kind=owner.kind, owner=owner.name, label=label)


def managed(tx: Tx, unit: Unit) -> list[SecretRow]:
    """Return the secrets that a unit or its application owns."""
    return tx.list(
        SecretRow, "secret_managed", model=unit.model, application=unit.application, unit=unit.name
    )


def count(tx: ModelTx, owner: Owner) -> int:
    """Return the number of secrets of an owner."""
    rows = tx.rows("secret_of_owner", application=owner.application, owner_kind=owner.kind, owner=owner.name)
    return len(rows)


def revisions(tx: Tx, row: SecretRow) -> list[RevisionRow]:
    """Return the revisions of a secret, oldest first."""
    return tx.list(RevisionRow, "secret_revision_list", model=row.model, secret=row.id)


def revision(tx: Tx, row: SecretRow, number: int) -> RevisionRow:
    """Return a revision of a secret."""
    missing = f"secret revision {quote(f'{row.id}/{number}')} not found"
    return tx.get(
        RevisionRow, "secret_revision_get", missing, model=row.model, secret=row.id, revision=number
    )


def grants(tx: Tx, row: SecretRow) -> list[GrantRow]:
    """Return the grants of a secret: who may read it in addition to its owner."""
    return tx.list(GrantRow, "secret_grant_list", model=row.model, secret=row.id)


def access(tx: ModelTx, row: SecretRow) -> list[dict[str, str]]:
    """Return the grants of a secret, as Juju shows them: tags of target and scope, and the role."""
    return [grant_document(item, scope(tx, item)) for item in grants(tx, row)]


def grant_document(item: GrantRow, within: str) -> dict[str, str]:
    """Return a grant as Juju shows it, with the tag of its scope."""
    return {"target": f"{item.kind}-{item.target.replace('/', '-')}", "scope": within, "role": "view"}


def scope(tx: ModelTx, item: GrantRow) -> str:
    """Return the tag of the scope of a grant: of the relation it ends with, or of the model."""
    if item.relation is None:
        return f"model-{item.model}"
    sides = relations.endpoints(tx.beside(item.model), item.relation)
    requirer_first = sorted(sides, key=lambda side: (side.role != Role.REQUIRER, side.application))
    return "relation-" + "#".join(f"{side.application}.{side.endpoint}" for side in requirer_first)


def place(row: RevisionRow | SecretRow, number: int) -> str:
    """Return the text that binds a sealed revision to its secret, so that rows cannot be exchanged."""
    secret = row.secret if isinstance(row, RevisionRow) else row.id
    return f"secret {row.model}/{secret}/{number}"


def stored(ctx: Context, row: RevisionRow) -> Stored:
    """Open a sealed revision.

    Raises:
        WrongKey: The key file does not have the key of the revision.
        StoreError: The sealed record was changed.
    """
    sealed = Sealed(key=row.key, data=row.data)
    found = ctx.controller.keyring.open(sealed, place(row, row.revision))
    content = Content(found["content"]) if "content" in found else None
    return Stored(revision=row, checksum=str(found["checksum"]), content=content)


# --- making and changing ----------------------------------------------------------------------------------


def create(ctx: Context, tx: ModelTx, secret: str, owner: Owner, change: Change) -> SecretRow:
    """Add a secret with its first revision; return its row."""
    if not change.content:
        raise NotValid("empty secret value not valid")
    if find(tx, secret) is not None:
        raise AlreadyExists(f"secret {quote(secret)} already exists")
    now = ctx.clock.now()
    rotation = change.rotation or Rotation.NEVER
    row = SecretRow(
        model=tx.model,
        id=secret,
        owner_kind=owner.kind,
        owner=owner.name,
        application=owner.application,
        label=change.label or "",
        description=change.description or "",
        rotation=rotation,
        next_rotation=rotation.next(now),
        auto_prune=bool(change.auto_prune),
        latest=1,
        created=now,
        updated=now,
    )
    _check_room(tx, row)
    check_label(tx, row, row.label)
    tx.insert("secret", row)
    _add_revision(ctx, tx, row, 1, change.content, change.expires)
    mark(tx, owner.application)
    _schedule(tx, row, row.next_rotation)
    return row


def _check_room(tx: ModelTx, row: SecretRow) -> None:
    if count(tx.beside(row.model), owner_of(row)) >= limits.SECRETS:
        raise NotValid(f"{row.owner or 'the model'} has {limits.SECRETS} secrets already")


def check_label(tx: Tx, row: SecretRow, label: str) -> None:
    """Raise AlreadyExists when the owner uses a label already, or NotValid for an unprintable name."""
    if not label:
        return
    word = "name" if row.owner_kind == OwnerKind.MODEL else "label"
    if row.owner_kind == OwnerKind.MODEL and not label.isprintable():
        raise NotValid(f"secret {word} {quote(label)} not valid")
    taken = tx.scalar(
        "secret_label_clash", model=row.model, application=row.application, label=label, id=row.id,
        owner=row.owner, owner_kind=row.owner_kind,
    )  # fmt: skip
    if taken is not None:
        raise AlreadyExists(f"secret with {word} {quote(label)} already exists")


def update(ctx: Context, tx: ModelTx, row: SecretRow, change: Change) -> SecretRow:
    """Change a secret, and wake the units that the change concerns; return its new row."""
    now = ctx.clock.now()
    if change.label is not None and change.label != row.label:
        check_label(tx, row, change.label)
    new = change.content if change.content and _is_new(ctx, tx, row, change.content) else None
    rotation = Rotation(row.rotation) if change.rotation is None else change.rotation
    rescheduled = rotation != row.rotation
    changed = replace(
        row,
        label=row.label if change.label is None else change.label,
        description=row.description if change.description is None else change.description,
        rotation=rotation,
        next_rotation=rotation.next(now) if rescheduled else row.next_rotation,
        rotation_due=not rescheduled and row.rotation_due,
        auto_prune=row.auto_prune if change.auto_prune is None else change.auto_prune,
        latest=row.latest + (new is not None),
        updated=now,
    )
    _write(tx, changed)
    if new is not None:
        _add_revision(ctx, tx, changed, changed.latest, new, change.expires)
        wake_consumers(tx, changed, f"secret {row.id} has revision {changed.latest}")
    elif change.expires is not None:
        _set_expires(ctx, tx, changed, change.expires)
    if rescheduled:
        if row.next_rotation:  # the loop still waits for the time of the old policy
            wake_loop(tx.beside(row.model), now, f"secret {row.id} has another rotation policy")
        _schedule(tx, changed, changed.next_rotation)
    wake_for_obsolete(tx, changed)
    return changed


def _write(tx: Tx, row: SecretRow) -> None:
    tx.run(
        "secret_update", model=row.model, id=row.id, label=row.label, description=row.description,
        rotation=row.rotation, next_rotation=row.next_rotation, rotation_due=row.rotation_due,
        auto_prune=row.auto_prune, latest=row.latest, updated=row.updated,
    )  # fmt: skip


def _is_new(ctx: Context, tx: Tx, row: SecretRow, content: Content) -> bool:
    """Return True when content differs from that of the latest revision."""
    found = tx.find(RevisionRow, "secret_revision_get", model=row.model, secret=row.id, revision=row.latest)
    return found is None or stored(ctx, found).checksum != content.checksum()


def _add_revision(
    ctx: Context, tx: ModelTx, row: SecretRow, number: int, content: Content, expires: datetime | None
) -> None:
    now = ctx.clock.now()
    value = {"checksum": content.checksum(), "content": dict(content)}
    sealed = ctx.controller.keyring.seal(tx, value, place(row, number), now)
    target = active_backend(tx.beside(row.model))
    record = RevisionRow(
        model=row.model, secret=row.id, revision=number, key=sealed.key, data=sealed.data, target=target,
        expires=expires, next_expiry=expires, created=now, updated=now,
    )  # fmt: skip
    tx.insert("secret_revision", record)
    _schedule(tx, row, expires)
    if target:
        wake_loop(tx.beside(row.model), now, f"secret {row.id} moves to its backend")


def _set_expires(ctx: Context, tx: ModelTx, row: SecretRow, expires: datetime) -> None:
    tx.run(
        "secret_revision_set_expires", model=row.model, secret=row.id, revision=row.latest,
        expires=expires, updated=ctx.clock.now(),
    )  # fmt: skip
    _schedule(tx, row, expires)


def remove(tx: ModelTx, row: SecretRow, numbers: Iterable[int] | None) -> None:
    """Remove revisions of a secret; the secret is removed with its last revision.

    Args:
        numbers: The revisions to remove, or None for all; unknown revisions are ignored.
    """
    present = revisions(tx, row)
    going = [item for item in present if numbers is None or item.revision in set(numbers)]
    for item in going:
        _discard(tx, item)
        if item.next_expiry:
            notices.forget(tx.beside(row.model), subject(item))
        tx.run("secret_revision_delete", model=row.model, secret=row.id, revision=item.revision)
    is_gone = len(going) == len(present)
    if any(item.next_expiry for item in going) or (is_gone and row.next_rotation):
        wake_loop(tx.beside(row.model), tx.now, f"secret {row.id} is gone, or a revision of it")
    if is_gone:
        wake_consumers(tx, row, f"secret {row.id} is gone")
        wake_owner(tx, row, f"secret {row.id} is gone")
        tx.run("secret_delete", model=row.model, id=row.id)


def subject(item: RevisionRow) -> Subject:
    """Return a revision as the subject of events."""
    return Subject("secret", f"{item.secret}/{item.revision}")


def _discard(tx: ModelTx, item: RevisionRow) -> None:
    """Record that the content of a revision must be deleted in the backends that may have it."""
    for backend in sorted({item.backend, item.target} - {""}):
        tx.run("secret_trash_add", model=item.model, backend=backend, path=backend_path(item))
        wake_loop(tx.beside(item.model), tx.now, f"secret {item.secret} is deleted in its backend")


def backend_path(item: RevisionRow) -> str:
    """Return the path under which a backend keeps the content of a revision."""
    return f"{item.model}/{item.secret}-{item.revision}"


def active_backend(tx: ModelTx) -> str:
    """Return the id of the backend for new content of a model; empty for the store."""
    name = str(model_config.get(tx, "secret-backend"))
    if name in ("auto", INTERNAL):
        return ""
    found = tx.find(BackendRow, "secret_backend_get", name=name)
    if found is None:
        raise StoreError(f'the secret backend "{name}" of the model does not exist any more')
    return found.id


# --- grants -----------------------------------------------------------------------------------------------


def grant(tx: Tx, row: SecretRow, kind: OwnerKind, target: str, relation: int | None = None) -> None:
    """Allow a unit or a whole application to read a secret; the grant ends with the relation, when given."""
    if kind is OwnerKind.APPLICATION and any(
        item.kind == OwnerKind.UNIT and item.target.partition("/")[0] == target for item in grants(tx, row)
    ):
        what = "any unit level grants need to be revoked before granting access"
        raise NotValid(f"{what} to the corresponding application")
    tx.run("secret_grant_put", model=row.model, secret=row.id, kind=kind, target=target, relation=relation)


def revoke(tx: Tx, row: SecretRow, target: str) -> None:
    """Revoke a grant; revoking an application's grant also revokes those of its units."""
    tx.run("secret_grant_delete", model=row.model, secret=row.id, target=target)
    if "/" not in target:
        tx.run("secret_grant_delete_units", model=row.model, secret=row.id, application=target)


def may_read(tx: Tx, unit: Unit, row: SecretRow) -> bool:
    """Return True when a unit may read a secret: the unit or its application owns it, or has a grant."""
    if row.owner in (unit.name, unit.application) and row.owner_kind != OwnerKind.MODEL:
        return True
    return any(
        tx.row("secret_grant_get", model=row.model, secret=row.id, target=target) is not None
        for target in (unit.name, unit.application)
    )


# --- consumers --------------------------------------------------------------------------------------------


def consumer(tx: Tx, row: SecretRow, unit: str) -> ConsumerRow | None:
    """Return the record of a unit as a reader of a secret, or None before its first read."""
    return tx.find(ConsumerRow, "secret_consumer_get", model=row.model, secret=row.id, unit=unit)


def track(tx: ModelTx, row: SecretRow, unit: Unit, number: int, label: str | None = None) -> None:
    """Record the revision that a unit reads from now on; `label` None keeps its label for the secret."""
    before = consumer(tx, row, unit.name)
    name = (before.label if before else "") if label is None else label
    if label:
        _check_consumer_label(tx, row, unit, label)
    if before is not None and (before.revision, before.label) == (number, name):
        return
    tx.run(
        "secret_consumer_put", model=row.model, secret=row.id, unit=unit.name, label=name, revision=number,
        noted=row.latest,
    )  # fmt: skip
    mark(tx.beside(unit.model), unit.application)
    if before is not None and before.revision != number:
        wake_for_obsolete(tx, row)


def _check_consumer_label(tx: Tx, row: SecretRow, unit: Unit, label: str) -> None:
    taken = tx.find(ConsumerRow, "secret_consumer_by_label", model=row.model, unit=unit.name, label=label)
    if taken is not None and taken.secret != row.id:
        raise AlreadyExists(f"secret with label {quote(label)} already exists")


def forget_unit(tx: ModelTx, unit: Unit) -> None:
    """Delete the secrets of a removed unit, and its records as a reader and a target of grants."""
    for row in managed(tx, unit):
        if row.owner == unit.name:
            remove(tx, row, None)
    forget_reader(tx, unit)


def forget_reader(tx: ModelTx, unit: Unit) -> None:
    """Delete the records of a removed unit as a reader and a target of grants, in the unit's model."""
    read = [row["secret"] for row in tx.rows("secret_consumed", model=unit.model, unit=unit.name)]
    tx.run("secret_consumer_forget", model=unit.model, unit=unit.name)
    tx.run("secret_grant_forget", model=unit.model, target=unit.name)
    for secret in read:
        if (found := find(tx.beside(unit.model), secret)) is not None:
            wake_for_obsolete(tx, found)


def forget_application(tx: ModelTx, application: str) -> None:
    """Delete the secrets of a removed application, and the grants to it."""
    owned = tx.list(
        SecretRow, "secret_of_owner", application=application,
        owner_kind=OwnerKind.APPLICATION, owner=application
    )  # fmt: skip
    for row in owned:
        remove(tx, row, None)
    tx.run("secret_grant_forget", target=application)


# --- wakes ------------------------------------------------------------------------------------------------


def mark(tx: ModelTx, application: str) -> None:
    """Record that an application uses secrets; for other applications no query about secrets is made."""
    if application:
        tx.run("secret_mark_application", name=application)


def wake_consumers(tx: ModelTx, row: SecretRow, reason: str) -> None:
    """Wake the machines of all units that read a secret, in this model and in others."""
    for found in tx.rows("secret_consumer_machines", model=row.model, secret=row.id):
        wake.machine(tx.beside(row.model), found["machine"], reason)
    for found in tx.rows("secret_far_consumer_machines", model=row.model, secret=row.id):
        wake.machine(tx.beside(found["source"]), found["machine"], reason)


def wake_owner(tx: ModelTx, row: SecretRow, reason: str) -> None:
    """Wake the machine of the owner unit of a secret, or all machines of the owner application."""
    if row.owner_kind == OwnerKind.UNIT:
        found = tx.find(Unit, "unit_get", model=row.model, name=row.owner)
        if found is not None:
            wake.unit(tx, found, reason)
    elif row.owner_kind == OwnerKind.APPLICATION:
        wake.application(tx.beside(row.model), row.owner, reason)


def wake_for_obsolete(tx: ModelTx, row: SecretRow) -> None:
    """Wake the owner of a secret, or the worker that prunes it, when some revisions have no reader."""
    if tx.row("secret_obsolete", model=row.model, secret=row.id) is None:
        return
    reason = f"nobody reads an old revision of secret {row.id}"
    if row.owner_kind != OwnerKind.MODEL:
        wake_owner(tx, row, reason)
    elif row.auto_prune:
        wake_loop(tx.beside(row.model), tx.now, reason)


def wake_loop(tx: ModelTx, when: datetime, reason: str) -> None:
    """Make the loop for a model's secrets due at a time."""
    touch_key(tx, model_key(tx.model, LOOP), when, reason)


def _schedule(tx: ModelTx, row: SecretRow, when: datetime | None) -> None:
    if when is not None:
        home = tx.beside(row.model)
        wake_loop(home, notices.before_expiry(home, when), f"secret {row.id} is due")


# --- rotation and expiry ----------------------------------------------------------------------------------


def rotated(tx: ModelTx, row: SecretRow, before: int) -> None:
    """Record that secret-rotate ran; the hook runs again soon when `before` is still the latest revision."""
    wanted = Rotation(row.rotation)
    again = wanted.next(tx.now) if row.latest > before else (tx.now + RETRY if wanted.next(tx.now) else None)
    tx.run("secret_set_rotation", model=row.model, id=row.id, next_rotation=again, due=0)
    _schedule(tx, row, again)


def expiry_seen(tx: ModelTx, row: SecretRow, number: int) -> None:
    """Record that secret-expired ran; the hook runs again until the revision is removed."""
    again = tx.now + RETRY
    tx.run("secret_set_expiry", model=row.model, secret=row.id, revision=number, next_expiry=again, due=0)
    _schedule(tx, row, again)


def make_due(tx: ModelTx) -> datetime | None:
    """Mark due rotations and expiries, and wake their owners; return the time of the next, or None."""
    for row in tx.list(SecretRow, "secret_rotations_due", now=tx.now):
        tx.run("secret_set_rotation", id=row.id, next_rotation=row.next_rotation, due=1)
        wake_owner(tx, row, f"the rotation of secret {row.id} is due")
    for item in tx.list(RevisionRow, "secret_expiries_due", now=tx.now):
        tx.run(
            "secret_set_expiry", secret=item.secret, revision=item.revision,
            next_expiry=item.next_expiry, due=1
        )  # fmt: skip
        wake_owner(tx, get(tx, item.secret), f"secret {item.secret} expired")
    dues = [tx.scalar(query) for query in ("secret_rotation_next", "secret_expiry_next")]
    known = [from_iso(due) for due in dues if due]
    return min(known) if known else None


def prune(tx: ModelTx) -> None:
    """Delete revisions of user secrets that nobody reads, where the user enabled `auto-prune`."""
    rows = tx.list(SecretRow, "secret_of_owner", application="", owner_kind=OwnerKind.MODEL, owner="")
    for row in rows:
        if row.auto_prune:
            numbers = [found["revision"] for found in tx.rows("secret_obsolete", secret=row.id)]
            if numbers:
                remove(tx, row, numbers)
