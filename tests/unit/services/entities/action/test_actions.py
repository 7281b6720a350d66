"""What a person may ask of actions, and what she reads of them."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.errors import NotFound
from pushjuju.core.model.tasks import Receiver, TaskStatus, operation_status
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.charm import payloads
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.action.operations import ActionRequest, CommandRequest
from pushjuju.services.views import tasks
from pushjuju.workers import live
from tests.world.controller import TestController

ACTIONS = """
backup:
  description: Take a backup.
  params:
    outfile: {type: string}
    level: {type: integer, default: 3}
    opts:
      type: object
      properties: {fast: {type: boolean, default: true}}
  required: [outfile]
  additionalProperties: false
  execution-group: disk
ping: {parallel: true}
"""


@pytest.fixture(autouse=True)
def units(runtime: TestController) -> None:
    """Three units of an application that has actions."""
    charm = runtime.charms.make(files={"actions.yaml": ACTIONS}, payloads={"web": {"type": "docker"}})
    runtime.active(count=3, packed=charm)
    runtime.forget_work()


def run(world: TestController, action: str, *receivers: str, **parameters: Any) -> operations.Enqueued:
    request = ActionRequest(action=action, receivers=receivers, parameters=parameters)
    return operations.enqueue(world.ctx, world.model, request)


def execute(world: TestController, command: str = "date", **targets: Any) -> operations.Enqueued:
    request = CommandRequest(command=command, timeout_s=300, **targets)
    return operations.enqueue_commands(world.ctx, world.model, request)


def task(world: TestController, number: int) -> Any:
    return world.read(lambda tx: actions.get_task(tx, number))


def test_an_action_is_asked_for_with_its_defaults(runtime: TestController) -> None:
    done = run(runtime, "backup", "web/0", "web/2", outfile="a.gz")
    assert (done.operation, [item.id for item in done.tasks], done.errors) == (1, [2, 3], ())
    found = task(runtime, 3)
    assert (found.receiver, found.status, found.execution_group) == ("web/2", "pending", "disk")
    assert found.parameters == {"outfile": "a.gz", "level": 3, "opts": {"fast": True}}
    assert runtime.touched() == ["machine/0", "machine/2"]
    assert (
        tasks.show_operation(runtime.ctx, runtime.model, 1)["summary"]
        == "backup run on unit-web-0,unit-web-2"
    )


def test_one_counter_numbers_operations_and_tasks(runtime: TestController) -> None:
    run(runtime, "ping", "web/0")
    assert run(runtime, "ping", "web/1").operation == 3
    with pytest.raises(NotFound, match=r'^task "3" not found$'):
        task(runtime, 3)
    with pytest.raises(NotFound, match=r'^operation "2" not found$'):
        tasks.show_operation(runtime.ctx, runtime.model, 2)


def test_the_leader_is_a_real_unit(runtime: TestController) -> None:
    assert [item.receiver for item in run(runtime, "ping", "web/leader").tasks] == ["web/0"]


def test_commands_for_an_unknown_leader_are_refused(runtime: TestController) -> None:
    assert runtime.refused(lambda: execute(runtime, units=["db/leader", "web/0"])) == (
        'could not determine leader for "db"'
    )


def test_a_summary_names_the_leader_as_juju_does(runtime: TestController) -> None:
    """`run` keeps the words of the user, `exec` has the unit."""
    for ask, summary in (
        (lambda: run(runtime, "ping", "web/leader"), "ping run on web/leader"),
        (lambda: execute(runtime, units=["web/leader", "web/0"]), "juju-exec run on unit-web-0"),
    ):
        number = ask().operation
        assert tasks.show_operation(runtime.ctx, runtime.model, number)["summary"] == summary


@pytest.mark.parametrize(
    ("action", "receiver", "parameters", "error"),
    [
        ("nothing", "web/0", {}, 'action "nothing" not defined on unit "web/0"'),
        ("ping", "web/9", {}, 'unit "web/9" not found'),
        ("ping", "db/leader", {}, 'could not determine leader for "db"'),
        (
            "backup",
            "web/0",
            {"outfile": 5},
            "validation failed: (root).outfile : must be of type string, given 5",
        ),
        (
            "backup",
            "web/0",
            {},
            'validation failed: (root) : "outfile" property is missing and required, given {}',
        ),
        (
            "backup",
            "web/0",
            {"bar": 2, "outfile": "x"},
            (
                'validation failed: (root) : additional property "bar" is not allowed, '
                'given {"bar":2,"outfile":"x"}'
            ),
        ),
        (
            "backup",
            "web/0",
            {"level": "x", "outfile": []},
            (
                "validation failed: (root).level : must be of type integer, given x; "
                "(root).outfile : must be of type string, given []"
            ),
        ),
    ],
)
def test_a_receiver_that_cannot_take_it(
    runtime: TestController, action: str, receiver: str, parameters: dict[str, Any], error: str
) -> None:
    done = run(runtime, action, receiver, **parameters)
    assert (done.tasks, done.errors) == ((), (error,))
    document = tasks.show_operation(runtime.ctx, runtime.model, done.operation)
    assert (document["status"], document["fail"]) == ("error", error)
    assert runtime.touched() == []


def test_the_others_get_it_all_the_same(runtime: TestController) -> None:
    done = run(runtime, "ping", "web/9", "web/1")
    assert ([item.receiver for item in done.tasks], done.errors) == (["web/1"], ('unit "web/9" not found',))


def test_commands_for_units_applications_and_machines(runtime: TestController) -> None:
    done = execute(runtime, units=["web/leader", "web/1"], applications=["web"], machines=["0", "7"])
    receivers = [(item.kind, item.receiver) for item in done.tasks]
    assert receivers == [("unit", "web/0"), ("unit", "web/1"), ("unit", "web/2"), ("machine", "0")]
    assert done.errors == ("machine 7 not found",)
    found = task(runtime, done.tasks[0].id)
    assert (found.action, found.parallel) == ("juju-exec", 1)
    assert found.parameters == {"command": "date", "timeout": 300_000_000_000}


def test_commands_for_all_machines(runtime: TestController) -> None:
    assert [item.receiver for item in execute(runtime, every_machine=True).tasks] == ["0", "1", "2"]
    with pytest.raises(NotFound, match=r'^application "db" not found$'):
        execute(runtime, applications=["db"])


def test_what_waits_is_cancelled_and_what_runs_is_aborted(runtime: TestController) -> None:
    run(runtime, "ping", "web/0", "web/1")
    runtime.write(lambda tx: actions.start(tx, 3))
    found = operations.cancel(runtime.ctx, runtime.model, [2, 3])
    assert [(item.status, item.message) for item in found] == [
        ("cancelled", "action cancelled via the API"),
        ("aborting", ""),
    ]
    assert [item.status for item in operations.cancel(runtime.ctx, runtime.model, [2, 3])] == [
        "cancelled",
        "aborting",
    ]
    with pytest.raises(NotFound, match=r'^task "9" not found$'):
        operations.cancel(runtime.ctx, runtime.model, [9])


def test_a_task_ends_once(runtime: TestController) -> None:
    run(runtime, "ping", "web/0")
    runtime.clock.now()
    assert runtime.write(lambda tx: actions.finish(tx, 2, TaskStatus.COMPLETED))
    assert not runtime.write(lambda tx: actions.finish(tx, 2, TaskStatus.FAILED))
    assert task(runtime, 2).status == "completed"


def test_a_unit_takes_its_tasks_with_it(runtime: TestController) -> None:
    run(runtime, "ping", "web/1")
    runtime.write(lambda tx: actions.cancel_all(tx, Receiver.UNIT, "web/1", "unit removed"))
    assert (task(runtime, 2).status, task(runtime, 2).message) == ("cancelled", "unit removed")


def at(world: TestController) -> Any:
    return world.clock.now()


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ([], "error"),
        (["completed"], "completed"),
        (["completed", "failed"], "failed"),
        (["cancelled", "completed"], "cancelled"),
        (["aborted", "cancelled"], "aborted"),
        (["failed", "pending"], "pending"),
        (["pending", "running", "failed"], "running"),
        (["error", "running"], "error"),
        (["aborting", "completed"], "aborting"),
    ],
)
def test_the_status_of_an_operation(present: list[str], expected: str) -> None:
    assert operation_status(present) == expected


def test_a_task_in_full(runtime: TestController) -> None:
    run(runtime, "ping", "web/0")
    start = runtime.clock.now()
    runtime.clock.advance(2)
    runtime.write(lambda tx: actions.start(tx, 2))
    runtime.write(lambda tx: actions.add_log(tx, 2, "half way", at(runtime)))
    runtime.clock.advance(3)
    results = {"return-code": 0, "size": {"total": "3M"}}
    runtime.write(lambda tx: actions.finish(tx, 2, TaskStatus.FAILED, message="no", results=results))
    document = tasks.show_task(runtime.ctx, runtime.model, 2)
    assert [(name, (moment - start).total_seconds()) for name, moment in document.pop("timing").items()] == [
        ("enqueued", 0),
        ("started", 2),
        ("completed", 5),
    ]
    assert [line["message"] for line in document.pop("log")] == ["half way"]
    assert document == {
        "id": "2",
        "status": "failed",
        "unit": "web/0",
        "message": "no",
        "results": results,
    }
    operation = tasks.show_operation(runtime.ctx, runtime.model, 1)
    assert operation["action"] == {"name": "ping", "parameters": {}}
    assert operation["tasks"]["2"]["host"] == "web/0"
    assert (operation["timing"]["completed"] - start).total_seconds() == 5


def test_operations_are_filtered(runtime: TestController) -> None:
    run(runtime, "ping", "web/0")
    run(runtime, "backup", "web/1", outfile="x")
    execute(runtime, machines=["0"])
    run(runtime, "nothing", "web/2")

    def found(limit: int = 50, offset: int = 0, **wanted: Any) -> list[int]:
        listing = tasks.operations(
            runtime.ctx, runtime.model, tasks.Filter(**wanted), limit=limit, offset=offset
        )
        return list(listing.operations)

    assert found() == [1, 3, 5, 7]
    assert found(actions=["ping", "backup"]) == [1, 3]
    assert found(actions=["ping", "backup"], units=["web/1"]) == [3]
    assert found(applications=["web"]) == [1, 3]
    assert found(machines=["0"]) == [5]
    assert found(statuses=["error"]) == [7]
    assert found(statuses=["failed"]) == []
    assert found(limit=2) == [1, 3]
    assert found(limit=2, offset=2) == [5, 7]
    assert tasks.operations(runtime.ctx, runtime.model, tasks.Filter(), limit=2).more


def test_payloads_of_a_unit(runtime: TestController) -> None:
    def answer(tool: str, *argv: str) -> tuple[int, bytes, bytes]:
        return live.answer(runtime.ctx, runtime.model, "web/0", tool, ["--", *argv])

    def present() -> list[tuple[str, str, str, list[str], str]]:
        found = runtime.read(lambda tx: payloads.of_unit(tx, unit))
        return [(item.payload_class, item.type, item.id, item.labels, item.status) for item in found]

    unit = runtime.unit("web/0")
    assert answer("payload-register", "docker", "web", "1", "a", "b") == (0, b"", b"")
    assert present() == [("web", "docker", "1", ["a", "b"], "running")]
    assert answer("payload-status-set", "web", "1", "stopped") == (0, b"", b"")
    assert answer("payload-status-set", "web", "2", "stopped") == (
        1, b"", b'ERROR payload "web/2" not found\n',
    )  # fmt: skip
    assert present() == [("web", "docker", "1", ["a", "b"], "stopped")]
    assert (
        answer("payload-unregister", "web", "1") == answer("payload-unregister", "web", "1") == (0, b"", b"")
    )
    assert present() == []
