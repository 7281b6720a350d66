"""SecretBackends: where the content of secrets is kept.

Mirrors: juju apiserver/facades/client/secretbackends (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.secrets import MASK
from pushjuju.services.entities.basis.plugin_host import PluginHost
from pushjuju.services.requests.secret import backends
from pushjuju.services.views.listings import secret_backends as listing
from pushjuju.web import errors
from pushjuju.web.call import require_superuser
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes.common import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class AddSecretBackend:
    """A backend to add; the interval is in nanoseconds."""

    name: str = ""
    backend_type: str = ""
    config: dict[str, str] = field(default_factory=dict)
    id: str = ""
    token_rotate_interval: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSecretBackend:
    """Changes of a backend; the interval is in nanoseconds."""

    name: str = ""
    name_change: str | None = None
    config: dict[str, str] = field(default_factory=dict)
    reset: list[str] = field(default_factory=list)
    force: bool = False
    token_rotate_interval: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveSecretBackend:
    """A backend to remove; `force` removes a backend that has content, too."""

    name: str = ""
    force: bool = False


@facade("SecretBackends")
class SecretBackends(Facade):
    """The backends of the controller."""

    @method(Needs.LOGIN)
    def list_secret_backends(self, names: list[str], *, reveal: bool) -> Results:
        """Return backends with their status: each backend is contacted."""
        if reveal:
            require_superuser(self.ctx)
        listed = (self._listed(name, reveal=reveal) for name in names or [""])
        return {"results": [entry for found in listed for entry in found]}

    def _listed(self, name: str, *, reveal: bool) -> Sequence[dict[str, object]]:
        try:
            found = listing.documents(self.ctx, self._host(), name, reveal=reveal)
        except PushjujuError as error:
            return [{"error": errors.told(error)}]
        own = self.call.server.controller_uuid
        return [_shown(name, known, own) for name, known in found.items()]

    def _host(self) -> PluginHost:
        return PluginHost(environ=self.ctx.environ)

    @bulk("args", Needs.SUPERUSER, changes=True)
    def add_secret_backends(self, item: AddSecretBackend) -> None:
        """Add backends; a backend that does not answer is refused."""
        _refuse_rotation(item.token_rotate_interval)
        backends.add(self.ctx, self._host(), item.name, item.backend_type, item.config, number=item.id)

    @bulk("args", Needs.SUPERUSER, changes=True)
    def update_secret_backends(self, item: UpdateSecretBackend) -> None:
        """Change the configuration of backends."""
        _refuse_rotation(item.token_rotate_interval)
        if item.name_change not in (None, "", item.name):
            raise errors.not_supported("another name for a secret backend is not supported")
        backends.update(self.ctx, self._host(), item.name, item.config, item.reset, force=item.force)

    @bulk("args", Needs.SUPERUSER, changes=True)
    def remove_secret_backends(self, item: RemoveSecretBackend) -> None:
        backends.remove(self.ctx, item.name, force=item.force)


def _refuse_rotation(interval: int | None) -> None:
    if interval:
        raise errors.not_supported("tokens of secret backends are not rotated")


def _shown(name: str, known: Any, controller: str) -> dict[str, object]:
    config: Mapping[str, str] = known.get("config", {})
    shown = {key: value for key, value in config.items() if value != MASK}
    found = {
        "result": {"name": name, "backend-type": known["backend"], "config": shown},
        "id": known.get("id", controller),
        "num-secrets": known["secrets"],
        "status": known["status"],
    }
    return {**found, "message": known["message"]} if known.get("message") else found
