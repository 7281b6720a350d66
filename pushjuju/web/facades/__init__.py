"""The facades of the API, a module each. They read params, call requests and views, and make the results."""

from __future__ import annotations

from importlib import import_module

_MODULES = (
    "pinger",
    "controller",
    "model_manager",
    "client",
    "watchers",
    "model_config",
    "user_manager",
    "cloud.cloud",
    "application.application",
    "application_offers",
    "model_storage",
    "machine_manager",
    "action",
    "annotations",
    "key_manager",
    "model_secrets",
    "charms",
    "block",
    "bundle",
    "upkeep.model_upgrader",
    "upkeep.high_availability",
    "upkeep.payloads",
    "upkeep.ssh_client",
    "upkeep.backups",
    "network.spaces",
    "network.subnets",
    "secret_backends",
    "resources",
)


def load() -> None:
    """Register all facades."""
    for name in _MODULES:
        import_module(f"{__name__}.{name}")
