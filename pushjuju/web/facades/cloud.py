"""Cloud: clouds and credentials of the controller. Mirrors: juju apiserver/facades/client/cloud (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.clouds import Cloud as Definition
from pushjuju.core.clouds import CloudCredentials, StoredCredential, is_credential
from pushjuju.core.errors import NotValid, PushjujuError, not_found
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.plugin_host import PluginHost
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.cloud.clouds import key_of
from pushjuju.services.requests.cloud import credentials, definitions, update_credentials
from pushjuju.services.requests.cloud.update_credentials import UpdateCredentialsOptions, Updated
from pushjuju.services.views import cloud_documents
from pushjuju.store.tx import Tx
from pushjuju.web import call, errors, tags
from pushjuju.web.errors import ErrorResults
from pushjuju.web.facades.cloud_sides import credential_key, sides_of, trial_of
from pushjuju.web.facades.model_manager import change
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes import cloud_shapes as shapes
from pushjuju.web.shapes.cloud_shapes import (
    CloudResult,
    CloudShape,
    CloudsResult,
    definition_of,
)
from pushjuju.web.shapes.common import Results, StringsResult


class Credentials(Facade):
    """Shows, stores and removes credentials.

    A credential belongs to a user, who alone reads its content. Superusers can also replace and remove the
    credentials of others, and see them without secrets.
    """

    @bulk("user_clouds", Needs.LOGIN)
    def user_credentials(self, item: shapes.UserCloud) -> StringsResult:
        """Return the tags of a user's credentials."""
        user, cloud = tags.user(item.user_tag), tags.cloud(item.cloud_tag)
        call.require_self(self.ctx, user)
        known = self._known(user).get(cloud, CloudCredentials())
        return {"result": [tags.of_credential(cloud, user, name) for name in sorted(known.credentials)]}

    def _known(self, owner: str) -> Mapping[str, CloudCredentials]:
        return cloud_documents.controller_credentials(self.ctx, owner)

    @bulk("entities", Needs.LOGIN)
    def credential(self, tag: str) -> dict[str, object]:
        """Return credentials without their secrets."""
        cloud, owner, name = tags.credential(tag)
        call.require_self(self.ctx, owner)
        found = self._find(cloud, owner, name)
        attributes, hidden = self._attributes(cloud, found, secrets=False)
        return {"result": {"auth-type": found.auth_type, "attrs": attributes, "redacted": hidden}}

    def _find(self, cloud: str, owner: str, name: str) -> StoredCredential:
        found = self._known(owner).get(cloud, CloudCredentials()).credentials.get(name)
        if found is None:
            raise not_found("credential", name)
        return found

    def _attributes(
        self, cloud: str, item: StoredCredential, *, secrets: bool
    ) -> tuple[dict[str, str], list[str]]:
        """Return the attributes of a credential that may be shown, and the names of the others."""
        kind = credentials.kinds_of(sides_of(self.ctx), {cloud: None})[cloud]
        shown = cloud_documents.shown(item, kind, secrets=secrets)
        return shown, sorted(set(item.attributes) - set(shown))

    @method(Needs.LOGIN)
    def credential_contents(
        self, credentials: list[shapes.CredentialName], *, include_secrets: bool
    ) -> Results:
        """Return credentials of the caller, with the models that use them; nobody sees those of others."""
        names = [(item.cloud_name, item.credential_name) for item in credentials] or [
            (cloud, name)
            for cloud, known in sorted(self._known(self.user).items())
            for name in known.credentials
        ]
        return {"results": [call.result_of(self._contents, *item, secrets=include_secrets) for item in names]}

    def _contents(self, cloud: str, name: str, *, secrets: bool) -> dict[str, object]:
        found = self._find(cloud, self.user, name)
        attributes, _ = self._attributes(cloud, found, secrets=secrets)
        key = key_of(self.user, name)
        valid = cloud_documents.validity_of(self.ctx, cloud, key) == "valid"
        content: dict[str, object] = {
            "name": name, "cloud": cloud, "auth-type": found.auth_type, "valid": valid, "attrs": attributes,
        }  # fmt: skip
        models = [
            {"model": model.name, "access": "admin"}
            for model in credentials.models_using(self.ctx, cloud, key)
        ]
        return {"result": {"content": content, "models": models}}

    # --- changes ------------------------------------------------------------------------------------------

    @method(Needs.LOGIN, changes=True)
    def add_credentials(self, credentials: list[shapes.TaggedCredential]) -> ErrorResults:
        """Store credentials without a check by the models that use them."""
        return {"results": [call.each(self._update, item) for item in credentials]}

    def _update(self, item: shapes.TaggedCredential, *, force: bool = True, dry_run: bool = False) -> Updated:
        cloud, owner, name = tags.credential(item.tag)
        call.require_self(self.ctx, owner)
        if not is_credential(name):
            raise NotValid(f"{quote(item.tag)} is not a valid cloudcred tag")
        stored = StoredCredential(auth_type=item.credential.auth_type, attributes=item.credential.attrs)
        options = UpdateCredentialsOptions(
            credentials={cloud: CloudCredentials(credentials={name: stored})},
            force=force,
            files=False,
            dry_run=dry_run,
            owner=owner,
        )
        where, trial = sides_of(self.ctx), trial_of(self.ctx)
        return update_credentials.update(where, options, self._opened, trial).results[0]

    def _opened(self, _name: str) -> Context:
        return self.ctx

    @method(Needs.LOGIN, changes=True)
    def update_credentials_check_models(
        self, credentials: list[shapes.TaggedCredential], *, force: bool
    ) -> Results:
        """Store the credentials that work for all models that use them; `force` is for superusers."""
        if force and not call.is_superuser(self.ctx):
            raise errors.ApiError("unexpected force specified", code="bad request")
        return {"results": [self._checked(item, force=force) for item in credentials]}

    @method(Needs.LOGIN)
    def check_credentials_models(self, credentials: list[shapes.TaggedCredential]) -> Results:
        """Check credentials against the clouds of the models that use them."""
        return {"results": [self._checked(item, dry_run=True) for item in credentials]}

    def _checked(
        self, item: shapes.TaggedCredential, *, force: bool = False, dry_run: bool = False
    ) -> dict[str, object]:
        try:
            done = self._update(item, force=force, dry_run=dry_run)
        except PushjujuError as error:
            return {"tag": item.tag, "error": errors.told(error)}
        found: dict[str, object] = {"tag": item.tag, "models": self._models(item.tag, done)}
        if done.refused:
            found["error"] = {"message": "some models are no longer visible", "code": ""}
        return found

    def _models(self, tag: str, done: Updated) -> list[dict[str, object]]:
        cloud, key = credential_key(self.ctx, tag)
        uuids = {model.name: model.uuid for model in credentials.models_using(self.ctx, cloud, key)}
        return [
            {
                "name": name,
                "uuid": uuids.get(name, ""),
                "errors": [{"error": {"message": text, "code": ""}} for text in problems],
            }
            for name, problems in done.models.items()
        ]

    @bulk("credentials", Needs.LOGIN, changes=True)
    def revoke_credentials_check_models(self, item: shapes.RevokeCredential) -> None:
        """Remove credentials that no model uses."""
        cloud, owner, name = tags.credential(item.tag)
        call.require_self(self.ctx, owner)
        self._find(cloud, owner, name)
        credentials.revoke(sides_of(self.ctx), cloud, key_of(owner, name), force=item.force)


