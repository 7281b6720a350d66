"""The plugin host: built-ins, plugins of other packages, and all the ways a plugin can be broken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, ProviderError
from pushjuju.plugins import builtin
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import ModelInfo, Services, StartRequest
from pushjuju.plugins.manager import PluginHost

HOOKS = Path(builtin.__file__).with_name("hooks")
MODEL = ModelInfo(uuid="m", name="test", controller_uuid="c")
REQUEST = StartRequest(machine_id="0", base=Base("ubuntu", "24.04"))

BUILT_IN = (
    "local", "manual", "ec2", "openstack", "gce", "azure", "digitalocean", "vultr", "linode", "vsphere",
    "scaleway", "cloudstack", "lxd", "maas",
)  # fmt: skip
SKY = """
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.api.hook_tools import HookToolFamily
from pushjuju.plugins.api.clouds import ProviderType

PUSHJUJU_API = (1, 0)

class Sky:
    pass

@hookimpl
def pushjuju_provider_types():
    return [ProviderType(name="sky", summary="machines in the sky")]

@hookimpl
def pushjuju_open_provider(cloud):
    return Sky() if cloud.type == "sky" else None

@hookimpl
def pushjuju_hook_tools():
    return [HookToolFamily(name="sky", module="sky.tools")]

@hookimpl
def pushjuju_user_data(request, data):
    data["sky"] = request.machine_id
"""


class Site:
    """A folder on `sys.path` with installed packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warnings: list[str] = []

    def install(self, module: str, source: str, *, name: str = "", value: str = "") -> None:
        """Put a package there, with its entry point."""
        (self.folder / f"{module}.py").write_text(source, encoding="utf-8")
        info = self.folder / f"dist_{module}-1.2.dist-info"
        info.mkdir()
        entry = f"[console_scripts]\nx = y:z\n\n[pushjuju]\n{name or module} = {value or module}\n"
        (info / "entry_points.txt").write_text(entry, encoding="utf-8")

    def host(self, **environ: str) -> PluginHost:
        return PluginHost(environ=environ, warn=self.warnings.append, path=[str(self.folder)])


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield Site(folder)
    for name in set(sys.modules) - before:
        if (folder / f"{name}.py").exists():
            del sys.modules[name]


def test_every_family_of_hook_tools_is_a_plugin() -> None:
    """A module that somebody adds to the folder must be in the tuple."""
    modules = {path.stem for path in HOOKS.glob("*.py")} - {"__init__"}
    assert modules == {*builtin.HOOK_TOOLS, builtin.REFUSALS}


def test_built_in_plugins(site: Site) -> None:
    """They are found without a scan, in a fixed order; what refuses comes last."""
    host = site.host()
    assert [item.name for item in host.provider_types()] == [*BUILT_IN]
    families = [family.name for family in host.hook_tool_families()]
    assert families == [*builtin.HOOK_TOOLS, "unsupported"]
    assert all(family.module.startswith("pushjuju.plugins.hooks.") for family in host.hook_tool_families())
    plugins = host.list_plugins()
    assert [item.name for item in plugins] == [
        *(
            "local",
            "manual",
            "libcloud",
            "lxd",
            "maas",
            "storage",
            "vault",
            "nftables",
            "notifiers",
            "charmhub",
            "charm-mirror",
            "charm-places",
        ),
        *(f"hooks-{name}" for name in families),
    ]
    assert {item.source for item in plugins} == {"built-in"}
    assert {item.api for item in plugins} == {"1.1", "1.4", "1.5", "1.6"}
    assert site.warnings == []


def test_every_hook_is_used_by_some_plugin(site: Site) -> None:
    """A hook that nobody implements is not documented by an example."""
    site.install("sky", SKY)
    used = {hook for item in site.host().list_plugins() for hook in item.hooks}
    assert used == {
        "pushjuju_charm_sources",
        "pushjuju_detect_credentials",
        "pushjuju_finalize_credential",
        "pushjuju_hook_tools",
        "pushjuju_notifiers",
        "pushjuju_open_charm_source",
        "pushjuju_open_containers",
        "pushjuju_open_firewall",
        "pushjuju_open_provider",
        "pushjuju_open_secret_backend",
        "pushjuju_open_storage",
        "pushjuju_provider_types",
        "pushjuju_secret_backend_types",
        "pushjuju_storage_types",
        "pushjuju_user_data",
    }


