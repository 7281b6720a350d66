"""Finds, loads and registers plugins with pluggy: the built-in plugins and those of other packages."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pluggy

from pushjuju import __version__
from pushjuju.core.values import dataclass
from pushjuju.plugins import builtin, hookspecs
from pushjuju.plugins.info import PluginInfo, Say
from pushjuju.store.files import kept


def _manager(project: str) -> pluggy.PluginManager:
    """Return a plugin manager that inspects only functions that are marked as hooks."""
    marker = f"{project}_impl"

    class Manager(pluggy.PluginManager):
        def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
            if isinstance(plugin, ModuleType):
                value = vars(plugin).get(name)
            else:  # getattr of the object itself would run a property
                value = getattr(plugin, "__dict__", {}).get(name, getattr(type(plugin), name, None))
            if isinstance(value, (ModuleType, type)):  # a look inside executes a module that is not used yet
                return None
            if isinstance(value, FunctionType) and marker not in vars(value):  # most names
                return None
            if not inspect.isroutine(value) or not hasattr(value, marker):
                return None
            return super().parse_hookimpl_opts(plugin, name)

    return Manager(project)


class Loaded:
    """The plugins that were loaded and registered."""

    def __init__(self, environ: Mapping[str, str], warn: Say, trace: Say, path: Sequence[str] | None) -> None:

        self._warn = warn
        self._complaints: set[tuple[str, str]] = set()
        self._api: tuple[int, int] = hookspecs.PLUGIN_API
        self._disabled = {name.strip() for name in environ.get("PUSHJUJU_DISABLE_PLUGINS", "").split(",")}
        self.infos: dict[str, PluginInfo] = {}
        self.manager = _manager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        # pluggy calls the last registered plugin first, so the built-ins come last, in reverse order.
        self._load_entry_points(hookspecs.ENTRY_POINT_GROUP, environ, path)
        self._load_builtins()
        if environ.get("PUSHJUJU_TRACE_PLUGINS"):
            _follow(self.manager, trace)

    def complain(self, plugin: str, problem: str) -> None:
        """Warn about a plugin, once for each problem."""
        if (plugin, problem) not in self._complaints:
            self._complaints.add((plugin, problem))
            self._warn(f"plugin {plugin}: {problem}")

    def _load_builtins(self) -> None:
        info = PluginInfo(name=f"hooks-{builtin.REFUSALS}", version=__version__)
        self._load(info, partial(builtin.RefusalsPlugin, builtin.REFUSALS))
        for family in reversed(builtin.HOOK_TOOLS):
            info = PluginInfo(name=f"hooks-{family}", version=__version__)
            self._load(info, partial(builtin.HookToolsPlugin, family))
        for name, module in reversed(builtin.MODULES):
            self._load(PluginInfo(name=name, version=__version__), partial(_itself, module))

    def _load_entry_points(self, group: str, environ: Mapping[str, str], path: Sequence[str] | None) -> None:
        cache = kept.place(environ, "plugins.json")
        found = find_entry_points(group, sys.path if path is None else path, cache)
        reserved = {name for name, _ in builtin.MODULES}
        for item in reversed(found):
            info = PluginInfo(name=item.name, version=item.version, source=item.distribution)
            refused = "a built-in plugin has this name" if item.name in reserved else ""
            off = "turned off by PUSHJUJU_DISABLE_PLUGINS" if "all" in self._disabled else refused
            self._load(info, partial(_load_value, item.value), off=off)

    def _load(self, info: PluginInfo, load: Callable[[], object], *, off: str = "") -> None:
        """Load and register one plugin, and record the result; with a reason in `off`, do not load it."""
        hooks: tuple[str, ...] = ()
        api, error = "", off
        if info.name in self._disabled:
            error = "turned off by PUSHJUJU_DISABLE_PLUGINS"
        elif not error:
            try:
                plugin = load()
                api = self._check_api(plugin)
                self.manager.register(plugin, info.name)
                hooks = self._check_hooks(plugin)
            except (Exception, SystemExit) as problem:  # noqa: BLE001 (a foreign module may raise anything)
                if self.manager.has_plugin(info.name):
                    self.manager.unregister(name=info.name)
                error = f"{type(problem).__name__}: {problem}"
                self.complain(info.name, f"not used: {error}")
        key = info.name if not off else f"{info.name} of {info.source}"
        self.infos[key] = PluginInfo(
            name=info.name, version=info.version, api=api, hooks=hooks, source=info.source, error=error
        )

    def _check_api(self, plugin: object) -> str:
        wanted = getattr(plugin, "PUSHJUJU_API", None)
        if wanted is None:
            return ""
        major, minor = wanted
        if major != self._api[0] or minor > self._api[1]:
            raise ValueError(f"made for plugin API {major}.{minor}, this is {self._api[0]}.{self._api[1]}")
        return f"{major}.{minor}"

    def _check_hooks(self, plugin: object) -> tuple[str, ...]:
        self.manager.check_pending()
        callers = self.manager.get_hookcallers(plugin) or []
        return tuple(sorted(caller.name for caller in callers))


_shared: dict[Hashable, Loaded] = {}
_SETTINGS = ("PUSHJUJU_DISABLE_PLUGINS", "PUSHJUJU_TRACE_PLUGINS")


def shared(environ: Mapping[str, str], warn: Say, trace: Say) -> Loaded:
    """Return plugins that all hosts with these settings share, as loading takes 10 ms and more.

    They are loaded again after a change of the folders in which packages with plugins are searched.
    """
    key = (*(environ.get(name, "") for name in _SETTINGS), warn, trace, *search_key(sys.path))
    if key not in _shared:
        _shared.clear()
        _shared[key] = Loaded(environ, warn, trace, None)
    return _shared[key]


def _itself(module: ModuleType) -> object:
    return module


def _load_value(value: str) -> object:
    module, _, attribute = value.partition(":")
    found: object = import_module(module)
    for part in filter(None, attribute.split(".")):
        found = getattr(found, part)
    return found


def _follow(manager: pluggy.PluginManager, say: Say) -> None:
    """Log each hook call with its plugins and time, but without arguments, which may hold secrets."""
    started: list[float] = []

    def before(hook: str, implementations: Sequence[Any], _kwargs: Mapping[str, Any]) -> None:
        started.append(time.perf_counter())
        asked = ", ".join(item.plugin_name for item in reversed(implementations))
        say(f"plugins: {hook} -> {asked or 'nobody'}")

    def after(outcome: Any, hook: str, _implementations: Sequence[Any], _kwargs: Mapping[str, Any]) -> None:
        taken = (time.perf_counter() - started.pop()) * 1000
        failed = f" raised {type(outcome.exception).__name__}" if outcome.exception else ""
        say(f"plugins: {hook}{failed} after {taken:.1f} ms")

    manager.add_hookcall_monitoring(before, after)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """One plugin in an installed package."""

    name: str
    value: str  # `module` or `module:attribute`
    distribution: str
    version: str


def find_entry_points(group: str, path: Sequence[str], cache: Path | None = None) -> list[EntryPoint]:
    """Return the entry points of a group, in the order of their packages on the path.

    `importlib.metadata` takes 30 to 60 ms. This function reads the few files itself in less than 1 ms, and
    only its cache when no directory of `sys.path` has changed.

    Args:
        group: For example `pushjuju`.
        path: Directories, as in `sys.path`.
        cache: A file that stores the result until a directory changes; None for no cache.
    """
    found_in = search_key(path)
    key: list[object] = [group, *map(list, found_in)]
    with suppress(TypeError):  # nothing is kept, or in another form
        return [EntryPoint(**item) for item in kept.read(cache, key)]
    found: dict[str, EntryPoint] = {}
    for folder, _ in found_in:
        for item in _in_folder(folder, group):
            found.setdefault(item.name, item)
    answer = list(found.values())
    kept.write(cache, key, [asdict(item) for item in answer])
    return answer


def search_key(path: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return the directories of a path and the times of their last changes."""
    return tuple((folder or os.curdir, _mtime(folder or os.curdir)) for folder in dict.fromkeys(path))


def _mtime(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 (a Path per entry would cost more than the call)
    except OSError:
        return 0


def _in_folder(folder: str, group: str) -> list[EntryPoint]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []
    found = []
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            found += _in_distribution(f"{folder}/{name}", name.rsplit(".", 1)[0], group)
    return found


def _in_distribution(folder: str, stem: str, group: str) -> list[EntryPoint]:
    try:
        text = Path(folder, "entry_points.txt").read_text(encoding="utf-8")
    except OSError:
        return []
    if f"[{group}]" not in text:
        return []
    distribution, _, rest = stem.partition("-")
    found, here = [], False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            here = line == f"[{group}]"
        elif here and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.append(
                EntryPoint(
                    name=name.strip(),
                    value=value.split("[")[0].strip(),
                    distribution=distribution,
                    version=rest.partition("-")[0],
                )
            )
    return found
