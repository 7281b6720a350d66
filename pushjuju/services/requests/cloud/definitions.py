"""The requests of add-cloud, update-cloud and remove-cloud, for the client and for a controller.

Mirrors: juju cmd/juju/cloud/add.go, updatecloud.go, remove.go, apiserver/facades/client/cloud (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum

from pushjuju.core.clouds import EMPTY, Cloud, read_clouds
from pushjuju.core.errors import AlreadyExists, NotFound, NotValid, PushjujuError, UsageError, not_found
from pushjuju.core.values import dataclass
from pushjuju.plugins.manager import PluginHost
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import models
from pushjuju.services.entities.model.sides import Sides
from pushjuju.store.cloudfiles import CloudFiles

_KUBERNETES = "kubernetes"
Open = Callable[[str], Context]
"""Opens a controller by its name."""


class Removed(StrEnum):
    """The outcome of the removal of a cloud or credential."""

    GONE = "removed"
    BUILT_IN = "built in: it stays"
    PUBLIC = "a plugin brings it: it stays"
    ABSENT = "there is no such cloud"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRemoval:
    """The removal of a cloud, or of a credential, from the client."""

    outcome: Removed
    # controller -> why it cannot be read; such a controller gets a copy of the cloud or credential
    unread: Mapping[str, PushjujuError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """The credential that a controller got together with a cloud."""

    name: str = ""
    missing: bool = False  # True when the cloud needs a credential and the client has no credential


def of_document(host: PluginHost, document: object, name: str, source: str) -> tuple[Cloud, list[str]]:
    """Return the cloud of a YAML document in Juju's form, and warnings.

    Args:
        name: The name of the cloud; empty for the only cloud of the document.
        source: The name of the file, for errors.
    """
    found = read_clouds(document)
    if name and name not in found:
        raise NotFound(f"cloud {quote(name)} not found in file {quote(source)}")
    if not name and len(found) > 1:
        raise UsageError(f"file {quote(source)} defines several clouds: name one of {', '.join(found)}")
    cloud = found[name or next(iter(found))]
    return cloud, check(host, cloud)


def check(host: PluginHost, cloud: Cloud) -> list[str]:
    """Return the warnings about the definition of a cloud.

    Raises:
        NotValid: The definition is wrong, or no plugin drives its type.
    """
    kind = clouds.kind_of(host, cloud.type)
    if kind is None:
        known = ", ".join(sorted(item.name for item in host.provider_types()))
        raise NotValid(f"cloud type {quote(cloud.type)} not valid", hint=f"known types: {known}")
    return clouds.check_definition(cloud, kind)


def taken(host: PluginHost, name: str) -> str:
    """Return why a new cloud may not have a name; empty when it may."""
    if name in clouds.BUILT_IN:
        return f"{quote(name)} is the name of a built-in cloud"
    if name in clouds.public_clouds(host):
        return f"{quote(name)} is the name of a public cloud"
    return ""


def require_free(where: Sides, name: str, *, force: bool = False) -> None:
    """Check that a new cloud does not replace another cloud.

    Raises:
        AlreadyExists: The controller or client has a cloud of this name.
        NotValid: A public or built-in cloud has the name; with `force`, these are ignored.
    """
    files = where.files if where.client else where.controller.controller.cloud_files
    if name in files.clouds():
        raise AlreadyExists(
            f"{quote(name)} already exists; use `update-cloud` to replace this existing cloud"
        )
    if why := "" if force else taken(where.host, name):
        raise NotValid(f"{why}; use `update-cloud` to override this definition")


def put_on_client(where: Sides, cloud: Cloud) -> bool:
    """Write the definition of a cloud to the client; return True when the cloud still needs a credential."""
    where.files.put_cloud(cloud.name, cloud.to_document())
    return _needs_credential(where, cloud) and not where.files.credentials(cloud.name).credentials


def put_on_controller(where: Sides, cloud: Cloud) -> None:
    """Write the definition of a cloud to a controller."""
    ctx = where.controller
    with ctx.change_controller(f"cloud {cloud.name}"):
        ctx.controller.cloud_files.put_cloud(cloud.name, cloud.to_document())


def add_to_controller(where: Sides, cloud: Cloud, *, force: bool = False) -> None:
    """Add a cloud to a controller; a Kubernetes cloud is stored, but no model can be added to it."""
    require_free(where, cloud.name, force=force)
    if cloud.type != _KUBERNETES:
        check(where.host, cloud)
    put_on_controller(where, cloud)


def update_on_controller(where: Sides, name: str, cloud: Cloud | None = None) -> None:
    """Replace the definition of a cloud on a controller, by default with the client's definition."""
    known = cloud or clouds.definition((where.files,), name, where.host)
    if name not in controller_clouds(where.controller, where.host):
        raise not_found("cloud", name)
    put_on_controller(where, known)


