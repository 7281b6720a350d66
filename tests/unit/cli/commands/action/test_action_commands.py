"""run, exec and what looks at tasks, on a real store; the machines' part is played."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.model.tasks import TaskStatus
from pushjuju.services.entities.action import actions
from tests.waiting import comes
from tests.world import HELLO_PAGE
from tests.world.commandline import PlayedDrive, Run

CHARM = str(HELLO_PAGE)


@dataclass
class Machines(PlayedDrive):
    """Ends tasks as told: task id -> (status, message, results); those that are not named go on."""

    endings: dict[int, tuple[str, str, dict[str, Any]]] = field(default_factory=dict)
    says: dict[int, list[str]] = field(default_factory=dict)

    def work(self, cli: Any, opened: Any, look: Callable[[], bool]) -> None:
        if look():
            return
        now = cli.clock.now()
        with opened.ctx.write(opened.uuid) as tx:
            for number, (status, message, results) in self.endings.items():
                actions.start(tx, number)
                for line in self.says.get(number, ()):
                    actions.add_log(tx, number, line, now)
                actions.finish(tx, number, TaskStatus(status), message=message, results=results)
        comes(look)
        assert look(), "whoever drives looks again at the end"


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch, utc: None) -> Machines:
    """Take the place of everything that drives."""
    return Machines().take_place(monkeypatch)


@pytest.fixture
def lab(run: Run, machines: Machines) -> Run:
    """A model with two units of hello-page."""
    assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    assert run("deploy", CHARM, "web", "-n", "2").status == 0
    return run


DONE = ("completed", "", {"return-code": 0, "size": {"Total": "3M"}, "stdout": "out\r\n", "stderr": "err\n"})
PLAIN = "size:\n  Total: 3M\n\nout\nerr\n"


def test_run_tells_what_it_does(lab: Run, machines: Machines) -> None:
    machines.endings, machines.says = {2: DONE}, {2: ["half way", "there"]}
    ended = lab("run", "web/0", "greet", "name=Kim")
    assert (ended.status, ended.out) == (0, PLAIN)
    head, _, log = ended.err.partition("Waiting for task 2...\n")
    assert head == "Running operation 1 with 1 task\n  - task 2 on unit-web-0\n\n"
    assert [line[9:] for line in log.splitlines()] == ["half way", "there", ""]


def test_run_on_several_units(lab: Run, machines: Machines) -> None:
    machines.endings = {2: DONE, 3: ("failed", "no", {"return-code": 0})}
    ended = lab("run", "web/0", "web/1", "show-page")
    assert ended.err == (
        "Running operation 1 with 2 tasks\n  - task 2 on unit-web-0\n  - task 3 on unit-web-1\n\n"
        "Waiting for task 2...\nWaiting for task 3...\n"
    )
    assert (ended.status, ended.out) == (
        0,
        (
            'web/0:\n  id: "2"\n  output: |\n    size:\n      Total: 3M\n    out\n    err\n'
            "  status: completed\n"
            'web/1:\n  id: "3"\n  message: "no"\n  output: ""\n  status: failed\n'
        ),
    )


@pytest.mark.parametrize(
    ("ending", "out"),
    [
        (("completed", "", {"return-code": 0}), "\n"),
        (("completed", "", {"return-code": 0, "stdout": "a\n\n"}), "\na\n"),
        (("failed", "no", {"return-code": 0, "a": "b"}), "Action id 2 failed: no\na: b\n\n"),
        (("failed", "no", {}), "Action id 2 failed: no\nTask 2 failed\n\n"),
        (("aborted", "terminated", {}), "Task 2 aborted\n\n"),
    ],
)
def test_plain_results(lab: Run, machines: Machines, ending: Any, out: str) -> None:
    machines.endings = {2: ending}
    ended = lab("run", "-q", "web/0", "show-page")
    assert (ended.status, ended.out, ended.err) == (0, out, "")
    assert lab("show-task", "2").out == out


def test_results_as_jubilant_reads_them(lab: Run, machines: Machines) -> None:
    machines.endings, machines.says = {2: DONE}, {2: ["half way"]}
    document = json.loads(lab("run", "web/0", "show-page", "--format", "json").out)
    task = document["web/0"]
    assert list(task) == sorted(task)
    stamp = task["timing"]["started"]
    assert task == {
        "id": "2",
        "log": [f"{stamp} half way"],
        "results": {"return-code": 0, "size": {"Total": "3M"}, "stderr": "err\n", "stdout": "out\n"},
        "status": "completed",
        "timing": {"completed": stamp, "enqueued": task["timing"]["enqueued"], "started": stamp},
        "unit": "web/0",
    }
    assert stamp.endswith(" +0000 UTC")


@pytest.mark.parametrize(
    ("codes", "error"),
    [
        (
            [3, 0],
            (
                'ERROR the following task failed:\n - id "2" with return code 3\n\n'
                "use 'pushjuju show-task' to inspect the failure\n"
            ),
        ),
        (
            [3, 4],
            (
                'ERROR the following tasks failed:\n - id "2" with return code 3\n'
                ' - id "3" with return code 4\n\n'
                "use 'pushjuju show-task' to inspect the failures\n"
            ),
        ),
    ],
)
def test_a_script_that_ends_badly(lab: Run, machines: Machines, codes: list[int], error: str) -> None:
    machines.endings = {
        2 + at: ("failed" if code else "completed", f"exit status {code}", {"return-code": code})
        for at, code in enumerate(codes)
    }
    ended = lab("run", "-q", "web/0", "web/1", "show-page", "--format=json")
    assert (ended.status, ended.err) == (1, error)
    assert set(json.loads(ended.out)) == {"web/0", "web/1"}


@pytest.mark.parametrize(
    ("status", "message", "told"),
    [
        (
            "failed",
            "/var/lib/juju/x: Read-only file system",
            "failed: /var/lib/juju/x: Read-only file system",
        ),
        ("cancelled", "", "cancelled: it has no result"),
    ],
)
def test_exec_fails_when_its_commands_did_not_run(
    lab: Run, machines: Machines, status: str, message: str, told: str
) -> None:
    machines.endings = {2: (status, message, {}), 3: ("completed", "", {"return-code": 0, "stdout": "a"})}
    ended = lab("exec", "--application", "web", "date")
    head = "ERROR the following task failed:\n"
    assert (ended.status, ended.err.startswith(f'{head} - id "2" {told}\n')) == (1, True), ended.err
    assert "a\n" in ended.out


def test_giving_up(lab: Run, machines: Machines) -> None:
    ended = lab("run", "web/0", "web/1", "show-page", "--wait", "0.001s")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.endswith("ERROR timed out waiting for results from: unit web/0, unit web/1\n")
    assert machines.background == 1
    ended = lab("exec", "--machine", "0", "--wait", "1ms", "true")
    assert ended.err == "ERROR timed out waiting for results from: machine 0\n"


def test_what_could_not_be_scheduled(lab: Run, machines: Machines) -> None:
    ended = lab("run", "web/0", "dance")
    assert (ended.status, ended.out) == (0, "")
    assert (
        ended.err == 'Operation 1 failed to schedule any tasks:\naction "dance" not defined on unit "web/0"\n'
    )
    machines.endings = {3: DONE}
    ended = lab("run", "-v", "web/0", "web/9", "show-page")
    assert (ended.status, ended.out) == (0, PLAIN)
    assert ended.err.endswith('Some actions could not be scheduled:\nunit "web/9" not found\n')


def test_run_in_the_background(lab: Run, machines: Machines) -> None:
    ended = lab("run", "web/0", "show-page", "--background")
    assert (ended.status, ended.out, machines.background) == (0, "", 1)
    assert ended.err == (
        "Scheduled operation 1 with task 2\n"
        "Check operation status with 'pushjuju show-operation 1'\n"
        "Check task status with 'pushjuju show-task 2'\n"
    )
    ended = lab("exec", "--application", "web", "--background", "true")
    assert ended.out == 'web/0:\n  id: "4"\nweb/1:\n  id: "5"\n'
    assert ended.err.startswith("Scheduled operation 3 with 2 tasks\n  - task 4 on unit-web-0\n")


def _parameters(lab: Run, task: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lab("show-operation", task, "--format", "json").out)
    return found["action"]["parameters"]


def test_parameters(lab: Run, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("name: from file\ntimes: 3\n")
    lab("run", "web/0", "greet", "name=it is", "--params", "p.yaml", "--background")
    assert _parameters(lab, "1") == {"name": "it is", "times": 3}
    ended = lab("run", "web/0", "greet", "name=5", "--background")
    assert "must be of type string, given 5" in ended.err
    lab("run", "web/0", "greet", "name=5", "--string-args", "--background")
    assert _parameters(lab, "4") == {"name": "5", "times": 1}


def test_commands_are_joined(lab: Run) -> None:
    lab("exec", "--unit", "web/0,web/1", "--background", "--", "printf", "%s", "a b")
    assert _parameters(lab, "1")["command"] == "printf %s 'a b'"
    lab("exec", "--machine", "0", "--background", "echo $HOME | cat", "--wait=5s")
    lab("exec", "--machine", "0", "--background", "echo $HOME | cat")
    assert _parameters(lab, "4") == {"command": "echo $HOME | cat", "timeout": 300_000_000_000}


def test_commands_for_a_leader_need_one(lab: Run) -> None:
    ended = lab("exec", "--unit", "web/leader,web/1", "--background", "true")
    assert (ended.status, ended.err) == (1, 'ERROR could not determine leader for "web"\n')


def test_output_of_commands(lab: Run, machines: Machines) -> None:
    machines.endings = {
        2: ("completed", "", {"return-code": 0, "stdout": "a", "stderr": "b"}),
        3: ("completed", "", {"return-code": 0}),
        5: ("completed", "", {"return-code": 0, "stdout": "a\n\n"}),
    }
    ended = lab("exec", "--application", "web", "true")
    assert (ended.status, ended.out, ended.err) == (0, "a\nb\n", "")
    assert lab("exec", "--unit", "web/0", "true").out == "a\n\n"


def test_headings_stand_above_the_output_when_several_units_printed(lab: Run, machines: Machines) -> None:
    machines.endings = {2: ("completed", "", {"stdout": "a"}), 3: ("completed", "", {"stderr": "b\n"})}
    assert lab("exec", "--application", "web", "true").out == "web/0:\na\n\nweb/1:\nb\n\n"
    machines.endings = {5: ("completed", "", {}), 6: ("completed", "", {})}
    ended = lab("exec", "--application", "web", "true")
    assert (ended.status, ended.out) == (0, "")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("run", "no unit specified"),
        ("run backup", "no unit specified"),
        ("run web/0", "no action specified"),
        ("run web/0 Bad", 'invalid unit or action name "Bad"'),
        ("run web/0 a_b", 'invalid unit or action name "a_b"'),
        ("run web/0 db/1 backup", "all units must be of the same application"),
        ("run web/0 greet name", 'argument "name" must be of the form key.key.key...=value'),
        (
            "run web/0 greet X=1",
            (
                'key "X" must start and end with lowercase alphanumeric, '
                "and contain only lowercase alphanumeric and hyphens"
            ),
        ),
        ("run web/0 greet --wait 5s --background", "cannot specify both --wait and --background"),
        ("exec", "no commands specified"),
        ("exec date", "You must specify a target, either through --all, --machine, --application or --unit"),
        ("exec --all --unit web/0 date", "You cannot specify --all and individual units"),
        ("exec --all --machine 0 date", "You cannot specify --all and individual machines"),
        ("exec --all -a web date", "You cannot specify --all and individual applications"),
        (
            "exec --unit web date",
            'The following exec targets are not valid:\n  "web" is not a valid unit name',
        ),
        (
            "exec --machine x date",
            'The following exec targets are not valid:\n  "x" is not a valid machine id',
        ),
        ("show-task", "no task ID specified"),
        ("show-task x", 'task ID "x" not valid'),
        ("show-task 1 --wait 1s --watch", "specify either --watch or --wait but not both"),
        ("show-operation", "no operation ID specified"),
        ("show-operation x", 'operation ID "x" not valid'),
        ("show-operation 1 --wait 1s --watch", "specify either --watch or --wait but not both"),
        ("cancel-task", "no task ID specified"),
        ("actions", "no application name specified"),
        ("actions web --schema --format tabular", "full schema not compatible with tabular output"),
        ("show-action web", "no action name specified"),
    ],
)
def test_what_is_refused_before_anything_runs(run: Run, line: str, error: str) -> None:
    ended = run(*line.split())
    assert (ended.status, ended.out, ended.err) == (2, "", f"ERROR {error}\n")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("show-task 9", 'task "9" not found'),
        ("show-operation 9", 'operation "9" not found'),
        ("cancel-task 9", 'task "9" not found'),
        ("actions db", 'application "db" not found'),
        ("exec --application db true", 'application "db" not found'),
        ("run web/0 greet --params nothing.yaml", "open nothing.yaml: no such file or directory"),
    ],
)
def test_what_is_not_there(lab: Run, line: str, error: str) -> None:
    ended = lab(*line.split())
    assert (ended.status, ended.err) == (1, f"ERROR {error}\n")


def test_operations(lab: Run, machines: Machines) -> None:
    assert lab("operations").err == "no matching operations\n"
    machines.endings = {2: DONE, 3: DONE}
    lab("run", "web/0", "web/1", "show-page")
    lab("exec", "--machine", "0", "--background", "date")
    lab("run", "web/0", "dance")
    table = lab("operations").out.splitlines()
    stamp = table[1].split()[2]
    assert len(stamp) == len("2025-03-01T09:00:00")
    assert [" ".join(line.split()) for line in table] == [
        "ID Status Started Finished Task IDs Summary",
        f"1 completed {stamp} {stamp} 2,3 show-page run on unit-web-0,unit-web-1",
        "4 pending 5 juju-exec run on machine-0",
        f"6 error {table[3].split()[2]} dance run on unit-web-0",
    ]
    assert table[1].startswith(" 1  ")
    shown = json.loads(lab("operations", "--format", "json", "--machines", "0").out)
    assert list(shown["4"]) == ["summary", "status", "action", "timing", "tasks"]
    assert shown["4"]["tasks"]["5"]["host"] == "0"
    assert lab("operations", "--limit", "1").out.splitlines()[:2] == [
        "Displaying operation results 1 to 1.",
        "Run the command again with --offset=1 --limit=1 to see the next batch.",
    ]
    assert lab("operations", "--units", "web/7").err == "no matching operations\n"


def test_cancelling(lab: Run) -> None:
    lab("run", "web/0", "show-page", "--background")
    ended = lab("cancel-task", "2")
    assert ended.out.startswith("actions:\n- action: show-page\n  completed at: ")
    assert '\n  id: "2"\n  status: cancelled\n  unit: web/0\n' in ended.out


def test_what_an_application_offers(lab: Run) -> None:
    assert lab("actions", "web").out == (
        "Action     Description\n"
        "greet      Greet somebody.\n"
        "show-page  Return the page that the charm serves now.\n"
    )
    assert json.loads(lab("actions", "web", "--format", "json").out)["greet"] == "Greet somebody."
    schema = json.loads(lab("actions", "web", "--schema", "--format", "json").out)
    assert schema["greet"]["required"] == ["name"]
    assert lab("actions", "web", "--schema").out.startswith("greet:\n  additionalProperties: false\n")
    assert lab("show-action", "web", "greet").out == (
        "Greet somebody.\n\nArguments\nname:\n  type: string\n  description: The name to greet.\n"
        "times:\n  type: integer\n  description: The number of greetings.\n  default: 1\n\n"
    )
    ended = lab("show-action", "web", "dance")
    assert (ended.status, ended.out, ended.err) == (1, "", 'unknown action "dance"\n')


def test_watching_a_task(lab: Run, machines: Machines) -> None:
    lab("run", "web/0", "show-page", "--background")
    machines.endings, machines.says = {2: DONE}, {2: ["half way"]}
    ended = lab("show-task", "2", "--watch")
    assert (ended.status, ended.out) == (0, PLAIN)
    assert ended.err.endswith(" half way\n\n")
    assert (
        json.loads(lab("show-operation", "1", "--wait", "5s", "--format", "json").out)["status"]
        == "completed"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [(("show-task", "2"), "maximum wait time reached"), (("show-operation", "1"), "timeout reached")],
)
def test_a_wait_that_runs_out_is_an_error_as_in_juju(lab: Run, words: tuple[str, str], message: str) -> None:
    lab("run", "web/0", "show-page", "--background")
    ended = lab(*words, "--wait", "1ms", "--format", "yaml")
    assert (ended.status, ended.out) == (1, "{}\n")
    assert ended.err.startswith(f"ERROR {message}\n")
    assert "timed out waiting for results from: unit web/0" in ended.err
    assert f"pushjuju {' '.join(words)}    shows how far it is; it goes on" in ended.err
    assert "status: pending" in lab(*words, "--wait", "-1s", "--format", "yaml").out


def test_a_wait_of_no_time_is_one_without_an_end(lab: Run, machines: Machines) -> None:
    lab("run", "web/0", "show-page", "--background")
    machines.endings = {2: DONE}
    assert lab("show-task", "2", "--wait", "0s").out == PLAIN


def test_what_operations_can_not_filter_by(lab: Run) -> None:
    ended = lab("operations", "--status", "done", "--units", "web", "--machines", "x", "--apps", "web/0")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        'ERROR invalid application name "web/0"\ninvalid unit name "web"\ninvalid machine id "x"\n'
        '"done" is not a valid task status, want one of [pending running completed failed cancelled aborting '
        "aborted error]\n"
    )
