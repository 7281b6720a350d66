"""`doctor --schedule`, with a played crontab that keeps a file. With cron itself: test_contrib."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.store.datadir import DataDir
from pushjuju.workers import schedule

# As cron's: a user without a crontab gets exit code 1 and a word.
_CRONTAB = """#!/bin/sh
[ -e {folder}/refused ] && echo "You (ann) are not allowed to use this program (crontab)" >&2 && exit 1
case $1 in
-l) cat {folder}/tab 2>/dev/null || {{ echo "no crontab for ann" >&2; exit 1; }} ;;
-) cat > {folder}/tab; echo >> {folder}/written ;;
esac
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the played crontab, the only tool there is beside those of /bin."""
    tool = tmp_path / "bin/crontab"
    tool.parent.mkdir()
    tool.write_text(_CRONTAB.format(folder=tmp_path))
    tool.chmod(0o755)
    for name in ("sh", "cat"):
        (tool.parent / name).symlink_to(f"/bin/{name}")
    monkeypatch.setattr(schedule.children, "SYSTEM", {"PATH": str(tool.parent)})
    monkeypatch.setattr(schedule, "_CRON_FILE", tmp_path / "cron.d/pushjuju")
    monkeypatch.setattr(schedule, "_cron_runs", lambda: True)
    return tmp_path


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], DataDir]:
    """Make a data directory with a controller."""

    def made(name: str) -> DataDir:
        folder = DataDir(tmp_path / name)
        (folder.root / "controllers/lab").mkdir(parents=True)
        (folder.root / "controllers/lab/controller.toml").write_text("")
        folder.set_current_controller("lab")
        return folder

    return made


Make = Callable[[str], DataDir]


def _tab(tools: Path) -> list[str]:
    return (tools / "tab").read_text().splitlines()


def _look(folder: DataDir, home: str = "/nowhere") -> tuple[str, str, str]:
    (entry,) = schedule.look(folder, {"HOME": home})
    return entry["level"], entry["message"], entry.get("fix", "")


def test_doctor_offers_the_line_and_then_knows_it(tools: Path, make: Make) -> None:
    folder = make("data")
    level, message, fix = _look(folder)
    assert (level, fix) == ("warning", "pushjuju doctor --schedule")
    assert message == "nothing runs it regularly; what comes due waits for the next command"
    schedule.schedule(folder)
    assert _tab(tools) == [schedule.line(folder.root)]
    level, message, fix = _look(folder)
    assert (level, fix) == ("ok", "")
    assert message.startswith("the crontab of ")


def test_a_second_time_changes_nothing_and_all_other_lines_stay(tools: Path, make: Make) -> None:
    one, other = make("one"), make("two words 100%")
    mine = ["# mine", "", "MAILTO=ann", "0 3 * * * backup"]
    (tools / "tab").write_text("\n".join([*mine, ""]))
    for folder in (one, other, one, other):
        schedule.schedule(folder)
    assert _tab(tools) == [*mine, schedule.line(one.root), schedule.line(other.root)]
    assert (tools / "written").read_text().count("\n") == 2
    assert _look(one)[0] == _look(other)[0] == "ok"


def test_the_line_of_an_older_installation_is_replaced(tools: Path, make: Make) -> None:
    folder = make("data")
    new = schedule.line(folder.root)
    (tools / "tab").write_text(new.replace(" --quiet", "-old --quiet") + "\n")
    schedule.schedule(folder)
    assert _tab(tools) == [new]


def test_the_shell_of_cron_reads_the_line_as_it_is_meant(make: Make) -> None:
    folder = make("it's 100% $HOME; touch x")
    *_, command = schedule.line(folder.root).split(" ", 5)
    assert "%" not in command.replace("\\%", "")
    words = shlex.split(command.replace("\\%", "%"))
    assert f"PUSHJUJU_DATA={folder.root}" in words
    assert f"{folder.root}/cron.lock" in words
    assert words[-2:] == ["--quiet", "update-status"]
    with pytest.raises(NotValid, match="cannot stand in a crontab"):
        schedule.line(folder.root / "two\nlines")


def test_a_crontab_that_cannot_be_read_is_not_written(tools: Path, make: Make) -> None:
    folder = make("data")
    (tools / "tab").write_text("0 3 * * * backup\n")
    (tools / "refused").touch()
    with pytest.raises(PushjujuError, match="crontab -l failed with exit code 1") as caught:
        schedule.schedule(folder)
    assert caught.value.detail == "You (ann) are not allowed to use this program (crontab)"
    assert _tab(tools) == ["0 3 * * * backup"]
    level, message, fix = _look(folder)
    assert (level, message) == ("warning", f"not known who runs it: {caught.value.detail}")
    assert "run-as-a-service.md" in fix


def test_without_crontab_the_package_is_named(tools: Path, make: Make) -> None:
    (tools / "bin/crontab").unlink()
    folder = make("data")
    assert _look(folder)[2] == "apt-get install cron && pushjuju doctor --schedule"
    with pytest.raises(NotFound, match="crontab: it is not installed"):
        schedule.schedule(folder)


def test_without_a_controller_there_is_nothing_to_run(tools: Path, tmp_path: Path) -> None:
    folder = DataDir(tmp_path / "empty")
    assert schedule.look(folder, {}) == []
    with pytest.raises(NotFound, match="No controllers registered"):
        schedule.schedule(folder)
    assert not (tools / "tab").exists()


def test_a_line_counts_for_its_own_data_directory_only(tools: Path, make: Make) -> None:
    """A person's own line without a directory serves the usual one, and a comment serves nobody."""
    usual, other = make("home/.local/share/pushjuju"), make("other")
    home = str(tools / "home")
    (tools / "tab").write_text("#*/5 * * * * pushjuju update-status\n")
    assert _look(usual, home)[0] == "warning"
    (tools / "tab").write_text("*/7 * * * * /opt/pj/bin/pushjuju update-status\n")
    assert (_look(usual, home)[0], _look(other, home)[0]) == ("ok", "warning")
    (tools / "tab").write_text(schedule.line(other.root) + "\n")
    assert (_look(usual, home)[0], _look(other, home)[0]) == ("warning", "ok")


