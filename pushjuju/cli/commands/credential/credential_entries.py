"""Credentials as commands find, complete, keep and upload them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import scope
from pushjuju.core.clouds import (
    Cloud,
    StoredCredential,
)
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.plugins.api.clouds import ProviderType
from pushjuju.portable.quote import quote
from pushjuju.services.entities.cloud import clouds as service
from pushjuju.services.views import cloud_documents as documents
from pushjuju.store.cloudfiles import CloudFiles

SHOW_SECRETS = flags.switch("show-secrets", "Show secrets, displaying sensitive information")


def kinds_of(where: scope.Sides, names: Mapping[str, Any]) -> dict[str, ProviderType | None]:
    """Return the type of each cloud: name -> what its plugin says, or None."""
    found: dict[str, ProviderType | None] = {}
    for name in names:
        try:
            places = service.folders(where.folder, where.ctx.controller if where.ctx else None)
            found[name] = documents.kind_of(where.host, service.definition(places, name, where.host).type)
        except PushjujuError:
            found[name] = None
    return found


def known_cloud(where: scope.Sides, name: str) -> tuple[Cloud, ProviderType]:
    """Return a cloud and its type.

    Raises:
        NotFound: There is no such cloud, or no plugin for it.
    """
    places = service.folders(where.folder, where.ctx.controller if where.ctx else None)
    cloud = service.definition(places, name, where.host)
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
        content = values.read_file(path)
        if len(content) > values.MAX_FILE:
            raise NotValid(f"invalid file path: {path}: larger than 5M")
        return content.decode()
    except (NotFound, UnicodeDecodeError, ValueError):
        raise NotValid(f"invalid file path: {path}") from None


def put(files: CloudFiles, cloud: str, name: str, item: StoredCredential, kind: ProviderType | None) -> None:
    """Write a credential; what the schema calls secret is sealed."""
    files.put_credential(
        cloud, name, item, service.secret_attributes(kind, item.auth_type, list(item.attributes))
    )


def upload(
    cli: Cli,
    where: scope.Sides,
    cloud: str,
    kind: ProviderType,
    found: Mapping[str, StoredCredential],
    verb: str,
) -> None:
    """Write credentials to the controller, and say so."""
    ctx = where.controller
    name = ctx.controller.name
    if cloud not in documents.controller_clouds(ctx, where.host):
        cli.output.text(
            f"No cloud {quote(cloud)} found on the controller {quote(name)}: credentials are not uploaded.\n"
            f"Use 'pushjuju clouds -c {name}' to see what clouds are available on the controller.\n"
            f"User 'pushjuju add-cloud {cloud} -c {name}' to add your cloud to the controller.\n"
        )
        return
    for credential, item in found.items():
        put(ctx.controller.cloud_files, cloud, credential, item, kind)
        cli.console.info(
            f"Controller credential {quote(credential)} for user {quote(ctx.user)} for cloud {quote(cloud)} "
            f"on controller {quote(name)} {verb}.\n"
            f"For more information, see ‘pushjuju show-credential {cloud} {credential}’."
        )
