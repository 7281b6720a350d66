"""The specifications of the hooks that plugins implement.

A plugin is a module or object with functions that have the names below and are marked with `@hookimpl`. It is
found through an entry point of the group `pushjuju`. Arguments are passed by keyword; a function may leave
out arguments that it does not need.

    from pushjuju.plugins.hookspecs import hookimpl

    @hookimpl
    def pushjuju_provider_types(): ...

Versions: PLUGIN_API is (major, minor). A new hook or argument raises minor; any other change raises major. A
plugin may declare `PUSHJUJU_API = (1, 0)`; the host skips the plugin with a warning when the major differs or
the plugin needs a newer minor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pluggy

from pushjuju.plugins.api.backends import SecretBackend, SecretBackendType
from pushjuju.plugins.api.clouds import CloudSpec, Credential, DetectedCredential, ProviderType
from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.hook_tools import HookToolFamily
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services, StartRequest
from pushjuju.plugins.api.sources import CharmPlace, CharmSourceType, CharmStore, SourceServices
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider, StorageType
from pushjuju.plugins.api.targets import ContainerHost

if TYPE_CHECKING:
    from pushjuju.plugins.api.notices import Notifier

PROJECT = "pushjuju"
ENTRY_POINT_GROUP = "pushjuju"
PLUGIN_API = (1, 6)

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def pushjuju_provider_types() -> Sequence[ProviderType]:  # type: ignore[empty-body]
    """Return the types of cloud that this plugin supports.

    Called when clouds are listed, checked or opened. All answers are used; a name that two plugins return
    belongs to the first. Must not block. An error drops this plugin's answer with a warning. Since 1.0.
    """


@hookspec(firstresult=True)
def pushjuju_open_provider(
    cloud: CloudSpec, credential: Credential, model: ModelInfo, config: Mapping[str, Any], services: Services
) -> Provider | None:
    """Return the provider for a model in a cloud, or None when the type of cloud is not yours.

    Called once per model and command, when a machine is first needed. The first answer that is not None is
    used. Must not block: connect in the provider's methods. An error ends the command. Since 1.0.

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

    Called once per machine and command, when a container is first needed there. The first answer that is not
    None is used. Must not block: reach the host in the provider's methods. An error ends the start. Since
    1.4.

    Args:
        kind: `lxd`, as in the machine `0/lxd/1`; the machines have the provider type of that name.
        host: The machine that holds the containers.
        model: The model that the containers belong to.
        config: The model's configuration, all keys.
        services: Functions of the controller for the provider.
    """


@hookspec
def pushjuju_detect_credentials(  # type: ignore[empty-body]
    cloud_type: str, environ: Mapping[str, str]
) -> Sequence[DetectedCredential]:
    """Return credentials for a type of cloud from the user's files and environment variables.

    Called by `autoload-credentials`, once for each type of cloud. All answers are used. May read small files
    below `environ["HOME"]`; must not use the network. An error drops this plugin's answer with a warning; its
    message may name a file, but contain no value. Since 1.3.

    Args:
        cloud_type: The type of cloud; return nothing for types of other plugins.
        environ: The environment variables of the process.
    """


@hookspec(firstresult=True)
def pushjuju_finalize_credential(
    cloud: CloudSpec, auth_type: str, attributes: Mapping[str, str]
) -> tuple[str, Mapping[str, str]] | None:
    """Return the auth type and attributes to store for a credential, or None to store it as the user gave it.

    Called when a credential is added or updated, after its attributes were checked. The first answer that is
    not None is used. May use the network. After an error, the credential is refused; the message must have no
    value. Since 1.4.

    Args:
        cloud: The cloud of the credential, in its default region.
        auth_type: The auth type that the user chose.
        attributes: The attributes of the credential.
    """


@hookspec
def pushjuju_hook_tools() -> Sequence[HookToolFamily]:  # type: ignore[empty-body]
    """Return the modules that hold hook tools.

    Called when the program for the machines is packed. All answers are used; a tool that two plugins name
    belongs to the first. Must not block; packing does not import the modules. An error drops this plugin's
    answer with a warning. Since 1.0.
    """


@hookspec
def pushjuju_user_data(request: StartRequest, data: dict[str, Any]) -> None:
    """Amend the cloud-config document of a machine in place.

    Called before a machine is started, after pushjuju and the model's `cloudinit-userdata` have filled the
    document. Every plugin is called; `tryfirst` and `trylast` set the order. Must not block. An error makes
    the start fail, and the failure names the plugin. Since 1.0.

    Args:
        request: The machine that will be started.
        data: The document to change; return nothing.
    """


@hookspec
def pushjuju_secret_backend_types() -> Sequence[SecretBackendType]:  # type: ignore[empty-body]
    """Return the types of secret backend that this plugin supports.

    Called when backends are added, changed, listed or opened. All answers are used; a name that two plugins
    return belongs to the first. Must not block. An error drops this plugin's answer with a warning. Since
    1.1.
    """


@hookspec
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:  # type: ignore[empty-body]
    """Return the types of storage that machines of a cloud can have.

    Called when storage is requested or pools are listed. All answers are used; a type that two plugins return
    belongs to the first. Must not block. An error drops this plugin's answer with a warning. Since 1.1.

    Args:
        cloud_type: The type of the model's cloud: `local`, `manual`...
    """


@hookspec(firstresult=True)
def pushjuju_open_secret_backend(type: str, config: Mapping[str, str]) -> SecretBackend | None:  # noqa: A002
    """Return the backend with a configuration, or None when the type is not yours.

    Called whenever content is stored, read or deleted in the backend. The first answer that is not None is
    used. Must not block: connect in the backend's methods. An error ends the work. Since 1.1.

    Args:
        type: The type, as the plugin named it.
        config: The configuration, checked against the type's schema; never show its values.
    """


@hookspec(firstresult=True)
def pushjuju_open_storage(
    type_name: str, provider: Provider | None
) -> StorageProvider | MachineStorage | None:
    """Return the provider of a type of storage, or None when the type is not yours.

    Called when storage is first made, attached or removed in a command. The first answer that is not None is
    used. Must not block. After an error, the storage waits and shows the error. Since 1.1.

    Args:
        type_name: The name of the `StorageType`.
        provider: The provider of the model's cloud; None for storage on the machines themselves.
    """


@hookspec(firstresult=True)
def pushjuju_open_firewall(
    model: ModelInfo, mode: str, asked: bool, provider_type: str, provider: Provider | None
) -> Firewall | None:
    """Return the firewall for machines of a model, or None when you do not guard such machines.

    Called once per model, kind of machine and command, unless the model's `firewall-mode` is none. The first
    answer that is not None is used; without an answer, such machines have no firewall. Must not block. An
    error ends the command. Since 1.1.

    Args:
        model: The model that the machines belong to.
        mode: `instance`: each machine has its own rules; `global`: every machine has the rules of all
            machines.
        asked: True when the user set the mode for the model, so that the mode is not the default.
        provider_type: The type of cloud that made the machines; `manual` for machines of the user.
        provider: The provider when its type has the feature `firewall`, else None. Since 1.3.
    """


@hookspec
def pushjuju_charm_sources() -> Sequence[CharmSourceType]:  # type: ignore[empty-body]
    """Return the types of charm source that this plugin supports.

    Called when a charm is requested. All answers are used; the first type whose `accepts` accepts an address
    gets it. Must not block. An error drops this plugin's answer with a warning. Since 1.2.
    """


@hookspec(firstresult=True)
def pushjuju_open_charm_source(
    type_name: str, address: str, services: SourceServices
) -> CharmStore | CharmPlace | None:
    """Return the source of charms at an address, or None when the type is not yours.

    Called once per address and command. The first answer that is not None is used. Must not block: connect in
    the methods. An error ends the command. Since 1.2.

    Args:
        type_name: The name of the `CharmSourceType`.
        address: The address that the user typed, or the model's `charmhub-url`.
        services: Functions of the controller for the source.
    """


@hookspec
def pushjuju_notifiers() -> Sequence[Notifier]:  # type: ignore[empty-body]
    """Return what delivers events to users, each for some schemes of addresses.

    Called when targets of notifications are added or listed, and when events are delivered. All answers are
    used; a scheme that two plugins return belongs to the first. Must not block. An error drops this plugin's
    answer with a warning. Since 1.6.
    """