def test_plugin_of_another_package(site: Site) -> None:
    """Found by its entry point; its cloud, tools and user data take part."""
    site.install("sky", SKY)
    host = site.host()
    assert [item.name for item in host.provider_types()] == [*BUILT_IN, "sky"]
    provider = host.open_provider(
        cloud=CloudSpec(name="above", type="sky"), model=MODEL, services=Services(data_dir=site.folder)
    )
    assert type(provider).__name__ == "Sky"
    assert [item.name for item in host.hook_tool_families()][-2:] == ["sky", "unsupported"]
    data = {"packages": ["curl"]}
    assert host.user_data(REQUEST, data) == {"packages": ["curl"], "sky": "0"}
    assert data == {"packages": ["curl"]}
    (info,) = [item for item in host.list_plugins() if item.name == "sky"]
    assert (info.version, info.source, info.api, info.error) == ("1.2", "dist_sky", "1.0", "")
    assert site.warnings == []


def test_unknown_type_of_cloud(site: Site) -> None:
    """Says what was looked for and where to look next."""
    with pytest.raises(NotFound, match='no plugin drives clouds of type "mars"') as caught:
        site.host().open_provider(
            cloud=CloudSpec(name="m", type="mars"), model=MODEL, services=Services(data_dir=site.folder)
        )
    assert caught.value.hint == "pushjuju plugins"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("raise RuntimeError('out of fuel')", "RuntimeError: out of fuel"),
        ("import no_such_module_anywhere", "ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        (SKY.replace("(1, 0)", "(2, 0)"), "ValueError: made for plugin API 2.0, this is 1.6"),
        (SKY.replace("(1, 0)", "(1, 9)"), "ValueError: made for plugin API 1.9, this is 1.6"),
        (
            SKY.replace("def pushjuju_user_data(request, data)", "def pushjuju_user_data(nonsense)"),
            "nonsense",
        ),
        (SKY.replace("pushjuju_user_data", "pushjuju_no_such_hook"), "pushjuju_no_such_hook"),
    ],
)
def test_broken_plugin_is_one_warning_with_its_name(site: Site, source: str, problem: str) -> None:
    """Everything else goes on."""
    site.install("sky", source)
    host = site.host()
    assert [item.name for item in host.provider_types()] == [*BUILT_IN]
    assert host.hook_tool_families()
    (warning,) = site.warnings
    assert warning.startswith("plugin sky: not used: ")
    assert problem in warning
    (info,) = [item for item in host.list_plugins() if item.name == "sky"]
    assert problem in info.error
    assert info.hooks == ()


def test_answer_that_raises_is_spared(site: Site) -> None:
    """A plugin may fail later as well; its answer is missing, and that is said once."""
    site.install(
        "sky", SKY.replace("    return [ProviderType", "    raise KeyError('sky')\n    return [ProviderType")
    )
    host = site.host()
    assert [item.name for item in host.provider_types()] == [*BUILT_IN]
    assert [item.name for item in host.provider_types()] == [*BUILT_IN]
    assert site.warnings == ["plugin sky: pushjuju_provider_types raised KeyError: 'sky'"]


def test_failing_user_data_names_the_plugin(site: Site) -> None:
    """Half amended user data is never used."""
    site.install("sky", SKY.replace('data["sky"] = request.machine_id', "data['x']['y'] = 1"))
    with pytest.raises(ProviderError, match="plugin sky failed to amend the user data"):
        site.host().user_data(REQUEST, {})


def test_name_of_a_built_in_cannot_be_taken(site: Site) -> None:
    """Neither the plugin's nor the cloud type's."""
    site.install("sky", SKY, name="local")
    site.install("rain", SKY.replace('name="sky"', 'name="manual"'))
    host = site.host()
    assert [(item.name, item.summary[:8]) for item in host.provider_types()][:2] == [
        ("local", "machines"),
        ("manual", "machines"),
    ]
    assert host.provider_type("manual").features == {"enlist"}
    assert site.warnings == ['plugin rain: cloud type "manual" belongs to plugin manual already']
    (info,) = [item for item in host.list_plugins() if item.source == "dist_sky"]
    assert info.error == "a built-in plugin has this name"


