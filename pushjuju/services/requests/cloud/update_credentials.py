"""The request of update-credential: tries credentials on the models that use them, then stores them.

Mirrors: juju cmd/juju/cloud/updatecredential.go, apiserver/facades/client/cloud (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pushjuju.core.clouds import CloudCredentials, StoredCredential
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.clouds import ProviderType
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.cloud.clouds import key_of
from pushjuju.services.entities.model.sides import Sides
from pushjuju.services.requests.cloud import credentials
from pushjuju.services.requests.cloud.credentials import Trial
from pushjuju.services.requests.cloud.definitions import Open


class NoneOnClient(NotFound):
    """The client has no credentials for the cloud, so that there is nothing to update."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCredentialsOptions:
    """New values for credentials."""

    credentials: Mapping[str, CloudCredentials]  # cloud -> its credentials
    region: str = ""  # a region that each of the clouds must have; empty for no check
    # True to store credentials that models cannot use, and to skip the check of the region
    force: bool = False
    new: bool = True  # True to write the credentials to the client too; False when they were read from there
    files: bool = True  # True when attributes may name files of this host
    dry_run: bool = False  # True to try the credentials without storing them
    owner: str = DEFAULT_USER  # the user whose credentials these are


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """The outcome for one credential."""

    cloud: str
    name: str
    # name of a model that uses the credential -> the problems; empty without problems
    models: Mapping[str, Sequence[str]]
    refused: bool  # True when the credential was not stored, because of these problems


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateReport:
    """The outcome of an update of credentials."""

    results: Sequence[Updated]
    woken: Sequence[Context] = ()  # controllers with machines whose start is tried again
    unread: Mapping[str, PushjujuError] = field(default_factory=dict)  # controller -> why it cannot be read

    @property
    def is_refused(self) -> bool:
        """True when a credential was not stored."""
        return any(result.refused for result in self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A credential that was completed and checked."""

    cloud: str
    name: str
    item: StoredCredential
    kind: ProviderType


def chosen(
    stored: Mapping[str, CloudCredentials], source: str, names: Sequence[str]
) -> Mapping[str, CloudCredentials]:
    """Return the credentials for `names`: all when empty, those of a cloud, or one by cloud and name.

    Raises:
        NotFound: The credential does not exist; the message names the source.
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
    """Replace credentials on the client, on a controller, or on both; a refusal does not stop the others.

    Args:
        open_controller: Opens the controllers whose models may use the client's credentials.

    Raises:
        NoneOnClient: The client has no credentials for a cloud.
    """
    ready = [found for cloud in options.credentials for found in _ready(where, options, cloud)]
    opened, unread = _concerned(where, open_controller)
    results = [_tried(where, options, each, opened, trial) for each in ready]
    if options.dry_run:
        return UpdateReport(results=results, unread=unread)
    accepted = [each for each, result in zip(ready, results, strict=True) if not result.refused]
    for each in accepted:
        if where.client and options.new:
            clouds.keep_credential(where.files, each.cloud, each.name, each.item, each.kind)
        if where.ctx:
            key = key_of(options.owner, each.name)
            credentials.keep_on_controller(where.ctx, each.cloud, key, each.item, each.kind)
    changed = {(each.cloud, key_of(options.owner, each.name)) for each in accepted}
    woken = [ctx for ctx in opened if credentials.renew_models(ctx, changed)]
    return UpdateReport(results=results, woken=woken, unread=unread)


def _ready(where: Sides, options: UpdateCredentialsOptions, cloud: str) -> list[_Ready]:
    """Return the credentials of a cloud, completed and checked."""
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
    """Return the controllers whose models may use the credentials, and errors of unreadable controllers."""
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
    """Try a credential on all models that will use it, except on controllers with their own credential."""
    key = key_of(options.owner, each.name)
    models = {
        model.name: trial(ctx, model, each.name, each.item)
        for ctx in opened
        if where.ctx or key not in ctx.controller.cloud_files.credentials(each.cloud).credentials
        for model in credentials.models_using(ctx, each.cloud, key)
    }
    refused = any(models.values()) and not options.force
    return Updated(cloud=each.cloud, name=each.name, models=models, refused=refused)
