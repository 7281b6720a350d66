"""Secrets of charms, from the tools to the store and back: owners, readers, revisions, grants, hooks."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.secrets import Content
from pushjuju.services.entities.secret import secrets
from pushjuju.services.entities.secret.secrets import Change
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import unit_requests
from pushjuju.services.requests.relation import integrate
from pushjuju.services.requests.secret import user_secrets
from pushjuju.store.rows.records import Relation
from tests.world.controller import TestController
from tests.world.secret_charm import Hook, add, begin, during, read, rows

PROVIDES = {"provides": {"server": {"interface": "sql"}}}
REQUIRES = {"requires": {"db": {"interface": "sql"}}}
A, B = "YQ==", "Yg=="  # a and b in base64


@pytest.fixture
def town(runtime: TestController) -> TestController:
    """db with two units, of which db/0 leads, and web with one; they are related."""
    for name, count, sides in (("db", 2, PROVIDES), ("web", 1, REQUIRES)):
        packed = runtime.charms.make(name, config=None, peers=None, **sides)
        runtime.deploy(name, count, packed=packed)
    runtime.integrate("web:db", "db:server")
    runtime.clear()
    return runtime


def relation(town: TestController) -> int:
    (found,) = town.read(lambda tx: tx.list(Relation, "relation_list"))
    return int(found.id)


def hooks(town: TestController, unit: str) -> list[str]:
    """Work until all is at rest; return the hooks about secrets that ran on a unit since the last look."""
    town.settle()
    found = [hook for hook in town.of(unit) if hook.startswith("secret-")]
    town.clear()
    return found


def shared(town: TestController, line: str = "token=first") -> str:
    """A secret of db that web may read, and has read."""
    secret = add(town, "db/0", line)
    during(town, "db/0", f"secret-grant -r {relation(town)} {secret}")
    assert read(town, "web/0", f"{secret} token") == "first"
    hooks(town, "web/0")
    return secret


# --- making ---------------------------------------------------------------------------------------------


def test_a_secret_can_be_read_in_the_run_that_adds_it_and_is_stored_at_its_end(town: TestController) -> None:
    hook = begin(town, "db/0")
    uri = hook.ok("secret-add --label key token=first")
    secret = uri.rpartition("/")[2]
    assert uri == f"secret://{town.model}/{secret}"
    assert hook.ok(f"secret-get {uri} token") == hook.ok("secret-get --label key token") == "first"
    assert hook.ok("secret-get --label key token#base64") == "Zmlyc3Q="
    assert json.loads(hook.ok("secret-ids --format json")) == [secret]
    assert rows(town, "secret_list") == []
    assert hook.end().ok
    assert read(town, "db/0", "--label key --format json") == '{"token":"first"}'
    assert read(town, "db/1", f"{secret} token") == "first"  # all units of the application may


def test_a_hook_that_fails_adds_nothing(town: TestController) -> None:
    hook = begin(town, "db/0")
    hook.add("token=first")
    town.commit(hook.dispatch, {"outcome": "failed", "exit": 1, "writes": hook.writes, "events": []})
    assert rows(town, "secret_list") == []


def test_a_result_that_comes_twice_adds_once(town: TestController) -> None:
    hook = begin(town, "db/0")
    hook.add("token=first")
    assert hook.end().ok
    assert hook.end().message == "committed before"
    assert len(rows(town, "secret_list")) == 1


def test_only_the_leader_adds_for_the_application(town: TestController) -> None:
    hook = begin(town, "db/1")
    assert hook.fails("secret-add token=x") == (1, "this unit is not the leader")
    own = hook.add("--owner unit token=x")
    assert hook.end().ok
    (row,) = rows(town, "secret_list")
    assert (row["id"], row["owner_kind"], row["owner"]) == (own, "unit", "db/1")
    assert begin(town, "db/0").fails(f"secret-get {own}") == (1, "permission denied")


def test_labels_are_unique_for_an_owner(town: TestController) -> None:
    add(town, "db/0", "--label key token=x")
    hook = begin(town, "db/0")
    hook.add("--label key token=y")
    done = hook.end()
    assert not done.ok
    assert done.message == 'creating secrets: secret with label "key" already exists'
    assert len(rows(town, "secret_list")) == 1
    hook = begin_again(town, "db/0")
    hook.add("--label other token=y")
    assert hook.fails("secret-add --label other token=z") == (1, 'secret with label "other" already exists')


def begin_again(town: TestController, unit: str) -> Hook:
    """Begin the failed hook of a unit again."""
    town.turn(unit)  # it shows the error
    unit_requests.resolve(town.ctx, town.model, [unit], retry=True)
    return Hook(town, town.until("update-status", unit))


def test_units_may_use_one_label_each(town: TestController) -> None:
    add(town, "db/0", "--owner unit --label key token=zero")
    add(town, "db/1", "--owner unit --label key token=one")
    assert read(town, "db/0", "--label key token") == "zero"
    assert read(town, "db/1", "--label key token") == "one"


# --- changing -------------------------------------------------------------------------------------------


def test_new_content_makes_one_revision_for_a_run_and_equal_content_none(town: TestController) -> None:
    secret = add(town, "db/0")
    during(town, "db/0", f"secret-set {secret} token=first")
    assert rows(town, "secret_list")[0]["latest"] == 1
    hook = begin(town, "db/0")
    hook.ok(f"secret-set {secret} token=second --description d")
    hook.ok(f"secret-set {secret} token=third")
    assert hook.ok(f"secret-get {secret} token") == "first"
    assert hook.ok(f"secret-get {secret} --peek token") == "third"
    assert hook.end().ok
    (row,) = rows(town, "secret_list")
    assert (row["latest"], row["description"]) == (2, "d")
    assert read(town, "db/0", f"{secret} --peek token") == "third"


def test_metadata_is_seen_with_this_runs_own_changes(town: TestController) -> None:
    secret = add(town, "db/0", "--label key --rotate daily --expire 2020-01-01T00:00:00.5 token=first")
    hook = begin(town, "db/0")
    hook.ok(f"secret-set {secret} --label new --rotate never token=second")
    info = json.loads(hook.ok("secret-info-get --label new --format json"))[secret]
    assert list(info) == ["revision", "label", "owner", "rotation", "expiry", "rotates"]
    assert (info["revision"], info["label"], info["owner"]) == (1, "new", "application")
    assert (info["rotation"], info["expiry"]) == ("never", "2020-01-01T00:00:00Z")
    assert hook.fails("secret-info-get --label key") == (1, 'secret "key" not found')
    assert hook.ok("secret-get --label new --peek token") == "second"


def test_a_duration_counts_from_the_commit_on(town: TestController) -> None:
    secret = add(town, "db/0", "--expire 90m token=first")
    (row,) = rows(town, "secret_revision_list", secret=secret)
    assert from_iso(row["expires"]) - from_iso(row["created"]) == timedelta(minutes=90)


def test_who_does_not_manage_a_secret_changes_nothing(town: TestController) -> None:
    secret = shared(town)
    for unit, text in (("db/1", "this unit is not the leader"), ("web/0", "")):
        hook = begin(town, unit)
        for line in (
            f"secret-set {secret} token=x",
            f"secret-remove {secret}",
            f"secret-revoke {secret} --app web",
        ):
            if text:
                assert hook.fails(line) == (1, text)
        assert hook.fails(f"secret-info-get {secret}") == (1, f'secret "{secret}" not found')
        assert hook.ok("secret-ids") == ""
        hook.end()
    hook = begin(town, "web/0")
    hook.ok(f"secret-set {secret} token=x")
    assert hook.end().message == f'updating secrets: secret "{secret}" not found'
    assert rows(town, "secret_list")[0]["latest"] == 1


def test_removing_drops_what_the_run_wrote_before(town: TestController) -> None:
    old = add(town, "db/0")
    hook = begin(town, "db/0")
    new = hook.add("token=x")
    hook.ok(f"secret-set {old} token=y")
    hook.ok(f"secret-remove {old}")
    hook.ok(f"secret-remove {new}")
    assert hook.ok("secret-ids") == ""
    assert hook.end().ok
    assert rows(town, "secret_list") == []


def test_one_revision_is_removed_and_the_last_takes_the_secret_along(town: TestController) -> None:
    secret = add(town, "db/0")
    during(town, "db/0", f"secret-set {secret} token=second")
    during(town, "db/0", f"secret-remove {secret} --revision 1")
    assert [row["revision"] for row in rows(town, "secret_revision_list", secret=secret)] == [2]
    during(town, "db/0", f"secret-remove {secret} --revision 2")
    assert rows(town, "secret_list") == []


# --- reading --------------------------------------------------------------------------------------------


def test_a_reader_keeps_its_revision_until_it_refreshes(town: TestController) -> None:
    secret = shared(town)
    during(town, "db/0", f"secret-set {secret} token=second")
    assert hooks(town, "web/0") == ["secret-changed"]
    assert read(town, "web/0", f"{secret} token") == "first"
    assert read(town, "web/0", f"{secret} --peek token") == "second"
    assert read(town, "web/0", f"{secret} token") == "first"
    assert read(town, "web/0", f"{secret} --refresh token") == "second"
    assert read(town, "web/0", f"{secret} token") == "second"


def test_what_a_reader_calls_a_secret_is_its_own(town: TestController) -> None:
    secret = shared(town, "--label theirs token=first")
    during(town, "web/0", f"secret-get {secret} --label mine")
    assert read(town, "web/0", "--label mine token") == "first"
    hook = begin(town, "web/0")
    assert hook.fails("secret-get --label theirs") == (1, 'consumer label "theirs" not found')
    hook.end()
    assert read(town, "db/1", "--label theirs token") == "first"
    during(town, "db/0", f"secret-set {secret} token=second")
    town.settle()
    assert town.played("2").frame_of("secret-changed")["env"]["JUJU_SECRET_LABEL"] == "mine"


def test_an_owner_that_reads_by_id_with_a_label_renames_its_secret(town: TestController) -> None:
    secret = add(town, "db/0", "--label old token=first")
    during(town, "db/0", f"secret-get {secret} --label new")
    assert rows(town, "secret_list")[0]["label"] == "new"
    during(town, "db/1", f"secret-get {secret} --label ignored")
    assert rows(town, "secret_list")[0]["label"] == "new"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("secret-get", (2, "require either a secret URI or label")),
        ("secret-get x", (2, 'secret URI "x" not valid')),
        ("secret-get --peek --refresh 00000000000000000000",
         (2, "specify one of --peek or --refresh but not both")),
        ("secret-get 00000000000000000000", (1, 'secret "00000000000000000000" not found')),
        ("secret-get --label none", (1, 'consumer label "none" not found')),
        ("secret-set", (2, "missing secret URI")),
        ("secret-add", (2, "missing secret value or filename")),
        ("secret-add token", (2, 'key value "token" not valid')),
        ("secret-add ab=x", (2, 'key "ab" not valid')),
        ("secret-add token=x --rotate often", (2, 'rotate policy "often" not valid')),
        ("secret-add token=x --owner me", (2, 'secret owner "me" not valid')),
        ("secret-add token=x --expire 1d", (2, 'expire time or duration "1d" not valid')),
        (
            "secret-add token=x --expire 9999999h",
            (2, 'expire time or duration "9999999h" not valid'),
        ),
        ("secret-add token=x --expire -1h", (2, 'negative expire duration "-1h" not valid')),
        ("secret-add token#file=/no/such",
         (2, 'reading content for secret key "token": open /no/such: no such file or directory')),
        ("secret-info-get", (2, "require either a secret URI or label")),
        ("secret-info-get x --label y", (2, "specify either a secret URI or label but not both")),
        ("secret-grant 00000000000000000000", (2, "no relation id specified")),
        ("secret-revoke 00000000000000000000", (2, "missing relation or application or unit")),
        ("secret-revoke 00000000000000000000 --app a --unit a/0",
         (2, "specify only one of application or unit")),
        ("secret-get --format smart 00000000000000000000", None),
    ],
)  # fmt: skip
def test_errors_of_the_tools(town: TestController, line: str, answer: tuple[int, str] | None) -> None:
    found = begin(town, "db/0").fails(line)
    assert found == answer or (answer is None and found[0] == 2)


def test_content_over_the_limit_is_refused_by_the_tool(town: TestController, tmp_path: object) -> None:
    from pathlib import Path

    big = Path(str(tmp_path), "big")
    big.write_text("x" * 800_000)
    hook = begin(town, "db/0")
    assert hook.fails(f"secret-add token#file={big}") == (
        2,
        'base64 encoded secret content for key "token" too large: 1066668 bytes',
    )


# --- grants ---------------------------------------------------------------------------------------------


def test_a_grant_ends_with_its_relation(town: TestController) -> None:
    secret = shared(town)
    (access,) = json.loads(
        during(town, "db/0", f"secret-info-get {secret} --format json")[0]
    )[secret]["access"]  # fmt: skip
    assert access == {"target": "application-web", "scope": "relation-web.db#db.server", "role": "view"}
    integrate.remove_relation(town.ctx, town.model, ["web", "db"])
    town.settle()
    assert begin(town, "web/0").fails(f"secret-get {secret}") == (1, "permission denied")


def test_a_secret_is_revoked_while_its_reader_is_in_a_hook(town: TestController) -> None:
    secret = shared(town)
    hook = begin(town, "web/0")
    assert hook.ok(f"secret-get {secret} token") == "first"
    during(town, "db/0", f"secret-revoke {secret} -r {relation(town)}")
    assert hook.fails(f"secret-get {secret} token") == (1, "permission denied")
    assert hook.end().ok
    during(town, "db/0", f"secret-grant -r {relation(town)} {secret}")
    assert read(town, "web/0", f"{secret} token") == "first"


def test_single_units_have_grants_of_their_own(town: TestController) -> None:
    secret = add(town, "db/0")
    number = relation(town)
    hook = begin(town, "db/0")
    assert hook.fails(f"secret-grant -r {number} --unit db/1 {secret}") == (
        2,
        'cannot specify unit "db/1" in relation to application "web"',
    )
    hook.ok(f"secret-grant -r {number} --unit web/0 {secret}")
    assert hook.fails(f"secret-grant -r {number} {secret}")[1].startswith("any unit level grants")
    assert hook.end().ok
    assert read(town, "web/0", f"{secret} token") == "first"
    assert begin(town, "db/0").fails(f"secret-grant -r {number} {secret}")[1].startswith("any unit level")


def test_an_admins_secret_is_read_by_those_that_were_granted_it(town: TestController) -> None:
    uri = user_secrets.add(town.ctx, town.model, "apikey", Content({"token": A}))
    hook = begin(town, "web/0")
    assert hook.fails(f"secret-get {uri}") == (1, "permission denied")
    user_secrets.grant(town.ctx, town.model, "apikey", ["web"])
    assert hook.ok(f"secret-get {uri} token") == "a"


def test_readers_of_an_admins_secret_hear_of_its_changes_and_old_revisions_are_pruned(
    town: TestController,
) -> None:
    uri = user_secrets.add(town.ctx, town.model, "apikey", Content({"token": A}))
    user_secrets.grant(town.ctx, town.model, "apikey", ["web"])
    assert read(town, "web/0", f"{uri} token") == "a"
    user_secrets.update(
        town.ctx, town.model, "apikey", Change(content=Content({"token": B}), auto_prune=True)
    )
    assert hooks(town, "web/0") == ["secret-changed"]
    town.write(secrets.prune)
    assert len(rows(town, "secret_revision_list", secret=uri[7:])) == 2
    assert read(town, "web/0", f"{uri} --refresh token") == "b"
    town.write(secrets.prune)
    assert [row["revision"] for row in rows(town, "secret_revision_list", secret=uri[7:])] == [2]


# --- the end --------------------------------------------------------------------------------------------


def test_secrets_go_with_their_owner(town: TestController) -> None:
    secret = shared(town)
    own = add(town, "db/1", "--owner unit token=x")
    removals.remove_units(town.ctx, town.model, ["db/1"])
    town.settle()
    assert [row["id"] for row in rows(town, "secret_list")] == [secret]
    assert own
    removals.remove_applications(town.ctx, town.model, ["db"])
    town.settle()
    town.write(removal.finish_applications)
    assert rows(town, "secret_list") == []
    assert rows(town, "secret_consumed", unit="web/0") == []


def test_applications_without_secrets_are_not_asked_about_any(town: TestController) -> None:
    assert [row["secrets"] for row in rows(town, "application_list")] == [0, 0]
    assert "secrets" not in begin(town, "web/0").context


def test_a_lost_key_fails_the_call_and_stops_the_commit(town: TestController) -> None:
    secret = shared(town)
    key = town.ctx.controller.keyring.path
    kept = key.read_text()
    key.unlink()
    hook = begin(town, "web/0")
    code, text = hook.fails(f"secret-get {secret}")
    assert code == 1
    assert text.startswith("secrets are sealed with key ")
    hook.end()
    hook = begin(town, "db/0")
    hook.add("token=x")
    with pytest.raises(PushjujuError, match="secrets are sealed with key"):
        hook.end()
    assert not key.exists()
    key.write_text(kept)
    assert hook.end().ok  # the result has waited on its machine
    assert len(rows(town, "secret_list")) == 2
