"""Copies clouds and credentials from the files of a Juju client on this computer, which stay unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pushjuju.charms.archive import named_files
from pushjuju.charms.format.yamlload import load
from pushjuju.core.clouds import Cloud, CloudCredentials, StoredCredential, read_clouds, read_credentials
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.cloud import clouds as service
from pushjuju.services.entities.model.sides import Sides
from pushjuju.services.requests.cloud import credentials, definitions

CLOUDS = ("clouds.yaml", "public-clouds.yaml")
CREDENTIALS = "credentials.yaml"


def folder(environ: Mapping[str, str]) -> Path:
    """Return the folder in which Juju's client keeps its files. Mirrors: juju juju/osenv/home.go (3.6)"""
    if named := environ.get("JUJU_DATA"):
        return Path(named)
    home = environ.get("HOME") or str(Path.home())
    return Path(environ.get("XDG_DATA_HOME") or f"{home}/.local/share") / "juju"


def has_any(environ: Mapping[str, str]) -> bool:
    """Return True when a Juju client on this computer has clouds or credentials."""
    return any((folder(environ) / name).is_file() for name in (CLOUDS[0], CREDENTIALS))


def take_over(where: Sides, source: Path) -> Iterator[str]:
    """Copy the clouds and credentials that the client does not have yet; yield a line about each of them."""
    for name in CLOUDS:
        document = _document(source / name)
        for cloud in read_clouds(document).values() if document else ():
            yield from _cloud(where, cloud, quiet=name != CLOUDS[0])
    document = _document(source / CREDENTIALS)
    for name, listed in read_credentials(document).items() if document else ():
        for each, item in listed.credentials.items():
            yield _credential(where, name, each, item)
        _defaults(where, name, listed)


def _document(path: Path) -> object:
    if not path.is_file():
        return None
    try:
        found = load(named_files.read(path))
    except OSError as error:
        raise NotFound(f"open {path}: {(error.strerror or str(error)).lower()}") from error
    except NotValid as error:
        raise NotValid(f"{path}: {error.message}") from None
    if not isinstance(found, dict | None):
        raise NotValid(f"{path}: {path}: expected a map of settings")
    return {str(key): value for key, value in (found or {}).items()}


def _cloud(where: Sides, cloud: Cloud, *, quiet: bool) -> Iterator[str]:
    """Copy a cloud; yield a line about it, with `quiet` only when it was copied."""
    kind = service.kind_of(where.host, cloud.type)
    if cloud.name in definitions.client_clouds(where.host, where.files):
        said = f"cloud {quote(cloud.name)} exists here already"
    elif kind is None:
        said = f"cloud {quote(cloud.name)} is left out: clouds of type {quote(cloud.type)} are not supported"
    else:
        try:
            service.check_definition(cloud, kind)
            where.files.put_cloud(cloud.name, cloud.to_document())
        except PushjujuError as error:
            said = f"cloud {quote(cloud.name)} is left out: {error.message}"
        else:
            yield f"cloud {quote(cloud.name)} is copied"
            return
    if not quiet:
        yield said


def _defaults(where: Sides, cloud: str, listed: CloudCredentials) -> None:
    """Copy the default region and credential of a cloud, unless the user has chosen others in pushjuju."""
    known = where.files.credentials(cloud)
    if listed.default_region and not known.default_region:
        where.files.set_default(cloud, "default-region", listed.default_region)
    if listed.default_credential in known.credentials and not known.default_credential:
        where.files.set_default(cloud, "default-credential", listed.default_credential)


def _credential(where: Sides, cloud: str, name: str, item: StoredCredential) -> str:
    """Copy a credential; return a line about it."""
    said = f"credential {quote(name)} of cloud {quote(cloud)}"
    if name in where.files.credentials(cloud).credentials:
        return f"{said} exists here already"
    try:
        found, kind = credentials.known_cloud(where, cloud)
        if item.auth_type not in service.auth_types(kind):
            return f"{said} is left out: auth-type {quote(item.auth_type)} is not supported"
        service.keep_credential(
            where.files, found.name, name, credentials.finished(cloud, name, item, kind), kind
        )
    except PushjujuError as error:
        return f"{said} is left out: {error.message}"
    return f"{said} is copied"
