"""The requests about credentials: completed and checked by their schema, then stored.

Mirrors: juju cmd/juju/cloud/addcredential.go, updatecredential.go (3.6)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from pushjuju.charms.archive import named_files
from pushjuju.core.clouds import Cloud, CloudCredentials, StoredCredential, is_credential
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.plugins.api.clouds import DetectedCredential, ProviderType
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds, opened
from pushjuju.services.entities.cloud.clouds import key_of, parts_of
from pushjuju.services.entities.machine import credential_validity
from pushjuju.services.entities.model import models
from pushjuju.services.entities.model.sides import Sides
from pushjuju.services.requests.cloud import definitions
from pushjuju.services.requests.cloud.definitions import ClientRemoval, Open, Removed
from pushjuju.store.rows.records import Model


class Trial(Protocol):
    """Asks the cloud whether a model can use a credential; returns the problems, or nothing."""

    def __call__(self, ctx: Context, model: Model, name: str, item: StoredCredential) -> Sequence[str]: ...


def kinds_of(where: Sides, names: Mapping[str, Any]) -> dict[str, ProviderType | None]:
    """Return name of a cloud -> its type, or None when cloud or plugin do not exist."""
    found: dict[str, ProviderType | None] = {}
    for name in names:
        try:
            places = clouds.folders(where.folder, where.ctx.controller if where.ctx else None)
            found[name] = clouds.kind_of(where.host, clouds.definition(places, name, where.host).type)
        except PushjujuError:
            found[name] = None
    return found


def known_cloud(where: Sides, name: str) -> tuple[Cloud, ProviderType]:
    """Return a cloud and its type; raise NotFound when the cloud or a plugin for its type does not exist."""
    places = clouds.folders(where.folder, where.ctx.controller if where.ctx else None)
    cloud = clouds.definition(places, name, where.host)
    return cloud, where.host.provider_type(cloud.type)


def auth_types(cloud: Cloud, kind: ProviderType) -> list[str]:
    """Return the authentication types of a cloud; empty when the cloud needs no credential."""
    known = clouds.auth_types(kind)
    return [name for name in cloud.auth_types if name in known] or known


def require_region(cloud: Cloud, region: str) -> None:
    """Raise NotValid when a cloud does not have a region."""
    if region not in {item.name for item in cloud.regions}:
        raise NotValid(f"provided region {quote(region)} for cloud {quote(cloud.name)} not valid")


def of_cloud(
    stored: Mapping[str, CloudCredentials], cloud: Cloud, kind: ProviderType, source: str
) -> dict[str, StoredCredential]:
    """Return the credentials of a file for a cloud, completed and checked."""
    listed, allowed = stored.get(cloud.name), auth_types(cloud, kind)
    if listed is None:
        raise NotFound(f"no credentials for cloud {cloud.name} exist in file {source}")
    for name, item in listed.credentials.items():
        if not is_credential(name):
            raise NotValid(f"{quote(name)} is not a valid credential name")
        if item.auth_type not in allowed:
            raise NotValid(
                f"credential {quote(name)} contains invalid auth type {quote(item.auth_type)}, "
                f"valid auth types for cloud {quote(cloud.name)} are [{' '.join(allowed)}]"
            )
    return {name: finished(cloud.name, name, item, kind) for name, item in listed.credentials.items()}


def add_to_client(
    where: Sides, cloud: Cloud, kind: ProviderType, found: Mapping[str, StoredCredential], *, replace: bool
) -> list[str]:
    """Write new credentials to the client; return the names that existed, whose credentials are unchanged."""
    present = {} if replace else where.files.credentials(cloud.name).credentials
    for name in (name for name in found if name not in present):
        clouds.keep_credential(where.files, cloud.name, name, found[name], kind)
    return [name for name in found if name in present]


def upload(where: Sides, cloud: Cloud, kind: ProviderType, found: Mapping[str, StoredCredential]) -> bool:
    """Write credentials to the controller; return False when the controller does not know the cloud."""
    ctx = where.controller
    if cloud.name not in definitions.controller_clouds(ctx, where.host):
        return False
    for name, item in found.items():
        keep_on_controller(ctx, cloud.name, own_key(ctx, name), item, kind)
    return True


def save_detected(
    where: Sides, cloud: Cloud, kind: ProviderType, item: DetectedCredential
) -> StoredCredential:
    """Write a credential that a plugin detected on this computer to the client; return the credential.

    Region and credential become the cloud's defaults when the tool that they come from uses them as defaults.
    """
    stored = StoredCredential(auth_type=item.auth_type, attributes=dict(item.attributes))
    stored = finished(cloud.name, item.name, stored, kind)
    if not where.client:
        return stored
    before = where.files.credentials(cloud.name)
    clouds.keep_credential(where.files, cloud.name, item.name, stored, kind)
    if item.region and item.region in {region.name for region in cloud.regions}:
        where.files.set_default(cloud.name, "default-region", item.region)
    if item.default and not before.default_credential:
        where.files.set_default(cloud.name, "default-credential", item.name)
    return stored


def default_of(where: Sides, cloud: str) -> str:
    """Return the default credential of a cloud on the client; empty when the user has chosen no default."""
    clouds.definition((where.files,), cloud, where.host)
    return where.files.credentials(cloud).default_credential


def set_default(where: Sides, cloud: str, name: str) -> None:
    """Set the default credential of a cloud on the client; an empty name resets it."""
    clouds.definition((where.files,), cloud, where.host)
    if name and name not in where.files.credentials(cloud).credentials:
        raise NotValid(f"credential {quote(name)} for cloud {cloud} not valid")
    where.files.set_default(cloud, "default-credential", name)


def remove_from_client(where: Sides, cloud: str, name: str, open_controller: Open) -> ClientRemoval:
    """Remove a credential from the client; controllers whose models use the credential get a copy first."""
    stored = where.files.credentials(cloud)
    if name not in stored.credentials:
        return ClientRemoval(outcome=Removed.ABSENT)
    kind = kinds_of(where, {cloud: stored})[cloud]
    keepers, unread = definitions.controllers_that(
        where, lambda ctx: bool(models_using(ctx, cloud, name)), open_controller
    )
    for own in (where.folder.controller(keeper).cloud_files for keeper in keepers):
        if name not in own.credentials(cloud).credentials:
            clouds.keep_credential(own, cloud, name, stored.credentials[name], kind)
    where.files.remove_credential(cloud, name)
    return ClientRemoval(outcome=Removed.GONE, unread=unread)


def revoke(where: Sides, cloud: str, key: str, *, force: bool = False) -> None:
    """Remove a credential from a controller."""
    ctx = where.controller
    if (users := definitions.users_of(ctx, cloud, key)) and not force:
        count = f"{len(users)} model{'' if len(users) == 1 else 's'}"
        raise NotValid(
            f"could not remove remote credential: cannot revoke credential "
            f"{cloud}/{'/'.join(parts_of(key))}: it is still used by {count}"
        )
    with ctx.change_controller(f"credential {cloud}/{key}"):
        ctx.controller.cloud_files.remove_credential(cloud, key)


def refuse_files(name: str, item: StoredCredential, kind: ProviderType) -> None:
    """Refuse a credential from another computer when it names a file, which would be a file of this host.

    Raises:
        NotValid: An attribute names a file; the message does not contain the value.
    """
    for attr in kind.credential_schemas.get(item.auth_type, ()):
        named = attr.file_attr if attr.file_attr in item.attributes else ""
        if attr.file_path and _is_path(item.attributes.get(attr.name, "")):
            named = attr.name
        if named:
            raise NotValid(f"credential {quote(name)}: {named} names a file: send the content of the file")


def _is_path(value: str) -> bool:
    """Return True for the path of a file, and False for the text of a key, a certificate or JSON."""
    return bool(value) and not value.lstrip().startswith(("{", "-----"))


def finished(cloud: str, name: str, item: StoredCredential, kind: ProviderType) -> StoredCredential:
    """Return a credential with the files that it names read, and checked; errors contain no secret values.

    Raises:
        NotValid: An attribute is missing, unknown, or has a value that is not allowed.
    """
    schema = {attr.name: attr for attr in kind.credential_schemas[item.auth_type]}
    given = dict(item.attributes)
    for attr in schema.values():
        if attr.file_attr and attr.file_attr in given:
            if attr.name in given:
                raise NotValid(
                    f"credential {quote(name)}: specifying both {quote(attr.name)} and "
                    f"{quote(attr.file_attr)} not valid"
                )
            given[attr.name] = _file_text(given.pop(attr.file_attr))
        elif attr.file_path and _is_path(given.get(attr.name, "")):
            given[attr.name] = _file_text(given[attr.name])
    unknown = sorted(set(given) - set(schema))
    if unknown:
        raise NotValid(f"credential {quote(name)} for cloud {cloud}: unknown key {quote(unknown[0])}")
    for attr in schema.values():
        value = given.get(attr.name, "")
        if attr.required and not value:
            raise NotValid(
                f"credential {quote(name)} for cloud {cloud}: {attr.name}: expected string, got nothing"
            )
        if value and attr.choices and value not in attr.choices:
            raise NotValid(
                f"credential {quote(name)} for cloud {cloud}: {attr.name}: "
                f"expected one of [{' '.join(attr.choices)}]"
            )
    return StoredCredential(auth_type=item.auth_type, attributes=given)


def _file_text(path: str) -> str:
    """Return the text of a file that a credential names."""
    try:
        return named_files.read(path).decode()
    except (OSError, ValueError):
        raise NotValid(f"invalid file path: {path}") from None


def keep_on_controller(
    ctx: Context, cloud: str, key: str, item: StoredCredential, kind: ProviderType | None
) -> None:
    """Write the credential with a key to a controller, as `clouds.keep_credential` does."""
    with ctx.change_controller(f"credential {cloud}/{key}"):
        clouds.keep_credential(ctx.controller.cloud_files, cloud, key, item, kind)


def exchanged(where: Sides, cloud: Cloud, item: StoredCredential) -> StoredCredential:
    """Return the credential to store; a plugin may have exchanged it for another in the cloud."""
    spec = opened.spec_of(cloud, cloud.regions[0].name if cloud.regions else "")
    auth_type, attributes = where.host.finalize_credential(spec, item.auth_type, item.attributes)
    return StoredCredential(auth_type=auth_type, attributes=attributes)


def own_key(ctx: Context, name: str) -> str:
    """Return the key under which a controller stores a credential of the user of the context."""
    return key_of(ctx.user, name)


def models_using(ctx: Context, cloud: str, credential: str) -> list[Model]:
    """Return the models of a controller that use the credential with a key, sorted by name."""
    with ctx.store.read() as tx:
        return credential_validity.using(tx, cloud, credential)


def renew_models(ctx: Context, changed: Collection[tuple[str, str]]) -> list[str]:
    """Resume the models of a controller whose (cloud, key of the credential) is in `changed`.

    Returns:
        The machines whose start is tried again.
    """
    woken = []
    for model in models.list_models(ctx):
        if (model.cloud, model.credential) in changed:
            with ctx.change(model.uuid) as tx:
                woken += credential_validity.renew(tx, model)
    return woken


def set_credential(ctx: Context, model: Model, cloud: str, key: str, trial: Trial) -> list[str]:
    """Give a model the credential with a key, and resume the model when it was suspended.

    Returns:
        The machines whose start is tried again.
    """
    if cloud != model.cloud:
        raise NotValid(f'cloud "{cloud}" does not match the cloud "{model.cloud}" of the model')
    found = opened.open_credential(clouds.folders(ctx.datadir, ctx.controller), cloud, key)
    stored = StoredCredential(auth_type=found.auth_type, attributes=dict(found.attributes))
    if problems := trial(ctx, model, key, stored):
        raise NotValid(f'credential "{key}" cannot be used for model {model.name}: {problems[0]}')
    with ctx.change(model.uuid) as tx:
        models.require_alive(tx)
        tx.run("model_set_credential", credential=key)
        woken = credential_validity.renew(tx, models.get(tx))
    clouds.share_with_hosts(ctx)
    return woken
