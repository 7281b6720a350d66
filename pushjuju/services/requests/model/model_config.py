"""The requests of model-config, set-firewall-rule and set-model-constraints.

Mirrors: juju apiserver/facades/client/modelconfig, firewallrules (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.core.firewall import split
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.plugin_host import PluginHost
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.machine import spaces
from pushjuju.services.entities.model import (
    firewall,
    jump_hosts,
    model_config,
    model_defaults,
    models,
    provider_keys,
)
from pushjuju.services.entities.secret import secret_backends
from pushjuju.services.requests.relation import cross_model
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import ModelTx

FIREWALL_KEYS = {"juju-application-offer": firewall.SAAS_ALLOW, "ssh": firewall.SSH_ALLOW}

_WORKED = {firewall.SSH_ALLOW, firewall.SAAS_ALLOW, secret_backends.KEY, jump_hosts.KEY}
_IN_RULES = {firewall.MODE, firewall.SSH_ALLOW, firewall.SAAS_ALLOW, firewall.EGRESS}
_REASON = "model config changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfigOptions:
    """New values for a model's configuration."""

    values: Mapping[str, Any] = field(default_factory=dict)
    reset: Sequence[str] = ()  # keys that get the value that a new model would have

    @property
    def keys(self) -> set[str]:
        return {*self.values, *self.reset}

    @property
    def is_worked(self) -> bool:
        """True when workers have to act on the change at once, on machines or secrets."""
        return bool(_WORKED & self.keys)


def writable(values: Mapping[str, Any]) -> dict[str, object]:
    """Return values without the keys that users may not set."""
    return {key: value for key, value in values.items() if key not in model_config.READ_ONLY}


def unknown_keys(ctx: Context, model: Model, options: ModelConfigOptions, host: PluginHost) -> list[str]:
    """Return the keys that neither Juju nor the cloud's provider has; setting them is allowed."""
    names = (*options.values, *options.reset)
    theirs = provider_keys.of(host, names, model.cloud_type)
    provider_keys.check(theirs, options.values)
    with ctx.read(model.uuid) as tx:
        present = model_config.effective(tx)
    return provider_keys.unknown(names, theirs, present)


def set_model_config(ctx: Context, model: Model, options: ModelConfigOptions) -> None:
    """Change the configuration of a model, and wake the workers that the change concerns."""
    inherited = {
        **(models.provider_config(ctx, model.cloud_type) if options.reset else {}),
        **model_defaults.inherited(ctx.controller.settings(), model.cloud, model.region),
    }
    charms.check_default_base(ctx.datadir, options.values)
    with ctx.change(model.uuid) as tx:
        spaces.check_default(tx, options.values)
        model_config.change(tx, options.values, options.reset, inherited=inherited)
        if secret_backends.KEY in options.keys:
            secret_backends.follow(tx)
        wake.unsettled(tx, _REASON)
        if _IN_RULES & options.keys:
            _wake_firewalls(tx)
        if jump_hosts.KEY in options.keys:
            jump_hosts.changed(tx)


def _wake_firewalls(tx: ModelTx) -> None:
    firewall.changed_everywhere(tx, _REASON)
    cross_model.config_changed(tx)


def effective(ctx: Context, model: Model) -> dict[str, dict[str, object]]:
    """Return key -> {value, source} for every key of a model."""
    settings = ctx.controller.settings()
    above = {
        "controller": model_defaults.of_cloud(settings, model.cloud),
        "region": model_defaults.of_region(settings, model.cloud, model.region),
    }
    with ctx.read(model.uuid) as tx:
        return model_config.effective(tx, above)


def firewall_rules(ctx: Context, model: str) -> dict[str, list[str]]:
    """Return service -> networks that may reach the service; no networks means all."""
    with ctx.read(model) as tx:
        return {service: split(str(model_config.get(tx, key))) for service, key in FIREWALL_KEYS.items()}


def set_firewall_rule(ctx: Context, model: str, service: str, networks: Iterable[str]) -> None:
    """Set the networks that may reach a service on the machines of a model."""
    with ctx.change(model) as tx:
        model_config.change(tx, {FIREWALL_KEYS[service]: ",".join(networks)})
        _wake_firewalls(tx)


def set_constraints(ctx: Context, model: str, values: Mapping[str, Any]) -> None:
    """Replace the constraints of a model, which hold for new machines."""
    with ctx.change(model) as tx:
        models.require_alive(tx)
        kept = {key: value for key, value in values.items() if value is not None}
        tx.run("model_constraints_set", value=json.dumps(kept))