def test_a_line_without_a_daemon_is_not_enough(
    tools: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make("data")
    schedule.schedule(folder)
    monkeypatch.setattr(schedule, "_cron_runs", lambda: False)
    assert _look(folder)[:2] == (
        "warning",
        f"the crontab of {schedule._user()} runs it, but no cron daemon was found",
    )


@pytest.mark.parametrize(
    ("unit", "user", "state", "told"),
    [
        ("pushjuju-controller.service", "me", "active", "ok"),
        ("pushjuju-controller.service", "somebody", "active", "warning"),
        ("pushjuju-update-status.timer", "me", "active", "ok"),
        ("pushjuju-update-status.timer", "somebody", "active", "warning"),
        ("pushjuju-update-status.timer", "me", "inactive", "warning"),
    ],
)
def test_units_of_systemd_count_for_their_user(
    unit: str, user: str, state: str, told: str, tools: Path, make: Make
) -> None:
    """`systemctl show`, played: units that are not there have a block too."""
    owner = schedule._user() if user == "me" else user
    blocks = {
        name: [f"Id={name}", f"ActiveState={'inactive'}"]
        for name in (
            "pushjuju-controller.service",
            "pushjuju-update-status.timer",
            "pushjuju-update-status.service",
        )
    }
    blocks[unit][1] = f"ActiveState={state}"
    for name in ("pushjuju-controller.service", "pushjuju-update-status.service"):
        blocks[name].append(f"User={owner}")
    (tools / "shown").write_text("\n\n".join("\n".join(block) for block in blocks.values()) + "\n")
    tool = tools / "bin/systemctl"
    tool.write_text(f"#!/bin/sh\ncat {tools}/shown\n")
    tool.chmod(0o755)
    usual, other = make("home/.local/share/pushjuju"), make("other")
    home = str(tools / "home")
    assert (_look(usual, home)[0], _look(other, home)[0]) == (told, "warning")


def test_the_file_of_cron_counts_for_its_user(tools: Path, make: Make) -> None:
    usual = make("home/.local/share/pushjuju")
    place = tools / "cron.d/pushjuju"
    place.parent.mkdir()
    line = "*/5 * * * * {} umask 077; /opt/pushjuju/bin/pushjuju --quiet update-status\n"
    place.write_text(line.format("somebody"))
    assert _look(usual, str(tools / "home"))[0] == "warning"
    place.write_text(line.format(schedule._user()))
    assert _look(usual, str(tools / "home"))[1] == f"{place} runs it regularly"
