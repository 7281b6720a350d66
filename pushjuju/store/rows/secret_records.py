"""Rows about secrets; see `records`."""

from __future__ import annotations

from datetime import datetime

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRow:
    """A secret.

    Attributes:
        owner: Unit or application; "" for the model's own secrets.
        application: Application of the owner; "" for the model's own secrets.
        rotation_due: 1 when secret-rotate must run.
        latest: Number of the latest revision.
    """

    model: str
    id: str
    owner_kind: str
    owner: str
    application: str
    label: str = ""
    description: str = ""
    rotation: str = "never"
    next_rotation: datetime | None = None
    rotation_due: bool = False
    auto_prune: bool = False
    latest: int
    created: datetime
    updated: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRow:
    """A revision of a secret; `data` is encrypted with `key`.

    Attributes:
        backend: Id of the backend that has the content, or "" when `data` has it.
        target: Id of the backend that the content must be moved to, or "" for the store.
        next_expiry: When secret-expired is due; set again when the hook has not changed the secret.
        expiry_due: 1 when secret-expired must run.
    """

    model: str
    secret: str
    revision: int
    key: str
    data: bytes
    backend: str = ""
    target: str = ""
    expires: datetime | None = None
    next_expiry: datetime | None = None
    expiry_due: bool = False
    created: datetime
    updated: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRow:
    """A unit that reads a secret.

    Attributes:
        label: The unit's own label for the secret.
        noted: The latest revision when the unit read the secret first.
    """

    model: str
    secret: str
    unit: str
    label: str = ""
    revision: int
    noted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRow:
    """A grant to read a secret; `kind` is application or unit; a grant with a `relation` ends with it."""

    model: str
    secret: str
    kind: str
    target: str
    relation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashRow:
    """Content that must be deleted in a backend."""

    id: int
    model: str
    backend: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendRow:
    """A backend for the content of secrets; `config` is encrypted with `key`."""

    name: str
    id: str
    type: str
    key: str
    config: bytes
    status: str = "active"
    message: str = ""
    created: datetime
