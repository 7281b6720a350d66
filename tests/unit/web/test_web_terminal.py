"""Commands over the API: what runs in a web terminal, for whom, and what does not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import click
import pytest

from pushjuju.cli.app.root import Root
from pushjuju.cli.commands.program import web_commands
from pushjuju.cli.commands.program.web_commands import WebCommands
from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.user import users
from tests.world.api import PASSWORD, ApiWorld
from tests.world.controller import TestController


class Terminal:
    """A client of a web terminal."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def run(self, *lines: str, **more: Any) -> tuple[str, dict[str, Any]]:
        """Run command lines; return their output, and the last frame."""
        asked = {"user": "admin", "credentials": PASSWORD, "commands": lines, **more}
        await self.socket.send_str(json.dumps(asked))
        printed: list[str] = []
        while "done" not in (frame := await self.socket.receive_json(timeout=10)):
            printed += frame["output"]
        return "\n".join(printed), frame

    async def refused(self, *lines: str, **more: Any) -> dict[str, str]:
        """Run command lines that are refused; return the error, which the output has, too."""
        printed, done = await self.run(*lines, **more)
        found: dict[str, str] = done["error"]
        assert printed.endswith(f"ERROR {found['message']}")
        return found


@asynccontextmanager
async def terminal(served: ApiWorld, model: str = "") -> AsyncIterator[Terminal]:
    path = f"/model/{model}/commands" if model else "/commands"
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"wss://{served.endpoint}{path}", ssl=served.trust) as socket,
    ):
        assert await socket.receive_str(timeout=10) == "{}\n"
        yield Terminal(socket)


@pytest.fixture
async def shown(house: TestController) -> AsyncIterator[ApiWorld]:
    """The API of a controller whose users may run commands."""
    async with ApiWorld.serve(house.ctx, WebCommands(Root()).run) as world:
        yield world


async def test_a_command_prints_what_it_prints_on_the_host(shown: ApiWorld, house: TestController) -> None:
    async with terminal(shown, house.model) as client:
        printed, done = await client.run("status --format json", "model-constraints")
        assert done == {"done": True}
        assert json.loads(printed.splitlines()[0])["model"]["name"] == "shop"
        printed, _ = await client.run("status --color")
        assert "shop" in printed
        printed, _ = await client.run("show-unit --help")
        assert printed.startswith("Usage: pushjuju show-unit")


async def test_a_command_that_fails_tells_its_error_and_ends_the_request(
    shown: ApiWorld, house: TestController
) -> None:
    async with terminal(shown, house.model) as client:
        error = await client.refused("show-application none", "status")
        assert error["code"] == "not found"
        assert (await client.run("spaces"))[1] == {"done": True}


async def test_without_the_flag_a_server_runs_nothing(served: ApiWorld, house: TestController) -> None:
    for model in ("", house.model):
        async with terminal(served, model) as client:
            error = await client.refused("status")
            assert "without --web-cli" in error["message"]
            assert error["code"] == "not supported"


@pytest.mark.parametrize(
    "line",
    [
        "deploy ubuntu",
        "ssh 0",
        "juju status",
        "add-credential",
        "show-secret x --reveal",
        "show-credential",
        "models",
        "users",
        "dump-db",
        "/bin/sh",
        "status; ls",
        "$(ls)",
        "../status",
        "--debug status",
        "",
        "'",
    ],
)
async def test_other_commands_than_those_that_read_a_model_are_refused(
    shown: ApiWorld, house: TestController, line: str
) -> None:
    async with terminal(shown, house.model) as client:
        error = await client.refused(line)
    assert error["code"] in ("unauthorized access", "not valid")


