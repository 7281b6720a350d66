"""The hook names of a charm. Mirrors: juju/charm hooks/hooks.go, Meta.Hooks."""

from __future__ import annotations

from pushjuju.charms.values.model import CharmMeta

UNIT_HOOKS = (
    "install", "start", "config-changed", "upgrade-charm", "stop", "remove", "leader-elected",
    "leader-deposed", "leader-settings-changed", "update-status", "pre-series-upgrade",
    "post-series-upgrade", "collect-metrics", "meter-status-changed",
)  # fmt: skip
SECRET_HOOKS = ("secret-changed", "secret-expired", "secret-remove", "secret-rotate")
RELATION_HOOKS = (
    "relation-created", "relation-joined", "relation-changed", "relation-departed", "relation-broken",
)  # fmt: skip
STORAGE_HOOKS = ("storage-attached", "storage-detaching")


def hook_names(meta: CharmMeta) -> frozenset[str]:
    """Return every hook that Juju may run for a charm; the implicit `juju-info` is not among them."""
    relations = (f"{item.name}-{hook}" for item in meta.endpoints() for hook in RELATION_HOOKS)
    storage = (f"{name}-{hook}" for name in meta.storage for hook in STORAGE_HOOKS)
    return frozenset((*UNIT_HOOKS, *SECRET_HOOKS, *relations, *storage))
