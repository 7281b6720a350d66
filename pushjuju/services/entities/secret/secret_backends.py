"""Backends for the content of secrets: adding, changing, asking them.

The store itself is the backend `internal`. Content for another one is sealed in the store first, with the
commit that makes it; a loop of the model moves it (`workers.loops.secret_rotation`), and tries again
as long as the backend is away.

Mirrors: juju apiserver/facades/client/secretbackends (3.6)
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from pushjuju.core import ids
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import AlreadyExists, BackendError, Conflict, NotFound, NotValid
from pushjuju.core.model.secrets import MASK, Content, check_content
from pushjuju.plugins.api.backends import SecretBackend, SecretBackendType
from pushjuju.plugins.api.clouds import Attr
from pushjuju.plugins.manager import PluginHost
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.secret.secrets import INTERNAL, backend_path, touch_loop
from pushjuju.store.keys import Sealed
from pushjuju.store.rows.records import Model
from pushjuju.store.rows.secret_records import BackendRow, RevisionRow
from pushjuju.store.tx import Tx

KEY = "secret-backend"  # of a model's configuration
CONTROLLER = "controller"  # Juju's type of the backend that is the store itself


def name_of(tx: Tx, backend: str) -> str:
    """Return what the backend with an id is called."""
    if not backend:
        return INTERNAL
    found = tx.find(BackendRow, "secret_backend_by_id", id=backend)
    return found.name if found else backend


def used_by(tx: Tx, model: str) -> dict[str, Any]:
    """Return where the secrets of a model are, as `show-model` has it: name -> number and status."""
    counts = {row["backend"]: row["number"] for row in tx.rows("secret_count_in_model", model=model)}
    found = {INTERNAL: {"num-secrets": counts.pop("", 0), "status": "active"}}
    for backend, number in sorted(counts.items()):
        row = tx.find(BackendRow, "secret_backend_by_id", id=backend)
        if row is not None:
            message = {"message": row.message} if row.message else {}
            found[row.name] = {"num-secrets": number, "status": row.status, **message}
    return found


def get(tx: Tx, name: str) -> BackendRow:
    """Return a backend."""
    return tx.get(BackendRow, "secret_backend_get", f"secret backend {quote(name)} not found", name=name)


# --- what admins ask for ----------------------------------------------------------------------------------


def add(
    ctx: Context, host: PluginHost, name: str, kind: str, config: Mapping[str, str], *, number: str = ""
) -> None:
    """Add a backend, which must answer.

    Args:
        number: The id of a backend that was known before; empty for a new backend.
    """
    if name in (INTERNAL, "auto", CONTROLLER) or not name.strip():
        raise NotValid(f"backend {quote(name)} not valid")
    backend = host.open_secret_backend(kind, checked(host.secret_backend_type(kind), config))
    backend.ping()
    _refuse_same_place(ctx, host, name, kind, backend)
    with ctx.store.write() as tx:
        made = number or os.urandom(12).hex()
        if tx.find(BackendRow, "secret_backend_get", name=name) is not None:
            raise AlreadyExists(f"secret backend {quote(name)} already exists")
        if tx.find(BackendRow, "secret_backend_by_id", id=made) is not None:
            raise AlreadyExists(f"secret backend with ID {quote(made)} already exists")
        record = sealed(ctx, tx, made, config)
        row = BackendRow(
            name=name, id=made, type=kind, key=record.key, config=record.data,
            created=to_iso(ctx.clock.now()),
        )  # fmt: skip
        tx.insert("secret_backend", row)


def update(
    ctx: Context,
    host: PluginHost,
    name: str,
    changes: Mapping[str, str],
    reset: Iterable[str] = (),
    *,
    force: bool = False,
) -> None:
    """Change the configuration of a backend.

    Args:
        force: Although it does not answer.
    """
    gone = set(reset)
    with ctx.store.read() as tx:
        row = get(tx, name)
        config = {key: value for key, value in configuration(ctx, row).items() if key not in gone}
    config = checked(host.secret_backend_type(row.type), {**config, **changes})
    if not force:
        backend = host.open_secret_backend(row.type, config)
        backend.ping()
        _refuse_same_place(ctx, host, name, row.type, backend)
    with ctx.store.write() as tx:
        record = sealed(ctx, tx, get(tx, name).id, config)
        tx.run("secret_backend_set_config", name=name, key=record.key, config=record.data)


def _refuse_same_place(ctx: Context, host: PluginHost, name: str, kind: str, backend: SecretBackend) -> None:
    """Refuse a backend that keeps content where another backend keeps content.

    Content that moves from one of the two to the other is deleted where it was, and so would be lost.
    """
    with ctx.store.read() as tx:
        rows = [row for row in tx.list(BackendRow, "secret_backend_list") if row.type == kind]
    others = [row for row in rows if row.name != name]
    if not others:
        return
    mark = f"{ids.new_uuid()}/same-place-0"  # a path like those of secrets, which a policy may demand
    backend.save(mark, {"mark": "bWFyaw=="})
    try:
        for row in others:
            with suppress(NotFound, BackendError):  # a backend that is away cannot be compared
                opened(ctx, row, host).fetch(mark)
                raise AlreadyExists(
                    f"secret backend {quote(row.name)} keeps its content at the same place",
                    hint=f"pushjuju update-secret-backend {row.name} KEY=VALUE",
                )
    finally:
        backend.delete(mark)


def remove(ctx: Context, name: str, *, force: bool = False) -> None:
    """Forget a backend.

    Args:
        force: Although content is in it, which is lost for us then.
    """
    with ctx.store.write() as tx:
        row = get(tx, name)
        if not force and tx.scalar("secret_uses_of_backend", backend=row.id):
            raise Conflict(f"backend {quote(name)} still contains secret content")
        users = [model.name for model in tx.list(Model, "model_list") if _chosen(tx, model) == name]
        if users:
            raise Conflict(
                f"backend {quote(name)} is the secret backend of model {', '.join(users)}",
                hint="pushjuju model-config --reset secret-backend",
            )
        tx.run("secret_trash_delete_backend", backend=row.id)
        tx.run("secret_backend_delete", name=name)


def _chosen(tx: Tx, model: Model) -> str:
    found = tx.scalar("model_config_get", model=model.uuid, key=KEY)
    return str(json.loads(found)) if found is not None else ""


def follow(tx: Tx, model: str, now: datetime) -> None:
    """Let the content of a model's secrets go to the backend that its configuration names."""
    name = str(model_config.get(tx, model, KEY))
    target = "" if name in ("auto", INTERNAL) else get(tx, name).id
    tx.run("secret_retarget", model=model, target=target)
    if tx.row("secret_to_move", model=model) is not None:
        touch_loop(tx, model, now, f"content goes to secret backend {name}")


