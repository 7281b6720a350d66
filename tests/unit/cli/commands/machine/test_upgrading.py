"""upgrade-machine: what it takes, asks, says and refuses; the machine's part is played."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.problems import Problem, Subject
from pushjuju.uniter.commit import commit
from pushjuju.uniter.turn import take_turn
from tests.world.charms import Charms
from tests.world.commandline import PlayedDrive, Run
from tests.world.controller import TestController
from tests.world.machine import failed, ok

PREPARE = ("upgrade-machine", "0", "prepare", "ubuntu@24.04")
COMPLETE = ("upgrade-machine", "0", "complete")


@dataclass
class Machine(PlayedDrive):
    """Runs the hooks of `web/0` as told, in place of everything that drives.

    Attributes:
        ends: How hooks end that do not end well.
        works: It answers.
        ran: The hooks.
    """

    ends: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    works: bool = True
    ran: list[str] = field(default_factory=list)

    def foreground(self, cli: Any, opened: Any, look: Callable[[], bool], **_: Any) -> Sequence[Problem]:
        look()
        while self.works and (dispatch := take_turn(opened.ctx, opened.uuid, "web/0").dispatch):
            self.ran.append(dispatch.title)
            look()
            done = commit(opened.ctx, dispatch.id, self.ends.pop(dispatch.title, ok()))
            if not done.ok:
                take_turn(opened.ctx, opened.uuid, "web/0")
                look()
                return [Problem.of(Subject("unit", "web/0"), f'hook failed: "{dispatch.title}"')]
        look()
        silent = Problem.of(Subject("machine", "0"), "the machine does not answer")
        return [] if self.works else [silent]

    def work(self, cli: Any, opened: Any, look: Callable[[], bool]) -> None:
        self.foreground(cli, opened, look)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Take the place of everything that drives."""
    return Machine().take_place(monkeypatch)


@pytest.fixture
def lab(run: Run, machine: Machine, built: Path, tmp_path: Path) -> Run:
    """Return `run` on a model with `web/0` on machine 0 at rest, and a machine 1 without units."""
    shutil.copytree(built, tmp_path / "data")
    return run


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> Path:
    """A data directory with this model, to be copied."""
    world = TestController.build(tmp_path_factory.mktemp("lab"), packs)
    world.active(packed=packs.make(series=["jammy", "noble"]))
    return world.keep()


STARTED = 'machine-0 started upgrade from "ubuntu@22.04" to "ubuntu@24.04"\n'
PREPARED = (
    f"{STARTED}web/0 pre-series-upgrade hook running\nweb/0 pre-series-upgrade completed\n"
    "machine-0 binaries and service files written\n"
)
READY = """
Juju is now ready for the machine base to be updated.
Perform any manual steps required along with "do-release-upgrade".
When ready, run the following to complete the upgrade base process:

pushjuju upgrade-machine 0 complete
"""
COMPLETED = """\
machine-0 complete phase started
machine-0 start units after series upgrade
web/0 post-series-upgrade hook running
web/0 post-series-upgrade completed
machine-0 series upgrade complete

Upgrade machine base "0" has successfully completed
"""
ALREADY = """\
ERROR Upgrade machine base is already prepared for machine "0" and the
current state is "prepare completed".
"""
QUESTION = """\
WARNING: This command will mark machine "0" as being upgraded to "ubuntu@24.04".
This operation cannot be reverted or canceled once started.
Units running on the machine will also be upgraded. These units include:
  - web/0

Leadership for the following applications will be pinned and not
subject to change until the "complete" command is run:
  - web
"""


def base(run: Run) -> Any:
    """Return the base of machine 0 as `machines` shows it."""
    return json.loads(run("machines", "--format", "json").out)["machines"]["0"]["base"]


def test_the_whole_way(lab: Run, machine: Machine) -> None:
    ended = lab(*PREPARE, "--yes")
    assert (ended.status, ended.out, ended.err) == (0, "", PREPARED + READY)
    assert "series upgrade prepare completed: waiting for completion command" in lab("machines").out
    ended = lab(*COMPLETE)
    assert (ended.status, ended.out, ended.err) == (0, "", COMPLETED)
    assert machine.ran == ["pre-series-upgrade", "post-series-upgrade"]
    assert base(lab) == {"name": "ubuntu", "channel": "24.04"}


def test_quiet(lab: Run) -> None:
    ended = lab(*PREPARE, "-y", "-q")
    assert (ended.status, ended.out, ended.err) == (0, "", "")


def test_the_question(lab: Run, machine: Machine) -> None:
    ended = lab(*PREPARE, stdin="n\n")
    assert (ended.status, ended.out) == (1, QUESTION)
    assert ended.err == "\nContinue [y/N]? ERROR upgrade machine: aborted\n"
    assert machine.ran == []
    ended = lab(*PREPARE, stdin="y\n")
    assert (ended.status, ended.out) == (0, QUESTION)
    assert ended.err == "\nContinue [y/N]? " + PREPARED + READY


