"""The audit log: each change has a line in its own transaction, and a changed log shows."""

from __future__ import annotations

import ast
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import pushjuju
from pushjuju.core.errors import AlreadyExists, PushjujuError
from pushjuju.core.model.secrets import Content
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.audit import Caller
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.secret.secrets import Change
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import pending_resources, settings
from pushjuju.services.requests.controller import controllers, notify
from pushjuju.services.requests.controller.notify import TargetOptions
from pushjuju.services.requests.machine import spaces
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.secret import user_secrets
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.requests.user import passwords, users
from pushjuju.services.requests.user.users import AccessOptions
from pushjuju.services.views.listings.audit_lines import Wanted, failed, lines, verify
from pushjuju.store.tx import Tx
from pushjuju.web.audit import answering
from pushjuju.workers.loops import cleaner
from tests.world.controller import TestController

SECRET = "v1sible-" + "value"
CODE = Path(pushjuju.__file__).parent


def found(house: TestController, **wanted: Any) -> list[dict[str, Any]]:
    return lines(house.ctx, Wanted(**wanted))


def set_port(house: TestController, port: int) -> None:
    options = settings.ConfigOptions(application="web", values={"greeting": f"{SECRET}{port}"})
    settings.set_config(house.ctx, house.model, options)


@pytest.fixture
def web(runtime: TestController) -> TestController:
    """Return a controller with an application `web`."""
    packed = runtime.charms.make(config={"greeting": {"type": "string", "description": "d"}})
    runtime.deploy("web", packed=packed)
    return runtime


def test_a_change_has_a_line_that_names_what_changed_and_no_value(web: TestController) -> None:
    before = len(found(web))
    web.ctx = replace(web.ctx, caller=Caller(door="command", command="config", env={"SUDO_USER": "kim"}))
    set_port(web, 1)
    (line,) = found(web)[before:]
    assert (line["user"], line["door"], line["command"]) == ("admin", "command", "config")
    assert (line["model"], line["verified"]) == ("admin/shop", False)
    assert "sudo by kim" in line["login"]
    assert "application web" in line["changed"]
    assert line["time"] == "2025-03-01T09:00:00.000000Z"
    assert SECRET not in json.dumps(found(web))


def test_the_line_of_an_action_names_its_operation_and_tasks(runtime: TestController) -> None:
    acts = {"actions.yaml": json.dumps({"backup": {}})}
    runtime.active("web", packed=runtime.charms.make("web", files=acts))
    request = operations.ActionRequest(action="backup", receivers=["web/0"], parameters={})
    operations.enqueue(runtime.ctx, runtime.model, request)
    assert found(runtime)[-1]["changed"] == ["operation 1", "task 2"]


def test_a_line_names_a_model_once(web: TestController) -> None:
    add_model(web.ctx, AddModelOptions(name="other"))
    line = next(line for line in reversed(found(web)) if line["model"] == "admin/other")
    assert line["changed"] == ["model admin/other"]


def test_a_change_that_fails_has_no_line(web: TestController) -> None:
    before = found(web)
    with pytest.raises(PushjujuError):
        settings.set_config(
            web.ctx, web.model, settings.ConfigOptions(application="web", values={"nothing": "1"})
        )
    assert found(web) == before


