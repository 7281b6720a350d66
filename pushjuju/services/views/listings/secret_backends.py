"""The document of `secret-backends`. Mirrors: juju cmd/juju/secretbackends/list.go (3.6)"""

from __future__ import annotations

from pushjuju.core.errors import BackendError, NotFound
from pushjuju.core.model.secrets import MASK
from pushjuju.plugins.manager import PluginHost
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import secret_backends
from pushjuju.services.entities.secret.secret_backends import CONTROLLER
from pushjuju.services.entities.secret.secrets import INTERNAL
from pushjuju.store.rows.secret_records import BackendRow


def documents(ctx: Context, host: PluginHost, name: str = "", *, reveal: bool = False) -> dict[str, object]:
    """Return name -> backend, as `secret-backends` shows them; calls each backend to learn its status.

    Args:
        name: The only backend to return; empty for all backends.
        reveal: True to include the secret values of their configuration.
    """
    with ctx.store.read() as tx:
        rows = tx.list(BackendRow, "secret_backend_list")
        counts = {row.id: int(tx.scalar("secret_uses_of_backend", backend=row.id)) for row in rows}
        own = int(tx.scalar("secret_count_internal"))
    if name and name not in (INTERNAL, *(row.name for row in rows)):
        raise NotFound(f"secret backend {quote(name)} not found")
    found: dict[str, object] = {}
    if name in ("", INTERNAL):
        found[INTERNAL] = {"backend": CONTROLLER, "secrets": own, "status": "active"}
    for row in rows:
        if name in ("", row.name):
            found[row.name] = _document(ctx, host, row, counts[row.id], reveal=reveal)
    return found


def _document(
    ctx: Context, host: PluginHost, row: BackendRow, count: int, *, reveal: bool
) -> dict[str, object]:
    status, message = "active", ""
    try:
        config = secret_backends.configuration(ctx, row)
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
