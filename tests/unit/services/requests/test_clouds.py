"""Requests of clouds and credentials: values in, reports out, no console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pushjuju.core.clouds import Cloud, CloudCredentials, StoredCredential
from pushjuju.core.errors import NotFound, NotValid, StoreError
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model.sides import Sides
from pushjuju.services.requests.cloud import credentials, definitions, update_credentials
from pushjuju.services.requests.cloud.definitions import Removed
from pushjuju.services.requests.cloud.update_credentials import NoneOnClient, UpdateCredentialsOptions
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from tests.world.controller import TestController

LAB = Cloud.from_document("lab", {"type": "maas", "endpoint": "http://maas.example/MAAS"})
GOOD = StoredCredential(auth_type="oauth1", attributes={"maas-oauth": "a:b:c"})


def _sides(runtime: TestController, *, client: bool = True) -> Sides:
    ctx = None if client else runtime.ctx
    return Sides(folder=runtime.ctx.datadir, host=PluginHost(environ={}), client=client, ctx=ctx)


def _with_lab(runtime: TestController) -> Sides:
    """Return the client, which has cloud lab with one credential, and a model that uses it."""
    where = _sides(runtime)
    assert definitions.put_on_client(where, LAB)
    _, kind = credentials.known_cloud(where, "lab")
    assert credentials.add_to_client(where, LAB, kind, {"mine": GOOD}, replace=False) == []
    add_model(runtime.ctx, AddModelOptions(name="there", cloud="lab"))
    return where


def _update(where: Sides, runtime: TestController, problems: Sequence[str], **options: Any) -> Any:
    stored = {"lab": CloudCredentials(credentials={"mine": GOOD})}
    wanted = UpdateCredentialsOptions(credentials=stored, **options)
    return update_credentials.update(where, wanted, lambda _: runtime.ctx, lambda *_: problems)


def test_a_credential_that_a_model_cannot_use_is_kept_by_force_alone(runtime: TestController) -> None:
    where = _with_lab(runtime)
    refused = _update(where, runtime, ["wrong key"])
    assert (refused.is_refused, refused.woken) == (True, [])
    assert refused.results[0].models == {"there": ["wrong key"]}
    assert not _update(where, runtime, ["wrong key"], force=True).is_refused
    assert not _update(where, runtime, []).is_refused


def test_a_controller_that_cannot_be_read_is_reported_and_keeps_what_it_may_use(
    runtime: TestController,
) -> None:
    where = _with_lab(runtime)

    def closed(_: str) -> Context:
        raise StoreError("damaged")

    removal = credentials.remove_from_client(where, "lab", "mine", closed)
    assert (removal.outcome, list(removal.unread)) == (Removed.GONE, [runtime.ctx.controller.name])
    assert "mine" in runtime.ctx.controller.cloud_files.credentials("lab").credentials
    assert credentials.remove_from_client(where, "lab", "mine", closed).outcome is Removed.ABSENT
    assert definitions.remove_from_client(where, "lab", lambda _: runtime.ctx).unread == {}
    assert "lab" in runtime.ctx.controller.cloud_files.clouds()
    assert definitions.remove_from_client(where, "local", closed).outcome is Removed.BUILT_IN


def test_what_models_use_is_not_taken_from_their_controller(runtime: TestController) -> None:
    _with_lab(runtime)
    there = _sides(runtime, client=False)
    definitions.put_on_controller(there, LAB)
    assert definitions.hand_over(there, LAB).name == "mine"
    with pytest.raises(NotValid, match="still used by 1 model"):
        credentials.revoke(there, "lab", "mine")
    with pytest.raises(NotValid, match="cloud is used by 1 model"):
        definitions.remove_from_controller(there, "lab")
    credentials.revoke(there, "lab", "mine", force=True)
    with pytest.raises(NotFound):
        definitions.update_on_controller(there, "elsewhere")


def test_nothing_is_updated_that_the_client_does_not_have(runtime: TestController) -> None:
    definitions.put_on_client(_sides(runtime), LAB)
    with pytest.raises(NoneOnClient):
        _update(_sides(runtime), runtime, [])
