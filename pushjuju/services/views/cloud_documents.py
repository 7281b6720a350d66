"""The documents of `clouds`, `show-cloud`, `regions`, `credentials` and `show-credential`.

Keys and order are Juju's. Mirrors: juju cmd/juju/cloud/list.go, show.go, listcredentials.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.clouds import Cloud, CloudCredentials, StoredCredential
from pushjuju.core.errors import NotValid
from pushjuju.plugins.api.clouds import ProviderType
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis import users as people
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.machine import credential_validity
from pushjuju.services.entities.model import models
from pushjuju.services.views.listings import users as user_documents


def controller_credentials(ctx: Context, owner: str) -> dict[str, CloudCredentials]:
    """Return a user's credentials that a controller has in its files, or that it or its models use."""
    found = ctx.controller.cloud_files.all_credentials()
    settings = ctx.controller.settings()
    used = {(model.cloud, model.credential) for model in models.list_models(ctx)}
    used.add((str(settings.get("cloud", "")), str(settings.get("credential", ""))))
    for cloud, name in sorted(used) if owner == DEFAULT_USER else ():
        item = ctx.datadir.cloud_files.credentials(cloud).credentials.get(name)
        known = found.get(cloud, CloudCredentials())
        if item and name not in known.credentials:
            found[cloud] = CloudCredentials(
                default_credential=known.default_credential,
                default_region=known.default_region,
                credentials={**known.credentials, name: item},
            )
    own = {cloud: clouds.of_owner(known, owner) for cloud, known in found.items()}
    return {cloud: known for cloud, known in own.items() if known.credentials or owner == DEFAULT_USER}


def validity_of(ctx: Context, cloud: str, credential: str) -> str:
    """Return `invalid` when the cloud has refused the credential for one of the models, else `valid`."""
    with ctx.store.read() as tx:
        users = credential_validity.using(tx, cloud, credential)
        refused = any(credential_validity.reason(ctx.of(tx, model.uuid), model) for model in users)
    return credential_validity.INVALID if refused else credential_validity.VALID


def controller_cloud_document(ctx: Context, cloud: Cloud, host: PluginHost) -> dict[str, object]:
    """Return a cloud of a controller, with the users who have access to it."""
    with ctx.store.read() as tx:
        levels = people.access_to(tx, people.Kind.CLOUD, cloud.name)
    named = {
        item["user-name"]: item.get("display-name") for item in user_documents.documents(ctx, disabled=True)
    }
    users = {DEFAULT_USER: people.LEVELS[people.Kind.CLOUD][-1], **levels}
    told = {
        name: {"display-name": named[name], "access": level} if named.get(name) else {"access": level}
        for name, level in sorted(users.items())
    }
    return cloud_document(cloud, host, users=told)


def cloud_document(
    cloud: Cloud,
    host: PluginHost,
    *,
    source: str = "",
    stored: CloudCredentials | None = None,
    users: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a cloud as `clouds` and `show-cloud` print it."""
    kind = clouds.kind_of(host, cloud.type)
    known = cloud.to_document()
    pairs: tuple[tuple[str, Any], ...] = (
        ("defined", source),
        ("type", cloud.type),
        ("description", cloud.description or (kind.summary if kind else "")),
        ("auth-types", list(cloud.auth_types) or (clouds.auth_types(kind) if kind else [])),
        ("endpoint", cloud.endpoint),
        ("identity-endpoint", cloud.identity_endpoint),
        ("storage-endpoint", cloud.storage_endpoint),
        ("default-region", stored.default_region if stored else ""),
        ("credential-count", len(stored.credentials) if stored else 0),
        ("regions", known.get("regions") or {"default": {}}),
        ("config", known.get("config")),
        ("region-config", known.get("region-config")),
        ("ca-credentials", known.get("ca-certificates")),
        ("users", users),
        ("skip-tls-verify", known.get("skip-tls-verify")),
    )
    own = {
        attr.name: cloud.own.get(attr.name) for attr in (kind.cloud_schema if kind else ()) if not attr.secret
    }
    return {key: value for key, value in (*pairs, *own.items()) if value}


def shown(credential: StoredCredential, kind: ProviderType | None, *, secrets: bool) -> dict[str, str]:
    """Return the attributes of a credential, without secret attributes unless `secrets` is True.

    Raises:
        NotValid: The cloud does not have this auth type, so that its secret attributes are unknown.
    """
    if secrets:
        return dict(credential.attributes)
    if kind is None or credential.auth_type not in kind.credential_schemas:
        raise NotValid(f'auth type "{credential.auth_type}" not valid')
    hidden = clouds.secret_attributes(kind, credential.auth_type, list(credential.attributes))
    return {key: value for key, value in credential.attributes.items() if key not in hidden}


def credentials_document(
    stored: Mapping[str, CloudCredentials], kinds: Mapping[str, ProviderType | None], *, secrets: bool
) -> tuple[dict[str, object], list[str]]:
    """Return cloud -> credentials as YAML shows them, and the clouds left out for unknown auth types."""
    found: dict[str, object] = {}
    left_out: list[str] = []
    for cloud, entry in sorted(stored.items()):
        try:
            named = {
                name: {"auth-type": item.auth_type, **shown(item, kinds.get(cloud), secrets=secrets)}
                for name, item in sorted(entry.credentials.items())
            }
        except NotValid:
            left_out.append(cloud)
            continue
        heads = {"default-credential": entry.default_credential, "default-region": entry.default_region}
        found[cloud] = {**{key: value for key, value in heads.items() if value}, **named}
    return found, left_out
