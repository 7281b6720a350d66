"""Requests of machines, models and users: a value in, a value out, no console."""

from __future__ import annotations

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.requests.machine import add_machines, provisioning
from pushjuju.services.requests.machine.add_machines import AddMachinesOptions
from pushjuju.services.requests.model import destroy_model, model_config
from pushjuju.services.requests.model.model_config import ModelConfigOptions
from pushjuju.services.requests.user import users as users_requests
from pushjuju.services.requests.user.users import AccessOptions
from pushjuju.services.views import known_names, next_steps, removal_plan
from tests.world.controller import TestController

NOBLE = Base("ubuntu", "24.04")


def test_machines_are_added_and_planned_away(runtime: TestController) -> None:
    made = add_machines.add_machines(runtime.ctx, runtime.model, AddMachinesOptions(base=NOBLE, count=2))
    assert made == ["0", "1"]
    assert add_machines.hosts(runtime.ctx, runtime.model) == {(None, None)}
    assert removal_plan.machine_lines(runtime.ctx, runtime.model, made, keep_instance=False) == [
        "will remove machine 0",
        "will remove machine 1",
    ]
    with pytest.raises(UsageError):
        provisioning.retry_provisioning(runtime.ctx, runtime.model, ["0", "x"])


def test_access_is_given_and_taken_or_nothing_is_changed(runtime: TestController) -> None:
    users_requests.add(runtime.ctx, "kim", "")
    options = AccessOptions(user="kim", level="read", kind=Kind.MODEL, names=("shop",))
    users_requests.grant(runtime.ctx, options)
    assert runtime.read(lambda tx: users.access_to(tx, Kind.MODEL, runtime.model))["kim"] == "read"
    with pytest.raises(NotFound):
        users_requests.revoke(
            runtime.ctx, AccessOptions(user="kim", level="read", kind=Kind.MODEL, names=("shop", "x"))
        )
    users_requests.revoke(runtime.ctx, options)
    assert "kim" not in runtime.read(lambda tx: users.access_to(tx, Kind.MODEL, runtime.model))


def test_settings_of_a_model_change_and_unknown_keys_are_named(runtime: TestController) -> None:
    model = sessions.open_model(runtime.ctx, "shop").model
    options = ModelConfigOptions(values={"ssh-allow": "10.0.0.0/8", "shoe-size": "44"})
    assert model_config.unknown_keys(runtime.ctx, model, options, PluginHost(environ={})) == ["shoe-size"]
    model_config.set_model_config(runtime.ctx, model, options)
    assert options.is_worked
    assert model_config.firewall_rules(runtime.ctx, runtime.model)["ssh"] == ["10.0.0.0/8"]
    model_config.set_firewall_rule(runtime.ctx, runtime.model, "ssh", ["192.168.0.0/16"])
    assert model_config.effective(runtime.ctx, model)["ssh-allow"]["value"] == "192.168.0.0/16"


def test_a_model_dies_when_nothing_holds_it_up(runtime: TestController) -> None:
    runtime.active()
    model = sessions.open_model(runtime.ctx, "shop").model
    sessions.focus(runtime.ctx, model)
    assert destroy_model.counts(runtime.ctx, [model]) == (1, 1)
    assert destroy_model.destroy_models(runtime.ctx, [model], None, destroy_storage=None)
    assert sessions.current_model(runtime.ctx) == ""
    held = destroy_model.dying(runtime.ctx, model.uuid)
    assert held is not None
    assert held.reasons
    assert not held.has_ends
    runtime.write(lambda tx: models.purge(tx.beside(model.uuid)))
    assert destroy_model.dying(runtime.ctx, model.uuid) is None


def test_names_that_may_have_been_wanted(runtime: TestController) -> None:
    runtime.active(count=2)
    assert known_names.of_model(runtime.ctx, runtime.model, "unit") == ["web/0", "web/1"]
    assert known_names.of_model(runtime.ctx, runtime.model, "offer") == []
    assert known_names.of_controller(runtime.ctx, "no such kind") == []
    assert next_steps.homes_and_storage(runtime.ctx, runtime.model, ["web", "7"])[0] == {"0", "1"}
