"""Credentials: completed by their schema, exchanged in the cloud, and kept.

Mirrors: juju cmd/juju/cloud/addcredential.go, updatecredential.go (3.6)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pushjuju.core.clouds import Cloud, StoredCredential
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.plugins.api.clouds import ProviderType
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds, opened
from pushjuju.services.entities.machine import credential_validity
from pushjuju.services.entities.model import models
from pushjuju.services.entities.model.sides import Sides
from pushjuju.store.cloudfiles import CloudFiles
from pushjuju.store.rows.records import Model

MAX_FILE = 5 << 20


def kinds_of(where: Sides, names: Mapping[str, Any]) -> dict[str, ProviderType | None]:
    """Return the type of each cloud: name -> what its plugin says, or None."""
    found: dict[str, ProviderType | None] = {}
    for name in names:
        try:
            places = clouds.folders(where.folder, where.ctx.controller if where.ctx else None)
            found[name] = clouds.kind_of(where.host, clouds.definition(places, name, where.host).type)
        except PushjujuError:
            found[name] = None
    return found


def known_cloud(where: Sides, name: str) -> tuple[Cloud, ProviderType]:
    """Return a cloud and its type.

    Raises:
        NotFound: There is no such cloud, or no plugin for it.
    """
    places = clouds.folders(where.folder, where.ctx.controller if where.ctx else None)
    cloud = clouds.definition(places, name, where.host)
    return cloud, where.host.provider_type(cloud.type)


def finished(cloud: str, name: str, item: StoredCredential, kind: ProviderType) -> StoredCredential:
    """Return a credential with its files read, checked against the schema; no value is in a message.

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
        elif (
            attr.file_path and attr.name in given and not given[attr.name].lstrip().startswith(("{", "-----"))
        ):
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
    """Return the text of a file that a credential names.

    Raises:
        NotValid: It cannot be read, or is no text of a sensible size.
    """
    try:
        content = Path(path).expanduser().read_bytes()
        if len(content) > MAX_FILE:
            raise NotValid(f"invalid file path: {path}: larger than 5M")
        return content.decode()
    except (OSError, ValueError):
        raise NotValid(f"invalid file path: {path}") from None


def keep(files: CloudFiles, cloud: str, name: str, item: StoredCredential, kind: ProviderType | None) -> None:
    """Write a credential; what the schema calls secret is sealed."""
    files.put_credential(
        cloud, name, item, clouds.secret_attributes(kind, item.auth_type, list(item.attributes))
    )


def exchanged(where: Sides, cloud: Cloud, item: StoredCredential) -> StoredCredential:
    """Return the credential to keep: a plugin may have exchanged it for another, in the cloud."""
    spec = opened.spec_of(cloud, cloud.regions[0].name if cloud.regions else "")
    auth_type, attributes = where.host.finalize_credential(spec, item.auth_type, item.attributes)
    return StoredCredential(auth_type=auth_type, attributes=attributes)


def models_using(ctx: Context, cloud: str, credential: str) -> list[Model]:
    """Return the models of a controller that are worked with a credential, by name."""
    with ctx.store.read() as tx:
        return credential_validity.using(tx, cloud, credential)


def renew_models(ctx: Context, changed: Collection[tuple[str, str]]) -> list[str]:
    """Ask the clouds again for the models of a controller whose (cloud, credential) changed.

    Returns:
        The machines that are tried anew.
    """
    woken = []
    for model in models.list_models(ctx):
        if (model.cloud, model.credential) in changed:
            with ctx.write(model.uuid) as tx:
                woken += credential_validity.renew(tx, model, ctx.clock.now())
    return woken


def set_credential(ctx: Context, uuid: str, name: str) -> list[str]:
    """Work a model with another credential from now on, and ask the cloud again.

    Returns:
        The machines that are tried anew.
    """
    with ctx.write(uuid) as tx:
        models.require_alive(tx)
        tx.run("model_set_credential", credential=name)
        return credential_validity.renew(tx, models.get(tx), ctx.clock.now())
