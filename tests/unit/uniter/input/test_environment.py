"""The process environment of hooks, key for key as hook-tools 1.3 has it."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju import JUJU_VERSION
from pushjuju.services.entities.model import model_config
from pushjuju.services.requests import removals
from pushjuju.services.requests.application.unit_requests import make_due
from tests.world.controller import TestController

# What the machine adds: paths and sockets that only it knows.
OF_THE_MACHINE = (
    "CHARM_DIR",
    "JUJU_CHARM_DIR",
    "JUJU_CONTEXT_ID",
    "JUJU_AGENT_SOCKET_ADDRESS",
    "JUJU_AGENT_SOCKET_NETWORK",
    "PATH",
)
UBUNTU_VARIABLES = {
    "APT_LISTCHANGES_FRONTEND": "none",
    "DEBIAN_FRONTEND": "noninteractive",
    "LANG": "C.UTF-8",
    "TERM": "tmux-256color",
}


def _always(runtime: TestController, hook: str, **more: str) -> dict[str, str]:
    return {
        "JUJU_HOOK_NAME": hook,
        "JUJU_UNIT_NAME": "web/0",
        "JUJU_MODEL_UUID": runtime.model,
        "JUJU_MODEL_NAME": "shop",
        "JUJU_API_ADDRESSES": "127.0.0.1:17070",
        "JUJU_VERSION": JUJU_VERSION,
        "JUJU_MACHINE_ID": "0",
        "JUJU_PRINCIPAL_UNIT": "",
        "JUJU_AVAILABILITY_ZONE": "",
        "CLOUD_API_VERSION": "",
        "JUJU_SLA": "unsupported",
        "JUJU_METER_STATUS": "AMBER",
        "JUJU_METER_INFO": "not set",
        "JUJU_CHARM_HTTP_PROXY": "",
        "JUJU_CHARM_HTTPS_PROXY": "",
        "JUJU_CHARM_FTP_PROXY": "",
        "JUJU_CHARM_NO_PROXY": "127.0.0.1,localhost,::1",
        "JUJU_DISPATCH_PATH": f"hooks/{hook}",
        **UBUNTU_VARIABLES,
        **more,
    }


def _env(runtime: TestController, hook: str, unit: str = "web/0") -> dict[str, str]:
    found: dict[str, str] = dict(runtime.until(hook, unit).frame["env"])
    return found


def test_environment_of_a_plain_hook(runtime: TestController) -> None:
    runtime.deploy()
    env = _env(runtime, "install")
    assert env == _always(runtime, "install")
    assert not set(OF_THE_MACHINE) & set(env)


def _relation(**more: str) -> dict[str, str]:
    return {"JUJU_RELATION": "cluster", "JUJU_RELATION_ID": "cluster:0", "JUJU_REMOTE_APP": "web", **more}


def test_environment_of_relation_hooks(runtime: TestController) -> None:
    """created, joined, changed by the unit, changed by the application, departed."""
    runtime.deploy(count=2)
    hook = "cluster-relation-created"
    assert _env(runtime, hook) == _always(runtime, hook, **_relation(JUJU_REMOTE_UNIT=""))
    runtime.write(lambda tx: tx.run("unit_set_resolved", name="web/0", resolved="retry-hooks"))
    runtime.settle()
    for hook in ("cluster-relation-joined", "cluster-relation-changed"):
        env = runtime.played("0").frame_of(hook)["env"]
        assert env == _always(runtime, hook, **_relation(JUJU_REMOTE_UNIT="web/1"))
    make_due(runtime.ctx, runtime.model, ["web/0"])
    runtime.played("0").will("update-status", {"writes": {"relations": {"0": {"app": {"a": "b"}}}}})
    runtime.settle()
    hook = "cluster-relation-changed"
    assert runtime.played("0").frame_of(hook)["env"] == _always(
        runtime, hook, **_relation(JUJU_REMOTE_UNIT="")
    )
    removals.remove_units(runtime.ctx, runtime.model, ["web/1"])
    hook = "cluster-relation-departed"
    gone = {"JUJU_REMOTE_UNIT": "web/1", "JUJU_DEPARTING_UNIT": "web/1"}
    assert _env(runtime, hook) == _always(runtime, hook, **_relation(**gone))


def test_unit_that_departs_itself(runtime: TestController) -> None:
    runtime.active(count=2)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    env = _env(runtime, "cluster-relation-departed")
    assert (env["JUJU_REMOTE_UNIT"], env["JUJU_DEPARTING_UNIT"]) == ("web/1", "web/0")


@pytest.mark.parametrize(
    ("config", "variables"),
    [
        ({}, {}),
        ({"no-proxy": "a,b"}, {}),  # nothing at all unless a proxy is set
        (
            {"http-proxy": "http://p:3128"},
            {"http_proxy": "http://p:3128", "no_proxy": "127.0.0.1,::1,localhost"},
        ),
        (
            {"https-proxy": "http://s", "ftp-proxy": "http://f", "no-proxy": "b,a,b"},
            {"https_proxy": "http://s", "ftp_proxy": "http://f", "no_proxy": "a,b"},
        ),
        ({"http-proxy": "http://p", "no-proxy": ""}, {"http_proxy": "http://p"}),
    ],
)
def test_proxies(runtime: TestController, config: dict[str, Any], variables: dict[str, str]) -> None:
    runtime.write(lambda tx: model_config.change(tx, config))
    runtime.deploy()
    env = _env(runtime, "install")
    both = {**variables, **{key.upper(): value for key, value in variables.items()}}
    assert env == _always(runtime, "install", **both)


def test_proxies_for_charms_only(runtime: TestController) -> None:
    config = {f"juju-{kind}-proxy": f"http://{kind}" for kind in ("http", "https", "ftp")}
    runtime.write(lambda tx: model_config.change(tx, {**config, "juju-no-proxy": "10.0.0.0/8"}))
    runtime.deploy()
    env = _env(runtime, "install")
    assert env == _always(
        runtime,
        "install",
        JUJU_CHARM_HTTP_PROXY="http://http",
        JUJU_CHARM_HTTPS_PROXY="http://https",
        JUJU_CHARM_FTP_PROXY="http://ftp",
        JUJU_CHARM_NO_PROXY="10.0.0.0/8",
    )


@pytest.mark.parametrize(
    ("base", "variables"),
    [
        ("ubuntu@22.04/stable", UBUNTU_VARIABLES),
        ("debian@12/stable", UBUNTU_VARIABLES),
        ("centos@9/stable", {"LANG": "C.UTF-8", "TERM": "tmux-256color"}),
        ("centos@7/stable", {"LANG": "C.UTF-8", "TERM": "screen-256color"}),
        ("genericlinux@1/stable", {"LANG": "C.UTF-8", "TERM": "screen"}),
    ],
)
def test_variables_of_the_operating_system(
    runtime: TestController, base: str, variables: dict[str, str]
) -> None:
    runtime.deploy()
    runtime.played()
    runtime.ctx.store._connection.execute("UPDATE machine SET base = ?", (base,))
    env = _env(runtime, "install")
    assert {key: env[key] for key in UBUNTU_VARIABLES if key in env} == variables


def test_zone_and_principal(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played()
    connection = runtime.ctx.store._connection
    connection.execute("""UPDATE machine SET hardware = '{"availability-zone": "az-1"}'""")
    env = _env(runtime, "install")
    assert env["JUJU_AVAILABILITY_ZONE"] == "az-1"


def test_values_are_text(runtime: TestController) -> None:
    runtime.deploy(count=2)
    runtime.settle()
    for played in runtime.played_machines.values():
        for frame in played.frames:
            for key, value in frame.get("env", {}).items():
                assert isinstance(value, str), key