@pytest.mark.parametrize(
    "line",
    [
        "status -m other",
        "status --model=other",
        "status --output {file}",
        "status -o {file}",
        "status --log-file {file}",
        "status --debug",
        "status --watch 1s",
        "config web --file {file}",
        "config web --reset port",
        "config web port=1",
        "config web port=@{file}",
        "model-config --file {file}",
        "model-config default-base=x",
        "model-config --reset default-base",
        "application-storage web data=1G",
        "export-bundle --filename {file}",
        "export-bundle --with-charms {file}",
        "show-operation 1 --wait 1h",
        "show-task 1 --watch",
        "disabled-commands --all",
    ],
)
async def test_a_flag_or_argument_that_does_more_than_read_is_refused(
    shown: ApiWorld, house: TestController, tmp_path: Path, line: str
) -> None:
    file = tmp_path / "named"
    async with terminal(shown, house.model) as client:
        error = await client.refused(line.format(file=file))
    assert "option provided but not defined" in error["message"] or "only reads here" in error["message"]
    assert not file.exists()


def test_every_flag_of_the_list_exists_and_names_no_file() -> None:
    root = Root()
    for word, flags in web_commands.READING.items():
        found = root.get_command(click.Context(root), word)
        assert found is not None
        assert found.name == word
        specs = {spec.name: spec for spec in found.specs}
        assert all(specs[name].kind not in ("path", "key-value-or-file") for name in flags.split())


async def test_the_rights_are_those_of_the_user_who_is_named(shown: ApiWorld, house: TestController) -> None:
    shown.add_user("kim")
    async with terminal(shown, house.model) as client:
        assert (await client.refused("status", user="kim"))["message"] == "permission denied"
        with house.ctx.store.write() as tx:
            access.grant(tx, "kim", "read", access.Kind.MODEL, house.model)
        printed, done = await client.run("status", user="user-kim")
        assert printed.startswith("Model ")
        assert done == {"done": True}


async def test_the_terminal_of_the_controller_reads_its_own_model(shown: ApiWorld, own: str) -> None:
    shown.add_user("kim")
    async with terminal(shown) as client:
        assert (await client.refused("status", user="kim"))["message"] == "permission denied"
        printed, _ = await client.run("status --format json")
        assert json.loads(printed.splitlines()[0])["model"]["name"] == "controller"


async def test_a_user_without_the_right_password_learns_nothing(
    shown: ApiWorld, house: TestController
) -> None:
    for model in (house.model, "d" * 8):
        async with terminal(shown, model) as client:
            wrong = await client.refused("status", credentials="wrong")
            assert wrong["message"] == "invalid entity name or password"
            assert (await client.refused("status", user="nobody", credentials="wrong")) == wrong
            assert (await client.refused("status", user=""))["code"] == "not supported"
            none = await client.refused("status", credentials="")
            assert none["code"] == "no credentials provided"


async def test_a_request_that_is_not_valid_is_told_and_the_next_is_answered(
    shown: ApiWorld, house: TestController
) -> None:
    async with terminal(shown, house.model) as client:
        for text in ("[]", "{", '{"commands": 1}'):
            await client.socket.send_str(text)
            assert "ERROR" in (await client.socket.receive_json(timeout=10))["output"][0]
            assert (await client.socket.receive_json(timeout=10))["done"]
        assert "more than 20" in (await client.refused(*["status"] * 21))["message"]
        assert (await client.run("status"))[1] == {"done": True}


async def test_a_terminal_ends_when_its_user_is_disabled(shown: ApiWorld, house: TestController) -> None:
    shown.add_user("kim")
    with house.ctx.store.write() as tx:
        access.grant(tx, "kim", "read", access.Kind.MODEL, house.model)
    async with terminal(shown, house.model) as client:
        await client.run("status", user="kim")
        users.set_enabled(house.ctx, "kim", enabled=False)
        assert (await client.socket.receive(timeout=10)).type is aiohttp.WSMsgType.CLOSE


async def test_a_terminal_reads_nothing_of_another_model(shown: ApiWorld, house: TestController) -> None:
    hidden = add_model(house.ctx, AddModelOptions(name="hidden"))
    async with terminal(shown, house.model) as client:
        for word in web_commands.READING:
            for name in ("hidden", "admin/hidden", hidden.uuid, f"home:{hidden.uuid}"):
                printed, _ = await client.run(f"{word} {name}")
                assert hidden.uuid not in printed.replace(name, "")
