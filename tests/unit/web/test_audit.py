"""The audit log: every change over the network, by whom, and no secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushjuju.core.errors import StoreBusy
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.views.listings import audit_lines
from pushjuju.web import audit
from tests.world.api import ApiFailed, ApiWorld
from tests.world.controller import TestController


def lines(house: TestController) -> list[dict[str, Any]]:
    """Return the lines of the log."""
    path = house.ctx.controller.root / "log" / "audit.log"
    if not path.exists():
        return []
    assert path.stat().st_mode & 0o777 == 0o600
    return [json.loads(line) for line in path.read_text().splitlines()]


async def change(served: ApiWorld, house: TestController) -> None:
    """Change a setting of the model whose value is secret."""
    async with served.entered(house.model) as client:
        await client.ask("Client", 8, "FullStatus")
        secret = {"args": [{"content": {"data": {"k": "djFzaWJsZQ=="}}, "label": "token"}]}
        await client.ask("Secrets", 2, "CreateSecrets", secret)
        await client.ask("ModelConfig", 3, "ModelSet", {"config": {"extra-info": "v1sible"}})


async def test_a_change_is_noted_and_reading_is_not(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as client:
        await client.ask("Client", 8, "FullStatus")
        await client.ask("ModelConfig", 3, "ModelGet")
    assert lines(house) == []
    await change(served, house)
    begun, *rest = lines(house)
    assert begun["conversation"]["who"] == "admin"
    assert begun["conversation"]["model-name"] == "admin/shop"
    asked = [item["request"] for item in rest if "request" in item]
    assert [(item["facade"], item["method"]) for item in asked] == [
        ("Secrets", "CreateSecrets"), ("ModelConfig", "ModelSet"),
    ]  # fmt: skip
    assert {item["conversation-id"] for item in asked} == {begun["conversation"]["conversation-id"]}
    assert "args" not in asked[0]
    assert len([item for item in rest if "errors" in item]) == 2


async def test_a_refused_change_is_noted_with_its_error(served: ApiWorld, house: TestController) -> None:
    served.add_user("kim")
    async with served.entered(user="kim") as client:
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("Controller", 11, "ConfigSet", {"config": {}})
    found = lines(house)
    assert found[0]["conversation"]["who"] == "kim"
    assert found[-1]["errors"]["errors"] == [{"message": "permission denied", "code": "unauthorized access"}]
    (line,) = audit_lines.lines(house.ctx, audit_lines.Wanted(user="kim"))
    assert (line["command"], line["door"]) == ("Controller.ConfigSet", "api")
    assert (line["error"], "changed" in line) == ("unauthorized-access", False)


async def test_a_change_that_fails_before_it_begins_names_its_model(
    served: ApiWorld, house: TestController
) -> None:
    async with served.entered(house.model) as client:
        with pytest.raises(ApiFailed, match="not found"):
            await client.ask("Application", 19, "Expose", {"application": "nope"})
        with pytest.raises(ApiFailed):
            await client.ask("Application", 19, "Get", {"application": "nope"})
    *_, line = audit_lines.lines(house.ctx, audit_lines.Wanted())
    assert (line["command"], line["error"], line["model"]) == (
        "Application.Expose",
        "not-found",
        "admin/shop",
    )


async def test_items_of_a_call_that_failed_are_noted_with_their_errors(
    served: ApiWorld, house: TestController
) -> None:
    secret = {"content": {"data": {"k": "djFzaWJsZQ=="}}, "label": "token"}
    async with served.entered(house.model) as client:
        made = await client.ask(
            "Secrets", 2, "CreateSecrets", {"args": [secret, secret, {**secret, "label": ""}]}
        )
    first, second, _ = made["results"]
    assert "error" not in first
    assert lines(house)[-1]["errors"]["errors"] == [second["error"]]
    line, third = audit_lines.lines(house.ctx, audit_lines.Wanted(most=2))
    assert (line["command"], line["error"], third["error"]) == (
        "Secrets.CreateSecrets",
        "already-exists",
        line["error"],
    )
    assert "v1sible" not in json.dumps([line, third, *lines(house)])


async def test_a_call_whose_items_all_failed_is_noted_with_each_error_once(
    served: ApiWorld, house: TestController
) -> None:
    entities = {"entities": [{"tag": "user-nobody"}, {"tag": "user-noone"}, {"tag": "unit"}]}
    async with served.entered() as client:
        asked = await client.ask("UserManager", 3, "DisableUser", entities)
    assert all("error" in item for item in asked["results"])
    assert len(lines(house)[-1]["errors"]["errors"]) == 3
    (line,) = audit_lines.lines(house.ctx, audit_lines.Wanted(most=1))
    assert (line["command"], line["error"]) == ("UserManager.DisableUser", "not-found, not-valid")


async def test_items_that_are_done_are_answered_when_the_store_takes_no_line(
    served: ApiWorld, house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise StoreBusy

    monkeypatch.setattr(Context, "answered", refuses)
    secret = {"content": {"data": {"k": "djFzaWJsZQ=="}}, "label": "token"}
    async with served.entered(house.model) as client:
        made = await client.ask("Secrets", 2, "CreateSecrets", {"args": [secret, secret]})
    assert ["error" in item for item in made["results"]] == [False, True]


async def test_a_wrong_password_is_noted_without_it(served: ApiWorld, house: TestController) -> None:
    async with served.connect() as client:
        with pytest.raises(ApiFailed):
            await client.login("mallory", "gu3ss")
    text = json.dumps(lines(house))
    assert "mallory" in text
    assert "invalid entity name or password" in text
    assert "gu3ss" not in text


@pytest.mark.parametrize("capture", [False, True])
async def test_no_secret_is_in_the_audit_log(house: TestController, *, capture: bool) -> None:
    house.ctx.controller.set("config", {"audit-log-capture-args": capture})
    async with ApiWorld.serve(house.ctx) as served:
        await change(served, house)
    text = json.dumps(lines(house))
    assert ("***" in text) is capture
    assert "v1sible" not in text
    assert "djFzaWJsZQ" not in text


async def test_the_audit_log_can_be_off(house: TestController) -> None:
    house.ctx.controller.set("config", {"auditing-enabled": False})
    async with ApiWorld.serve(house.ctx) as served:
        await change(served, house)
    assert lines(house) == []


async def test_a_full_audit_log_is_kept_beside_a_new_one(
    house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_MIB", 1)
    house.ctx.controller.set("config", {"audit-log-max-size": "200M", "audit-log-max-backups": 1})
    async with ApiWorld.serve(house.ctx) as served:
        await change(served, house)
    (kept,) = (house.ctx.controller.root / "log").glob("audit.log.*")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert len(lines(house)) == 1


async def test_refused_macaroons_are_noted_and_a_flood_of_them_is_not(
    served: ApiWorld, house: TestController
) -> None:
    wrong = [[{"i": "kim", "s64": "AAAA"}]]
    for _ in range(15):
        async with served.connect() as client:
            with pytest.raises(ApiFailed, match="invalid entity name or password"):
                await client.ask("Admin", 3, "Login", {"auth-tag": "user-kim", "macaroons": wrong})
    found = lines(house)
    assert {item["conversation"]["who"] for item in found if "conversation" in item} == {"kim"}
    assert 0 < len([item for item in found if "errors" in item]) <= 10


async def test_a_change_over_the_api_is_in_the_log_of_all_doors(
    served: ApiWorld, house: TestController
) -> None:
    await change(served, house)
    found = audit_lines.lines(house.ctx, audit_lines.Wanted(most=2))
    assert [(line["door"], line["command"]) for line in found] == [
        ("api", "Secrets.CreateSecrets"), ("api", "ModelConfig.ModelSet"),
    ]  # fmt: skip
    assert {(line["user"], line["verified"], line["host"]) for line in found} == {
        ("admin", True, "127.0.0.1")
    }
    assert "v1sible" not in json.dumps(found)
    assert audit_lines.verify(house.ctx).problems == ()