def test_plugins_can_be_turned_off(site: Site) -> None:
    """By name, or all of other packages; the list says so."""
    site.install("sky", SKY)
    assert [item.name for item in site.host(PUSHJUJU_DISABLE_PLUGINS="manual, sky").provider_types()] == [
        name for name in BUILT_IN if name != "manual"
    ]
    host = site.host(PUSHJUJU_DISABLE_PLUGINS="all")
    assert [item.name for item in host.provider_types()] == [*BUILT_IN]
    assert "sky" not in sys.modules
    (info,) = [item for item in host.list_plugins() if item.name == "sky"]
    assert info.error == "turned off by PUSHJUJU_DISABLE_PLUGINS"
    assert site.warnings == []


def test_trace_tells_calls_without_arguments(site: Site) -> None:
    """Arguments may hold secrets."""
    said: list[str] = []
    host = PluginHost(environ={"PUSHJUJU_TRACE_PLUGINS": "1"}, trace=said.append, path=[])
    host.user_data(REQUEST, {"password": "hunter2"})
    host.provider_types()
    assert said[0] == "plugins: pushjuju_provider_types -> local"
    assert said[1].startswith("plugins: pushjuju_provider_types after ")
    assert not any("hunter2" in line for line in said)


def test_answers_are_kept_until_a_directory_changes(site: Site, tmp_path: Path) -> None:
    """The scan's cache: a package that comes or goes is noticed."""
    cache = tmp_path / "cache"
    assert len(site.host(PUSHJUJU_CACHE=str(cache)).provider_types()) == len(BUILT_IN)
    kept = cache / "plugins.json"
    assert kept.exists()
    first = kept.stat().st_mtime_ns
    assert len(site.host(PUSHJUJU_CACHE=str(cache)).provider_types()) == len(BUILT_IN)
    assert kept.stat().st_mtime_ns == first
    site.install("sky", SKY)
    assert len(site.host(PUSHJUJU_CACHE=str(cache)).provider_types()) == len(BUILT_IN) + 1
    kept.write_text("{broken", encoding="utf-8")
    assert len(site.host(PUSHJUJU_CACHE=str(cache)).provider_types()) == len(BUILT_IN) + 1


def test_importing_the_host_loads_nothing_heavy() -> None:
    """`status` may import it; pluggy, entry points and providers come with use."""
    program = """
import sys
from pushjuju.cli.lazy_imports import import_lazily
for name in ("pushjuju.plugins.manager", "pushjuju.plugins.api.providers"):
    import_lazily(name)  # as commands do
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"pluggy", "importlib.metadata", "asyncio", "subprocess", "asyncssh", "cryptography"}
    assert heavy.isdisjoint(done.stdout.split())


def test_listing_types_loads_no_provider(site: Site) -> None:
    """Only opening a cloud imports what drives it."""
    program = (
        "import sys; from pushjuju.plugins.manager import PluginHost; "
        "PluginHost(environ={}, path=[]).provider_types(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pushjuju.plugins.providers.local" in done.stdout.split()
    assert "pushjuju.plugins.providers.local.provider" not in done.stdout.split()
    assert not any(name.startswith("pushjuju.plugins.hooks.") for name in done.stdout.split())


def test_hosts_with_equal_settings_load_the_plugins_once() -> None:
    assert PluginHost(environ={})._host() is PluginHost(environ={"LANG": "C"})._host()
    other = PluginHost(environ={"PUSHJUJU_DISABLE_PLUGINS": "all"})._host()
    assert other is not PluginHost(environ={})._host()


def test_plugins_are_loaded_again_when_a_package_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    before = PluginHost(environ={})._host()
    (tmp_path / "more-1.0.dist-info").mkdir()
    assert PluginHost(environ={})._host() is not before
