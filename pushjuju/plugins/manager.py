"""The plugin host: loads plugins once they are needed, and calls their hooks with types.

pluggy and the plugins are loaded at the first call of a hook, so importing this module is cheap. A plugin
that cannot be loaded, or that raises an error where its answer is optional, causes one warning with its name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal, cast

from pushjuju.core.errors import NotFound, ProviderError, PushjujuError
from pushjuju.plugins import loading
from pushjuju.plugins.api.clouds import Credential
from pushjuju.plugins.info import PluginInfo, Say

if TYPE_CHECKING:
    from pushjuju.plugins.api.backends import SecretBackend, SecretBackendType
    from pushjuju.plugins.api.clouds import CloudSpec, DetectedCredential, ProviderType
    from pushjuju.plugins.api.firewalls import Firewall
    from pushjuju.plugins.api.hook_tools import HookToolFamily
    from pushjuju.plugins.api.notices import Notifier
    from pushjuju.plugins.api.providers import ModelInfo, Provider, Services, StartRequest
    from pushjuju.plugins.api.sources import CharmPlace, CharmSourceType, CharmStore, SourceServices
    from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider, StorageType
    from pushjuju.plugins.api.targets import ContainerHost
    from pushjuju.plugins.loading import Loaded


class PluginHost:
    """All plugins of this process, loaded at the first call of a hook."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        warn: Say | None = None,
        trace: Say | None = None,
        path: Sequence[str] | None = None,
    ) -> None:
        """Keep the settings; load no plugin yet.

        Args:
            environ: Environment variables: PUSHJUJU_DISABLE_PLUGINS (names separated by commas, or `all` for
                the plugins of other packages), PUSHJUJU_TRACE_PLUGINS (any text), PUSHJUJU_CACHE,
                XDG_CACHE_HOME, HOME.
            warn: Called once for each problem of a plugin; None ignores the problems.
            trace: Called for each call of a hook when tracing is on; None means standard error.
            path: Folders in which packages with plugins are searched; None means `sys.path`.
        """
        self._environ = environ
        self._warn = warn or _to_nobody
        self._trace = trace or _to_stderr
        self._path = path
        self._loaded: Loaded | None = None

    def provider_types(self) -> tuple[ProviderType, ...]:
        """Return the supported types of cloud; a name belongs to the first plugin that returns it."""
        return tuple(item for _, item in self._owned_types())

    def provider_type(self, name: str) -> ProviderType:
        """Return one type of cloud; raise NotFound when no plugin supports the type."""
        for _, item in self._owned_types():  # no plugin is asked after the first that supports the type
            if item.name == name:
                return item
        raise NotFound(f'no plugin drives clouds of type "{name}"', hint="pushjuju plugins")

    def _owned_types(self) -> Iterator[tuple[str, ProviderType]]:
        seen: dict[str, str] = {}
        for plugin, answer in self._answers("pushjuju_provider_types"):
            for item in answer:
                if item.name in seen:
                    self._host().complain(
                        plugin, f'cloud type "{item.name}" belongs to plugin {seen[item.name]} already'
                    )
                    continue
                seen[item.name] = plugin
                yield plugin, item

    def open_provider(
        self,
        *,
        cloud: CloudSpec,
        model: ModelInfo,
        services: Services,
        credential: Credential | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Provider:
        """Return the provider for a model in a cloud.

        Raises:
            PushjujuError: The plugin raised it, for example about a wrong configuration.
        """
        self.provider_type(cloud.type)
        provider: Provider | None = self._host().manager.hook.pushjuju_open_provider(
            cloud=cloud,
            credential=credential or Credential(),
            model=model,
            config=config or {},
            services=services,
        )
        if provider is None:
            raise NotFound(f'no plugin opens clouds of type "{cloud.type}"', hint="pushjuju plugins")
        return provider

    def detect_credentials(self, cloud_type: str, environ: Mapping[str, str]) -> list[DetectedCredential]:
        """Return the credentials that plugins find for a type of cloud."""
        found = self._answers("pushjuju_detect_credentials", cloud_type=cloud_type, environ=environ)
        return [item for _, answer in found for item in answer]

    def finalize_credential(
        self, cloud: CloudSpec, auth_type: str, attributes: Mapping[str, str]
    ) -> tuple[str, Mapping[str, str]]:
        """Return the auth type and the attributes of a credential, in the form in which they are stored."""
        found: tuple[str, Mapping[str, str]] | None = self._host().manager.hook.pushjuju_finalize_credential(
            cloud=cloud, auth_type=auth_type, attributes=attributes
        )
        return found if found is not None else (auth_type, attributes)

    def secret_backend_types(self) -> tuple[SecretBackendType, ...]:
        """Return the types of secret backend; a name belongs to the first plugin that returns it."""
        found: dict[str, SecretBackendType] = {}
        for _, answer in self._answers("pushjuju_secret_backend_types"):
            for item in answer:
                found.setdefault(item.name, item)
        return tuple(found.values())

    def secret_backend_type(self, name: str) -> SecretBackendType:
        for item in self.secret_backend_types():
            if item.name == name:
                return item
        raise NotFound(
            f'invalid secret backend "{name}": no registered provider for "{name}"', hint="pushjuju plugins"
        )

    def open_secret_backend(self, name: str, config: Mapping[str, str]) -> SecretBackend:
        self.secret_backend_type(name)
        backend: SecretBackend | None = self._host().manager.hook.pushjuju_open_secret_backend(
            type=name, config=dict(config)
        )
        if backend is None:
            raise NotFound(f'no plugin opens secret backends of type "{name}"', hint="pushjuju plugins")
        return backend

    def open_containers(
        self,
        *,
        kind: str,
        host: ContainerHost,
        model: ModelInfo,
        config: Mapping[str, Any],
        services: Services,
    ) -> Provider:
        """Return the provider of containers inside a machine."""
        found: Provider | None = self._host().manager.hook.pushjuju_open_containers(
            kind=kind, host=host, model=model, config=config, services=services
        )
        if found is None:
            raise NotFound(f"no plugin makes containers of type {kind}", hint="pushjuju plugins")
        return found

    def storage_types(self, cloud_type: str) -> dict[str, StorageType]:
        """Return the types of storage in a cloud by name; the first plugin that returns a name has it."""
        found: dict[str, StorageType] = {}
        for _, answer in self._answers("pushjuju_storage_types", cloud_type=cloud_type):
            for item in answer:
                found.setdefault(item.name, item)
        return found

    def open_storage(self, type_name: str, provider: Provider | None) -> StorageProvider | MachineStorage:
        found: StorageProvider | MachineStorage | None = self._host().manager.hook.pushjuju_open_storage(
            type_name=type_name, provider=provider
        )
        if found is None:
            raise NotFound(f'no plugin provides storage of type "{type_name}"', hint="pushjuju plugins")
        return found

    def open_firewall(
        self,
        *,
        model: ModelInfo,
        mode: str,
        asked: bool,
        provider_type: str,
        provider: Provider | None = None,
    ) -> Firewall | None:
        """Return the firewall for one kind of machines of a model, or None when no plugin has one."""
        found: Firewall | None = self._host().manager.hook.pushjuju_open_firewall(
            model=model, mode=mode, asked=asked, provider_type=provider_type, provider=provider
        )
        return found

    def charm_source_types(self) -> tuple[CharmSourceType, ...]:
        """Return the types of charm source; the first type that accepts an address gets the address."""
        return tuple(item for _, answer in self._answers("pushjuju_charm_sources") for item in answer)

    def open_charm_store(self, address: str, services: SourceServices) -> CharmStore:
        found = self._open_source("store", address, services)
        if found is None:
            raise NotFound(f'no plugin reads charms from "{address}"', hint="pushjuju plugins")
        return cast("CharmStore", found)

    def open_charm_place(self, address: str, services: SourceServices) -> CharmPlace | None:
        """Return the source of the charm at a typed address, or None when no plugin knows the address."""
        return cast("CharmPlace | None", self._open_source("place", address, services))

    def _open_source(
        self, kind: Literal["store", "place"], address: str, services: SourceServices
    ) -> CharmStore | CharmPlace | None:
        for item in self.charm_source_types():
            if item.kind == kind and item.accepts(address):
                found: CharmStore | CharmPlace | None = self._host().manager.hook.pushjuju_open_charm_source(
                    type_name=item.name, address=address, services=services
                )
                return found
        return None

    def notifiers(self) -> dict[str, Notifier]:
        """Return what delivers events: scheme of addresses -> notifier; the first plugin has a scheme."""
        found: dict[str, Notifier] = {}
        for _, answer in self._answers("pushjuju_notifiers"):
            for item in answer:
                found.update((scheme, item) for scheme in item.schemes if scheme not in found)
        return found

    def hook_tool_families(self) -> tuple[HookToolFamily, ...]:
        """Return the families of hook tools; when two have a tool of the same name, the first wins."""
        return tuple(item for _, answer in self._answers("pushjuju_hook_tools") for item in answer)

    def user_data(self, request: StartRequest, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return a copy of a cloud-config document with the changes of all plugins."""
        amended = deepcopy(dict(data))
        for plugin, call in self._callers("pushjuju_user_data"):
            try:
                call(request=request, data=amended)
            except PushjujuError:
                raise
            except Exception as error:
                raise ProviderError(
                    f"plugin {plugin} failed to amend the user data",
                    detail=f"{type(error).__name__}: {error}",
                ) from error
        return amended

    def list_plugins(self) -> tuple[PluginInfo, ...]:
        """Return all plugins in the order of their calls; an unused plugin has the reason in `error`."""
        return tuple(reversed(self._host().infos.values()))

    def _host(self) -> Loaded:
        if self._loaded is None:
            if (self._warn, self._trace, self._path) == (_to_nobody, _to_stderr, None):
                # a server makes a host for each request
                self._loaded = loading.shared(self._environ, self._warn, self._trace)
            else:
                self._loaded = loading.Loaded(self._environ, self._warn, self._trace, self._path)
        return self._loaded

    def _answers(self, hook: str, **arguments: Any) -> Iterator[tuple[str, Any]]:
        """Yield (plugin, answer) for each answer that is not None; an error becomes a warning."""
        for plugin, call in self._callers(hook):
            try:
                answer = call(**arguments)
            except Exception as error:  # noqa: BLE001 (a foreign plugin must not break the command)
                self._host().complain(plugin, f"{hook} raised {type(error).__name__}: {error}")
                continue
            yield from ((plugin, item) for item in answer)

    def _callers(self, hook: str) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield (plugin, function); the function calls the hook of this plugin alone, with wrappers."""
        manager = self._host().manager
        implementations = getattr(manager.hook, hook).get_hookimpls()
        plain = [item for item in implementations if not (item.hookwrapper or item.wrapper)]
        for item in reversed(plain):
            others = [other.plugin for other in plain if other.plugin is not item.plugin]
            yield item.plugin_name, manager.subset_hook_caller(hook, others)


def _to_nobody(message: str) -> None:
    """Drop a warning."""


def _to_stderr(text: str) -> None:
    sys.stderr.write(f"{text}{os.linesep}")
