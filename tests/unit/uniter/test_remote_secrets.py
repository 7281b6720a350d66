"""Secrets that are granted over a relation between models: who reads, what wakes, what ends."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.services.entities.secret.secret_masks import mask_of
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.relation import integrate
from tests.world.controller import TestController
from tests.world.secret_charm import add, begin, during, read
from tests.world.two_models import TwoModels


@pytest.fixture
def twins(twins: TwoModels) -> TwoModels:
    """web in one model, related to db in the other."""
    twins.ready()
    twins.clear()
    return twins


def shared(twins: TwoModels, line: str = "token=first") -> str:
    """Return the URI of a secret of db that web may read."""
    secret = add(twins.prod, "db/0", line)
    during(twins.prod, "db/0", f"secret-grant -r {twins.relations(twins.prod)[0].id} {secret}")
    return f"secret://{twins.prod.model}/{secret}"


def hooks(twins: TwoModels, world: TestController, unit: str) -> list[str]:
    twins.settle()
    found = [hook for hook in world.of(unit) if hook.startswith("secret-")]
    twins.clear()
    return found


def consumers(twins: TwoModels) -> list[tuple[Any, ...]]:
    return [(row[0], row[2], row[4]) for row in twins.shop.dump()["secret_consumer"]]


def test_who_is_granted_reads(twins: TwoModels) -> None:
    uri = shared(twins)
    assert read(twins.shop, "web/0", f"{uri} token") == "first"
    assert consumers(twins) == [(twins.prod.model, f"{twins.proxy()}/0", 1)]


def test_who_is_not_granted_reads_nothing(twins: TwoModels) -> None:
    secret = add(twins.prod, "db/0", "token=first")
    uri = f"secret://{twins.prod.model}/{secret}"
    hook = begin(twins.shop, "web/0")
    assert hook.fails(f"secret-get {uri}") == (1, "permission denied")
    assert hook.fails(f"secret-get {secret}") == (1, f'secret "{secret}" not found')
    assert consumers(twins) == []


def test_a_model_without_a_relation_learns_nothing(twins: TwoModels) -> None:
    uri = shared(twins)
    integrate.remove_relation(twins.ctx, twins.shop.model, ["web", "db"])
    twins.settle()
    for world in (twins.shop, twins.prod):
        world.write(lambda tx, world=world: removal.finish_applications(tx))
    hook = begin(twins.shop, "web/0")
    for asked in (uri, f"secret://{twins.prod.model}/{'0' * 20}"):
        assert hook.fails(f"secret-get {asked}") == (1, f'secret "{asked}" not found')


def test_the_grant_ends_with_the_relation(twins: TwoModels) -> None:
    uri = shared(twins)
    assert read(twins.shop, "web/0", f"{uri} token") == "first"
    integrate.remove_relation(twins.ctx, twins.shop.model, ["web", "db"])
    twins.settle()
    assert begin(twins.shop, "web/0").fails(f"secret-get {uri}")[0] == 1
    twins.prod.write(removal.finish_applications)
    assert (consumers(twins), twins.shop.dump()["secret_grant"]) == ([], [])


def suspend(twins: TwoModels, *, suspended: bool) -> None:
    """Suspend or resume the relation as `suspend-relation` at the offer does, and bring all to rest."""
    number = str(twins.relations(twins.prod)[0].id)
    integrate.set_suspended(twins.ctx, twins.prod.model, [number], suspended=suspended)
    twins.settle()


def test_a_suspended_relation_gives_no_secret_until_it_is_resumed(twins: TwoModels) -> None:
    uri = shared(twins)
    assert read(twins.shop, "web/0", f"{uri} --label key token") == "first"
    suspend(twins, suspended=True)
    hook = begin(twins.shop, "web/0")
    for words in (uri, "--label key", f"{uri} --peek", f"{uri} --refresh"):
        assert hook.fails(f"secret-get {words}") == (1, "permission denied")
    hook.end()
    twins.clear()
    during(twins.prod, "db/0", f"secret-set {uri} token=second")
    assert hooks(twins, twins.shop, "web/0") == []
    suspend(twins, suspended=False)
    assert hooks(twins, twins.shop, "web/0") == ["secret-changed"]
    assert read(twins.shop, "web/0", f"{uri} --refresh token") == "second"
    secret = uri.rpartition("/")[2]
    during(twins.prod, "db/0", f"secret-revoke -r {twins.relations(twins.prod)[0].id} {secret}")
    assert begin(twins.shop, "web/0").fails(f"secret-get {uri}") == (1, "permission denied")


def test_a_new_revision_is_told_across(twins: TwoModels) -> None:
    uri = shared(twins)
    assert read(twins.shop, "web/0", f"{uri} token") == "first"
    twins.settle()
    twins.clear()
    twins.shop.forget_work()
    during(twins.prod, "db/0", f"secret-set {uri} token=second")
    assert "machine/0" in twins.shop.touched()
    assert hooks(twins, twins.shop, "web/0") == ["secret-changed"]
    env = twins.shop.played().frame_of("secret-changed")["env"]
    assert env["JUJU_SECRET_ID"] == uri
    assert read(twins.shop, "web/0", f"{uri} token") == "first"
    assert read(twins.shop, "web/0", f"{uri} --peek token") == "second"
    assert read(twins.shop, "web/0", f"{uri} --refresh token") == "second"
    assert hooks(twins, twins.shop, "web/0") == []


def test_the_owner_hears_of_revisions_that_nobody_reads(twins: TwoModels) -> None:
    uri = shared(twins)
    read(twins.shop, "web/0", f"{uri} token")
    during(twins.prod, "db/0", f"secret-set {uri} token=second")
    twins.settle()
    twins.clear()
    read(twins.shop, "web/0", f"{uri} --refresh token")
    assert hooks(twins, twins.prod, "db/0") == ["secret-remove"]


def test_labels(twins: TwoModels) -> None:
    uri = shared(twins)
    assert read(twins.shop, "web/0", f"{uri} --label key") != ""
    assert read(twins.shop, "web/0", "--label key token") == "first"


def test_a_secret_of_the_consumer(twins: TwoModels) -> None:
    secret = add(twins.shop, "web/0", "token=mine")
    during(twins.shop, "web/0", f"secret-grant -r {twins.relations(twins.shop)[0].id} {secret}")
    uri = f"secret://{twins.shop.model}/{secret}"
    assert read(twins.prod, "db/0", f"{uri} token") == "mine"


def test_values_are_masked(twins: TwoModels) -> None:
    uri = shared(twins, "token=sesame-open")
    read(twins.shop, "web/0", f"{uri} token")
    mask = twins.shop.read(lambda tx: mask_of(twins.ctx, tx, "web/0"))
    assert mask("it is sesame-open") == "it is *****"


def test_a_unit_that_goes_reads_no_more(twins: TwoModels) -> None:
    uri = shared(twins)
    read(twins.shop, "web/0", f"{uri} token")
    removals.remove_units(twins.ctx, twins.shop.model, ["web/0"])
    twins.settle()
    assert consumers(twins) == []
