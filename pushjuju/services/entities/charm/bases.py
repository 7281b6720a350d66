"""The bases that charms can be deployed on: Juju's, Debian's, and those of `extra-bases` in pushjuju.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.charms.values.charm_bases import WORKLOAD_BASES, BaseRequest
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.services.entities.model import model_config
from pushjuju.store.datadir import DataDir
from pushjuju.store.tx import ModelTx

_DEBIAN = ("debian@12", "debian@13")


def extra_bases(datadir: DataDir) -> tuple[Base, ...]:
    """Return the bases that Juju does not have."""
    return tuple(Base.parse(str(text)) for text in (*_DEBIAN, *datadir.main().get("extra-bases", [])))


def of_model(datadir: DataDir, tx: ModelTx) -> BaseRequest:
    """Return what the model sets about the base of a charm."""
    stored = model_config.stored(tx)
    default = stored.get(model_config.BASE)
    return BaseRequest(
        model_default=Base.parse(str(default)) if default else None,
        daily_images=stored.get("image-stream") == "daily",
        extra_bases=extra_bases(datadir),
    )


def check_default(datadir: DataDir, values: Mapping[str, Any]) -> None:
    """Refuse a default base on which no charm could be deployed.

    Mirrors: juju environs/config/config.go validateDefaultBase (3.6)
    """
    named = {key: values[key] for key in (model_config.BASE, model_config.SERIES) if key in values}
    text = model_config.parse_values(named).get(model_config.BASE)
    if not text:
        return
    base, known = Base.parse(str(text)), (*WORKLOAD_BASES, *extra_bases(datadir))
    if not any(base.matches(other) for other in known):
        hint = f"known bases: {', '.join(item.display for item in known)}"
        raise NotValid(f'base "{base.display}" not supported', hint=hint)
