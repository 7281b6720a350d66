"""The hooks that plugins implement.

A plugin is a module or object with functions named as below and marked `@hookimpl`; it is found through an
entry point of the group `pushjuju`. Arguments travel by keyword; a plugin may leave out those it does not
need.

    from pushjuju.plugins.hookspecs import hookimpl

    @hookimpl
    def pushjuju_provider_types(): ...

Versions: PLUGIN_API is (major, minor). A new hook or argument raises minor; anything else raises major. A
plugin may say `PUSHJUJU_API = (1, 0)`; the host skips it with a warning when the major differs or it needs a
newer minor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pluggy

from pushjuju.plugins.api.backends import SecretBackend, SecretBackendType
from pushjuju.plugins.api.clouds import CloudSpec, Credential, DetectedCredential, ProviderType
from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.hook_tools import HookToolFamily
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services, StartRequest
from pushjuju.plugins.api.sources import CharmPlace, CharmSourceType, CharmStore, SourceServices
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider, StorageType
from pushjuju.plugins.api.targets import ContainerHost

PROJECT = "pushjuju"
ENTRY_POINT_GROUP = "pushjuju"
PLUGIN_API = (1, 5)

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def pushjuju_provider_types() -> Sequence[ProviderType]:  # type: ignore[empty-body]
    """Name the types of cloud that this plugin drives.

    Fires when clouds are listed, checked or opened. All answers are used; a name taken by two plugins belongs
    to the first. May not block. Raising drops this plugin's answer with a warning. Since 1.0.
    """


@hookspec(firstresult=True)
def pushjuju_open_provider(
    cloud: CloudSpec,
    credential: Credential,
    model: ModelInfo,
    config: Mapping[str, Any],
    services: Services,
) -> Provider | None:
    """Return the provider for a model in a cloud, or None when the type of cloud is not yours.

    Fires once per model and run, when a machine is first needed. The first answer that is not None is used.
    May not block: connect in the provider's methods. Raising ends the command with that error. Since 1.0.

    Args:
        cloud: The cloud and its own configuration.
        credential: The credential of the cloud.
        model: The model that the machines belong to.
        config: The model's configuration, all keys.
        services: Functions of the controller for the provider.
    """


@hookspec(firstresult=True)
def pushjuju_open_containers(
    kind: str, host: ContainerHost, model: ModelInfo, config: Mapping[str, Any], services: Services
) -> Provider | None:
    """Return the provider of containers inside a machine, or None when the kind is not yours.

    Fires once per machine and run, when a container is first needed there. The first answer that is not None
    is used. May not block: reach the host in the provider's methods. Raising ends the start with that error.
    Since 1.4.

    Args:
        kind: `lxd`, as in the machine `0/lxd/1`; the machines are of the provider type of that name.
        host: The machine.
        model: The model that the containers belong to.
        config: The model's configuration, all keys.
        services: Functions of the controller for the provider.
    """


@hookspec
def pushjuju_detect_credentials(  # type: ignore[empty-body]
    cloud_type: str, environ: Mapping[str, str]
) -> Sequence[DetectedCredential]:
    """Find credentials for a type of cloud in the files and variables of the user who calls.

    Fires when `autoload-credentials` runs, once for each type of cloud. All answers are used. May read small
    files below `environ["HOME"]`; may not ask the network. Raising drops this plugin's answer with a warning;
    the message may name a file, never a value. Since 1.3.

    Args:
        cloud_type: The type, as the plugin named it; answer nothing for those of others.
        environ: The process environment.
    """


@hookspec(firstresult=True)
def pushjuju_finalize_credential(
    cloud: CloudSpec, auth_type: str, attributes: Mapping[str, str]
) -> tuple[str, Mapping[str, str]] | None:
    """Turn what a user gave into the credential that is kept, or None to keep it as it is.

    Fires when a credential is added or updated, after its attributes were checked. The first answer that is
    not None is used. May ask the network. Raising refuses the credential with that error; no value may be in
    it. Since 1.4.

    Args:
        cloud: The cloud of the credential, in its default region.
        auth_type: The type that was chosen.
        attributes: Its attributes.
    """


@hookspec
def pushjuju_hook_tools() -> Sequence[HookToolFamily]:  # type: ignore[empty-body]
    """Name modules that hold hook tools.

    Fires when the program for the machines is put together. All answers are used; a tool named twice belongs
    to the first plugin. May not block; the modules are not imported for it. Raising drops this plugin's
    answer with a warning. Since 1.0.
    """


@hookspec
def pushjuju_user_data(request: StartRequest, data: dict[str, Any]) -> None:
    """Amend the cloud-config document of a machine in place.

    Fires before a machine is started, after pushjuju and the model's `cloudinit-userdata` have filled the
    document. Every plugin is called; order with `tryfirst` and `trylast`. May not block. Raising makes the
    start fail with that error, naming the plugin. Since 1.0.

    Args:
        request: The machine that will be started.
        data: The document; change it, return nothing.
    """


@hookspec
def pushjuju_secret_backend_types() -> Sequence[SecretBackendType]:  # type: ignore[empty-body]
    """Name the types of backend for secrets that this plugin drives.

    Fires when backends are added, changed, listed or opened. All answers are used; a name taken by two
    plugins belongs to the first. May not block. Raising drops this plugin's answer with a warning. Since
    1.1.
    """


@hookspec
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:  # type: ignore[empty-body]
    """Name the types of storage that machines of a cloud can have.

    Fires when storage is asked for or pools are listed. All answers are used; a type named twice belongs to
    the first plugin. May not block. Raising drops this plugin's answer with a warning. Since 1.1.

    Args:
        cloud_type: The type of the model's cloud: `local`, `manual`...
    """


@hookspec(firstresult=True)
def pushjuju_open_secret_backend(type: str, config: Mapping[str, str]) -> SecretBackend | None:  # noqa: A002
    """Return the backend with a configuration, or None when the type is not yours.

    Fires whenever content is kept in it, read or deleted. The first answer that is not None is used. May not
    block: connect in the backend's methods. Raising ends the work with that error. Since 1.1.

    Args:
        type: The type, as the plugin named it.
        config: The configuration, checked against the type's schema; never show its values.
    """


@hookspec(firstresult=True)
def pushjuju_open_storage(
    type_name: str, provider: Provider | None
) -> StorageProvider | MachineStorage | None:
    """Return what makes storage of a type, or None when the type is not yours.

    Fires when storage is first made, attached or removed in a run. The first answer that is not None is used.
    May not block. Raising leaves the storage waiting with that error. Since 1.1.

    Args:
        type_name: As in `StorageType`.
        provider: The cloud of the model; None for storage that lives on machines.
    """


@hookspec(firstresult=True)
def pushjuju_open_firewall(
    model: ModelInfo, mode: str, asked: bool, provider_type: str, provider: Provider | None
) -> Firewall | None:
    """Return what guards machines of a model, or None when you do not guard such machines.

    Fires once per model, kind of machine and run, unless the model's `firewall-mode` is none. The first
    answer that is not None is used; without an answer, such machines have no firewall. May not block. Raising
    ends the command with that error. Since 1.1.

    Args:
        model: The model that the machines belong to.
        mode: `instance`: each machine has its own rules; `global`: all have those of all.
        asked: The mode was named when the model was made; it is not the default.
        provider_type: The type of the cloud that made the machines; `manual` for those that were given.
        provider: The cloud, where its type has the feature `firewall`; else None. Since 1.3.
    """


@hookspec
def pushjuju_charm_sources() -> Sequence[CharmSourceType]:  # type: ignore[empty-body]
    """Name the places and stores that this plugin gets charms from.

    Fires when a charm is asked for. All answers are used; the first whose `accepts` takes an address gets it.
    May not block. Raising drops this plugin's answer with a warning. Since 1.2.
    """


@hookspec(firstresult=True)
def pushjuju_open_charm_source(
    type_name: str, address: str, services: SourceServices
) -> CharmStore | CharmPlace | None:
    """Return what gets charms from an address, or None when the type is not yours.

    Fires once per address and command. The first answer that is not None is used. May not block: connect in
    the methods. Raising ends the command with that error. Since 1.2.

    Args:
        type_name: As in `CharmSourceType`.
        address: The address that the user typed, or the model's `charmhub-url`.
        services: Functions of the controller for the source.
    """
