"""wait-for on a real store; the machines' part is played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.model import models
from pushjuju.services.views.query import scopes
from tests.waiting import comes
from tests.world import HELLO_PAGE
from tests.world.commandline import PlayedDrive, Run

Step = Callable[[Any, Any], None]
CHARM = str(HELLO_PAGE)


class SteppedDrive(PlayedDrive):
    """Does one step each time the waiting command has looked in vain."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def work(self, cli: Any, opened: Any, look: Callable[[], bool]) -> None:
        def seen() -> bool:
            if look():
                return True
            if self.steps:
                with opened.ctx.write(opened.uuid) as tx:
                    self.steps.pop(0)(tx, opened)
            return False

        comes(seen)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> SteppedDrive:
    """Take the place of everything that drives."""
    return SteppedDrive().take_place(monkeypatch)


@pytest.fixture
def lab(run: Run, played: SteppedDrive) -> Run:
    """A model with two units of hello-page."""
    assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    assert run("deploy", CHARM, "web", "-n", "2").status == 0
    return run


def _workload(unit: str, status: str, message: str = "") -> Step:
    def step(tx: Any, opened: Any) -> None:
        opened.ctx.clock.now()
        statuses.set_status(tx, StatusKind.WORKLOAD, unit, status, message)

    return step


def _gone(unit: str) -> Step:
    return lambda tx, opened: tx.run("unit_delete", model=opened.uuid, name=unit)


def test_an_application_is_waited_for(lab: Run, played: SteppedDrive) -> None:
    played.steps = [_workload("web/0", "blocked"), _workload("web/0", "active"), _workload("web/1", "active")]
    ended = lab("wait-for", "application", "web")
    assert ended.status == 0
    assert ended.out == "properties:\n  life: alive\n  status: active\n"
    assert ended.err.splitlines() == [
        'application "web" found with "waiting", waiting...',
        'application "web" found with "blocked", waiting...',
        'application "web" found with "waiting", waiting...',
        'application "web" is running',
    ]


def test_a_query_over_units(lab: Run, played: SteppedDrive) -> None:
    played.steps = [_workload("web/0", "active", "ok"), _workload("web/1", "active", "ok")]
    query = 'forEach(units, u => u.workload-message=="ok")'
    ended = lab("wait-for", "application", "web", "--query", query)
    expected = (
        "properties: {}\nunits:\n  web/0:\n    workload-message: ok\n  web/1:\n    workload-message: ok\n"
    )
    assert (ended.status, ended.out) == (0, expected)


def test_a_unit_that_is_removed_is_dead(lab: Run, played: SteppedDrive) -> None:
    played.steps = [_gone("web/1")]
    ended = lab("wait-for", "unit", "web/1", "--query", 'life=="dead"')
    assert (ended.status, ended.out) == (0, "")
    assert ended.err.splitlines() == ['unit "web/1" found, waiting...', 'unit "web/1" has been removed']


def test_a_unit_that_is_removed_before_its_goal_is_an_error(lab: Run, played: SteppedDrive) -> None:
    played.steps = [_gone("web/1")]
    ended = lab("wait-for", "unit", "web/1")
    assert ended.status == 1
    assert "ERROR unit web/1 removed\n" in ended.err


def test_an_entity_of_a_model_that_is_removed_is_not_waited_for(lab: Run, played: SteppedDrive) -> None:
    played.steps = [lambda tx, opened: models.purge(tx)]
    ended = lab("wait-for", "application", "later")
    assert (ended.status, ended.err.splitlines()[-1]) == (1, "ERROR model admin/shop removed")


def test_what_does_not_come_is_given_up(lab: Run, played: SteppedDrive) -> None:
    ended = lab("wait-for", "unit", "web/7", "--timeout", "50ms")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == (
        'unit "web/7" not found, waiting...\nERROR timed out waiting for "web/7" to reach goal state\n'
    )
    assert played.background == 1


def test_the_summary_of_a_failure_tells_the_last_values(lab: Run) -> None:
    ended = lab("wait-for", "machine", "0", "--timeout", "10ms")
    assert (ended.status, ended.out) == (1, "properties:\n  life: alive\n  status: pending\n")
    ended = lab("wait-for", "machine", "0", "--timeout", "10ms", "--summary=false")
    assert (ended.status, ended.out) == (1, "")


def test_a_model_is_available(lab: Run) -> None:
    ended = lab("wait-for", "model", "shop")
    assert (ended.status, ended.out) == (0, "properties:\n  life: alive\n  status: available\n")
    assert ended.err == 'model "shop" is running\n'
    ended = lab("wait-for", "model", "shop", "--query", "len(units) == 2 && len(machines) == 2")
    assert ended.status == 0
    ended = lab("wait-for", "model", "none", "--timeout", "10ms")
    assert ended.status == 1
    assert 'model "none" not found, waiting...\n' in ended.err


def test_the_store_is_read_only_when_it_has_changed(
    lab: Run, played: SteppedDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    real = scopes._unit

    def counted(ctx: Any, tx: Any, uuid: str, name: str) -> Any:
        reads.append(name)
        return real(ctx, tx, uuid, name)

    monkeypatch.setitem(scopes._READ, "unit", counted)
    played.steps = [_workload("web/0", "blocked")]
    assert lab("wait-for", "unit", "web/0", "--timeout", "300ms").status == 1
    assert len(reads) == 2


@pytest.mark.parametrize(
    ("argv", "status", "text"),
    [
        ((), 2, "no subcommand specified: wait-for application|machine|model|unit"),
        (("thing", "x"), 2, "unrecognized command: pushjuju wait-for thing"),
        (("unit",), 2, "unit name must be supplied when waiting for an unit"),
        (("application", "a", "b"), 2, "only one application name can be supplied as an argument to this"),
        (("machine", "x"), 2, '"x" is not valid machine id'),
        (("model", "X"), 2, '"X" is not valid model name'),
        (("unit", "web/0", "--query", "life=="), 1, "Cannot parse query: expected an expression."),
        (("unit", "web/0", "--query", "lief"), 1, "Cannot execute query: invalid identifier."),
        (("unit", "web/0", "--timeout", "5"), 2, 'invalid value "5" for option --timeout'),
    ],
)
def test_bad_input(lab: Run, argv: tuple[str, ...], status: int, text: str) -> None:
    ended = lab("wait-for", *argv)
    assert (ended.status, ended.out) == (status, "")
    assert f"ERROR {text}" in ended.err
