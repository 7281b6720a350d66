"""The part of the facade Cloud about credentials.

A credential belongs to a user, who alone reads its content. Superusers can also replace and remove the
credentials of others, and see them without secrets.
"""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.core.clouds import CloudCredentials, StoredCredential, is_credential
from pushjuju.core.errors import NotValid, PushjujuError, not_found
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud.clouds import key_of
from pushjuju.services.requests.cloud import credentials, update_credentials
from pushjuju.services.requests.cloud.update_credentials import UpdateCredentialsOptions, Updated
from pushjuju.services.views import cloud_documents
from pushjuju.web import errors, tags
from pushjuju.web.call import each, is_superuser, require_self, result_of
from pushjuju.web.errors import ErrorResults
from pushjuju.web.facades.cloud_sides import credential_key, sides_of, trial_of
from pushjuju.web.registry import Facade, Needs, method
from pushjuju.web.shapes import cloud_shapes as shapes
from pushjuju.web.shapes.common import Entities, Results, StringsResult


class Credentials(Facade):
    """Shows, stores and removes credentials."""

    @method(Needs.LOGIN)
    def user_credentials(self, user_clouds: list[shapes.UserCloud]) -> Results:
        """Return the tags of a user's credentials."""
        return {"results": [result_of(self._tags, item) for item in user_clouds]}

    def _tags(self, item: shapes.UserCloud) -> StringsResult:
        user, cloud = tags.user(item.user_tag), tags.cloud(item.cloud_tag)
        require_self(self.ctx, user)
        known = self._known(user).get(cloud, CloudCredentials())
        return {"result": [tags.of_credential(cloud, user, name) for name in sorted(known.credentials)]}

    def _known(self, owner: str) -> Mapping[str, CloudCredentials]:
        return cloud_documents.controller_credentials(self.ctx, owner)

    @method(Needs.LOGIN)
    def credential(self, params: Entities) -> Results:
        """Return credentials without their secrets."""
        return {"results": [result_of(self._shown, item.tag) for item in params.entities]}

    def _shown(self, tag: str) -> dict[str, object]:
        cloud, owner, name = tags.credential(tag)
        require_self(self.ctx, owner)
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
        return {"results": [result_of(self._contents, *item, secrets=include_secrets) for item in names]}

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
        return {"results": [each(self._update, item) for item in credentials]}

    def _update(self, item: shapes.TaggedCredential, *, force: bool = True, dry_run: bool = False) -> Updated:
        cloud, owner, name = tags.credential(item.tag)
        require_self(self.ctx, owner)
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
        if force and not is_superuser(self.ctx):
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

    @method(Needs.LOGIN, changes=True)
    def revoke_credentials_check_models(self, credentials: list[shapes.RevokeCredential]) -> ErrorResults:
        """Remove credentials that no model uses."""
        return {"results": [each(self._revoke, item) for item in credentials]}

    def _revoke(self, item: shapes.RevokeCredential) -> None:
        cloud, owner, name = tags.credential(item.tag)
        require_self(self.ctx, owner)
        self._find(cloud, owner, name)
        credentials.revoke(sides_of(self.ctx), cloud, key_of(owner, name), force=item.force)
