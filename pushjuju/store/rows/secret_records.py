"""Rows about secrets; see `records`."""

from __future__ import annotations

from datetime import datetime

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRow:
    """A secret."""

    model: str
    id: str
    owner_kind: str
    owner: str  # unit or application; "" for the model's own secrets
    application: str  # application of the owner; "" for the model's own secrets
    label: str = ""
    description: str = ""
    rotation: str = "never"
    next_rotation: datetime | None = None
    rotation_due: bool = False  # 1 when secret-rotate must run
    auto_prune: bool = False
    latest: int  # number of the latest revision
    created: datetime
    updated: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRow:
    """A revision of a secret; `data` is encrypted with `key`."""

    model: str
    secret: str
    revision: int
    key: str
    data: bytes
    backend: str = ""  # id of the backend that has the content, or "" when `data` has it
    target: str = ""  # id of the backend that the content must be moved to, or "" for the store
    expires: datetime | None = None
    # when secret-expired is due; set again when the hook has not changed the secret
    next_expiry: datetime | None = None
    expiry_due: bool = False  # 1 when secret-expired must run
    created: datetime
    updated: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRow:
    """A unit that reads a secret."""

    model: str
    secret: str
    unit: str
    label: str = ""  # the unit's own label for the secret
    revision: int
    noted: int  # the latest revision when the unit read the secret first


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
