"""What a machine that says anything can reach of secrets: nothing but its own unit's."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.runner.trust.intake import read_result
from pushjuju.workers import live
from tests.unit.uniter.apply.test_charm_secrets import relation, shared, town
from tests.world.controller import TestController
from tests.world.machine import ok
from tests.world.secret_charm import add, begin, rows

__all__ = ["town"]
NEW = "0123456789abcdefghij"
GOOD = {"content": {"token": "YQ=="}, "owner": "unit"}


def says(town: TestController, unit: str, secrets: Any) -> str:
    """Let a hook of a unit end with these changes; return why they were refused."""
    hook = begin(town, unit)
    return town.commit(hook.dispatch, ok(writes={"secrets": secrets})).message


def test_an_id_that_is_taken_is_not_taken_over(town: TestController) -> None:
    secret = add(town, "db/0")
    text = says(town, "web/0", {"create": {secret: GOOD}})
    assert text == f'creating secrets: secret "{secret}" already exists'


def test_who_does_not_lead_adds_nothing_for_its_application(town: TestController) -> None:
    text = says(town, "db/1", {"create": {NEW: {**GOOD, "owner": "application"}}})
    assert text == "creating secrets: this unit is not the leader"


@pytest.mark.parametrize("part", ["update", "grant", "revoke", "remove"])
@pytest.mark.parametrize("unit", ["db/1", "web/0"])
def test_secrets_of_others_are_not_changed(town: TestController, part: str, unit: str) -> None:
    secret = shared(town)
    before = rows(town, "secret_list"), rows(town, "secret_grant_list", secret=secret)
    change: dict[str, Any] = {
        "update": {secret: {"label": "mine"}},
        "grant": [{"id": secret, "relation": relation(town), "target": "web"}],
        "revoke": [{"id": secret, "target": "web"}],
        "remove": {secret: []},
    }
    assert "this unit is not the leader" in (text := says(town, unit, {part: change[part]})) or text.endswith(
        "not found"
    )
    assert (rows(town, "secret_list"), rows(town, "secret_grant_list", secret=secret)) == before


@pytest.mark.parametrize(
    ("number", "target"), [(99, "web"), (None, "other"), (None, "db"), (None, "other/0")]
)
def test_a_grant_goes_to_the_other_side_of_an_own_relation(
    town: TestController, number: int | None, target: str
) -> None:
    secret = add(town, "db/0")
    grant = {"id": secret, "relation": relation(town) if number is None else number, "target": target}
    assert says(town, "db/0", {"grant": [grant]}).startswith("granting secrets access: ")
    assert rows(town, "secret_grant_list", secret=secret) == []


def test_nobody_tracks_what_it_may_not_read(town: TestController) -> None:
    secret = add(town, "db/0")
    assert says(town, "web/0", {"track": {secret: True}}) == ""
    assert rows(town, "secret_consumer_list", secret=secret) == []


ODD: list[Any] = [
    "x",
    {"create": [1]},
    {"create": {"short": GOOD}},
    {"create": {NEW: {}}},
    {"create": {NEW: {**GOOD, "content": {"token": "hush!"}}}},
    {"create": {NEW: {**GOOD, "content": {"token": 1}}}},
    {"create": {NEW: {**GOOD, "content": {"ab": "YQ=="}}}},
    {"create": {NEW: {**GOOD, "content": {"token": "aHVz" * 300_000}}}},
    {"create": {NEW: {**GOOD, "owner": "model"}}},
    {"create": {NEW: {**GOOD, "label": "x" * 10_000}}},
    {"create": {NEW: {**GOOD, "rotate": "often"}}},
    {"create": {NEW: {**GOOD, "expire": "soon"}}},
    {"create": {NEW: {**GOOD, "expire": "2020-01-01T00:00:00"}}},
    {"create": {NEW: {**GOOD, "expire": "0001-01-01T00:00:00+14:00"}}},
    {"create": {NEW: {**GOOD, "expire": "+99999999999"}}},
    {"update": {NEW: []}},
    {"track": {"x": True}},
    {"grant": {"a": 1}},
    {"grant": [{"id": NEW, "relation": -1, "target": "web"}]},
    {"grant": [{"id": NEW, "relation": True, "target": "web"}]},
    {"revoke": [{"id": NEW}]},
    {"remove": {NEW: "all"}},
    {"remove": {NEW: ["1"]}},
]


@pytest.mark.parametrize("secrets", ODD)
def test_odd_changes_fail_the_hook_whole_and_show_no_value(secrets: Any) -> None:
    result = read_result(ok(writes={"secrets": secrets, "state": {"a": "b"}}))
    assert result["outcome"] == "failed"
    assert result["writes"] == {}
    assert result["message"].startswith("the machine sent a result that cannot be read: writes.secrets")
    assert "hus" not in result["message"]


def test_more_secrets_than_there_may_be_are_refused(
    town: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pushjuju.core import limits

    monkeypatch.setattr(limits, "SECRETS", 1)
    add(town, "web/0", "--owner unit token=x")
    assert says(town, "web/0", {"create": {NEW: GOOD}}) == "creating secrets: web/0 has 1 secrets already"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "expected 3 arguments, got 0"),
        (["get", NEW], "expected 3 arguments, got 2"),
        (["steal", NEW, ""], 'secret-get has no mode "steal"'),
        (["get", NEW, ""], f'secret "{NEW}" not found'),
        (["get", "", ""], 'consumer label "" not found'),
        (["get", "../../x", ""], 'secret URI "../../x" not valid'),
    ],
)
def test_odd_calls_are_answered_with_a_sentence(town: TestController, words: list[str], text: str) -> None:
    answer = live.answer(town.ctx, town.model, "web/0", "secret-get", ["--", *words])
    assert answer == (1, b"", f"ERROR {text}\n".encode())


def test_a_call_reads_nothing_that_was_not_granted(town: TestController) -> None:
    secret = add(town, "db/0", "--label key token=first")
    for words in (["get", secret, ""], ["peek", secret, ""], ["refresh", secret, "mine"]):
        answer = live.answer(town.ctx, town.model, "web/0", "secret-get", ["--", *words])
        assert answer == (1, b"", b"ERROR permission denied\n")
    answer = live.answer(town.ctx, town.model, "web/0", "secret-get", ["--", "get", "", "key"])
    assert answer == (1, b"", b'ERROR consumer label "key" not found\n')
    assert rows(town, "secret_consumer_list", secret=secret) == []
