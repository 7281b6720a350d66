"""Content on its way to a backend and back, and what happens while that is away.

The backend is a stand-in that speaks a Vault's HTTP (`tests/world/vault.py`), not a real
Vault.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.core.errors import AlreadyExists, BackendError, Conflict, NotFound, NotValid, WrongKey
from pushjuju.core.model.secrets import Content, OwnerKind
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.model import model_config, models
from pushjuju.services.entities.secret import secret_backends, secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests.secret import backends, keys, user_secrets
from pushjuju.services.views.listings import secret_backends as secret_backends_requests
from pushjuju.services.views.listings import user_secrets as secret_documents
from pushjuju.workers import live
from tests.world.controller import TestController
from tests.world.runtime import Died, PlayedRuntime, die_at, drive
from tests.world.said import problems_of
from tests.world.vault import TOKEN, StandIn, running

FIRST, SECOND = Content({"token": "Zmlyc3Q="}), Content({"token": "c2Vjb25k"})


@pytest.fixture
def host(runtime: TestController) -> PluginHost:
    """The plugins."""
    return PluginHost(environ={"PUSHJUJU_DISABLE_PLUGINS": "all", **runtime.ctx.environ}, path=[])


@pytest.fixture
async def vault(runtime: TestController, vault_server: StandIn, host: PluginHost) -> PlayedRuntime:
    """A model with an application, whose secrets go to the stand-in."""
    backends.add(runtime.ctx, host, "myvault", "vault", {"endpoint": vault_server.url, "token": TOKEN})
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    choose(runtime, "myvault")
    return work


def choose(runtime: TestController, name: str) -> None:
    def change(tx: Any) -> None:
        model_config.change(tx, {secret_backends.KEY: name})
        secret_backends.follow(tx)

    runtime.write(change)


def add(runtime: TestController, content: Content = FIRST) -> str:
    return user_secrets.add(runtime.ctx, runtime.model, "apikey", content).removeprefix("secret:")


def reveal(runtime: TestController, **more: Any) -> Any:
    (found,) = secret_documents.show(runtime.ctx, runtime.model, "apikey", reveal=True, **more).values()
    return found["content"]


async def test_content_moves_to_the_backend_and_only_its_checksum_stays(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime
) -> None:
    secret = add(runtime)
    assert reveal(runtime) == {"token": "first"}
    assert vault_server.kept == {}
    await drive(runtime, vault)
    assert vault_server.kept == {f"pushjuju/{runtime.model}/{secret}-1": [dict(FIRST)]}
    row = runtime.read(lambda tx: secrets.revisions(tx, secrets.get(tx, secret)))[0]
    found = secrets.stored(runtime.ctx, row)
    assert (found.content, found.checksum) == (None, FIRST.checksum())
    assert reveal(runtime) == {"token": "first"}
    (shown,) = secret_documents.show(runtime.ctx, runtime.model, "apikey", every=True).values()
    assert shown["revisions"][0]["backend"] == "myvault"


async def test_equal_content_is_told_without_asking_the_backend(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime
) -> None:
    add(runtime)
    await drive(runtime, vault)
    vault_server.sealed = True
    user_secrets.update(runtime.ctx, runtime.model, "apikey", Change(content=FIRST))
    assert len(vault_server.kept) == 1
    assert secret_documents.documents(runtime.ctx, runtime.model).popitem()[1]["revision"] == 1


async def test_a_unit_reads_what_is_in_the_backend(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime
) -> None:
    secret = add(runtime)
    user_secrets.grant(runtime.ctx, runtime.model, "apikey", ["web"])
    await drive(runtime, vault)
    call = ["--", "get", secret, ""]
    code, out, _ = await live.respond(runtime.ctx, runtime.model, "web/0", "secret-get", call)
    assert (code, json.loads(out)) == (0, dict(FIRST))
    vault_server.sealed = True
    code, out, err = await live.respond(runtime.ctx, runtime.model, "web/0", "secret-get", call)
    assert (code, out) == (1, b"")
    assert b"503 Vault is sealed" in err
    assert TOKEN.encode() not in err


async def test_while_the_backend_is_away_content_waits_and_can_be_read(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime
) -> None:
    vault_server.sealed = True
    add(runtime)
    settled = await drive(runtime, vault)
    assert "secret backend: vault: POST" in problems_of(settled)[0]
    assert "503 Vault is sealed" in problems_of(settled)[0]
    assert reveal(runtime) == {"token": "first"}
    assert runtime.due("loop/secrets") is not None
    vault_server.sealed = False
    runtime.clock.advance(600)
    await drive(runtime, vault)
    assert len(vault_server.kept) == 1


async def test_what_is_removed_is_deleted_in_the_backend_also_later(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime
) -> None:
    add(runtime)
    await drive(runtime, vault)
    vault_server.sealed = True
    user_secrets.remove(runtime.ctx, runtime.model, "apikey")
    await drive(runtime, vault)
    assert len(vault_server.kept) == 1
    vault_server.sealed = False
    runtime.clock.advance(600)
    await drive(runtime, vault)
    assert vault_server.kept == {}


DEATHS = ("secret-saved", "secret-moved")


@pytest.mark.parametrize("where", DEATHS)
async def test_a_process_that_dies_on_the_way_loses_nothing(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime, where: str
) -> None:
    from pushjuju.workers.loops.secret_rotation import look_after

    add(runtime)
    vault.checkpoint: Callable[[str], None] = die_at(where)
    with pytest.raises(Died):
        await look_after(vault, runtime.model)
    assert reveal(runtime) == {"token": "first"}
    vault.checkpoint = lambda _: None
    await drive(runtime, vault)
    assert len(vault_server.kept) == 1
    assert reveal(runtime) == {"token": "first"}


@pytest.mark.parametrize("change", ["removed", "wanted in the store", "wanted in another backend"])
async def test_a_copy_that_nobody_wants_any_more_when_it_arrives_is_deleted(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime, host: PluginHost, change: str
) -> None:
    """The secret changes between the moment at which its content is in the backend and its record."""
    secret = add(runtime)
    changes: dict[str, Callable[[], object]] = {
        "removed": lambda: user_secrets.remove(runtime.ctx, runtime.model, "apikey"),
        "wanted in the store": lambda: choose(runtime, "internal"),
        "wanted in another backend": lambda: choose(runtime, "other"),
    }
    copies: list[str] = []

    def meanwhile(step: str) -> None:
        if step == "secret-saved" and not copies:
            copies.extend(vault_server.kept)
            changes[change]()

    vault.checkpoint = meanwhile
    with running() as second:
        backends.add(runtime.ctx, host, "other", "vault", {"endpoint": second.url, "token": TOKEN})
        assert problems_of(await drive(runtime, vault)) == ()
        assert copies == [f"pushjuju/{runtime.model}/{secret}-1"]
        assert vault_server.kept == {}
        assert list(second.kept) == (copies if change == "wanted in another backend" else [])
        if change != "removed":
            assert reveal(runtime) == {"token": "first"}


async def test_content_comes_back_when_the_model_wants_it_in_the_store(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime, host: PluginHost
) -> None:
    add(runtime)
    await drive(runtime, vault)
    with pytest.raises(Conflict, match="still contains secret content"):
        backends.remove(runtime.ctx, "myvault")
    choose(runtime, "internal")
    await drive(runtime, vault)
    assert vault_server.kept == {}
    assert reveal(runtime) == {"token": "first"}
    assert secret_backends_requests.documents(runtime.ctx, host)["internal"]["secrets"] == 1
    backends.remove(runtime.ctx, "myvault")


async def test_a_model_that_goes_takes_its_content_along(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime
) -> None:
    add(runtime)
    await drive(runtime, vault)
    vault_server.sealed = True
    runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx)))
    told = [problem for _ in range(3) for problem in problems_of(await drive(runtime, vault))]
    assert any("503 Vault is sealed" in problem for problem in told)
    vault_server.sealed = False
    runtime.clock.advance(600)
    await drive(runtime, vault)
    assert vault_server.kept == {}
    with pytest.raises(NotFound):
        runtime.resolve_model()


async def test_a_forced_end_of_a_model_does_not_wait_for_its_backend(
    runtime: TestController, vault_server: StandIn, vault: PlayedRuntime
) -> None:
    add(runtime)
    await drive(runtime, vault)
    vault_server.sealed = True
    runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx), Force(wait_s=0)))
    for _ in range(3):
        await drive(runtime, vault)
    with pytest.raises(NotFound):
        runtime.resolve_model()


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
    runtime: TestController, host: PluginHost, kind: str, config: dict[str, str], text: str
) -> None:
    before = runtime.dump()
    with pytest.raises((NotFound, NotValid, BackendError)) as caught:
        backends.add(runtime.ctx, host, "mine", kind, config)
    assert text in caught.value.message
    assert TOKEN not in caught.value.message
    assert runtime.dump() == before


def test_names_that_are_taken_and_wrong_tokens_are_refused(
    runtime: TestController, host: PluginHost, vault_server: StandIn
) -> None:
    config = {"endpoint": vault_server.url, "token": TOKEN}
    backends.add(runtime.ctx, host, "mine", "vault", config)
    with pytest.raises(AlreadyExists, match='secret backend "mine" already exists'):
        backends.add(runtime.ctx, host, "mine", "vault", config)
    with pytest.raises(NotValid, match='backend "internal" not valid'):
        backends.add(runtime.ctx, host, "internal", "vault", config)
    with pytest.raises(BackendError, match="403 permission denied"):
        backends.update(runtime.ctx, host, "mine", {"token": "wrong"})
    backends.update(runtime.ctx, host, "mine", {"token": "wrong"}, force=True)
    shown = secret_backends_requests.documents(runtime.ctx, host, "mine")["mine"]
    assert (shown["status"], shown["config"]["token"]) == ("error", "*****")
    assert "wrong" not in json.dumps(shown)
    assert (
        secret_backends_requests.documents(runtime.ctx, host, "mine", reveal=True)["mine"]["config"]["token"]
        == "wrong"
    )
    with pytest.raises(NotFound, match='secret backend "other" not found'):
        choose(runtime, "other")
    choose(runtime, "mine")
    with pytest.raises(Conflict, match="is the secret backend of model shop"):
        backends.remove(runtime.ctx, "mine")


# --- the key --------------------------------------------------------------------------------------------


async def test_a_new_key_seals_everything_anew(
    runtime: TestController, vault_server: StandIn, host: PluginHost
) -> None:
    config = {"endpoint": vault_server.url, "token": TOKEN}
    backends.add(runtime.ctx, host, "mine", "vault", config)
    add(runtime)
    user_secrets.update(runtime.ctx, runtime.model, "apikey", Change(content=SECOND))
    before = runtime.dump()["secret_revision"]
    ring = runtime.ctx.controller.keyring
    old = ring.path.read_text()
    name, count = keys.renew(runtime.ctx)
    assert count == 3
    assert {row[3] for row in runtime.dump()["secret_revision"]} == {name}
    assert before != runtime.dump()["secret_revision"]
    assert reveal(runtime) == {"token": "second"}
    assert reveal(runtime, number=1) == {"token": "first"}
    assert old.splitlines()[1] in ring.path.read_text()  # for copies of the store from before
    name, _ = keys.renew(runtime.ctx, forget=True)
    assert [line.split()[0] for line in ring.path.read_text().splitlines()[1:]] == [name]
    assert reveal(runtime) == {"token": "second"}


async def test_a_controller_process_does_not_start_with_a_wrong_key(runtime: TestController) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    owner = Owner(kind=OwnerKind.APPLICATION, name="web")
    change = Change(content=FIRST)
    secret = "d0abc0000000000000a0"
    runtime.write(lambda tx: secrets.create(runtime.ctx, tx, secret, owner, change))
    path = runtime.ctx.controller.keyring.path
    kept = path.read_text()
    path.write_text(kept[:40] + "\n")
    before = runtime.dump()
    with pytest.raises(WrongKey, match="secrets are sealed with key"):
        await drive(runtime, work)
    assert runtime.dump() == before
    assert path.read_text() == kept[:40] + "\n"
