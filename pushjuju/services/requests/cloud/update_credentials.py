"""update-credential: credentials are tried on the models that use them, kept, and the models go on.

Mirrors: juju cmd/juju/cloud/updatecredential.go, apiserver/facades/client/cloud (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pushjuju.core.clouds import CloudCredentials, StoredCredential
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.plugins.api.clouds import ProviderType
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model.sides import Sides
from pushjuju.services.requests.cloud import credentials
from pushjuju.services.requests.cloud.credentials import Trial
from pushjuju.services.requests.cloud.definitions import Open


class NoneOnClient(NotFound):
    """The client has no credentials of the cloud, so that there is nothing to update."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCredentialsOptions:
    """Credentials that replace others.

    Attributes:
        credentials: Cloud -> its credentials.
        region: A region that each of the clouds must have; empty for any.
        force: Keep what models cannot use, and do not look at the region.
        new: The credentials are not the client's own, which therefore keeps them too.
        files: Whether attributes may name files of this host.
        dry_run: Only try the credentials.
    """

    credentials: Mapping[str, CloudCredentials]
    region: str = ""
    force: bool = False
    new: bool = True
    files: bool = True
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """What became of one credential.

    Attributes:
        models: The models that use the credential, each with what is wrong with the credential for it.
        refused: The credential was not kept, because of the models.
    """

    cloud: str
    name: str
    models: Mapping[str, Sequence[str]]
    refused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateReport:
    """What became of an update.

    Attributes:
        woken: Controllers with machines that are tried anew.
        unread: Controllers that cannot be read, with the reason.
    """

    results: Sequence[Updated]
    woken: Sequence[Context] = ()
    unread: Mapping[str, PushjujuError] = field(default_factory=dict)

    @property
    def is_refused(self) -> bool:
        """Return True when a credential was not kept."""
        return any(result.refused for result in self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A credential that fits its cloud."""

    cloud: str
    name: str
    item: StoredCredential
    kind: ProviderType


def chosen(
    stored: Mapping[str, CloudCredentials], source: str, names: Sequence[str]
) -> Mapping[str, CloudCredentials]:
    """Return those of some credentials that a cloud, or a cloud and a name, mean; all without names.

    Raises:
        NotFound: There is no such credential; the message has the source.
    """
    if not names:
        return stored
    cloud = names[0]
    if cloud not in stored:
        raise NotFound(f"credentials for cloud {quote(cloud)} in {source} not found")
    if len(names) == 1:
        return {cloud: stored[cloud]}
    name = names[1]
    item = stored[cloud].credentials.get(name)
    if item is None:
        raise NotFound(f"credential {quote(name)} for cloud {quote(cloud)} in {source} not found")
    return {cloud: CloudCredentials(credentials={name: item})}


def update(
    where: Sides, options: UpdateCredentialsOptions, open_controller: Open, trial: Trial
) -> UpdateReport:
    """Replace credentials on the client, on a controller, or on both; a refused credential stops no other.

    Args:
        open_controller: For the controllers whose models use the client's credentials.

    Raises:
        NoneOnClient: The client has no credentials of a cloud.
        NotFound: There is no such cloud.
        NotValid: A credential does not fit its cloud.
    """
    ready = [found for cloud in options.credentials for found in _ready(where, options, cloud)]
    opened, unread = _concerned(where, open_controller)
    results = [_tried(where, options, each, opened, trial) for each in ready]
    if options.dry_run:
        return UpdateReport(results=results, unread=unread)
    accepted = [each for each, result in zip(ready, results, strict=True) if not result.refused]
    for each in accepted:
        if where.client and options.new:
            credentials.keep(where.files, each.cloud, each.name, each.item, each.kind)
        if where.ctx:
            own = where.ctx.controller.cloud_files
            credentials.keep(own, each.cloud, each.name, each.item, each.kind)
    changed = {(each.cloud, each.name) for each in accepted}
    woken = [ctx for ctx in opened if credentials.renew_models(ctx, changed)]
    return UpdateReport(results=results, woken=woken, unread=unread)


def _ready(where: Sides, options: UpdateCredentialsOptions, cloud: str) -> list[_Ready]:
    """Return the credentials of a cloud, checked and completed."""
    known, kind = credentials.known_cloud(where, cloud)
    if options.region and not options.force:
        credentials.require_region(known, options.region)
    if where.client and not where.files.credentials(cloud).credentials:
        raise NoneOnClient(f"Could not find client credentials for cloud {cloud}.")
    ready = []
    for name, item in options.credentials[cloud].credentials.items():
        if item.auth_type not in kind.credential_schemas:
            raise NotValid(f"credential {quote(name)} contains invalid auth type {quote(item.auth_type)}")
        if not options.files:
            credentials.refuse_files(name, item, kind)
        full = credentials.exchanged(where, known, credentials.finished(cloud, name, item, kind))
        ready.append(_Ready(cloud=cloud, name=name, item=full, kind=kind))
    return ready


def _concerned(where: Sides, open_controller: Open) -> tuple[list[Context], dict[str, PushjujuError]]:
    """Return the controllers whose models may use what changes, and those that cannot be read."""
    if where.ctx:
        return [where.ctx], {}
    opened, unread = [], {}
    for name in where.folder.controllers():
        try:
            opened.append(open_controller(name))
        except PushjujuError as error:
            unread[name] = error
    return opened, unread


def _tried(
    where: Sides, options: UpdateCredentialsOptions, each: _Ready, opened: Sequence[Context], trial: Trial
) -> Updated:
    """Try a credential on all models that will use it; a controller may have one of its own of that name."""
    models = {
        model.name: trial(ctx, model, each.name, each.item)
        for ctx in opened
        if where.ctx or each.name not in ctx.controller.cloud_files.credentials(each.cloud).credentials
        for model in credentials.models_using(ctx, each.cloud, each.name)
    }
    refused = any(models.values()) and not options.force
    return Updated(cloud=each.cloud, name=each.name, models=models, refused=refused)
