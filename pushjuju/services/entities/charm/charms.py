"""Reads the charms of a model and the bases for them, and reads and writes the settings of applications."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pushjuju.charms.format.config import Settings
from pushjuju.charms.values import charm_bases, wire
from pushjuju.charms.values.model import Charm
from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.ids import digest
from pushjuju.services.entities.model import model_config
from pushjuju.store.datadir import DataDir
from pushjuju.store.rows.records import Application, CharmRecord
from pushjuju.store.tx import ModelTx

_DEBIAN = ("debian@12", "debian@13")


@lru_cache(maxsize=64)
def _decode(document: str) -> Charm:
    return wire.from_wire(json.loads(document))


def get(tx: ModelTx, url: str) -> Charm:
    """Return a charm of the model, or raise NotFound."""
    row = tx.row("charm_by_url", url=url)
    if row is None:
        raise NotFound(f'charm "{url}" not found')
    return _decode(row["document"])


def record(tx: ModelTx, url: str) -> CharmRecord:
    """Return the record of a charm: its origin and its archive; or raise NotFound."""
    return tx.get(CharmRecord, "charm_by_url", f'charm "{url}" not found', url=url)


def archive(tx: ModelTx, url: str) -> str:
    """Return the hash of a charm's archive, or "" for a charm that the model does not have."""
    return str(tx.scalar("charm_sha256", url=url) or "")


def stored_settings(tx: ModelTx, application: str, url: str) -> Settings:
    """Return the settings that users set for an application with a charm, without defaults."""
    rows = tx.rows("setting_list", application=application, charm_url=url)
    return {row["key"]: json.loads(row["value"]) for row in rows}


def put_settings(tx: ModelTx, application: str, url: str, settings: Settings) -> None:
    """Store settings of an application; a value of None resets its key."""
    key: dict[str, object] = {"model": tx.model, "application": application, "charm_url": url}
    for name, value in settings.items():
        if value is None:
            tx.run("setting_reset", **key, key=name)
        else:
            tx.run("setting_set", **key, key=name, value=json.dumps(value))


def settings_hash(application: str, url: str, settings: Settings) -> str:
    """Return a hash of the stored settings of a charm; a unit runs config-changed after a change."""
    text = json.dumps([application, url, sorted(settings.items())], sort_keys=True)
    return digest(text)


def trust_hash(application: Application) -> str:
    """Return a hash of the settings that belong to the application instead of its charm, such as trust."""
    return digest(json.dumps({"trust": application.trust}))


def extra_bases(datadir: DataDir) -> tuple[Base, ...]:
    """Return the bases that Juju does not have."""
    return tuple(Base.parse(str(text)) for text in (*_DEBIAN, *datadir.main().get("extra-bases", [])))


def base_request(datadir: DataDir, tx: ModelTx) -> charm_bases.BaseRequest:
    """Return what the model sets about the base of a charm."""
    stored = model_config.stored(tx)
    default = stored.get(model_config.BASE)
    return charm_bases.BaseRequest(
        model_default=Base.parse(str(default)) if default else None,
        daily_images=stored.get("image-stream") == "daily",
        extra_bases=extra_bases(datadir),
    )


def check_default_base(datadir: DataDir, values: Mapping[str, Any]) -> None:
    """Refuse a default base on which no charm could be deployed.

    Mirrors: juju environs/config/config.go validateDefaultBase (3.6)
    """
    named = {key: values[key] for key in (model_config.BASE, model_config.SERIES) if key in values}
    text = model_config.parse_values(named).get(model_config.BASE)
    if not text:
        return
    base, known = Base.parse(str(text)), (*charm_bases.WORKLOAD_BASES, *extra_bases(datadir))
    if not any(base.matches(other) for other in known):
        hint = f"known bases: {', '.join(item.display for item in known)}"
        raise NotValid(f'base "{base.display}" not supported', hint=hint)