def hand_over(where: Sides, cloud: Cloud, credential: str = "") -> HandedOver:
    """Copy a credential of the client to a controller: the named credential, else the cloud's default."""
    try:
        name = clouds.choose_credential((where.files,), cloud.name, credential)
    except PushjujuError as error:
        raise type(error)(f"loading credentials: {error.message}", hint=error.hint) from None
    if not name:
        return HandedOver(missing=_needs_credential(where, cloud))
    found = where.files.credentials(cloud.name).credentials[name]
    ctx, kind = where.controller, clouds.kind_of(where.host, cloud.type)
    with ctx.change_controller(f"credential {cloud.name}/{name}"):
        clouds.keep_credential(ctx.controller.cloud_files, cloud.name, name, found, kind)
    return HandedOver(name=name)


def _needs_credential(where: Sides, cloud: Cloud) -> bool:
    kind = clouds.kind_of(where.host, cloud.type)
    return kind is not None and EMPTY not in kind.credential_schemas


def set_default_region(where: Sides, name: str, region: str) -> str:
    """Set the default region of a cloud on the client, or reset it with an empty text; return its name."""
    cloud = with_regions(where, name)
    chosen = cloud.region(region).name if region else ""
    where.files.set_default(name, "default-region", chosen)
    return chosen


def with_regions(where: Sides, name: str) -> Cloud:
    """Return a cloud of the client, or raise when it has no regions."""
    cloud = clouds.definition((where.files,), name, where.host)
    if not cloud.regions:
        raise NotValid(f"cloud {name} has no regions")
    return cloud


def remove_from_client(where: Sides, name: str, open_controller: Open) -> ClientRemoval:
    """Remove a cloud from the client; controllers that use the cloud get a copy of its definition first."""
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
    """Return the controllers that `uses` accepts or that cannot be read, and the errors."""
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
    """Remove a cloud from a controller; return False when the controller has no definition of its own."""
    ctx = where.controller
    if is_used(ctx, name):
        users = users_of(ctx, name)
        count = f"{len(users)} model{'' if len(users) == 1 else 's'}" if users else "the controller"
        raise NotValid(f"cloud is used by {count}")
    with ctx.change_controller(f"cloud {name}"):
        return ctx.controller.cloud_files.remove_cloud(name)


def is_used(ctx: Context, name: str) -> bool:
    """Return True when a controller or some of its models use a cloud."""
    return bool(users_of(ctx, name)) or ctx.controller.settings().get("cloud") == name


def client_clouds(host: PluginHost, client: CloudFiles) -> dict[str, tuple[str, Cloud]]:
    """Return the clouds of this client: name -> (`public`, `built-in` or `local`, cloud)."""
    found = {name: ("public", cloud) for name, cloud in clouds.public_clouds(host).items()}
    found |= {name: ("built-in", clouds.definition((), name)) for name in clouds.BUILT_IN}
    for name in client.clouds():
        found[name] = ("local", clouds.definition((client,), name))
    return found


def controller_clouds(ctx: Context, host: PluginHost) -> dict[str, Cloud]:
    """Return the clouds that a controller has in its files, or that the controller or its models use."""
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
    """Return the models that use a cloud, or one credential of the cloud, as `owner/name`."""
    listed = (model for model in models.list_models(ctx) if model.cloud == cloud)
    return [model.qualified for model in listed if credential in (None, model.credential)]
