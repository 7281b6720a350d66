"""KeyManager: the public keys of the model. Mirrors: juju apiserver/facades/client/keymanager (3.6)"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pushjuju.core.errors import NotValid, not_found
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.model import key_import, ssh_keys
from pushjuju.services.views.listings import settings as listing
from pushjuju.web.call import each
from pushjuju.web.errors import ErrorResults
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes.common import Entities, Results, StringsResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyUserSSHKeys:
    """Keys to add; or keys to delete, by key, fingerprint or comment."""

    user: str = ""
    ssh_keys: list[str] = field(default_factory=list)


@facade("KeyManager")
class KeyManager(Facade):
    """The SSH keys of users who may log in to the model's machines."""

    @method(Needs.READ)
    def list_keys(self, entities: Entities, *, mode: bool) -> Results:
        """Return the keys, the same for all users."""
        return {"results": [self._listed(whole=mode) for _ in entities.entities]}

    def _listed(self, *, whole: bool) -> StringsResult:
        every = [key for key in listing.public_keys(self.ctx, self.model) if not ssh_keys.is_internal(key)]
        shown = [
            key.line if whole else f"{key.fingerprint} ({key.comment})" if key.comment else key.fingerprint
            for key in every
        ]
        return {"result": shown} if shown else {}

    @method(Needs.ADMIN, blocked_by=blocks.CHANGE)
    def add_keys(self, params: ModifyUserSSHKeys) -> ErrorResults:
        return self._change(ssh_keys.add, params.ssh_keys)

    @method(Needs.ADMIN, blocked_by=blocks.REMOVE)
    def delete_keys(self, params: ModifyUserSSHKeys) -> ErrorResults:
        """Delete keys, which the client names by key, fingerprint or comment."""
        hidden = {
            word
            for key in listing.public_keys(self.ctx, self.model)
            if ssh_keys.is_internal(key)
            for word in (key.fingerprint, key.comment)
        }
        named = {key.line: key.fingerprint for key in listing.public_keys(self.ctx, self.model)}
        ids = [named.get(" ".join(text.split(None, 2)).strip(), text) for text in params.ssh_keys]
        return self._change(
            ssh_keys.remove, [text if text not in hidden else f"internal {text}" for text in ids]
        )

    @method(Needs.ADMIN, blocked_by=blocks.CHANGE)
    def import_keys(self, params: ModifyUserSSHKeys) -> ErrorResults:
        """Add the keys that users have published: `gh:NAME`, `lp:NAME`."""
        return {"results": [each(self._import, text) for text in params.ssh_keys]}

    def _import(self, text: str) -> None:
        source = key_import.source(text)
        refused = ssh_keys.import_keys(self.ctx, self.model, [source], self.ctx.environ)[text]
        if refused is None:
            raise not_found("key id", text)
        if refused:
            raise NotValid(f'cannot import key id "{text}": {refused[0].reason}')

    def _change(self, act: Callable[..., Sequence[ssh_keys.Refusal]], texts: Sequence[str]) -> ErrorResults:
        refused = {item.key: item.reason for item in act(self.ctx, self.model, texts)}
        return {
            "results": [
                {"error": {"message": refused[text], "code": ""}} if text in refused else {} for text in texts
            ]
        }
