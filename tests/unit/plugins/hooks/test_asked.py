"""What the snapshot leaves out, because few hooks want it: the tools ask the controller."""

from __future__ import annotations

import json

from tests.world.hook_run import HookRun


def test_goal_state_is_asked_for_once(hook: HookRun) -> None:
    assert hook.ok("goal-state") == hook.ok("goal-state") != ""
    assert hook.live == [("goal-state", [])]


def test_status_of_the_application_is_asked_for_once(hook: HookRun) -> None:
    for _ in range(2):
        assert hook.ok("status-get --application") == "active\n"
    assert hook.live == [("status-get", ["--application"])]


def test_large_state_is_asked_for_once_and_shows_what_was_written(hook: HookRun) -> None:
    hook.context["state"] = None
    hook.live_answer = (0, b'{"a": "1", "b": "2"}', b"")
    hook.ok("state-set c=3")
    hook.ok("state-delete b")
    assert hook.live == []
    assert hook.ok("state-get a") == "1\n"
    assert hook.ok("state-get --format=json") == '{"a":"1","c":"3"}\n'
    assert hook.live == [("state-get", [])]


def test_own_status_is_there_without_asking(hook: HookRun) -> None:
    assert hook.ok("status-get") == "active\n"
    assert hook.live == []


def test_an_application_status_that_was_just_set_is_seen(hook: HookRun) -> None:
    hook.ok("status-set --application blocked why")
    assert hook.ok("status-get --application") == "blocked\n"


def test_the_credential_is_asked_for_by_those_who_may(hook: HookRun) -> None:
    spec = {"type": "local", "name": "local", "credential": {"auth-type": "empty", "attrs": {}}}
    hook.context.update(credential=None, trusted=True)
    hook.live_answer = (0, json.dumps(spec).encode(), b"")
    assert '"name":"local"' in hook.ok("credential-get --format=json")
    hook.context["trusted"] = False
    assert hook.fails("credential-get") == (1, "cannot access cloud credentials: permission denied")
    assert hook.live == [("credential-get", [])]


def test_a_controller_that_refuses_is_quoted(hook: HookRun) -> None:
    hook.live_answer = (1, b"", b"ERROR no\n")
    assert hook.fails("goal-state") == (1, "no")


def test_what_a_unit_of_its_own_application_wrote_elsewhere_is_asked_for(hook: HookRun) -> None:
    number = next(key for key, item in hook.context["relations"].items() if item["role"] != "peer")
    endpoint = hook.context["relations"][number]["endpoint"]
    hook.live_answer = (0, b'{"url": "x"}', b"")
    assert hook.ok(f"relation-get -r {endpoint}:{number} url web/7") == "x\n"
    assert hook.live == [("relation-get", [number, "web/7"])]


def test_the_name_before_the_number_of_a_relation_is_passed_over_as_in_juju(hook: HookRun) -> None:
    number, relation = next(item for item in hook.context["relations"].items() if item[1]["role"] != "peer")
    for name in (relation["endpoint"], "renamed-since", "a:b"):
        assert hook.ok(f"relation-list -r {name}:{number}") == hook.ok(f"relation-list -r {number}")
    assert hook.fails(f"relation-list -r {relation['endpoint']}:99")[1].endswith("relation not found")
