"""What secrets cost: nothing where there are none, and no look at those of others."""

from __future__ import annotations

from collections.abc import Iterable

from pushjuju.core.model.secrets import Content, OwnerKind
from pushjuju.services.entities.secret import secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.services.requests.secret import user_secrets
from tests.bench.statements import counted
from tests.world.controller import TestController
from tests.world.machine import ok
from tests.world.secret_charm import Hook, begin

CONTENT = Content({"token": "YQ=="})
MANY = 50


def fill(runtime: TestController, application: str, numbers: Iterable[int] = range(MANY)) -> None:
    """Give an application many secrets."""
    owner = Owner(kind=OwnerKind.APPLICATION, name=application)
    change = Change(content=CONTENT)
    for number in numbers:
        secret = f"{number:0>20}"
        runtime.write(lambda tx, secret=secret: secrets.create(runtime.ctx, tx, secret, owner, change))


def statements(runtime: TestController, *lines: str) -> list[str]:
    """Return what a hook of web/0 that calls tools asks of the store, with its commit and the next turn."""
    hook: Hook = begin(runtime, "web/0")
    for line in lines:
        hook.ok(line)
    runtime.commit(hook.dispatch, ok(writes=hook.writes))
    with counted(runtime.ctx.store) as found:
        hook = begin(runtime, "web/0")
        for line in lines:
            hook.ok(line)
        runtime.commit(hook.dispatch, ok(writes=hook.writes))
        runtime.turn("web/0")
    return [str(statement) for statement in found]


def test_a_unit_without_secrets_asks_nothing_about_them(runtime: TestController) -> None:
    for name in ("web", "other"):
        runtime.active(name)
    fill(runtime, "other")
    user_secrets.add(runtime.ctx, runtime.model, "apikey", CONTENT)
    asked = [statement for statement in statements(runtime) if " secret" in statement]
    assert asked == []


def test_a_unit_with_secrets_never_walks_through_those_of_others(runtime: TestController) -> None:
    for name in ("web", "other"):
        runtime.active(name)
    fill(runtime, "other")
    uri = user_secrets.add(runtime.ctx, runtime.model, "apikey", CONTENT)
    user_secrets.grant(runtime.ctx, runtime.model, "apikey", ["web"])
    found = statements(runtime, "secret-add token=x", f"secret-get {uri}", "secret-ids")
    connection = runtime.ctx.store._connection
    plans = [
        (row["detail"], statement)
        for statement in found
        if " secret" in statement
        for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
    ]
    assert plans
    assert [plan for plan in plans if plan[0].startswith("SCAN ") or plan[0].endswith("(model=?)")] == []


def test_the_number_of_its_own_secrets_adds_no_statement(runtime: TestController) -> None:
    runtime.active("web")
    fill(runtime, "web", range(2))
    few = len(statements(runtime))
    fill(runtime, "web", range(2, MANY))
    runtime.settle()
    assert len(statements(runtime)) == few
