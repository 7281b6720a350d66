"""The built-in plugin `manual`: existing machines that users add."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.plugins.api.clouds import CloudSpec, ProviderType, Question
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.providers.manual.provider import ManualProvider

PUSHJUJU_API = (1, 5)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Return the cloud type `manual`; a cloud of that name always exists."""
    return [
        ProviderType(
            name="manual",
            summary="machines that are there already and answer SSH",
            regions=("default",),
            clouds=("manual",),
            default_config={"enable-os-upgrade": False},
            features=frozenset({"enlist"}),
            conflicts=(),
            questions=(
                Question(
                    key="endpoint",
                    text="the ssh connection string for controller, "
                    "username@<hostname or IP> or <hostname or IP>",
                ),
            ),
        )
    ]


@hookimpl
def pushjuju_open_provider(cloud: CloudSpec, model: ModelInfo, services: Services) -> Provider | None:
    """Return the provider of manual machines, or None for another type."""
    if cloud.type != "manual":
        return None
    return ManualProvider(model=model, services=services)
