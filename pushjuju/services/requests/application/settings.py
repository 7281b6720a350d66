"""The requests of config, trust, bind, set-constraints and set-application-base.

Mirrors: juju apiserver/facades/client/application, state/application.go (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.charms.format.config import TRUST, Settings, parse_settings, parse_settings_yaml, with_trust
from pushjuju.charms.values.model import ConfigOption
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.core.suggest import did_you_mean
from pushjuju.core.values import dataclass
from pushjuju.services.entities.application import applications, bindings
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOptions:
    """New settings of an application, applied in this order: the file, the resets, the values."""

    application: str
    # option -> value as text; `trust` counts as an option
    values: Mapping[str, str] = field(default_factory=dict)
    file: bytes | None = None  # the content of a YAML file, as `config --file` takes it, or None
    reset: Sequence[str] = ()  # options that get the charm's default value


def set_config(ctx: Context, model: str, options: ConfigOptions) -> None:
    """Change settings of an application; after an error, none is changed."""
    name, file = options.application, options.file
    with ctx.change(model) as tx:
        application = applications.get(tx, name)
        known = with_trust(applications.current_charm(tx, application).config)
        changes: Settings = {}
        try:
            changes.update(parse_settings_yaml(known, file, name) if file is not None else {})
            changes.update(dict.fromkeys(_named(known, options.reset)))
            changes.update(parse_settings(known, options.values))
        except NotValid as error:
            text = f"parsing settings for application: {error.message}"
            raise NotValid(text, detail=error.detail, hint=error.hint) from error
        if TRUST in changes:
            tx.run("application_set_trust", name=name, trust=bool(changes.pop(TRUST)))
        charms.put_settings(tx, name, application.charm_url, changes)
        wake.application(tx, name, "config changed")


def _named(known: Mapping[str, ConfigOption], names: Iterable[str]) -> Iterable[str]:
    for name in names:
        if name not in known:
            raise NotValid(f'unknown option "{name}"', hint=did_you_mean(name, known))
    return names


def set_trust(ctx: Context, model: str, name: str, *, trusted: bool) -> None:
    """Grant an application access to the cloud's credential, or revoke it."""
    with ctx.change(model) as tx:
        applications.get(tx, name)
        tx.run("application_set_trust", name=name, trust=trusted)
        wake.application(tx, name, "trust changed")


def set_constraints(ctx: Context, model: str, name: str, values: Mapping[str, Any]) -> None:
    """Replace the constraints of an application; existing units stay on their machines."""
    with ctx.change(model) as tx:
        found = applications.require_alive(tx, name)
        if found.subordinate:
            raise NotValid("constraints do not apply to subordinate applications")
        tx.run("application_set_constraints", name=name, constraints=json.dumps(dict(values)))


def set_base(ctx: Context, model: str, name: str, base: Base) -> str:
    """Set the base for future units of an application; return the base before the change.

    Mirrors: juju state/application.go UpdateApplicationBase (3.6)
    """
    with ctx.change(model) as tx:
        found = applications.require_alive(tx, name)
        if found.subordinate:
            raise NotValid(f'application "{name}" is a subordinate, update-series not supported')
        bases = applications.current_charm(tx, found).bases()
        if bases and not any(base.matches(item) for item in bases):
            named = ", ".join(item.display for item in bases)
            raise NotValid(f'base "{base.display}" not supported by charm, supported bases are: {named}')
        tx.run("application_set_base", name=name, base=str(base))
        return found.base


def bind(ctx: Context, model: str, name: str, asked: Mapping[str, str], *, force: bool) -> list[str]:
    """Change the bindings of an application; return a line for each endpoint, in Juju's words.

    Raises:
        NotValid: A machine has no address in a space; nothing is changed.
    """
    if not asked:
        raise NotValid("no bindings specified")
    with ctx.change(model) as tx:
        return bindings.record(tx, applications.get(tx, name), asked, force=force)
