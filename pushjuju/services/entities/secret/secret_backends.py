"""Backends for the content of secrets: adding, changing, opening and reading them.

The store itself is the backend `internal`. New content for another backend is sealed in the store first, in
the transaction that adds the revision; a loop of the model (`workers.loops.secret_rotation`) then moves it to
the backend, and retries while the backend cannot be reached.

Mirrors: juju apiserver/facades/client/secretbackends (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pushjuju.core.errors import BackendError, NotFound, NotValid
from pushjuju.core.model.secrets import Content, check_content
from pushjuju.plugins.api.backends import SecretBackend, SecretBackendType
from pushjuju.plugins.api.clouds import Attr
from pushjuju.plugins.manager import PluginHost
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.secret.secrets import INTERNAL, backend_path, wake_loop
from pushjuju.store.keys import Sealed
from pushjuju.store.rows.secret_records import BackendRow, RevisionRow
from pushjuju.store.tx import ModelTx, Tx

KEY = "secret-backend"  # key of a model's configuration
CONTROLLER = "controller"  # Juju's type for the store as a backend


def name_of(tx: Tx, backend: str) -> str:
    """Return the name of the backend with an id; an empty id is the store."""
    if not backend:
        return INTERNAL
    found = tx.find(BackendRow, "secret_backend_by_id", id=backend)
    return found.name if found else backend


def used_by(tx: ModelTx) -> dict[str, Any]:
    """Return name -> {num-secrets, status, message?} of a model's backends, as `show-model` has them."""
    counts = {row["backend"]: row["number"] for row in tx.rows("secret_count_in_model")}
    found = {INTERNAL: {"num-secrets": counts.pop("", 0), "status": "active"}}
    for backend, number in sorted(counts.items()):
        row = tx.find(BackendRow, "secret_backend_by_id", id=backend)
        if row is not None:
            message = {"message": row.message} if row.message else {}
            found[row.name] = {"num-secrets": number, "status": row.status, **message}
    return found


def get(tx: Tx, name: str) -> BackendRow:
    """Return a backend, or raise NotFound."""
    return tx.get(BackendRow, "secret_backend_get", f"secret backend {quote(name)} not found", name=name)


# --- changing backends ------------------------------------------------------------------------------------


def follow(tx: ModelTx) -> None:
    """Mark a model's secrets to move to the backend that its configuration names, and wake the loop."""
    name = str(model_config.get(tx, KEY))
    target = "" if name in ("auto", INTERNAL) else get(tx, name).id
    tx.run("secret_retarget", target=target)
    if tx.row("secret_to_move") is not None:
        wake_loop(tx, tx.now, f"content moves to secret backend {name}")


def checked(kind: SecretBackendType, config: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration as texts, or raise NotValid when it does not fit the type of backend."""
    known: dict[str, Attr] = {item.name: item for item in kind.config_schema}
    for key in config:
        if key not in known:
            raise NotValid(f"invalid provider config: unknown key {quote(key)}")
    for item in known.values():
        if item.required and not config.get(item.name):
            raise NotValid(f"invalid provider config: {item.name}: expected string, got nothing")
        value = config.get(item.name)
        if value and item.choices and value not in item.choices:
            raise NotValid(f"invalid provider config: {item.name}: unexpected value {quote(value)}")
    return {key: str(value) for key, value in config.items()}


# --- opening and reading ----------------------------------------------------------------------------------


def _place(backend: str) -> str:
    return f"secret backend {backend}"


def sealed(ctx: Context, tx: Tx, backend: str, config: Mapping[str, str]) -> Sealed:
    """Return the configuration of a backend sealed, as the store keeps it."""
    return ctx.controller.keyring.seal(tx, dict(config), _place(backend), ctx.clock.now())


def configuration(ctx: Context, row: BackendRow) -> dict[str, str]:
    """Return the configuration of a backend, decrypted."""
    found: dict[str, str] = ctx.controller.keyring.open(Sealed(key=row.key, data=row.config), _place(row.id))
    return found


def opened(ctx: Context, row: BackendRow, host: PluginHost | None = None) -> SecretBackend:
    """Return a backend that is ready for use; its methods wait for the network."""
    plugins = host or PluginHost(environ=ctx.environ)
    return plugins.open_secret_backend(row.type, configuration(ctx, row))


def reader(ctx: Context, tx: Tx, item: RevisionRow) -> Callable[[], Content]:
    """Return a function that fetches a revision's content; it waits for the network, outside transactions."""
    row = tx.find(BackendRow, "secret_backend_by_id", id=item.backend)
    if row is None:
        raise BackendError(f"the secret backend of secret {quote(item.secret)} was removed")
    return partial(_fetch, opened(ctx, row), row.name, item)


def _fetch(backend: SecretBackend, name: str, item: RevisionRow) -> Content:
    try:
        return check_content(backend.fetch(backend_path(item)))
    except NotFound as error:
        text = f"secret backend {quote(name)} does not have secret revision"
        raise BackendError(f"{text} {quote(f'{item.secret}/{item.revision}')}") from error
