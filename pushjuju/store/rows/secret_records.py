"""Rows of secrets as values; see `records`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRow:
    """A secret.

    Attributes:
        owner: Unit or application; empty for the model's own.
        application: The owner's; empty for the model's own.
        rotation_due: secret-rotate is to run.
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
    next_rotation: str | None = None
    rotation_due: bool = False
    auto_prune: bool = False
    latest: int
    created: str
    updated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRow:
    """A revision of a secret; `data` is sealed with `key`.

    Attributes:
        backend: Id of the backend that holds the content; empty when `data` holds it.
        target: Id of the backend that is to hold it.
        next_expiry: When secret-expired is due, again where it led to nothing.
        expiry_due: It is to run.
    """

    model: str
    secret: str
    revision: int
    key: str
    data: bytes
    backend: str = ""
    target: str = ""
    expires: str | None = None
    next_expiry: str | None = None
    expiry_due: bool = False
    created: str
    updated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRow:
    """A unit that reads a secret.

    Attributes:
        label: Its own name for it.
        revision: The revision that it reads.
        noted: The latest one when it read first.
    """

    model: str
    secret: str
    unit: str
    label: str = ""
    revision: int
    noted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRow:
    """A grant to read a secret; `kind` is application or unit; with `relation` the grant ends."""

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
    """A backend for the content of secrets; `config` is sealed with `key`."""

    name: str
    id: str
    type: str
    key: str
    config: bytes
    status: str = "active"
    message: str = ""
    created: str