def test_a_change_whose_line_cannot_be_written_is_undone(
    web: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = Tx.insert

    def refuse(self: Tx, table: str, record: object) -> None:
        if table == "audit":
            raise OSError("no room")
        insert(self, table, record)

    monkeypatch.setattr(Tx, "insert", refuse)
    with pytest.raises(OSError, match="no room"):
        set_port(web, 2)
    assert SECRET not in json.dumps(web.read(lambda tx: [list(row) for row in tx.rows("model_list")]))
    with web.ctx.store.read() as tx:
        assert SECRET not in json.dumps([list(row) for row in tx._connection.execute(
            "SELECT * FROM application_setting"
        )])  # fmt: skip


def test_a_request_that_changes_nothing_has_no_line(web: TestController) -> None:
    before = found(web)
    settings.set_config(web.ctx, web.model, settings.ConfigOptions(application="web", values={}))
    assert found(web) == before


def test_lines_are_chosen_by_user_model_entity_and_time(web: TestController) -> None:
    web.clock.advance(3600)
    noon = web.clock.now()
    web.ctx = replace(web.ctx, user="kim")
    set_port(web, 3)
    assert {line["user"] for line in found(web, user="kim")} == {"kim"}
    assert found(web, model="shop") == found(web, model="admin/shop") == found(web, model=web.model)
    assert found(web, model="other") == []
    assert len(found(web, entity="web")) == 2
    assert len(found(web, entity="web/0")) == 1
    assert len(found(web, since=noon)) == 1
    assert found(web, until=noon) == found(web)[:-1]
    assert found(web, most=1) == found(web)[-1:]


def test_passwords_and_settings_of_the_controller_have_lines_without_values(web: TestController) -> None:
    passwords.set_password(web.ctx, "admin", SECRET)
    controllers.configure(web.ctx, {"object-store-s3-static-secret": SECRET})
    assert found(web)[-1]["changed"] == ["controller-config object-store-s3-static-secret"]
    assert SECRET not in json.dumps(found(web))


def changed(house: TestController, act: Callable[[], object]) -> list[str]:
    """Return what the one line of a request names."""
    before = len(found(house))
    act()
    (line,) = found(house)[before:]
    assert SECRET not in json.dumps(line)
    names: list[str] = line["changed"]
    return names


def test_changes_of_users_and_access_name_them(web: TestController) -> None:
    assert changed(web, lambda: users.add(web.ctx, "kim", "Kim")) == ["controller", "user kim"]
    options = AccessOptions(user="kim", level="read", kind=Kind.MODEL, names=("shop",))
    assert changed(web, lambda: users.grant(web.ctx, options)) == ["model admin/shop", "user kim"]
    assert changed(web, lambda: users.revoke(web.ctx, options)) == ["model admin/shop", "user kim"]
    assert changed(web, lambda: passwords.set_password(web.ctx, "kim", SECRET)) == ["user kim"]
    assert changed(web, lambda: users.set_enabled(web.ctx, "kim", enabled=False)) == ["user kim"]
    assert changed(web, lambda: users.remove(web.ctx, "kim")) == ["user kim"]
    assert len(found(web, entity="kim")) == 6


def test_changes_of_secrets_name_them_also_after_their_removal(web: TestController) -> None:
    content = Content({"word": SECRET})
    added = changed(web, lambda: user_secrets.add(web.ctx, web.model, "token", content))
    (number,) = {name for name in added if name.startswith("secret ")} - {"secret token"}
    renamed = Change(label="key")
    assert changed(web, lambda: user_secrets.update(web.ctx, web.model, "token", renamed)) == sorted([
        "secret key", number, "secret token"
    ])  # fmt: skip
    granted = changed(web, lambda: user_secrets.grant(web.ctx, web.model, "key", ["web"]))
    assert {"application web", "secret key", number} <= set(granted)
    assert changed(web, lambda: user_secrets.remove(web.ctx, web.model, "key")) == sorted([
        "secret key", number
    ])  # fmt: skip
    assert len(found(web, entity="key")) == 3


def test_changes_of_spaces_and_pools_name_them(web: TestController) -> None:
    assert "space dmz" in changed(web, lambda: spaces.add(web.ctx, web.model, "dmz", ()))
    renamed = changed(web, lambda: spaces.rename(web.ctx, web.model, "dmz", "front"))
    assert {"space dmz", "space front"} <= set(renamed)
    assert "space front" in changed(web, lambda: spaces.remove(web.ctx, web.model, "front", force=False))
    made = changed(web, lambda: storage_requests.create_pool(web.ctx, web.model, "fast", "loop", {}))
    assert (
        made
        == changed(web, lambda: storage_requests.remove_pool(web.ctx, web.model, "fast"))
        == ["storage-pool fast"]
    )


def test_changes_of_targets_of_events_name_them(web: TestController) -> None:
    options = TargetOptions(name="chat", address=f"http://127.0.0.1:9/{SECRET}")
    added = changed(web, lambda: notify.add(web.ctx, PluginHost(environ={}), options))
    assert "notify-target chat" in added
    assert changed(web, lambda: notify.remove(web.ctx, "chat")) == ["notify-target chat"]


def test_an_uploaded_resource_is_named_and_found_by_its_application(
    runtime: TestController, tmp_path: Path
) -> None:
    runtime.deploy(packed=runtime.charms.make(resources={"data": {"type": "file", "filename": "data.tgz"}}))
    (tmp_path / "my.tgz").write_text("one")
    path = str(tmp_path / "my.tgz")
    names = changed(
        runtime, lambda: pending_resources.attach_resource(runtime.ctx, runtime.model, "web", "data", path)
    )
    assert "resource web/data" in names
    assert found(runtime, entity="web")[-1]["changed"] == names


def test_a_statement_that_writes_nothing_names_nothing(web: TestController) -> None:
    with web.ctx.change(web.model) as tx:
        tx.run("storage_pool_delete", name="none")
        tx.run("process_enlist", owner="host/1", version="1", started="", pools="[]", api="")
    assert found(web)[-1]["changed"] == ["process host/1"]


def test_the_end_of_auditing_is_the_last_line(web: TestController) -> None:
    controllers.configure(web.ctx, {"auditing-enabled": False})
    last = found(web)
    set_port(web, 4)
    assert found(web) == last
    assert last[-1]["changed"] == ["controller-config auditing-enabled=false"]
    controllers.configure(web.ctx, {"auditing-enabled": "true"})
    assert len(found(web)) == len(last) + 1
    assert found(web)[-1]["changed"] == ["controller-config auditing-enabled=true"]


def test_an_untouched_log_is_intact(web: TestController) -> None:
    for port in range(5):
        set_port(web, port)
    checked = verify(web.ctx)
    assert checked.problems == ()
    assert checked.lines == checked.last == len(found(web))
    assert checked.hash == found(web)[-1]["hash"]


def tampered(house: TestController, statement: str) -> tuple[str, ...]:
    """Return the problems of a log after a statement of an intruder."""
    with closing(sqlite3.connect(house.ctx.store.path)) as connection:
        connection.execute(statement)
        connection.commit()
    return verify(house.ctx).problems


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE audit SET line = replace(line, 'admin', 'mallory') WHERE number = 3", "line 3 was changed"),
        ("UPDATE audit SET time = '2025-01-01' WHERE number = 3", "line 3 was changed"),
        ("UPDATE audit SET line = 'x' WHERE number = 3", "line 3 was changed"),
        ("DELETE FROM audit WHERE number = 3", "lines are missing or were changed between 2 and 4"),
        ("DELETE FROM audit WHERE number < 3", "lines are missing before 3"),
    ],
)
def test_a_changed_or_missing_line_shows(web: TestController, statement: str, problem: str) -> None:
    for port in range(4):
        set_port(web, port)
    assert problem in tampered(web, statement)


