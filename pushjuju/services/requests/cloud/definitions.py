"""add-cloud, update-cloud and remove-cloud: definitions on a client and on a controller.

Mirrors: juju cmd/juju/cloud/add.go, updatecloud.go, remove.go, apiserver/facades/client/cloud (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pushjuju.core.clouds import EMPTY, Cloud, read_clouds
from pushjuju.core.errors import NotFound, NotValid, PushjujuError, UsageError, not_found
from pushjuju.plugins.manager import PluginHost
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import cloud_checks, clouds
from pushjuju.services.entities.model import models
from pushjuju.services.entities.model.sides import Sides
from pushjuju.store.cloudfiles import CloudFiles

_KUBERNETES = "kubernetes"
Open = Callable[[str], Context]
"""Opens a controller by its name."""


class Removed(StrEnum):
    """What became of a cloud that was to be removed."""

    GONE = "removed"
    BUILT_IN = "built in: it stays"
    PUBLIC = "a plugin brings it: it stays"
    ABSENT = "there is no such cloud"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRemoval:
    """The removal of a cloud, or of a credential, from the client.

    Attributes:
        unread: Controllers that cannot be read, with the reason: they keep a copy, as those that use it do.
    """

    outcome: Removed
    unread: Mapping[str, PushjujuError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """The credential that a controller got with a cloud; `missing` when it needs one and got none."""

    name: str = ""
    missing: bool = False


def of_document(host: PluginHost, document: object, name: str, source: str) -> tuple[Cloud, list[str]]:
    """Return a cloud of Juju's YAML, and what to warn of.

    Args:
        name: The cloud; empty for the only one.
        source: Where the document comes from, for errors.

    Raises:
        NotFound: The document does not have the cloud.
        UsageError: It has several, and no name was given.
        NotValid: The definition is wrong, or no plugin drives its type.
    """
    found = read_clouds(document)
    if name and name not in found:
        raise NotFound(f"cloud {quote(name)} not found in file {quote(source)}")
    if not name and len(found) > 1:
        raise UsageError(f"file {quote(source)} defines several clouds: name one of {', '.join(found)}")
    cloud = found[name or next(iter(found))]
    return cloud, check(host, cloud)


def check(host: PluginHost, cloud: Cloud) -> list[str]:
    """Return what to warn of in the definition of a cloud.

    Raises:
        NotValid: The definition is wrong, or no plugin drives its type.
    """
    kind = clouds.kind_of(host, cloud.type)
    if kind is None:
        known = ", ".join(sorted(item.name for item in host.provider_types()))
        raise NotValid(f"cloud type {quote(cloud.type)} not valid", hint=f"known types: {known}")
    return cloud_checks.check(cloud, kind)


def taken(host: PluginHost, name: str) -> str:
    """Return why a name is not free for a new cloud, or an empty text."""
    if name in clouds.BUILT_IN:
        return f"{quote(name)} is the name of a built-in cloud"
    if name in clouds.public_clouds(host):
        return f"{quote(name)} is the name of a public cloud"
    return ""


def require_free(where: Sides, name: str, *, force: bool = False) -> None:
    """Check that a new cloud replaces no other.

    Raises:
        NotValid: There is a cloud of that name; by force, one that users defined.
    """
    files = where.files if where.client else where.controller.controller.cloud_files
    if name in files.clouds():
        raise NotValid(f"{quote(name)} already exists; use `update-cloud` to replace this existing cloud")
    if why := "" if force else taken(where.host, name):
        raise NotValid(f"{why}; use `update-cloud` to override this definition")


def put_on_client(where: Sides, cloud: Cloud) -> bool:
    """Write the definition of a cloud to the client; return True when the cloud still needs a credential."""
    where.files.put_cloud(cloud.name, cloud.to_document())
    return _needs_credential(where, cloud) and not where.files.credentials(cloud.name).credentials


def put_on_controller(where: Sides, cloud: Cloud) -> None:
    """Write the definition of a cloud to a controller."""
    where.controller.controller.cloud_files.put_cloud(cloud.name, cloud.to_document())


def add_to_controller(where: Sides, cloud: Cloud, *, force: bool = False) -> None:
    """Define a new cloud on a controller; a cloud of Kubernetes is kept, but can have no models.

    Raises:
        NotValid: The name is taken, the definition is wrong, or no plugin drives its type.
    """
    require_free(where, cloud.name, force=force)
    if cloud.type != _KUBERNETES:
        check(where.host, cloud)
    put_on_controller(where, cloud)


def update_on_controller(where: Sides, name: str, cloud: Cloud | None = None) -> None:
    """Replace the definition of a cloud on a controller: by the client's unless one is given.

    Raises:
        NotFound: The client or the controller has no such cloud.
    """
    known = cloud or clouds.definition((where.files,), name, where.host)
    if name not in controller_clouds(where.controller, where.host):
        raise not_found("cloud", name)
    put_on_controller(where, known)


def hand_over(where: Sides, cloud: Cloud, credential: str = "") -> HandedOver:
    """Give a credential of the client to a controller: the one of that name, else the cloud's default.

    Raises:
        NotFound: There is no credential of that name.
        NotValid: There are several.
    """
    try:
        name = clouds.choose_credential((where.files,), cloud.name, credential)
    except PushjujuError as error:
        raise type(error)(f"loading credentials: {error.message}", hint=error.hint) from None
    if not name:
        return HandedOver(missing=_needs_credential(where, cloud))
    found = where.files.credentials(cloud.name).credentials[name]
    secret = clouds.secret_attributes(
        clouds.kind_of(where.host, cloud.type), found.auth_type, list(found.attributes)
    )
    where.controller.controller.cloud_files.put_credential(cloud.name, name, found, secret)
    return HandedOver(name=name)


def _needs_credential(where: Sides, cloud: Cloud) -> bool:
    kind = clouds.kind_of(where.host, cloud.type)
    return kind is not None and EMPTY not in kind.credential_schemas


def set_default_region(where: Sides, name: str, region: str) -> str:
    """Choose the region in which a cloud is used, or with an empty text none; return the region's own name.

    Raises:
        NotFound: The client has no such cloud, or the cloud no such region.
        NotValid: The cloud has no regions.
    """
    cloud = with_regions(where, name)
    chosen = cloud.region(region).name if region else ""
    where.files.set_default(name, "default-region", chosen)
    return chosen


def with_regions(where: Sides, name: str) -> Cloud:
    """Return a cloud of the client that has regions.

    Raises:
        NotFound: The client has no such cloud.
        NotValid: The cloud has no regions.
    """
    cloud = clouds.definition((where.files,), name, where.host)
    if not cloud.regions:
        raise NotValid(f"cloud {name} has no regions")
    return cloud


def remove_from_client(where: Sides, name: str, open_controller: Open) -> ClientRemoval:
    """Remove a cloud from the client; controllers that work with the cloud keep its definition."""
    document = where.files.clouds().get(name)
    if document is None:
        stays = Removed.PUBLIC if name in clouds.public_clouds(where.host) else Removed.ABSENT
        return ClientRemoval(outcome=Removed.BUILT_IN if name in clouds.BUILT_IN else stays)
    keepers, unread = controllers_that(where, lambda ctx: is_used(ctx, name), open_controller)
    for own in (where.folder.controller(keeper).cloud_files for keeper in keepers):
        if name not in own.clouds():
            own.put_cloud(name, document)
    where.files.remove_cloud(name)
    return ClientRemoval(outcome=Removed.GONE, unread=unread)


def controllers_that(
    where: Sides, uses: Callable[[Context], bool], open_controller: Open
) -> tuple[list[str], dict[str, PushjujuError]]:
    """Return the controllers that use something of the client, or cannot be read and may; and why not."""
    keepers, unread = [], {}
    for name in where.folder.controllers():
        try:
            if not uses(open_controller(name)):
                continue
        except PushjujuError as error:
            unread[name] = error
        keepers.append(name)
    return keepers, unread


def remove_from_controller(where: Sides, name: str) -> bool:
    """Remove a cloud from a controller; return False when the controller has no definition of its own.

    Raises:
        NotValid: The controller, or models of it, are on the cloud.
    """
    ctx = where.controller
    if is_used(ctx, name):
        users = users_of(ctx, name)
        count = f"{len(users)} model{'' if len(users) == 1 else 's'}" if users else "the controller"
        raise NotValid(f"cloud is used by {count}")
    return ctx.controller.cloud_files.remove_cloud(name)


def is_used(ctx: Context, name: str) -> bool:
    """Return True when a controller or models of it are on a cloud."""
    return bool(users_of(ctx, name)) or ctx.controller.settings().get("cloud") == name


def client_clouds(host: PluginHost, client: CloudFiles) -> dict[str, tuple[str, Cloud]]:
    """Return the clouds of this client: name -> (`public`, `built-in` or `local`, cloud)."""
    found = {name: ("public", cloud) for name, cloud in clouds.public_clouds(host).items()}
    found |= {name: ("built-in", clouds.definition((), name)) for name in clouds.BUILT_IN}
    for name in client.clouds():
        found[name] = ("local", clouds.definition((client,), name))
    return found


def controller_clouds(ctx: Context, host: PluginHost) -> dict[str, Cloud]:
    """Return the clouds that a controller works with: its own, those of its models, and what it was given."""
    places = clouds.folders(ctx.datadir, ctx.controller)
    names = {str(ctx.controller.settings().get("cloud", "local")), *ctx.controller.cloud_files.clouds()}
    names |= {model.cloud for model in models.list_models(ctx)}
    found = {}
    for name in sorted(names):
        try:
            found[name] = clouds.definition(places, name, host)
        except NotFound:
            continue
    return found


def users_of(ctx: Context, cloud: str, credential: str | None = None) -> list[str]:
    """Return the models of a cloud, or of one of its credentials, as `owner/name`."""
    listed = (model for model in models.list_models(ctx) if model.cloud == cloud)
    return [model.qualified for model in listed if credential in (None, model.credential)]