def checked(kind: SecretBackendType, config: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration that fits a type of backend."""
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


# --- asking one -------------------------------------------------------------------------------------------


def _place(backend: str) -> str:
    return f"secret backend {backend}"


def sealed(ctx: Context, tx: Tx, backend: str, config: Mapping[str, str]) -> Sealed:
    """Return the configuration of a backend as the store keeps it."""
    return ctx.controller.keyring.seal(tx, dict(config), _place(backend), ctx.clock.now())


def configuration(ctx: Context, row: BackendRow) -> dict[str, str]:
    """Return the configuration of a backend in clear."""
    found: dict[str, str] = ctx.controller.keyring.open(Sealed(key=row.key, data=row.config), _place(row.id))
    return found


def opened(ctx: Context, row: BackendRow, host: PluginHost | None = None) -> SecretBackend:
    """Return a backend, ready to be asked; its methods wait for the network."""
    plugins = host or PluginHost(environ=ctx.environ)
    return plugins.open_secret_backend(row.type, configuration(ctx, row))


def reader(ctx: Context, tx: Tx, item: RevisionRow) -> Callable[[], Content]:
    """Return a call that fetches the content of a revision: it waits for the network and needs no store."""
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


# --- showing ----------------------------------------------------------------------------------------------


def documents(ctx: Context, host: PluginHost, name: str = "", *, reveal: bool = False) -> dict[str, Any]:
    """Return the backends as `secret-backends` shows them: name -> backend; asks each whether it is there.

    Args:
        name: The only backend to describe; by default all.
        reveal: With the secret values of their configuration.
    """
    with ctx.store.read() as tx:
        rows = tx.list(BackendRow, "secret_backend_list")
        counts = {row.id: int(tx.scalar("secret_uses_of_backend", backend=row.id)) for row in rows}
        own = int(tx.scalar("secret_count_internal"))
    if name and name not in (INTERNAL, *(row.name for row in rows)):
        raise NotFound(f"secret backend {quote(name)} not found")
    found: dict[str, Any] = {}
    if name in ("", INTERNAL):
        found[INTERNAL] = {"backend": CONTROLLER, "secrets": own, "status": "active"}
    for row in rows:
        if name in ("", row.name):
            found[row.name] = _document(ctx, host, row, counts[row.id], reveal=reveal)
    return found


def _document(ctx: Context, host: PluginHost, row: BackendRow, count: int, *, reveal: bool) -> dict[str, Any]:
    status, message = "active", ""
    try:
        config = configuration(ctx, row)
        host.open_secret_backend(row.type, config).ping()
    except BackendError as error:
        status, message = "error", error.message
    hidden = {item.name for item in host.secret_backend_type(row.type).config_schema if item.secret}
    shown = {key: value if reveal or key not in hidden else MASK for key, value in sorted(config.items())}
    found = {
        "backend": row.type, "config": shown, "secrets": count, "status": status, "message": message,
        "id": row.id,
    }  # fmt: skip
    return {key: value for key, value in found.items() if value != ""}
