"""audit: what the command shows of the log, and what a command leaves there."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.commands import registry
from pushjuju.cli.work import session
from tests.world import HELLO_PAGE
from tests.world.commandline import Run, ok

CHARM = str(HELLO_PAGE)
SECRET = "v1siblevalue"

pytestmark = pytest.mark.usefixtures("unworked")


def document(lab: Run, *flags: str) -> list[dict[str, Any]]:
    """Return lines of the log."""
    found: list[dict[str, Any]] = json.loads(ok(lab("audit", "--format", "json", *flags)))
    return found


def test_a_command_leaves_its_words_without_values(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web"))
    ok(lab("config", "web", f"greeting={SECRET}"))
    (line,) = document(lab, "--limit", "1")
    assert line["arguments"] == ["web", "greeting=***"]
    assert line["door"] == "command"
    assert [line["command"] for line in document(lab)] == ["bootstrap", "bootstrap", "deploy", "config"]
    assert document(lab, "--entity", "web", "--user", "admin", "--model", "shop") == document(lab)[2:]
    assert document(lab, "--until", "1h") == []


def test_a_command_that_makes_a_controller_has_its_exit_code_in_each_line(lab: Run) -> None:
    for line in document(lab):
        assert (line["command"], line["exit"]) == ("bootstrap", 0)
        assert line["arguments"] == ["local", "lab", "--add-model"]
    ok(lab("bootstrap", "local", "other", "--no-switch"))
    (line,) = document(lab, "-c", "other")
    assert (line["command"], line["exit"]) == ("bootstrap", 0)
    assert len(document(lab)) == 2


def test_the_table_names_who_what_and_where(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web"))
    heads, *_, last = ok(lab("audit", "--utc")).splitlines()
    assert heads.split() == ["Time", "User", "From", "Model", "Command", "Changed"]
    assert "admin/shop" in last
    assert "deploy" in last
    assert "application web" in last
    assert lab("audit", "--user", "nobody").err == "No changes to display.\n"


def test_verify_fails_when_a_line_was_changed(lab: Run, tmp_path: Path) -> None:
    assert "lines are intact" in ok(lab("audit", "verify"))
    assert json.loads(ok(lab("audit", "verify", "--format", "json")))["intact"] is True
    with closing(sqlite3.connect(tmp_path / "data" / "controllers" / "lab" / "state.db")) as connection:
        connection.execute("UPDATE audit SET line = replace(line, 'admin', 'mallory') WHERE number = 1")
        connection.commit()
    broken = lab("audit", "verify")
    assert (broken.status, broken.out) == (1, "line 1 was changed\n")
    assert lab("audit", "check").status == 2


@pytest.mark.parametrize("made", ["replace(line, 'admin', 'eve')", "'{'", "'[]'", "x'ff'", "7"])
def test_a_changed_line_is_shown_as_changed_and_hides_no_other(lab: Run, tmp_path: Path, made: str) -> None:
    ok(lab("add-model", "other"))
    whole = document(lab)
    with closing(sqlite3.connect(tmp_path / "data" / "controllers" / "lab" / "state.db")) as connection:
        connection.execute(f"UPDATE audit SET line = {made} WHERE number = 1")
        connection.commit()
    shown = document(lab)
    assert shown[0]["command"] == "(this line was changed: audit verify)"
    assert shown[1:] == whole[1:]
    assert document(lab, "--user", "nobody") == shown[:1]
    assert "(this line was changed: audit verify)" in ok(lab("audit"))
    assert lab("audit", "verify").out == "line 1 was changed\n"


def test_verify_with_an_earlier_hash_fails_when_the_end_was_cut(lab: Run, tmp_path: Path) -> None:
    ok(lab("deploy", CHARM, "web"))
    kept = json.loads(ok(lab("audit", "verify", "--format", "json")))["hash"]
    ok(lab("add-user", "kim"))
    assert "lines are intact" in ok(lab("audit", "verify", kept))
    with closing(sqlite3.connect(tmp_path / "data" / "controllers" / "lab" / "state.db")) as connection:
        connection.execute("DELETE FROM audit WHERE number > 1")
        connection.commit()
    assert "lines are intact" in ok(lab("audit", "verify"))
    broken = lab("audit", "verify", kept)
    said = "no line has that hash: unless it was mistyped, lines were changed or deleted\n"
    assert (broken.status, broken.out) == (1, said)


def test_no_secret_of_any_argument_is_in_the_log(lab: Run, tmp_path: Path) -> None:
    ok(lab("deploy", CHARM, "web"))
    (tmp_path / "key.pub").write_text("x")
    (tmp_path / "content.yaml").write_text(f"word: {SECRET}\n")
    words = (
        ("add-secret", "token", f"word={SECRET}"),
        ("update-secret", "token", "--file", "content.yaml"),
        ("model-config", f"http-proxy=http://kim:{SECRET}@10.0.0.1:3128"),
        ("model-defaults", f"http-proxy=http://kim:{SECRET}@10.0.0.1:3128"),
        ("config", "web", f"greeting={SECRET}"),
        ("exec", "--unit", "web/0", "--background", "--", f"echo {SECRET}"),
        ("exec", "--unit", "web/0", "--background", "--", "echo", SECRET),
        ("add-user", "kim"),
        ("disable-command", "destroy-model", SECRET),
        ("controller-config", f"object-store-s3-static-secret={SECRET}"),
        ("create-storage-pool", "fast", "loop", f"word={SECRET}"),
    )
    done = [word[0] for word in words if lab(*word).status == 0]
    assert len(done) >= 9
    text = json.dumps(document(lab, "--limit", "0"))
    assert SECRET not in text
    assert {line["command"] for line in document(lab, "--limit", "0")} >= set(done)
    with closing(sqlite3.connect(tmp_path / "data" / "controllers" / "lab" / "state.db")) as connection:
        assert SECRET not in json.dumps(connection.execute("SELECT * FROM audit").fetchall())


def test_commands_with_free_text_exist() -> None:
    assert registry.known() >= set(session._FREE_TEXT)


def test_a_line_has_the_exit_code_of_its_command(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web"))
    assert {line["exit"] for line in document(lab) if line["command"] == "deploy"} == {0}
    assert "failed" not in ok(lab("audit"))


@pytest.mark.parametrize("words", ["remove-unit web/9", "refresh nope", "controller-config bogus=1"])
def test_a_command_that_fails_before_it_begins_a_change_has_a_line(lab: Run, words: str) -> None:
    before = len(document(lab))
    for reads in ("config nope", "config nope greeting", "show-unit web/9", "remove-unit web/9 --dry-run"):
        assert lab(*reads.split()).status == 1
    assert len(document(lab)) == before
    assert lab(*words.split()).status == 1
    line = document(lab)[-1]
    assert (line["command"], line["exit"], "changed" in line) == (words.split(maxsplit=1)[0], 1, False)
    assert line["model"] == ("" if words.startswith("controller") else "admin/shop")
    ok(lab("audit", "verify"))


def test_a_change_that_failed_has_a_line_with_its_error(lab: Run) -> None:
    before = len(document(lab))
    assert lab("add-user", "admin").status == 1
    line = document(lab)[-1]
    assert (line["command"], line["door"], line["exit"]) == ("add-user", "command", 1)
    assert (line["error"], line.get("changed", [])) == ("already-exists", [])
    assert "failed (already-exists, exit 1)" in ok(lab("audit", "--limit", "1"))
    assert lab("show-unit", "web/9").status == 1
    assert len(document(lab)) == before + 1  # to read is no change
    ok(lab("audit", "verify"))


@pytest.mark.parametrize("words", [("web", "a=b"), ("web", "--reset", "a"), ("web", "--file", "web.yaml")])
def test_refused_settings_are_in_the_log_and_settings_that_were_only_read_are_not(
    lab: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "web.yaml").write_text("web: {a: b}\n")
    assert lab("config", "web", "a").status == 1
    assert lab("config", *words).status == 1
    (line,) = document(lab)[2:]
    assert (line["command"], line["error"], line["model"]) == ("config", "not-found", "admin/shop")
