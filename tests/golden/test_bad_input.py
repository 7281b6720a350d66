"""Bad input: for each command and each typed flag of Juju's table a value that does not fit.

Also too few and too many arguments. One line that begins with ERROR, the exit status of the table, no trace,
and the store as it was.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from pushjuju.cli.app.root import Root
from pushjuju.cli.syntax.command import Command
from tests.world.commandline import Ended, Home, ok

TABLE = tomllib.loads((Path(__file__).parent / "commands.toml").read_text())["command"]
ROOT = Root()
CONTEXT = click.Context(ROOT)
BUILT = {
    entry["name"]: entry
    for entry in TABLE
    if isinstance(ROOT.get_command(CONTEXT, entry["name"].split()[0]), Command)
}
# Type of a flag -> (a value that does not fit, the exit statuses that are right).
WRONG: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "bool": ("maybe", (2,)),
    "optional-bool": ("maybe", (2,)),
    "int": ("many", (2,)),
    "uint": ("-3", (2,)),
    "duration": ("5", (2,)),
    "key-value (repeat)": ("novalue", (2,)),
    "constraints": ("colour=red", (1, 2)),
    "storage-directive (repeat)": ("=", (1, 2)),
    "path": ("/no/such/file.yaml", (1, 2)),
}
# The words in front of the arguments that are really theirs.
PARTS = {name: tuple(name.split()) for name in BUILT}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A controller with an empty model for all tests: none of them may change it."""
    made = Home(tmp_path_factory.mktemp("lab"), {"PUSHJUJU_WAIT": "0"})
    ok(made("bootstrap", "local", "lab", "--add-model", "shop"))
    return made


def refused(ended: Ended, statuses: tuple[int, ...], words: tuple[str, ...]) -> None:
    said = f"{' '.join(words)} -> {ended}"
    assert ended.status in statuses, said
    assert ended.out in ("", "{}\n"), said
    errors = [line for line in ended.err.splitlines() if line.startswith("ERROR ")]
    assert len(errors) == 1, said
    assert len(errors[0]) > len("ERROR "), said
    assert "Traceback" not in ended.err, said


def wrong_flags(name: str, entry: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Yield (command line, right exit statuses) for each typed flag of a command."""
    arguments = ("x",) * entry.get("least", 0)
    mixed = name not in ("ssh", "scp", "debug-hooks", "debug-code")  # there all behind the target is ssh's
    for flag in entry.get("flags", []):
        dashes = "--" if len(flag["name"]) > 1 else "-"
        if flag["type"] in WRONG:
            value, statuses = WRONG[flag["type"]]
            words = (f"{dashes}{flag['name']}={value}",) if dashes == "--" else (f"-{flag['name']}", value)
            yield (*PARTS[name], *words, *arguments), statuses
        if flag["type"] not in ("bool", "optional-bool"):
            yield (*PARTS[name], *(arguments if mixed else ()), f"{dashes}{flag['name']}"), (2,)
    if entry.get("formats"):
        yield (*PARTS[name], "--format", "xml", *arguments), (2,)
    yield (*PARTS[name], "--no-such-flag", *arguments), (2,)


@pytest.mark.parametrize("name", sorted(BUILT))
def test_a_flag_with_a_wrong_value_changes_nothing(name: str, home: Home) -> None:
    before = home.kept("lab")
    for words, statuses in wrong_flags(name, BUILT[name]):
        refused(home(*words), statuses, words)
    assert home.kept("lab") == before


@pytest.mark.parametrize("name", sorted(name for name, entry in BUILT.items() if entry.get("least")))
def test_too_few_arguments_change_nothing(name: str, home: Home) -> None:
    before = home.kept("lab")
    words = (*PARTS[name], *("x",) * (BUILT[name]["least"] - 1))
    refused(home(*words), (2, 1) if name in REFUSED else (2,), words)
    assert home.kept("lab") == before


@pytest.mark.parametrize("name", sorted(name for name, entry in BUILT.items() if "most" in entry))
def test_too_many_arguments_change_nothing(name: str, home: Home) -> None:
    before = home.kept("lab")
    words = (*PARTS[name], *("x",) * (BUILT[name]["most"] + 1))
    refused(home(*words), (2, 1) if name in REFUSED else (2,), words)
    assert home.kept("lab") == before


# Words that are refused as a whole, whatever follows them.
REFUSED = {
    "add-branch", "branch", "track", "commit", "abort", "diff", "commits", "show-commit", "add-k8s",
    "update-k8s", "remove-k8s", "scale-application",
}  # fmt: skip
