"""The program around the commands: words, plugins, aliases, help, errors, exit statuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from pushjuju.cli.app.root import read_aliases
from pushjuju.cli.commands import registry
from pushjuju.cli.commands.program import documentation
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.errors import NotFound, Silent
from pushjuju.core.suggest import closest
from tests.world.commandline import Run


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Put a command `documentation` in place of ours whose behaviour a test chooses."""
    told: dict[str, object] = {}

    @command("documentation", summary="Probe.", formats=("tabular", "yaml", "json"))
    def function(cli: Cli, args: tuple[str, ...]) -> None:
        told["args"], told["format"] = args, cli.output.form
        if "write" in args:
            cli.output.write({"a": 1}, {"tabular": lambda document: f"{document}\n"})
        if "info" in args:
            cli.console.info("info")
            cli.console.detail("detail")
            cli.console.warn("careful")
        if isinstance(told.get("raise"), BaseException):
            raise told["raise"]  # type: ignore[misc]

    monkeypatch.setattr(documentation, "documentation", function)
    return told


def test_without_a_word_the_basics_are_shown(run: Run) -> None:
    bare, asked, topic = run(), run("--help"), run("help", "basics")
    assert bare.status == asked.status == topic.status == 0
    assert bare.out == asked.out == topic.out
    assert "Usage: pushjuju [options] <command>" in bare.out


def test_the_version_is_jujus(run: Run) -> None:
    assert run("--version").out == run("version").out
    assert run("version").out.startswith("3.6.")
    assert json.loads(run("version", "--format", "json").out) + "\n" == run("version").out
    everything = json.loads(run("version", "--all", "--format", "json").out)
    assert everything["version"] + "\n" == run("version").out


def test_a_mistyped_word_gets_a_suggestion(run: Run) -> None:
    ended = run("verson")
    assert ended.status == 1
    assert ended.out == ""
    assert ended.err == (
        'ERROR pushjuju: "verson" is not a pushjuju command. See "pushjuju --help".\n'
        "\nDid you mean:\n\tversion\n"
    )


def test_a_mistyped_flag_gets_a_suggestion(run: Run) -> None:
    ended = run("status", "--fromat", "json")
    expected = "ERROR option provided but not defined: --fromat\n\nDid you mean:\n\t--format\n"
    assert (ended.status, ended.err) == (2, expected)
    assert run("status", "--xyzzyqq").err == "ERROR option provided but not defined: --xyzzyqq\n"
    assert run("status", "-q9").err.count("\n") == 1


def test_called_as_juju_the_text_is_jujus(run: Run) -> None:
    ended = run("xyzzyqq", program="juju")
    assert ended.err == 'ERROR juju: "xyzzyqq" is not a juju command. See "juju --help".\n'


@pytest.mark.parametrize(
    ("word", "nearest"),
    [("deplo", "deploy"), ("staus", "status"), ("xxxxxxxx", ""), ("destroy-modle", "destroy-model")],
)
def test_the_nearest_word(word: str, nearest: str) -> None:
    assert closest(word, ["deploy", "status", "destroy-model"]) == nearest


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--nonsense", "version"], "option provided but not defined: --nonsense"),
        (["version", "--nonsense"], "option provided but not defined: --nonsense"),
        (["version", "a", "b c"], 'unrecognized args: ["a" "b c"]'),
        (["version", "--format", "xml"], 'invalid value "xml" for option --format: unknown format "xml"'),
        (["-v", "version", "-q"], '"verbose" and "quiet" flags clash, please use one or the other, not both'),
    ],
)
def test_mistakes_on_the_command_line_end_with_2(run: Run, words: list[str], text: str) -> None:
    ended = run(*words)
    assert (ended.status, ended.out, ended.err) == (2, "", f"ERROR {text}\n")


def test_help_of_a_command_has_all_its_flags(run: Run) -> None:
    asked, topic = run("version", "--help"), run("help", "version")
    assert asked.out == topic.out
    assert asked.out.startswith("Usage: pushjuju version [options]\n\nSummary:\n")
    assert "-o, --output  (= )\n" in asked.out
    assert "-v, --verbose  (= false)\n" in asked.out


def test_help_commands_lists_them_with_aliases(run: Run) -> None:
    listed = dict(line.split(maxsplit=1) for line in run("help", "commands").out.splitlines())
    assert listed["version"] == "Print the client version."
    assert listed["help"] == "Show help on a command or other topic."


def test_unknown_help_topic(run: Run) -> None:
    ended = run("help", "nonsense")
    assert (ended.status, ended.err) == (1, "ERROR unknown command or topic for nonsense\n")


def test_an_error_gives_parsers_an_empty_document(run: Run, probe: dict[str, object]) -> None:
    probe["raise"] = NotFound("model x not found", detail="said the store", hint="pushjuju models")
    ended = run("documentation", "--format", "json")
    assert (ended.status, ended.out) == (1, "{}\n")
    assert ended.err == "ERROR model x not found\nsaid the store\npushjuju models\n"
    assert run("documentation").out == ""
    assert run("documentation", "write", "--format", "yaml").out == "a: 1\n"


