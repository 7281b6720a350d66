"""What the data commands about models, controllers and users print, in all their formats, byte for byte.

One file for each command under `words/`; `pytest tests/golden --golden-update` writes them anew.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from functools import partial

import click
import pytest

from pushjuju.charms.format.yamlsafe import load
from pushjuju.cli.app.root import Root
from pushjuju.cli.syntax.command import Command
from pushjuju.cli.work import drive
from pushjuju.core.clock import SystemClock
from pushjuju.services.entities.basis.context import open_context
from pushjuju.services.entities.charm import payloads
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.requests.controller import new_controllers
from pushjuju.services.requests.model import add_model
from pushjuju.store.datadir import DataDir
from pushjuju.store.rows.records import Unit
from tests.waiting import comes
from tests.world import HELLO_PAGE
from tests.world.commandline import Home, ok
from tests.world.printed import NINE, Golden, in_utc

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILTw1yJzqNmzJc4p7Qz0oT4yZ0hYJtO6cQkqNq9bH2r1 kim@laptop"
ROOT = Root()
CONTEXT = click.Context(ROOT)
# Command -> the command lines that are shown; each comes in all formats of the command.
SHOWN: dict[str, tuple[tuple[str, ...], ...]] = {
    "agreements": ((),),
    "constraints": (("web",),),
    "controller-config": ((),),
    "controllers": ((), ("--refresh",)),
    "disabled-commands": ((), ("--all",), ("-m", "empty")),
    "machines": ((),),
    "model-config": ((), ("mode",)),
    "model-constraints": ((), ("-m", "empty")),
    "model-defaults": ((), ("http-proxy",)),
    "models": ((), ("--uuid",), ("--all",), ("--user", "kim"), ("--exact-time",)),
    "payloads": ((), ("docker",), ("nothing",)),
    "show-application": (("web",),),
    "show-controller": ((),),
    "show-machine": (("0",), ("9",)),
    "show-model": ((), ("empty",)),
    "show-unit": (("web/0",),),
    "show-user": ((), ("kim",)),
    "ssh-keys": ((), ("--full",), ("-m", "empty")),
    "users": ((), ("--all",), ("shop",), ("--exact-time",)),
    "whoami": ((),),
}


MADE_BY = (
    "bootstrap local home --add-model shop --model-default test-mode=true",
    "add-model empty --no-switch",
    f"deploy {HELLO_PAGE} web -n 2 --constraints mem=2G --no-wait",
    "set-model-constraints arch=amd64 cores=2",
    "model-defaults http-proxy=http://10.0.0.1:3128",
    "model-defaults --region local/default http-proxy=http://10.0.0.9:3128",
    "controller-config auditing-enabled=false",
    "model-config mode=",
    "add-user kim",
    "add-user rob Robin",
    "disable-user rob",
    "grant kim write shop",
    "add-model dev --owner kim --no-switch",
    "disable-command remove-object",
    "disable-command destroy-model --",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A controller with models, users and all that the commands show, made at nine o'clock UTC.

    Numbers stand in the place of random ids.
    """
    numbers = itertools.count(1)

    def numbered() -> str:
        return f"00000000-0000-4000-8000-{next(numbers):012}"

    with pytest.MonkeyPatch.context() as patch, in_utc(patch):
        for module in (new_controllers, models, add_model, machines):
            patch.setattr(module, "new_uuid", numbered)
        patch.setattr(SystemClock, "now", lambda _self: NINE)
        patch.setattr(drive, "settle", lambda *_args, **_more: None)
        made = Home(tmp_path_factory.mktemp("home"))
        for line in MADE_BY:
            ok(made(*line.split()))
        ok(made("add-ssh-key", KEY))
        _register_payload(made)
        yield made


def _register_payload(home: Home) -> None:
    ctx = open_context(DataDir(home.folder / "data"), "home")
    with ctx.store.write() as tx:
        model = next(row["uuid"] for row in tx.rows("model_list") if row["name"] == "shop")
        unit = tx.get(Unit, "unit_get", "", model=model, name="web/0")
        tx.run(
            "payload_set", model=model, unit=unit.name, payload_class="front", type="docker",
            id="c0ffee", labels='["prod"]', status="running",
        )  # fmt: skip
        assert payloads.of_unit(ctx.of(tx, model), unit)
    ctx.close()


def _formats(name: str) -> tuple[str, ...]:
    command = ROOT.get_command(CONTEXT, name)
    assert isinstance(command, Command)
    return command.formats


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_a_data_command_in_all_its_formats(name: str, home: Home, golden: Golden) -> None:
    parts: list[str] = []
    for words in SHOWN[name]:
        for form in _formats(name) or ("",):
            line = (name, *words, *(("--format", form) if form else ()))
            ended = home(*line)
            said = "".join(f"stderr: {text}\n" for text in ended.err.splitlines())
            parts.append(f"$ pushjuju {' '.join(line)}\n{ok(ended)}{said}")
    golden(f"words/{name}.txt", "\n".join(parts))


def test_json_and_yaml_say_the_same(home: Home) -> None:
    renamed = {"controller-config", "model-config", "controllers", "show-controller", "show-unit"}
    for name in sorted(SHOWN.keys() - renamed):
        if {"json", "yaml"} <= set(_formats(name)):
            for words in SHOWN[name]:
                # A store in PostgreSQL has the server's clock, and the next second may begin in between.
                comes(partial(_agree, home, name, *words), f"{name} {words}")


def _agree(home: Home, *line: str) -> bool:
    texts = {form: ok(home(*line, "--format", form)) for form in ("json", "yaml")}
    return not texts["json"] or json.loads(texts["json"]) == load(texts["yaml"].encode())
