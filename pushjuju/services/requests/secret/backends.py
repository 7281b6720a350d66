"""The requests of add-secret-backend, update-secret-backend and remove-secret-backend.

Mirrors: juju apiserver/facades/client/secretbackends (3.6)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from pushjuju.core import ids
from pushjuju.core.errors import AlreadyExists, BackendError, Conflict, NotFound, NotValid
from pushjuju.plugins.api.backends import SecretBackend
from pushjuju.plugins.manager import PluginHost
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import secret_backends
from pushjuju.services.entities.secret.secret_backends import CONTROLLER, KEY
from pushjuju.services.entities.secret.secrets import INTERNAL
from pushjuju.store.rows.records import Model
from pushjuju.store.rows.secret_records import BackendRow
from pushjuju.store.tx import Tx


def add(
    ctx: Context, host: PluginHost, name: str, kind: str, config: Mapping[str, str], *, number: str = ""
) -> None:
    """Add a backend, after a check that the backend answers.

    Args:
        number: The id of a backend that the controller had before; empty for a new id.
    """
    if name in (INTERNAL, "auto", CONTROLLER) or not name.strip():
        raise NotValid(f"backend {quote(name)} not valid")
    backend = host.open_secret_backend(kind, secret_backends.checked(host.secret_backend_type(kind), config))
    backend.ping()
    _refuse_same_place(ctx, host, name, kind, backend)
    with ctx.change_controller() as tx:
        made = number or os.urandom(12).hex()
        if tx.find(BackendRow, "secret_backend_get", name=name) is not None:
            raise AlreadyExists(f"secret backend {quote(name)} already exists")
        if tx.find(BackendRow, "secret_backend_by_id", id=made) is not None:
            raise AlreadyExists(f"secret backend with ID {quote(made)} already exists")
        record = secret_backends.sealed(ctx, tx, made, config)
        row = BackendRow(
            name=name, id=made, type=kind, key=record.key, config=record.data,
            created=ctx.clock.now(),
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
    """Change the configuration of a backend, with `force` even when the backend does not answer."""
    gone = set(reset)
    with ctx.store.read() as tx:
        row = secret_backends.get(tx, name)
        config = {
            key: value for key, value in secret_backends.configuration(ctx, row).items() if key not in gone
        }
    config = secret_backends.checked(host.secret_backend_type(row.type), {**config, **changes})
    if not force:
        backend = host.open_secret_backend(row.type, config)
        backend.ping()
        _refuse_same_place(ctx, host, name, row.type, backend)
    with ctx.change_controller() as tx:
        record = secret_backends.sealed(ctx, tx, secret_backends.get(tx, name).id, config)
        tx.run("secret_backend_set_config", name=name, key=record.key, config=record.data)


def _refuse_same_place(ctx: Context, host: PluginHost, name: str, kind: str, backend: SecretBackend) -> None:
    """Refuse a backend that keeps content in the same place as another backend.

    A move of content between two such backends would lose the content, because a move ends with the deletion
    of the old backend's copy.
    """
    with ctx.store.read() as tx:
        rows = [row for row in tx.list(BackendRow, "secret_backend_list") if row.type == kind]
    others = [row for row in rows if row.name != name]
    if not others:
        return
    mark = f"{ids.new_uuid()}/same-place-0"  # in the form of a secret's path, as a policy may demand
    backend.save(mark, {"mark": "bWFyaw=="})
    try:
        for row in others:
            with suppress(NotFound, BackendError):  # an unreachable backend cannot be compared
                secret_backends.opened(ctx, row, host).fetch(mark)
                raise AlreadyExists(
                    f"secret backend {quote(row.name)} keeps its content at the same place",
                    hint=f"pushjuju update-secret-backend {row.name} KEY=VALUE",
                )
    finally:
        backend.delete(mark)


def remove(ctx: Context, name: str, *, force: bool = False) -> None:
    """Remove a backend.

    Args:
        force: True to remove the backend even when it has content, which pushjuju cannot read afterwards.
    """
    with ctx.change_controller() as tx:
        row = secret_backends.get(tx, name)
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
