"""The configuration of a model, and models as such."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.errors import AlreadyExists, NotFound, NotValid, PushjujuError, UsageError
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.model import model_config, models
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from tests.world.controller import TestController


@pytest.mark.parametrize(
    ("key", "given", "value"),
    [
        ("automatically-retry-hooks", "false", False),
        ("automatically-retry-hooks", "T", True),
        ("automatically-retry-hooks", True, True),
        ("num-provision-workers", "4", 4),
        ("num-provision-workers", 4, 4),
        ("update-status-hook-interval", "1s", "1s"),
        ("default-base", "ubuntu@24.04", "ubuntu@24.04/stable"),
        ("default-base", "", ""),
        ("logging-config", "<root>=DEBUG;unit=TRACE", "<root>=DEBUG;unit=TRACE"),
        ("mode", "", ""),
        ("mode", "strict,requires-prompts", "strict,requires-prompts"),
        ("firewall-mode", "none", "none"),
        ("fan-config", "", ""),
        (
            "fan-config",
            "172.16.0.0/16=253.0.0.0/8 10.0.0.0/12=250.0.0.0/7",
            "172.16.0.0/16=253.0.0.0/8 10.0.0.0/12=250.0.0.0/7",
        ),
        ("a-key-of-a-charm-author", "1", "1"),
    ],
)
def test_values_have_the_type_of_their_key(key: str, given: Any, value: Any) -> None:
    found = model_config.parse_value(key, given)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("key", "given", "text"),
    [
        ("name", "x", "name cannot be changed for a model, it is read-only"),
        ("uuid", "x", "uuid cannot be changed for a model, it is read-only"),
        (
            "automatically-retry-hooks",
            "perhaps",
            'automatically-retry-hooks: expected bool, got string("perhaps")',
        ),
        ("num-provision-workers", "101", "num-provision-workers: must be less than 100"),
        ("num-container-provision-workers", "26", "num-container-provision-workers: must be less than 25"),
        ("num-provision-workers", "some", 'num-provision-workers: expected number, got string("some")'),
        (
            "update-status-hook-interval",
            "5",
            'invalid update status hook interval in model configuration: time: missing unit in duration "5"',
        ),
        ("update-status-hook-interval", "0", "update-status-hook-interval: must be positive, got 0"),
        ("update-status-hook-interval", "-5m", "update-status-hook-interval: must be positive, got -5m"),
        ("logging-config", "<root>=LOUD", 'unknown severity level "LOUD"'),
        ("fan-config", "10.0.0.0/8", "invalid FAN config entry: 10.0.0.0/8"),
        ("fan-config", "10.0.0.0/16=250.0.0.0/8  ", "invalid FAN config entry: "),
        (
            "fan-config",
            "10.0.0.0/16=250.0.0.0",
            "invalid address in FAN config: invalid CIDR address: 250.0.0.0",
        ),
        (
            "fan-config",
            "10.0.0.0/16=250.0.0.0/8 10.0.0.0/8=250.0.0.0/8",
            "invalid FAN config, underlay mask must be larger than overlay: 10.0.0.0/8=250.0.0.0/8",
        ),
        ("mode", "requires-prompt", 'mode(s) "requires-prompt" not valid'),
        ("firewall-mode", "x", 'firewall-mode: expected one of [instance global none], got "x"'),
        (
            "provisioner-harvest-mode",
            "x",
            'provisioner-harvest-mode: expected one of [all none unknown destroyed], got "x"',
        ),
        ("default-base", "ubuntu", 'base string must contain exactly one @. "ubuntu" not valid'),
    ],
)
def test_refused_values(runtime: TestController, key: str, given: Any, text: str) -> None:
    before = runtime.dump()
    with pytest.raises(NotValid) as caught:
        runtime.write(lambda tx: model_config.change(tx, {"mode": "", key: given}, ["test-mode"]))
    assert caught.value.message == text
    assert runtime.dump() == before


def test_reset_of_what_is_read_only(runtime: TestController) -> None:
    before = runtime.dump()
    with pytest.raises(NotValid, match='"agent-version" cannot be reset'):
        runtime.write(lambda tx: model_config.change(tx, {"mode": ""}, ["agent-version"]))
    assert runtime.dump() == before


def test_defaults_and_what_is_set(runtime: TestController) -> None:
    runtime.write(lambda tx: model_config.change(tx, {"http-proxy": "http://p", "own": "1"}))
    found = runtime.read(model_config.effective)
    assert found["http-proxy"] == {"value": "http://p", "source": "model"}
    assert found["own"] == {"value": "1", "source": "model"}
    assert found["update-status-hook-interval"] == {"value": "5m", "source": "default"}
    assert list(found) == sorted(found)
    assert runtime.read(lambda tx: model_config.get(tx, "http-proxy")) == "http://p"
    assert runtime.read(lambda tx: model_config.get(tx, "nothing")) is None
    runtime.write(lambda tx: model_config.change(tx, {}, ["http-proxy", "own"]))
    assert runtime.read(model_config.stored) == {}


def test_new_interval_restarts_the_wait_without_firing(runtime: TestController) -> None:
    """lifecycle 10.3: a change of the interval restarts the wait."""
    runtime.active(count=2)
    runtime.clear()
    runtime.clock.advance(10)
    runtime.write(lambda tx: model_config.change(tx, {"update-status-hook-interval": "20s"}))
    runtime.settle()
    assert runtime.hooks() == []
    for unit in ("web/0", "web/1"):
        wait = (runtime.unit(unit).update_status_due - runtime.clock.now()).total_seconds()
        assert 16 <= wait <= 24
    runtime.clock.advance(24)
    runtime.settle()
    assert (runtime.of("web/0"), runtime.of("web/1")) == (["update-status"], ["update-status"])


def test_same_interval_again_leaves_the_wait_alone(runtime: TestController) -> None:
    runtime.active()
    due = runtime.unit("web/0").update_status_due
    runtime.clock.advance(10)
    runtime.write(lambda tx: model_config.change(tx, {"update-status-hook-interval": "5m"}))
    runtime.settle()
    assert runtime.unit("web/0").update_status_due == due


# --- models -----------------------------------------------------------------------------------------------


def test_new_model(runtime: TestController) -> None:
    made = add_model(runtime.ctx, AddModelOptions(name="two", config={"test-mode": "true"}))
    assert (made.name, made.owner, made.cloud, made.cloud_type, made.region) == (
        "two", "admin", "local", "local", "default",
    )  # fmt: skip
    assert (made.life, made.qualified, made.created) == ("alive", "admin/two", runtime.clock.now())
    runtime.model = made.uuid
    assert runtime.status(StatusKind.MODEL, "two") == ("available", "")
    assert runtime.read(lambda tx: model_config.stored(tx.beside(made.uuid))) == {"test-mode": True}
    assert [item.name for item in models.list_models(runtime.ctx)] == ["shop", "two"]


def test_a_new_model_takes_what_its_provider_says_unless_a_person_does(runtime: TestController) -> None:
    plain = add_model(runtime.ctx, AddModelOptions(name="two", cloud="manual"))
    asked = add_model(
        runtime.ctx, AddModelOptions(name="three", cloud="manual", config={"enable-os-upgrade": "true"})
    )
    assert runtime.read(lambda tx: model_config.stored(tx.beside(plain.uuid))) == {"enable-os-upgrade": False}
    assert runtime.read(lambda tx: model_config.stored(tx.beside(asked.uuid))) == {"enable-os-upgrade": True}


@pytest.mark.parametrize(
    ("asked", "error", "text"),
    [
        (
            {"name": "Two"},
            UsageError,
            '"Two" is not a valid name: model names may only contain lowercase letters, digits and hyphens',
        ),
        ({"name": "shop"}, AlreadyExists, 'model "shop" for admin already exists'),
        ({"name": "two", "cloud": "mars"}, NotFound, "cloud mars not found"),
        ({"name": "two", "credential": "c"}, NotFound, 'credential "c" for cloud "local" not found'),
        (
            {"name": "two", "config": {"name": "x"}},
            NotValid,
            "name cannot be changed for a model, it is read-only",
        ),
    ],
)
def test_refused_model(
    runtime: TestController, asked: dict[str, Any], error: type[PushjujuError], text: str
) -> None:
    before = runtime.dump()
    with pytest.raises(error) as caught:
        add_model(runtime.ctx, AddModelOptions(**asked))
    assert caught.value.message == text
    assert runtime.dump() == before


def test_ways_to_name_a_model(runtime: TestController) -> None:
    uuid = runtime.model
    for text in ("shop", "admin/shop", uuid, uuid[:6]):
        assert models.resolve(runtime.ctx, text).uuid == uuid
    runtime.ctx.controller.set("current-model", "admin/shop")
    assert models.resolve(runtime.ctx, None).uuid == uuid


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nope", "model home:admin/nope not found"),
        ("kim/shop", "model home:kim/shop not found"),
        ("abcde", "model home:admin/abcde not found"),
        ("%%%%%%", "model home:admin/%%%%%% not found"),
    ],
)
def test_model_that_is_not_there(runtime: TestController, text: str, message: str) -> None:
    with pytest.raises(NotFound) as caught:
        models.resolve(runtime.ctx, text)
    assert caught.value.message == message


def test_no_model_in_focus(runtime: TestController) -> None:
    with pytest.raises(NotFound) as caught:
        models.resolve(runtime.ctx, None)
    assert caught.value.message == "No model in focus."


def test_current_model_was_destroyed(runtime: TestController) -> None:
    runtime.ctx.controller.set("current-model", "admin/old")
    with pytest.raises(NotFound) as caught:
        models.resolve(runtime.ctx, None)
    assert caught.value.message.startswith('model "old" has been removed from the controller')
