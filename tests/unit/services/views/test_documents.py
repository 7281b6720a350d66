"""models, show-model, controllers, show-unit: what test tools need of them."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju import JUJU_VERSION
from pushjuju.core.errors import NotFound
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import expose, unit_requests
from pushjuju.services.requests.application.expose import ExposeOptions
from pushjuju.services.views import application_documents, documents, unit_documents
from tests.world.controller import TestController
from tests.world.machine import ok


def test_models(runtime: TestController) -> None:
    runtime.ctx.controller.set("current-model", "admin/shop")
    found = documents.models_document(runtime.ctx)
    assert found["current-model"] == "shop"
    (entry,) = found["models"]
    assert {
        key: entry[key] for key in ("name", "short-name", "model-uuid", "model-type", "is-controller")
    } == {
        "name": "admin/shop",
        "short-name": "shop",
        "model-uuid": runtime.model,
        "model-type": "iaas",
        "is-controller": False,
    }
    assert (entry["owner"], entry["cloud"], entry["region"], entry["type"]) == (
        "admin",
        "local",
        "default",
        "local",
    )
    assert (entry["life"], entry["status"]) == (
        "alive",
        {"current": "available", "since": runtime.clock.now()},
    )
    assert (entry["access"], entry["agent-version"]) == ("admin", JUJU_VERSION)


def test_model_of_somebody_else_in_focus(runtime: TestController) -> None:
    runtime.ctx.controller.set("current-model", "kim/shop")
    assert documents.models_document(runtime.ctx)["current-model"] == "kim/shop"


def test_no_model_in_focus(runtime: TestController) -> None:
    assert "current-model" not in documents.models_document(runtime.ctx)


def test_counts(runtime: TestController) -> None:
    runtime.active(count=2)
    assert documents.model_counts(runtime.ctx) == {runtime.model: (2, 4, 2)}


def test_show_model_has_what_jubilant_needs(runtime: TestController) -> None:
    runtime.active()
    found = documents.show_model(runtime.ctx, runtime.resolve_model())
    assert list(found) == ["shop"]
    shown = found["shop"]
    needed = {
        "name",
        "short-name",
        "model-uuid",
        "model-type",
        "controller-uuid",
        "controller-name",
        "is-controller",
        "cloud",
        "life",
    }
    assert needed <= shown.keys()
    assert shown["name"] == "admin/shop"
    assert set(shown["users"]["admin"]) >= {"access", "last-connection"}
    assert shown["machines"] == {"0": {"cores": 2}}
    assert shown["secret-backends"] == {"internal": {"num-secrets": 0, "status": "active"}}
    assert set(shown["supported-features"][0]) == {"name", "description", "version"}


def test_controllers(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.ctx.datadir.set_current_controller("home")
    found = documents.controllers_document(runtime.ctx.datadir, "admin", _no_problem)
    assert found["current-controller"] == "home"
    entry = found["controllers"]["home"]
    assert (entry["model-count"], entry["machine-count"], entry["cloud"]) == (1, 2, "local")


def _no_problem(name: str, error: Exception) -> None:
    raise AssertionError(name) from error


def _unit(runtime: TestController, name: str = "web/0") -> dict[str, Any]:
    found: dict[str, Any] = unit_documents.show_units(runtime.ctx, runtime.model, [name])[name]
    return found


def test_show_unit_has_what_jubilant_needs(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.played("1").will(
        "update-status",
        ok(
            writes={
                "relations": {"0": {"unit": {"k": "v"}}},
                "ports": {"open": [{"endpoint": "", "protocol": "tcp", "from": 80, "to": 80}]},
            },
            events=[{"seq": 1, "e": {"k": "version", "version": "1.0"}}],
        ),
    )
    runtime.clock.advance(400)
    runtime.settle()
    runtime.played("0").will(
        "update-status",
        ok(
            writes={"relations": {"0": {"app": {"a": "b"}}}},
            events=[{"seq": 1, "e": {"k": "version", "version": "1.1"}}],
        ),
    )
    runtime.clock.advance(400)
    runtime.settle()
    shown = _unit(runtime)
    assert (shown["workload-version"], _unit(runtime, "web/1")["workload-version"]) == ("1.1", "1.0")
    assert list(shown) == [
        "workload-version",
        "machine",
        "opened-ports",
        "public-address",
        "charm",
        "leader",
        "life",
        "relation-info",
    ]
    assert (shown["opened-ports"], shown["leader"], shown["charm"]) == ([], True, "local:web-0")
    assert _unit(runtime, "web/1")["opened-ports"] == ["80/tcp"]
    (relation,) = shown["relation-info"]
    assert (relation["relation-id"], relation["endpoint"], relation["related-endpoint"]) == (
        0,
        "cluster",
        "cluster",
    )
    assert relation["application-data"] == {"a": "b"}
    assert relation["local-unit"]["in-scope"] is True
    other = relation["related-units"]["web/1"]
    assert other["in-scope"] is True
    assert other["data"] == {
        "egress-subnets": "10.0.0.3/32",
        "ingress-address": "10.0.0.3",
        "private-address": "10.0.0.3",
        "k": "v",
    }


def test_show_unit_lists_the_related_units_that_exist(runtime: TestController) -> None:
    """A removed unit is not listed, although relations keep its data; a new one is listed without data."""
    runtime.active(count=2)
    removals.remove_units(runtime.ctx, runtime.model, ["web/1"])
    runtime.settle()
    unit_requests.add_units(runtime.ctx, runtime.model, unit_requests.AddUnitsOptions(application="web"))
    (relation,) = _unit(runtime)["relation-info"]
    assert relation["related-units"] == {"web/2": {"in-scope": False, "data": {}}}


def test_show_unit_that_is_new(runtime: TestController) -> None:
    runtime.deploy()
    shown = _unit(runtime)
    assert (shown["opened-ports"], shown["leader"], shown["life"]) == ([], False, "alive")
    assert "public-address" not in shown


def test_show_unit_has_the_charm_of_the_application(runtime: TestController) -> None:
    runtime.active()
    runtime.refresh(runtime.charms.make(files={"version": "v2"}))
    assert (_unit(runtime)["charm"], runtime.unit("web/0").charm_url) == ("local:web-1", "local:web-0")


def test_show_unit_that_is_not_there(runtime: TestController) -> None:
    with pytest.raises(NotFound) as caught:
        unit_documents.show_units(runtime.ctx, runtime.model, ["web/0"])
    assert caught.value.message == 'unit "web/0" not found'


def test_an_application_is_shown_with_bindings_and_exposures(runtime: TestController) -> None:
    runtime.deploy(constraints={"mem": 1024})
    expose.expose(runtime.ctx, runtime.model, ExposeOptions(application="web", cidrs=["10.0.0.0/8"]))
    (shown,) = application_documents.show_applications(runtime.ctx, runtime.model, ["web"]).values()
    assert shown == {
        "charm": "web",
        "base": "ubuntu@22.04",
        "constraints": {"mem": 1024},
        "principal": True,
        "exposed": True,
        "exposed-endpoints": {"": {"expose-to-cidrs": ["10.0.0.0/8"]}},
        "remote": False,
        "life": "alive",
        "endpoint-bindings": {"": "alpha", "cluster": "alpha"},
    }
    with pytest.raises(NotFound, match='application "none" not found'):
        application_documents.show_applications(runtime.ctx, runtime.model, ["web", "none"])
