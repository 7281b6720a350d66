"""Content on its way to a backend and back, and what happens while that is away.

The backend is a stand-in that speaks a Vault's HTTP (`tests/unit/plugins/vault_standin.py`), not a real
Vault.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pushjuju.core.errors import AlreadyExists, BackendError, Conflict, NotFound, NotValid, WrongKey
from pushjuju.core.secrets import Content, OwnerKind
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.model import model_config, models
from pushjuju.services.entities.secret import secret_backends, secret_keys, secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import user_secrets
from pushjuju.workers import live
from tests.unit.plugins.vault_standin import TOKEN, StandIn, running
from tests.unit.services.world import World
from tests.unit.workers.fakes import Shop, drive

FIRST, SECOND = Content({"token": "Zmlyc3Q="}), Content({"token": "c2Vjb25k"})


@pytest.fixture
def server() -> Iterator[StandIn]:
    """A stand-in."""
    with running() as made:
        yield made


@pytest.fixture
def host(shop: World) -> PluginHost:
    """The plugins."""
    return PluginHost(environ={"PUSHJUJU_DISABLE_PLUGINS": "all", **shop.ctx.environ}, path=[])


@pytest.fixture
async def vault(shop: World, server: StandIn, host: PluginHost) -> Shop:
    """A model with an application, whose secrets go to the stand-in."""
    secret_backends.add(shop.ctx, host, "myvault", "vault", {"endpoint": server.url, "token": TOKEN})
    shop.deploy()
    work = Shop(shop)
    await drive(shop, work)
    choose(shop, "myvault")
    return work


def choose(shop: World, name: str) -> None:
    def change(tx: Any) -> None:
        model_config.change(tx, shop.model, {secret_backends.KEY: name})
        secret_backends.follow(tx, shop.model, shop.clock.now())

    shop.write(change)


def add(shop: World, content: Content = FIRST) -> str:
    return user_secrets.add(shop.ctx, shop.model, "apikey", content).removeprefix("secret:")


def reveal(shop: World, **more: Any) -> Any:
    (found,) = user_secrets.show(shop.ctx, shop.model, "apikey", reveal=True, **more).values()
    return found["content"]


async def test_content_moves_to_the_backend_and_only_its_checksum_stays(
    shop: World, server: StandIn, vault: Shop
) -> None:
    secret = add(shop)
    assert reveal(shop) == {"token": "first"}
    assert server.kept == {}
    await drive(shop, vault)
    assert server.kept == {f"pushjuju/{shop.model}/{secret}-1": [dict(FIRST)]}
    row = shop.read(lambda tx: secrets.revisions(tx, secrets.get(tx, shop.model, secret)))[0]
    found = secrets.stored(shop.ctx, row)
    assert (found.content, found.checksum) == (None, FIRST.checksum())
    assert reveal(shop) == {"token": "first"}
    (shown,) = user_secrets.show(shop.ctx, shop.model, "apikey", every=True).values()
    assert shown["revisions"][0]["backend"] == "myvault"


async def test_equal_content_is_told_without_asking_the_backend(
    shop: World, server: StandIn, vault: Shop
) -> None:
    add(shop)
    await drive(shop, vault)
    server.sealed = True
    user_secrets.update(shop.ctx, shop.model, "apikey", Change(content=FIRST))
    assert len(server.kept) == 1
    assert user_secrets.documents(shop.ctx, shop.model).popitem()[1]["revision"] == 1


async def test_a_unit_reads_what_is_in_the_backend(shop: World, server: StandIn, vault: Shop) -> None:
    secret = add(shop)
    user_secrets.grant(shop.ctx, shop.model, "apikey", ["web"])
    await drive(shop, vault)
    call = ["--", "get", secret, ""]
    code, out, _ = await live.respond(shop.ctx, shop.model, "web/0", "secret-get", call)
    assert (code, json.loads(out)) == (0, dict(FIRST))
    server.sealed = True
    code, out, err = await live.respond(shop.ctx, shop.model, "web/0", "secret-get", call)
    assert (code, out) == (1, b"")
    assert b"503 Vault is sealed" in err
    assert TOKEN.encode() not in err


async def test_while_the_backend_is_away_content_waits_and_can_be_read(
    shop: World, server: StandIn, vault: Shop
) -> None:
    server.sealed = True
    add(shop)
    settled = await drive(shop, vault)
    assert "secret backend: vault: POST" in settled.problems[0]
    assert "503 Vault is sealed" in settled.problems[0]
    assert reveal(shop) == {"token": "first"}
    assert shop.due("loop/secrets") is not None
    server.sealed = False
    shop.clock.advance(600)
    await drive(shop, vault)
    assert len(server.kept) == 1


async def test_what_is_removed_is_deleted_in_the_backend_also_later(
    shop: World, server: StandIn, vault: Shop
) -> None:
    add(shop)
    await drive(shop, vault)
    server.sealed = True
    user_secrets.remove(shop.ctx, shop.model, "apikey")
    await drive(shop, vault)
    assert len(server.kept) == 1
    server.sealed = False
    shop.clock.advance(600)
    await drive(shop, vault)
    assert server.kept == {}


DEATHS = ("secret-saved", "secret-moved")


class Died(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("where", DEATHS)
async def test_a_process_that_dies_on_the_way_loses_nothing(
    shop: World, server: StandIn, vault: Shop, where: str
) -> None:
    from pushjuju.workers.secrets import look_after

    def die(name: str) -> None:
        if name == where:
            raise Died

    add(shop)
    vault.checkpoint: Callable[[str], None] = die
    with pytest.raises(Died):
        await look_after(vault, shop.model)
    assert reveal(shop) == {"token": "first"}
    vault.checkpoint = lambda _: None
    await drive(shop, vault)
    assert len(server.kept) == 1
    assert reveal(shop) == {"token": "first"}


async def test_content_comes_back_when_the_model_wants_it_in_the_store(
    shop: World, server: StandIn, vault: Shop, host: PluginHost
) -> None:
    add(shop)
    await drive(shop, vault)
    with pytest.raises(Conflict, match="still contains secret content"):
        secret_backends.remove(shop.ctx, "myvault")
    choose(shop, "internal")
    await drive(shop, vault)
    assert server.kept == {}
    assert reveal(shop) == {"token": "first"}
    assert secret_backends.documents(shop.ctx, host)["internal"]["secrets"] == 1
    secret_backends.remove(shop.ctx, "myvault")


async def test_a_model_that_goes_takes_its_content_along(shop: World, server: StandIn, vault: Shop) -> None:
    add(shop)
    await drive(shop, vault)
    server.sealed = True
    shop.write(lambda tx: removal.destroy_model(tx, models.get(tx, shop.model), shop.clock.now()))
    told = [problem for _ in range(3) for problem in (await drive(shop, vault)).problems]
    assert any("503 Vault is sealed" in problem for problem in told)
    server.sealed = False
    shop.clock.advance(600)
    await drive(shop, vault)
    assert server.kept == {}
    with pytest.raises(NotFound):
        shop.resolve_model()


async def test_a_forced_end_of_a_model_does_not_wait_for_its_backend(
    shop: World, server: StandIn, vault: Shop
) -> None:
    add(shop)
    await drive(shop, vault)
    server.sealed = True
    shop.write(
        lambda tx: removal.destroy_model(tx, models.get(tx, shop.model), shop.clock.now(), Force(wait_s=0))
    )
    for _ in range(3):
        await drive(shop, vault)
    with pytest.raises(NotFound):
        shop.resolve_model()


# --- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "config", "text"),
    [
        ("none", {}, "no registered provider"),
        ("vault", {"token": TOKEN}, "endpoint: expected string, got nothing"),
        ("vault", {"endpoint": "http://x", "token": TOKEN, "colour": "red"}, 'unknown key "colour"'),
        ("vault", {"endpoint": "nowhere", "token": TOKEN}, "expected a URL"),
        ("vault", {"endpoint": "http://127.0.0.1:1", "token": TOKEN}, "connection refused"),
    ],
)
def test_a_backend_that_cannot_work_is_not_added(
    shop: World, host: PluginHost, kind: str, config: dict[str, str], text: str
) -> None:
    before = shop.dump()
    with pytest.raises((NotFound, NotValid, BackendError)) as caught:
        secret_backends.add(shop.ctx, host, "mine", kind, config)
    assert text in caught.value.message
    assert TOKEN not in caught.value.message
    assert shop.dump() == before


def test_names_that_are_taken_and_wrong_tokens_are_refused(
    shop: World, host: PluginHost, server: StandIn
) -> None:
    config = {"endpoint": server.url, "token": TOKEN}
    secret_backends.add(shop.ctx, host, "mine", "vault", config)
    with pytest.raises(AlreadyExists, match='secret backend "mine" already exists'):
        secret_backends.add(shop.ctx, host, "mine", "vault", config)
    with pytest.raises(NotValid, match='backend "internal" not valid'):
        secret_backends.add(shop.ctx, host, "internal", "vault", config)
    with pytest.raises(BackendError, match="403 permission denied"):
        secret_backends.update(shop.ctx, host, "mine", {"token": "wrong"})
    secret_backends.update(shop.ctx, host, "mine", {"token": "wrong"}, force=True)
    shown = secret_backends.documents(shop.ctx, host, "mine")["mine"]
    assert (shown["status"], shown["config"]["token"]) == ("error", "*****")
    assert "wrong" not in json.dumps(shown)
    assert (
        secret_backends.documents(shop.ctx, host, "mine", reveal=True)["mine"]["config"]["token"] == "wrong"
    )
    with pytest.raises(NotFound, match='secret backend "other" not found'):
        choose(shop, "other")
    choose(shop, "mine")
    with pytest.raises(Conflict, match="is the secret backend of model shop"):
        secret_backends.remove(shop.ctx, "mine")


# --- the key --------------------------------------------------------------------------------------------


async def test_a_new_key_seals_everything_anew(shop: World, server: StandIn, host: PluginHost) -> None:
    config = {"endpoint": server.url, "token": TOKEN}
    secret_backends.add(shop.ctx, host, "mine", "vault", config)
    add(shop)
    user_secrets.update(shop.ctx, shop.model, "apikey", Change(content=SECOND))
    before = shop.dump()["secret_revision"]
    ring = shop.ctx.controller.keyring
    old = ring.path.read_text()
    name, count = secret_keys.renew(shop.ctx)
    assert count == 3
    assert {row[3] for row in shop.dump()["secret_revision"]} == {name}
    assert before != shop.dump()["secret_revision"]
    assert reveal(shop) == {"token": "second"}
    assert reveal(shop, number=1) == {"token": "first"}
    assert old.splitlines()[1] in ring.path.read_text()  # for copies of the store from before
    name, _ = secret_keys.renew(shop.ctx, forget=True)
    assert [line.split()[0] for line in ring.path.read_text().splitlines()[1:]] == [name]
    assert reveal(shop) == {"token": "second"}


async def test_a_controller_process_does_not_start_with_a_wrong_key(shop: World) -> None:
    shop.deploy()
    work = Shop(shop)
    await drive(shop, work)
    owner = Owner(kind=OwnerKind.APPLICATION, name="web")
    change = Change(content=FIRST)
    secret = "d0abc0000000000000a0"
    shop.write(lambda tx: secrets.create(shop.ctx, tx, shop.model, secret, owner, change))
    path = shop.ctx.controller.keyring.path
    kept = path.read_text()
    path.write_text(kept[:40] + "\n")
    before = shop.dump()
    with pytest.raises(WrongKey, match="secrets are sealed with key"):
        await drive(shop, work)
    assert shop.dump() == before
    assert path.read_text() == kept[:40] + "\n"