def test_it_goes_by_the_name_that_it_was_called_by(lab: Run) -> None:
    assert "\njuju upgrade-machine 0 complete\n" in lab(*PREPARE, "-y", program="juju").err


def test_a_series_is_an_old_word(lab: Run) -> None:
    ended = lab("upgrade-machine", "0", "prepare", "Noble", "-y")
    assert ended.err == f"WARNING series argument is deprecated, use base instead\n{PREPARED}{READY}"


def test_no_wait(lab: Run, machine: Machine) -> None:
    ended = lab(*PREPARE, "-y", "--no-wait")
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert (machine.background, machine.ran) == (1, [])


def test_another_process_works(lab: Run) -> None:
    ended = lab(*PREPARE, "-y", env={"PUSHJUJU_WAIT": "0"})
    assert (ended.status, ended.err) == (0, PREPARED + READY)


@pytest.mark.parametrize("env", [{}, {"PUSHJUJU_WAIT": "0"}])
def test_a_failing_hook(lab: Run, machine: Machine, env: dict[str, str]) -> None:
    machine.ends["pre-series-upgrade"] = failed(7)
    ended = lab(*PREPARE, "-y", env=env)
    assert (ended.status, ended.out) == (1, "")
    said, _, error = ended.err.partition("ERROR ")
    assert said == f"{STARTED}web/0 pre-series-upgrade hook running\n"
    assert error.startswith('unit web/0: hook failed: "pre-series-upgrade"\n')
    assert "pushjuju resolved web/0" in error


def test_what_fails_afterwards_is_told_too(lab: Run, machine: Machine) -> None:
    lab(*PREPARE, "-y")
    lab("config", "web", "title=meanwhile")
    machine.ends["config-changed"] = failed(7)
    ended = lab(*COMPLETE)
    assert ended.status == 1
    assert ended.err.startswith(f'{COMPLETED}ERROR unit web/0: hook failed: "config-changed"\n')


def test_a_silent_machine(lab: Run, machine: Machine) -> None:
    machine.works = False
    ended = lab(*PREPARE, "-y")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith(f"{STARTED}ERROR machine 0: the machine does not answer\n")
    ended = lab(*PREPARE, "-y")
    assert (ended.status, ended.err) == (
        1, 'ERROR Upgrade machine base is currently being prepared for machine "0".\n',
    )  # fmt: skip


def test_begun_before(lab: Run, machine: Machine) -> None:
    lab(*PREPARE, "-y")
    ended = lab(*PREPARE, "-y")
    assert (ended.status, ended.err) == (
        1,
        f"{ALREADY}{READY.replace('upgrade base process', 'upgrade process')}",
    )
    machine.works = False
    lab(*COMPLETE)
    ended = lab(*PREPARE, "-y")
    assert ended.err == 'ERROR Upgrade base is currently completing for machine "0".\n'


WRONG = "wrong number of arguments"
CANCEL = (
    'invalid argument: "cancel" is an invalid upgrade-machine command; valid commands are: prepare, complete.'
)


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ((), 2, WRONG),
        (("0",), 2, WRONG),
        (("0", "prepare"), 2, WRONG),
        (("0", "prepare", "ubuntu@24.04", "x"), 2, WRONG),
        (("0", "complete", "ubuntu@24.04"), 2, WRONG),
        (("0", "cancel"), 2, CANCEL),
        (("web/0", "complete"), 2, '"web/0" is an invalid machine name'),
        (("0", "prepare", "ubuntu@"), 1, 'invalid base string "ubuntu@": channel not valid'),
        (("0", "prepare", "ubuntu@1.04"), 1, '"ubuntu@1.04/stable" is an unsupported base'),
        (("0", "prepare", "debian@12"), 1, '"debian@12/stable" is an unsupported base'),
        (("7", "prepare", "ubuntu@24.04"), 1, 'unable to locate instance: instance "7" not found'),
        (("0", "prepare", "ubuntu@22.04"), 1, "machine-0 is already running base ubuntu@22.04"),
        (("0", "complete"), 1, 'upgrade lock for machine "0" not found'),
        (("7", "complete"), 1, "machine 7 not found"),
    ],
)  # fmt: skip
def test_refused(lab: Run, machine: Machine, words: Sequence[str], status: int, text: str) -> None:
    """Nothing is asked when it would be refused anyway."""
    ended = lab("upgrade-machine", *words)
    assert (ended.status, ended.out, ended.err) == (status, "", f"ERROR {text}\n")
    assert (machine.ran, machine.background) == ([], 0)
    assert base(lab) == {"name": "ubuntu", "channel": "22.04"}


def test_unknown_series(lab: Run) -> None:
    ended = lab("upgrade-machine", "0", "prepare", "warty")
    assert (ended.status, ended.err.splitlines()[-1]) == (1, 'ERROR unknown series "warty"')


def test_a_locked_machine_stays(lab: Run) -> None:
    lab(*PREPARE, "-y")
    ended = lab("remove-machine", "0", "--no-prompt")
    told = "ERROR removing machine failed: machine 0 is locked for series upgrade\n"
    assert (ended.status, ended.out, ended.err) == (1, "", told)