async def test_old_lines_are_deleted_and_the_rest_stays_verifiable(web: TestController) -> None:
    web.clock.advance(timedelta(days=300).total_seconds())
    set_port(web, 5)
    kept = found(web)[-1]["number"]
    web.clock.advance(timedelta(days=100).total_seconds())
    cleaner._prune_audit(web.ctx)
    cleaner._prune_audit(web.ctx)
    left = found(web)
    assert [line["number"] for line in left] == [kept, kept + 1]
    assert left[-1]["pruned"]["number"] == kept - 1
    assert verify(web.ctx).problems == ()
    web.clock.advance(timedelta(days=400).total_seconds())
    set_port(web, 6)
    cleaner._prune_audit(web.ctx)
    assert verify(web.ctx).problems == ()
    assert tampered(web, f"DELETE FROM audit WHERE number = {found(web)[0]['number']}") != ()


def test_every_transaction_of_a_request_writes_a_line() -> None:
    # The time of a login; a copy that is thrown away; an event about a change that has its line.
    allowed = {"note_connection", "end_models", "tell"}
    missing = []
    for folder in ("services/requests", "services/bundles"):
        for path in (CODE / folder).rglob("*.py"):
            functions = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef))
            unnoted = (n.name for n in functions if n.name not in allowed and opens_unnoted(n))
            missing += [f"{path.name}: {name}" for name in unnoted]
    assert missing == []