def test_a_silent_failure_prints_nothing(run: Run, probe: dict[str, object]) -> None:
    probe["raise"] = Silent()
    ended = run("documentation")
    assert (ended.status, ended.out, ended.err) == (1, "", "")


def test_a_command_without_a_change_says_when_interrupted_that_nothing_was_recorded(
    run: Run, probe: dict[str, object]
) -> None:
    probe["raise"] = KeyboardInterrupt()
    ended = run("documentation")
    assert (ended.status, ended.err) == (130, "\nInterrupted before anything was recorded.\n")


def test_a_bug_leaves_its_trace_in_a_file(run: Run, probe: dict[str, object], tmp_path: Path) -> None:
    probe["raise"] = RuntimeError("boom")
    ended = run("documentation", "password=hunter2", "--format=json")
    assert ended.status == 1
    assert ended.out == "{}\n"
    first, second = ended.err.splitlines()
    assert first == "ERROR internal error: RuntimeError: boom"
    path = next((tmp_path / "data" / "log").iterdir())
    assert str(path) in second
    assert "Traceback" in path.read_text()
    assert "hunter2" not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


def test_data_goes_to_stdout_and_the_rest_to_stderr(run: Run, probe: dict[str, object]) -> None:
    ended = run("documentation", "write", "info")
    assert ended.out == "{'a': 1}\n"
    assert ended.err == "info\nWARNING careful\n"
    assert run("documentation", "-q", "info").err == "WARNING careful\n"
    assert run("-v", "documentation", "info").err == "info\ndetail\nWARNING careful\n"


def test_data_goes_to_a_file(run: Run, probe: dict[str, object], tmp_path: Path) -> None:
    assert run("documentation", "write", "-o", "out.json", "--format", "json").out == ""
    assert (tmp_path / "out.json").read_text() == '{"a":1}\n'


def test_a_plugin_is_found_on_the_path(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("juju-hello", "juju"), ("juju-both", "juju"), ("pushjuju-both", "own")):
        (folder / name).write_text(f'#!/bin/sh\necho {text} "$@"\nexit 7\n')
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert run("hello", "--a", "b").status == 7
    assert run("both").status == 7
    assert capfd.readouterr().out == "juju --a b\nown\n"


def test_a_users_alias_is_expanded_once(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "aliases").write_text("# mine\nv = version --format json\nbroken\nempty =\n")
    assert run("v").out == run("version", "--format", "json").out
    assert run("--no-alias", "v").status == 1
    assert read_aliases(tmp_path / "data" / "aliases") == {"v": ["version", "--format", "json"]}


def test_the_log_goes_where_it_is_wanted(run: Run, probe: dict[str, object], tmp_path: Path) -> None:
    probe["raise"] = NotFound("x not found")
    assert "error stack" in run("--debug", "documentation").err
    assert run("--logging-config", "a=LOUD", "version").err == 'ERROR unknown severity level "LOUD"\n'


def test_documentation_is_made_of_the_commands(run: Run, tmp_path: Path) -> None:
    text = run("documentation").out
    assert text.startswith("# Index\n")
    assert "\n# version\n" in text
    run("documentation", "--split", "--out", "pages", "--no-index")
    assert {path.stem for path in (tmp_path / "pages").iterdir()} <= set(registry.words())


def test_help_of_hook_tools(run: Run) -> None:
    listed = run("help-tool").out
    assert "\nconfig-get " in listed
    assert run("help-tool", "config-get").out.startswith("Usage: config-get")
    assert "action-set" in run("help-action-commands").out
    assert "action-set" not in run("help-hook-commands").out
    assert run("help-tool", "nonsense").err == "ERROR unknown hook command: nonsense\n"


def test_yaml_is_coloured_when_asked(run: Run) -> None:
    run("bootstrap", "local", "--add-model", "x")
    assert "\x1b[1;96mmodel\x1b[0m" in run("status", "--format", "yaml", "--color").out
    assert "\x1b" not in run("status", "--format", "yaml").out


def test_what_only_reads_works_on_a_read_only_disk(run: Run, tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("mounting a disk needs root")
    disk = tmp_path / "data"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=False)
    if mounted.returncode:
        pytest.skip("this system forbids mounting a tmpfs")
    try:
        assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        assert run("status").out.startswith("Model  Controller")
        assert "model" in run("explain").out
        assert "1 to add" in run("plan", "add-machine").out
        made = run("create-backup", "--filename", str(tmp_path / "copy.tar.gz"))
        assert made.status == 0
        assert len(re.findall(r"^(?:stored|started|finished): +20\d\d-", made.out, re.MULTILINE)) == 3
        refused = run("add-machine", "--no-wait")
        assert (refused.status, "cannot be written: it is read-only" in refused.err) == (1, True)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
