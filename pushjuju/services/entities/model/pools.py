"""The pools of models: a process works the models of its own pools, and models of no pool.

A model whose machines only one host can reach is in the pool of that host.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pushjuju.core.values import dataclass
from pushjuju.store import processes

if TYPE_CHECKING:
    from pushjuju.core.clouds import Cloud
    from pushjuju.plugins.manager import PluginHost
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.tx import ModelTx

POOL = "controller-pool"
_OF_HOST = "host"  # word among the features of a provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """The pool of a model that this process does not work."""

    pool: str
    process: str  # a process that works the pool, or ""

    def complain(self) -> tuple[str, str]:
        """Return the text that no process works the model, and what to do next."""
        host = self.pool.partition(":")[0]
        text = f"no process works on the model now: it is in the pool {self.pool}"
        return text, f"pushjuju controller run    on the host {host}; elsewhere with --pool {self.pool}"


def of_new_model(ctx: Context, cloud: Cloud, host: PluginHost) -> dict[str, str]:
    """Do the same as `of_host` for a new model; a controller that is not shared needs no pools."""
    return {} if ctx.controller.vault is None else of_host(ctx, cloud, host)


def of_host(ctx: Context, cloud: Cloud, host: PluginHost) -> dict[str, str]:
    """Return the configuration that binds a model to this host if only it reaches the machines."""
    if cloud.endpoint:
        return {}
    features = host.provider_type(cloud.type).features
    return {POOL: processes.pool_here(ctx.datadir.root)} if _OF_HOST in features else {}


def unworked(ctx: Context, model: str) -> tuple[str, str] | None:
    """Return a text and what to do next when neither this process nor another one works a model, or None."""
    found = elsewhere(ctx, model)
    return None if found is None or found.process else found.complain()


def is_attended(ctx: Context, model: str) -> bool:
    """Return True when another process does the work of a model that becomes due, or only others may."""
    with ctx.read(model) as tx:
        attended = is_elsewhere(ctx, tx) or processes.waiting(tx, ctx.store.lives, pool_of(tx))
    return bool(attended)


def elsewhere(ctx: Context, model: str) -> Elsewhere | None:
    """Return the pool of a model that only other processes work, or None when this process may work it."""
    with ctx.read(model) as tx:
        if not is_elsewhere(ctx, tx):
            return None
        pool = pool_of(tx)
        return Elsewhere(pool=pool, process=processes.waiting(tx, ctx.store.lives, pool))


def is_elsewhere(ctx: Context, tx: ModelTx) -> bool:
    """Return True when only processes of another host, or with another pool, may work a model."""
    pool = pool_of(tx) if ctx.store.engine.locks_models else ""
    return bool(pool) and pool not in ctx.pools


def pool_of(tx: ModelTx) -> str:
    """Return the pool of a model, or ""."""
    found = tx.scalar("model_config_get", key=POOL)
    return "" if found is None else str(json.loads(found))
