"""The request of add-model: chooses cloud, region and credential, and records the model.

Mirrors: juju cmd/juju/controller/addmodel.go, apiserver/facades/client/modelmanager CreateModel (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from pushjuju.core.clouds import EMPTY, Cloud
from pushjuju.core.errors import AlreadyExists, NotFound, NotValid
from pushjuju.core.ids import new_uuid
from pushjuju.core.status import Life
from pushjuju.core.values import dataclass
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis import users, wake
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import model_config, model_defaults, models, pools
from pushjuju.store.rows.model import Model

Check = Callable[[Cloud, str, str, Mapping[str, Any]], None]
"""Checks cloud, region, credential and configuration of a new model; raises an error to refuse them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddModelOptions:
    """What a user asks for when adding a model.

    Raises:
        UsageError: The name is not valid.
    """

    name: str
    # `cloud[/region]`, or a region of the controller's cloud; empty for the controller's own place
    cloud: str = ""
    # the key of a credential; empty for the default of the controller or the cloud. The default belongs to
    # the user who asks: only the controller's owner uses the owner's credentials.
    credential: str = ""
    # values of the model's configuration. They override the defaults of region, controller, cloud definition
    # and provider, which override each other in this order.
    config: Mapping[str, Any] = field(default_factory=dict)
    owner: str = ""  # a user of the controller; empty for the user who runs the command

    def __post_init__(self) -> None:
        """Check the name of the model."""
        models.require_name(self.name)


def add_model(ctx: Context, options: AddModelOptions, *, check: Check | None = None) -> Model:
    """Add a model; `check` is called before anything is recorded, and may refuse the model."""
    name = options.name
    found, region, chosen = _placed(ctx, options)
    now = ctx.clock.now()
    model = Model(
        uuid=new_uuid(), name=name, owner=users.canonical(options.owner or ctx.user), cloud=found.name,
        cloud_type=found.type, region=region, credential=chosen, life=Life.ALIVE, created=now,
    )  # fmt: skip
    inherited = model_defaults.inherited(ctx.controller.settings(), found.name, region)
    settings: dict[str, object] = {}
    of_host = pools.of_new_model(ctx, found, PluginHost(environ=ctx.environ))
    given = {**models.provider_config(ctx, found.type), **of_host}
    for layer in (given, _cloud_settings(found, region), inherited, options.config):
        settings.update(model_config.parse_values(layer))
    charms.check_default_base(ctx.datadir, options.config)
    if check is not None:
        check(found, region, chosen, settings)
    with ctx.change(model.uuid) as tx:
        users.require_or_external(tx, model.owner)
        if tx.find(Model, "model_by_name", owner=model.owner, name=name):
            raise AlreadyExists(f'model "{name}" for {model.owner} already exists')
        models.insert(tx, model, now=now)
        model_config.change(tx, settings, new=True)
        wake.cleaner(tx, now, "new model")
    clouds.share_with_hosts(ctx)
    return model


def _placed(ctx: Context, options: AddModelOptions) -> tuple[Cloud, str, str]:
    """Return cloud, region and credential of a new model, by default those of the controller."""
    settings = ctx.controller.settings()
    places, host = clouds.folders(ctx.datadir, ctx.controller), PluginHost(environ=ctx.environ)
    own, credential = str(settings.get("cloud", "local")), options.credential
    if options.cloud:
        found, region = _named(places, host, options.cloud, own)
    else:
        found, region = clouds.definition(places, own, host), str(settings.get("region", ""))
    if ctx.user == DEFAULT_USER and found.name in (settings.get("cloud"), own):
        credential = credential or str(settings.get("credential", ""))
    chosen = clouds.choose_credential(places, found.name, credential, ctx.user)
    if not chosen and ctx.user != DEFAULT_USER and _needs_credential(found, host):
        raise NotValid("no credential specified")
    clouds.keep_public(ctx.controller, places, found)
    return found, clouds.choose_region(places, found, region), chosen


def _needs_credential(cloud: Cloud, host: PluginHost) -> bool:
    """Return True when a cloud cannot be used without a credential."""
    kind = clouds.kind_of(host, cloud.type)
    return kind is not None and bool(kind.credential_schemas) and EMPTY not in kind.credential_schemas


def _named(places: clouds.Folders, host: PluginHost, text: str, own: str) -> tuple[Cloud, str]:
    """Return cloud and region of `cloud[/region]`, which may be a region of the controller's own cloud."""
    name, slash, region = text.partition("/")
    try:
        return clouds.definition(places, name, host), region
    except NotFound:
        known = clouds.definition(places, own, host)
        if slash or text.lower() not in {item.name.lower() for item in known.regions}:
            raise
        return known, text


def _cloud_settings(cloud: Cloud, region: str) -> dict[str, object]:
    """Return the model configuration that a cloud's definition sets for models of a region."""
    given = {**cloud.config, **(cloud.region_config.get(region) or {})}
    return {key: value for key, value in given.items() if key in model_config.ATTRIBUTES}