def opens_unnoted(function: ast.FunctionDef) -> bool:
    """Return True for a function that opens a write transaction of a context without a line."""
    opened = {
        ast.unparse(node.func)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    return bool(opened & {"ctx.write", "ctx.store.write", "self.ctx.write", "self.ctx.store.write"})


def statements(web: TestController, act: Callable[[], None]) -> list[str]:
    seen: list[str] = []
    web.ctx.store._connection.set_trace_callback(seen.append)
    act()
    web.ctx.store._connection.set_trace_callback(None)
    return [statement for statement in seen if not statement.startswith("--")]


def test_a_line_costs_three_statements(web: TestController) -> None:
    with_line = statements(web, lambda: set_port(web, 7))
    web.ctx.controller.set("config", {"auditing-enabled": False})  # type: ignore[arg-type]
    without = statements(web, lambda: set_port(web, 8))
    assert len(with_line) == len(without) + 3


@pytest.mark.parametrize("door", ["api", "dashboard"])
def test_a_failed_change_of_a_client_has_a_line_with_its_error(web: TestController, door: str) -> None:
    caller = Caller(door=door, command="add", host="192.0.2.9", verified=True)
    ctx = replace(web.ctx, user="kim", caller=caller)
    before = len(found(web))
    with pytest.raises(AlreadyExists), answering(ctx):
        users.add(ctx, "admin", "")
    (line,) = found(web)[before:]
    assert (line["user"], line["door"], line["host"]) == ("kim", door, "192.0.2.9")
    assert (line["command"], line["error"]) == ("add", "already-exists")
    with answering(ctx):
        users.add(ctx, "lee", "")
    assert "error" not in found(web)[-1]
    assert verify(web.ctx).problems == ()


def test_the_work_of_cron_has_its_door_and_its_exit_code(web: TestController) -> None:
    ctx = replace(web.ctx, caller=Caller(door="cron", command="update-status"))
    users.add(ctx, "lee", "")
    users.add(ctx, "kim", "")
    before = len(found(web))
    ctx.answered(exit=3, error="busy")
    lines_of_cron = [line for line in found(web) if line["door"] == "cron"]
    assert [(line["exit"], line["error"]) for line in lines_of_cron] == [(3, "busy")] * 2
    assert len(found(web)) == before
    assert failed(lines_of_cron[0]) == "failed (busy, exit 3)"


def test_without_auditing_no_result_is_written(web: TestController) -> None:
    ctx = replace(web.ctx, caller=Caller(door="command", command="config"))
    controllers.configure(ctx, {"auditing-enabled": "false"})
    before = len(found(web))
    ctx.answered(exit=0)
    assert len(found(web)) == before


def test_a_command_that_found_nothing_to_change_has_no_line(web: TestController) -> None:
    ctx, before = replace(web.ctx, caller=Caller(door="command", command="config")), found(web)
    with ctx.change(web.model):
        pass
    ctx.answered(exit=0)
    assert found(web) == before