@facade("Cloud")
class Cloud(Credentials):
    """The clouds that the caller may see: those where the caller may add models."""

    @method(Needs.LOGIN)
    def clouds(self) -> CloudsResult:
        """Return the clouds, the controller's own first."""
        own = self._own()
        found = sorted(self._visible().items(), key=lambda pair: (pair[0] != own, pair[0]))
        return {"clouds": {f"cloud-{name}": self._shape(cloud) for name, cloud in found}}

    @bulk("entities", Needs.LOGIN)
    def cloud(self, tag: str) -> CloudResult:
        """Return some clouds."""
        return {"cloud": self._shape(self._visible_cloud(tag))}

    def _visible_cloud(self, tag: str) -> Definition:
        name = tags.cloud(tag)
        found = self._visible().get(name)
        if found is None:
            raise not_found("cloud", name)
        return found

    def _visible(self, user: str = "") -> dict[str, Definition]:
        found = definitions.controller_clouds(self.ctx, PluginHost(environ=self.ctx.environ))
        with self.ctx.store.read() as tx:
            return {name: item for name, item in found.items() if self._level(tx, name, user or self.user)}

    def _level(self, tx: Tx, name: str, user: str) -> str:
        return users.effective_level(tx, user, Kind.CLOUD, name)

    def _own(self) -> str:
        return str(self.ctx.controller.settings().get("cloud", ""))

    @bulk("entities", Needs.LOGIN)
    def cloud_info(self, tag: str) -> dict[str, object]:
        """Return clouds that the caller administers, with their users."""
        call.require_cloud_admin(self.ctx, tags.cloud(tag))
        found = self._visible_cloud(tag)
        host = PluginHost(environ=self.ctx.environ)
        known: Any = cloud_documents.controller_cloud_document(self.ctx, found, host)
        listed = [
            {"user": name, "display-name": str(entry.get("display-name", "")), "access": entry["access"]}
            for name, entry in known["users"].items()
        ]
        return {"result": {**self._shape(found), "users": listed}}

    @method(Needs.LOGIN)
    def list_cloud_info(self, user_tag: str, *, all: bool) -> Results:  # noqa: A002 - its name on the wire
        """Return the clouds of a user, with the user's access."""
        user = tags.user(user_tag)
        call.require_self(self.ctx, user)
        if all:
            call.require_superuser(self.ctx)
        found = self._visible("" if all else user)
        with self.ctx.store.read() as tx:
            levels = {name: self._level(tx, name, user) for name in found}
        return {
            "results": [
                {"result": {**self._shape(cloud), "user-access": levels[name]}}
                for name, cloud in found.items()
            ]
        }

    def _shape(self, cloud: Definition) -> CloudShape:
        known = cloud_documents.cloud_document(cloud, PluginHost(environ=self.ctx.environ))
        regions: list[Any] = [{"name": name, **ends} for name, ends in known["regions"].items()]
        found: CloudShape = {
            "type": cloud.type,
            "auth-types": list(known.get("auth-types", ())),
            "regions": regions,
            "is-controller-cloud": cloud.name == self._own(),
        }
        if cloud.endpoint:
            found["endpoint"] = cloud.endpoint
        if cloud.identity_endpoint:
            found["identity-endpoint"] = cloud.identity_endpoint
        if cloud.storage_endpoint:
            found["storage-endpoint"] = cloud.storage_endpoint
        if cloud.ca_certificates:
            found["ca-certificates"] = list(cloud.ca_certificates)
        if cloud.skip_tls_verify:
            found["skip-tls-verify"] = True
        return found

    # --- changes ------------------------------------------------------------------------------------------

    @method(Needs.SUPERUSER, changes=True)
    def add_cloud(self, params: shapes.AddCloud) -> None:
        made = definition_of(params.name, params.cloud)
        definitions.add_to_controller(sides_of(self.ctx), made, force=params.force)

    @bulk("clouds", Needs.SUPERUSER, changes=True)
    def update_cloud(self, item: shapes.AddCloud) -> None:
        """Replace the definitions of clouds."""
        where, made = sides_of(self.ctx), definition_of(item.name, item.cloud)
        definitions.check(where.host, made)
        definitions.update_on_controller(where, made.name, made)

    @bulk("entities", Needs.LOGIN, changes=True)
    def remove_clouds(self, tag: str) -> None:
        """Remove the definitions of clouds that the caller administers."""
        name = tags.cloud(tag)
        call.require_cloud_admin(self.ctx, name)
        if not definitions.remove_from_controller(sides_of(self.ctx), name):
            raise not_found("cloud", name)

    @bulk("changes", Needs.LOGIN, changes=True)
    def modify_cloud_access(self, item: shapes.ModifyCloudAccess) -> None:
        """Grant or revoke access to clouds that the caller administers."""
        name = tags.cloud(item.cloud_tag)
        call.require_cloud_admin(self.ctx, name)
        change(self, Kind.CLOUD, item.action, item.access, item.user_tag, (name,))

    @method(Needs.LOGIN)
    def instance_types(self) -> None:
        """Refuse: pushjuju does not query clouds for their instance types."""
        raise errors.not_supported("instance types are not listed")
