"""Secrets: the table, and what is noted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.uniter.decide.decision import EffectKind, Operation, OperationName
from pushjuju.uniter.decide.remote import ConsumedSecret, OwnedSecret, RemoteState, SecretRevision
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, ResolvedMode
from pushjuju.uniter.state.effects import commit_effects
from pushjuju.uniter.state.operation import skip_reason
from tests.world.decided_unit import decided_text

WORLD = Callable[..., Any]
REMOTE = RemoteState(unit="web/0", charm_url="ch:1")
IDLE = LocalState(installed=True, started=True, current_charm_url="ch:1", leader_settings_version=1)
A, B = "secret:aaaaaaaaaaaaaaaaaaaa", "secret:bbbbbbbbbbbbbbbbbbbb"


EXPIRED = (SecretRevision(uri=B, revision=2), SecretRevision(uri=A, revision=1))
SECRETS = [
    (
        "1 expired, in the order of the list",
        {},
        {"secrets_expired": EXPIRED, "secrets_rotate": (A,)},
        f"run secret-expired ({B}) hook",
    ),
    (
        "2 rotate",
        {},
        {"secrets_rotate": (B, A), "secrets_consumed": {A: ConsumedSecret(revision=2)}},
        f"run secret-rotate ({B}) hook",
    ),
    (
        "3 changed",
        {},
        {"secrets_consumed": {A: ConsumedSecret(revision=2)}, "secrets_obsolete": {B: (1,)}},
        f"run secret-changed ({A}) hook",
    ),
    (
        "3 nothing new",
        {"secret_revisions": {A: 2}},
        {"secrets_consumed": {A: ConsumedSecret(revision=2)}},
        "idle",
    ),
    (
        "4 gone",
        {"secret_revisions": {A: 2}},
        {"secrets_deleted": (A,), "secrets_obsolete": {B: (1,)}},
        "secrets removed",
    ),
    ("4 gone, never known", {}, {"secrets_deleted": (A,)}, "idle"),
    (
        "5 obsolete",
        {"secret_obsolete_revisions": {B: (1,)}},
        {"secrets_obsolete": {B: (1, 2)}},
        f"run secret-remove ({B}) hook",
    ),
    ("5 reported already", {"secret_obsolete_revisions": {B: (1,)}}, {"secrets_obsolete": {B: (1,)}}, "idle"),
]


@pytest.mark.parametrize(
    ("local", "remote", "answer"), [pytest.param(*case[1:], id=case[0]) for case in SECRETS]
)
def test_secrets(local: dict[str, Any], remote: dict[str, Any], answer: str) -> None:
    """14."""
    assert decided_text(replace(IDLE, **local), replace(REMOTE, **remote)) == answer


class TestSecretStories:
    def test_all_of_them(self, idle: WORLD) -> None:
        owned = {A: OwnedSecret(revision=3, label="key")}
        world = idle(
            secrets_owned=owned,
            secrets_expired=(SecretRevision(uri=A, revision=2),),
            secrets_rotate=(A,),
            secrets_obsolete={A: (1, 2)},
            secrets_consumed={B: ConsumedSecret(revision=5, label="other")},
        )
        assert world.new_hooks() == [
            "secret-expired", "secret-rotate", "secret-changed", "secret-remove", "secret-remove"
        ]  # fmt: skip
        assert world.local.secret_revisions == {B: 5}
        assert world.local.secret_obsolete_revisions == {A: (1, 2)}
        world.model(secrets_deleted=(A, B), secrets_consumed={}, secrets_obsolete={})
        world.settle()
        assert (world.local.secret_revisions, world.local.secret_obsolete_revisions) == ({}, {})

    def test_rotated_is_told_also_when_skipped(self, idle: WORLD) -> None:
        world = idle(secrets_rotate=(A,), secrets_owned={A: OwnedSecret(revision=3)})
        world.fail("secret-rotate")
        world.settle()
        world.model(resolved=ResolvedMode.NO_HOOKS)
        world.settle()
        told = [effect for effect in world.effects if effect.kind is EffectKind.SECRET_ROTATED]
        assert [(effect.secret_uri, effect.revision) for effect in told] == [(A, 3)]

    def test_not_the_leader(self, idle: WORLD) -> None:
        """The application's secrets are the leader's."""
        world = idle(
            secrets_owned={A: OwnedSecret(revision=3, application=True)},
            secrets_expired=(SecretRevision(uri=A, revision=2),),
            secrets_rotate=(A,),
            secrets_obsolete={A: (1,)},
        )
        assert world.new_hooks() == []
        world.model(leader=True)
        assert world.new_hooks() == ["leader-elected", "secret-expired", "secret-rotate", "secret-remove"]

    def test_leadership_lost_before_the_run(self) -> None:
        hook = HookInfo(kind=HookKind.SECRET_ROTATE, secret_uri=A)
        operation = Operation(name=OperationName.RUN_HOOK, hook=hook)
        remote = replace(REMOTE, secrets_owned={A: OwnedSecret(revision=3, application=True)})
        assert skip_reason(IDLE, operation, remote) == "the unit is no longer leader"
        assert skip_reason(IDLE, operation, replace(remote, leader=True)) == ""
        assert commit_effects(operation, pointless=True) == ()
