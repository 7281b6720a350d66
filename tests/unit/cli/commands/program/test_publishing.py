"""The JSON schemas that are published, held against real output; the manual page, held against man."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest

from pushjuju.cli.commands.program.schema import FOLDER
from pushjuju.cli.help.manpage import escaped
from pushjuju.core.clock import SystemClock
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.relation import integrate
from tests.world.charms import Charms
from tests.world.commandline import Run
from tests.world.controller import TestController
from tests.world.machine import failed, ok, status_event

NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
OUTPUTS = [
    ["explain"],
    ["explain", "web/0", "db/0", "web", "0", "1", "data/0"],
    ["plan", "--", "remove-application", "web"],
    ["plan", "--", "config", "web", "title=x"],
    ["plan", "--", "config", "web"],
    ["plan", "--", "add-unit", "web"],
    ["plan", "--", "trust", "web"],
    ["show-relation", "web", "db"],
    ["show-relation", "web:cluster"],
    ["hooks", "--limit", "0"],
    ["timeline", "--all"],
    ["replay", "web/0"],
    ["replay", "db/0"],
    ["doctor"],
    ["plugins"],
]


@pytest.fixture
def runtime(runtime: TestController, packs: Charms, monkeypatch: pytest.MonkeyPatch) -> TestController:
    """A model with all that outputs can tell of: writes, errors, storage, something that runs, a removal."""
    monkeypatch.setattr(SystemClock, "now", lambda _clock: runtime.clock.now())
    stored = {"storage": {"data": {"type": "filesystem", "location": "/srv"}}}
    runtime.deploy("web", packed=packs.make("web", requires={"db": {"interface": "sql"}}))
    runtime.deploy("db", packed=packs.make("db", provides={"server": {"interface": "sql"}}))
    integrate.integrate(runtime.ctx, runtime.model, "web", "db")
    ports = {"open": [{"endpoint": "", "protocol": "tcp", "from": 80, "to": 82}], "close": []}
    bags = {"2": {"unit": {"a": "b"}, "app": {"c": "d"}}}
    writes = {"relations": bags, "ports": ports, "state": {"k": "v"}}
    told = ok(writes=writes, started=1.0, ended=2.0, events=[status_event(1, "active", "ready")])
    runtime.played("0").script["db-relation-joined"] = [told]
    runtime.played("1").script["server-relation-changed"] = [failed(3), failed(3)]
    runtime.settle()
    runtime.deploy("disk", packed=packs.make("disk", peers=None, config=None, **stored))
    runtime.refresh(packs.make("web", files={"x": "y"}, requires={"db": {"interface": "sql"}}))
    runtime.prepared("web/0")
    removals.remove_applications(runtime.ctx, runtime.model, ["db"], removal.Force(wait_s=60))
    runtime.focus()
    return runtime


@pytest.mark.parametrize("words", OUTPUTS, ids=" ".join)
def test_what_is_written_is_as_published(runtime: TestController, run: Run, words: list[str]) -> None:
    ended = run(words[0], "--format", "json", *words[1:])
    assert ended.out, ended.err
    published = json.loads(run("schema", words[0]).out)
    checker = jsonschema.Draft7Validator(published, format_checker=jsonschema.FormatChecker())
    problems = [f"{error.json_path}: {error.message}" for error in checker.iter_errors(json.loads(ended.out))]
    assert not problems


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_sound(name: str) -> None:
    published = json.loads((FOLDER / f"{name}.json").read_text())
    jsonschema.Draft7Validator.check_schema(published)
    assert published["title"].startswith(f"pushjuju {name} --format json")
    assert name in {words[0] for words in OUTPUTS}
    checker = jsonschema.Draft7Validator(published)
    assert list(checker.iter_errors({"nope": 1}))  # it refuses something


def test_the_list_of_schemas(run: Run) -> None:
    assert run("schema").out.split() == NAMES
    ended = run("schema", "status")
    assert (ended.status, ended.err.splitlines()[0]) == (1, "ERROR status has no schema")


def test_the_page_holds_every_command_and_flag(run: Run) -> None:
    page = run("man").out
    for text in (
        ".SS remove\\-unit\n",
        "\\fB\\-\\-dry\\-run\\fR\n",
        ".SH EXIT STATUS\n",
        ".SS show\\-relation\n",
    ):
        assert text in page
    assert page == run("man").out
    assert not [line for line in page.splitlines() if len(line) > 5000]


def test_man_takes_the_page(run: Run, tmp_path: Path) -> None:
    if not shutil.which("man"):
        pytest.skip("man is not installed: apt-get install man-db")
    page = tmp_path / "pushjuju.1"
    page.write_text(run("man").out)
    env = {"LC_ALL": "C.UTF-8", "MANWIDTH": "80", "PATH": "/usr/bin:/bin", "MANROFFSEQ": ""}
    argv = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    shown = subprocess.run(
        ["man", "-l", str(page)], env=env, capture_output=True, text=True, check=True
    ).stdout
    assert "pushjuju add-unit [options]" in shown
    assert "source <(pushjuju completion bash)" in shown


def test_what_roff_would_take_for_its_own() -> None:
    assert escaped(".TH x") == "\\&.TH x"
    assert escaped("'a' \\ -b") == "\\(aqa\\(aq \\e \\-b"
