"""A machine goes to another base: who may begin it, what the units do, what is kept from it meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.core.base import Base
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import Conflict, NotFound, NotValid, PushjujuError
from pushjuju.core.model.placement import Placement
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.machine import machines, upgrade_machine
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings, unit_requests
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.application.unit_requests import make_due
from pushjuju.services.requests.machine import upgrade_machine as upgrade_machine_requests
from pushjuju.uniter.decide.decision import Answer
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.machine import failed, ok

NOBLE = Base.parse("ubuntu@24.04")


def both(packs: Charms, name: str = "web", **more: Any) -> PackedCharm:
    """A charm that names both bases."""
    return packs.make(name, series=["jammy", "noble"], **more)


def prepare(runtime: TestController, machine: str = "0", base: Base = NOBLE, **more: Any) -> None:
    upgrade_machine_requests.prepare(runtime.ctx, runtime.model, machine, base, **more)


def complete(runtime: TestController, machine: str = "0") -> None:
    upgrade_machine_requests.complete(runtime.ctx, runtime.model, machine)


def said(runtime: TestController, machine: str = "0") -> list[str]:
    return [item.message for item in runtime.read(lambda tx: upgrade_machine.messages(tx, machine))]


def status(runtime: TestController, machine: str = "0") -> str:
    return str(runtime.read(lambda tx: upgrade_machine.status_of(tx, machine)))


def series(runtime: TestController, unit: str = "web/0") -> str:
    return runtime.unit(unit).series


def set_config(runtime: TestController, title: str) -> None:
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": title}))


@pytest.fixture
def web(runtime: TestController) -> TestController:
    """A model with `web/0`, at rest, whose charm names both bases."""
    runtime.active(packed=both(runtime.charms))
    runtime.clear()
    return runtime


# --- the way through --------------------------------------------------------------------------------------


def test_the_whole_way(web: TestController) -> None:
    web.forget_work()
    prepare(web)
    assert (status(web), series(web)) == ("prepare started", "prepare started")
    assert web.status(StatusKind.INSTANCE, "0")[1] == "series upgrade prepare started: preparing units"
    assert web.touched() == ["machine/0"]
    web.settle()
    assert web.of("web/0") == ["pre-series-upgrade"]
    assert (status(web), series(web)) == ("prepare completed", "prepare completed")
    assert said(web) == [
        'machine-0 started upgrade from "ubuntu@22.04" to "ubuntu@24.04"',
        "web/0 pre-series-upgrade hook running",
        "web/0 pre-series-upgrade completed",
        "machine-0 binaries and service files written",
    ]
    assert web.status(StatusKind.INSTANCE, "0") == (
        "running", "series upgrade prepare completed: waiting for completion command",
    )  # fmt: skip
    assert web.agent() == ("idle", "")

    set_config(web, "changed meanwhile")
    web.reboot("0")
    web.settle()
    assert web.of("web/0") == ["pre-series-upgrade"]
    assert web.machine("0").base == "ubuntu@22.04/stable"

    complete(web)
    assert (status(web), series(web)) == ("complete started", "complete started")
    web.settle()
    assert web.of("web/0")[1:] == ["post-series-upgrade", "start", "config-changed"]
    assert (status(web), series(web)) == ("not started", "not started")
    assert web.machine("0").base == "ubuntu@24.04/stable"
    assert web.application().base == "ubuntu@22.04/stable"
    assert said(web)[4:] == [
        "machine-0 complete phase started",
        "machine-0 start units after series upgrade",
        "web/0 post-series-upgrade hook running",
        "web/0 post-series-upgrade completed",
        "machine-0 series upgrade complete",
    ]
    assert web.status(StatusKind.INSTANCE, "0") == ("running", "series upgrade completed: success")


def test_hooks_that_the_charm_lacks(web: TestController) -> None:
    for hook in ("pre-series-upgrade", "post-series-upgrade"):
        web.played().will(hook, {"outcome": "missing", "via": None})
    prepare(web)
    web.settle()
    complete(web)
    web.settle()
    assert said(web)[2] == "web/0 pre-series-upgrade hook not found, skipping"
    assert said(web)[7] == "web/0 post-series-upgrade hook not found, skipping"
    assert web.machine("0").base == "ubuntu@24.04/stable"


def test_the_hook_before_knows_where_it_goes(web: TestController) -> None:
    prepare(web)
    web.settle()
    env = web.played().frame_of("pre-series-upgrade")["env"]
    assert (env["JUJU_TARGET_BASE"], env["JUJU_TARGET_SERIES"]) == ("ubuntu@24.04", "noble")
    complete(web)
    web.settle()
    assert "JUJU_TARGET_BASE" not in web.played().frame_of("post-series-upgrade")["env"]


def test_the_machine_waits_for_its_last_unit(web: TestController) -> None:
    packed = both(web.charms, "db", peers=None)
    web.active("db", packed=packed, placements=[Placement.parse("0")])
    prepare(web)
    web.hook("pre-series-upgrade", ok())
    assert (status(web), series(web), series(web, "db/0")) == (
        "prepare started", "prepare completed", "prepare started",
    )  # fmt: skip
    assert web.turn("web/0").answer is Answer.IDLE
    web.settle()
    assert status(web) == "prepare completed"
    assert len(said(web)) == 6
    complete(web)
    web.hook("post-series-upgrade", ok())
    assert (status(web), series(web)) == ("complete started", "completed")
    web.settle()
    assert status(web) == "not started"
    assert said(web)[-1] == "machine-0 series upgrade complete"


def test_twice(web: TestController) -> None:
    """What was said the first time is gone, and both hooks run again."""
    prepare(web)
    web.settle()
    complete(web)
    web.settle()
    web.clear()
    web.write(lambda tx: tx.run("machine_set_base", id="0", base="ubuntu@22.04/stable"))
    prepare(web)
    assert len(said(web)) == 1
    web.settle()
    complete(web)
    web.settle()
    assert web.of("web/0") == ["pre-series-upgrade", "post-series-upgrade"]


def test_the_next_one_begins_before_a_unit_heard_of_the_end(web: TestController) -> None:
    """The last unit ends it; the other one has not been asked since."""
    web.active("db", packed=both(web.charms, "db", peers=None), placements=[Placement.parse("0")])
    prepare(web)
    web.settle()
    complete(web)
    web.hook("post-series-upgrade", ok())
    assert web.turn("web/0").answer is Answer.IDLE
    web.hook("post-series-upgrade", ok(), unit="db/0")
    assert web.turn("db/0").answer is Answer.IDLE
    web.write(lambda tx: tx.run("machine_set_base", id="0", base="ubuntu@22.04/stable"))
    web.clear()
    prepare(web)
    web.settle()
    assert web.of("web/0") == web.of("db/0") == ["pre-series-upgrade"]


# --- hooks that fail --------------------------------------------------------------------------------------


def test_a_failing_hook_holds_it_up_until_it_runs(web: TestController) -> None:
    web.played().fail("pre-series-upgrade")
    prepare(web)
    web.settle()
    assert web.workload()[0] != "error"
    assert web.agent() == ("error", 'hook failed: "pre-series-upgrade"')
    assert (status(web), series(web)) == ("prepare started", "prepare running")
    with pytest.raises(Conflict, match="it is either not prepared or already completed"):
        complete(web)
    unit_requests.resolve(web.ctx, web.model, ["web/0"], retry=True)
    web.settle()
    assert status(web) == "prepare completed"
    assert said(web)[1:3] == ["web/0 pre-series-upgrade hook running", "web/0 pre-series-upgrade completed"]


def test_a_failing_hook_may_be_skipped(web: TestController) -> None:
    web.played().fail("pre-series-upgrade")
    prepare(web)
    web.settle()
    unit_requests.resolve(web.ctx, web.model, ["web/0"], retry=False)
    web.settle()
    assert status(web) == "prepare completed"
    assert said(web)[2] == "web/0 pre-series-upgrade hook not found, skipping"
    assert web.unit("web/0").retry_due is None


def test_a_hook_that_asks_for_a_reboot_is_not_a_missing_one(web: TestController) -> None:
    web.played().will("pre-series-upgrade", {"reboot": "after"})
    prepare(web)
    web.settle()
    assert web.of("web/0") == ["pre-series-upgrade"]
    assert said(web)[2] == "web/0 pre-series-upgrade completed"
    complete(web)
    web.settle()
    assert web.of("web/0") == ["pre-series-upgrade", "post-series-upgrade", "start"]


def test_a_hook_that_was_cut_off_goes_on(web: TestController) -> None:
    """Another controller takes up what the first one began: the state is in the store."""
    prepare(web)
    dispatch = web.until("pre-series-upgrade")
    assert series(web) == "prepare running"
    assert said(web)[1:] == ["web/0 pre-series-upgrade hook running"]
    web.commit(dispatch, failed(recovered=True))
    web.settle()
    assert web.agent()[0] == "error"
    web.clock.advance(20)
    web.settle()
    assert status(web) == "prepare completed"


# --- rest -------------------------------------------------------------------------------------------------


def test_nothing_knocks_at_a_machine_that_is_upgraded_by_hand(web: TestController) -> None:
    prepare(web)
    web.settle()
    assert web.unit("web/0").update_status_due is None
    web.clock.advance(3600)
    set_config(web, "x")
    turn = web.turn()
    assert (turn.answer, turn.dispatch) == (Answer.IDLE, None)
    assert turn.reason == "the machine is being upgraded to another base (prepare completed)"
    assert web.unit("web/0").update_status_due is None
    assert make_due(web.ctx, web.model) == []
    complete(web)
    web.settle()
    assert web.of("web/0") == ["pre-series-upgrade", "post-series-upgrade", "config-changed"]
    assert web.unit("web/0").update_status_due is not None
    web.clock.advance(600)
    web.settle()
    assert web.of("web/0")[-1] == "update-status"


def test_relations_wait(web: TestController) -> None:
    web.active("db", packed=both(web.charms, "db", peers=None, provides={"server": {"interface": "sql"}}))
    web.refresh(both(web.charms, requires={"db": {"interface": "sql"}}), force_units=False)
    web.settle()
    prepare(web)
    web.settle()
    web.clear()
    web.integrate("web:db", "db:server")
    assert web.hooks() == [("db/0", "server-relation-created")]
    complete(web)
    web.settle()
    assert web.of("web/0") == ["post-series-upgrade", "db-relation-created", "db-relation-joined",
                               "db-relation-changed"]  # fmt: skip
    assert web.of("db/0")[1:] == ["server-relation-joined", "server-relation-changed"]


def test_a_subordinate_comes_afterwards(web: TestController) -> None:
    host = {"host": {"interface": "juju-info", "scope": "container"}}
    web.deploy("log", 0, packed=both(web.charms, "log", subordinate=True, peers=None, requires=host))
    prepare(web)
    web.integrate("log", "web")
    assert web.units() == ["web/0"]
    assert status(web) == "prepare completed"
    complete(web)
    web.settle()
    assert web.units() == ["log/0", "web/0"]
    assert series(web, "log/0") == "not started"


def test_subordinates_take_part(web: TestController) -> None:
    host = {"host": {"interface": "juju-info", "scope": "container"}}
    web.deploy("log", 0, packed=both(web.charms, "log", subordinate=True, peers=None, requires=host))
    web.integrate("log", "web")
    web.settle()
    assert web.agent("log/0")[0] == "idle"
    web.clear()
    prepare(web)
    web.settle()
    complete(web)
    web.settle()
    assert web.of("log/0") == web.of("web/0") == ["pre-series-upgrade", "post-series-upgrade"]


# --- leadership -------------------------------------------------------------------------------------------


def test_leadership_is_pinned(runtime: TestController) -> None:
    runtime.active(count=2, packed=both(runtime.charms))
    prepare(runtime)
    runtime.settle()
    now = runtime.clock.now()
    for moment in (now, now + timedelta(seconds=600)):
        stamp = to_iso(moment)
        runtime.write(lambda tx, stamp=stamp: tx.run(
            "machine_set_unreachable", id="0", now=stamp))  # fmt: skip
    runtime.clock.advance(601)
    runtime.turn("web/1")
    assert runtime.read(lambda tx: leadership.holder(tx, "web")) == "web/0"
    complete(runtime)
    runtime.hook("post-series-upgrade", ok())
    runtime.turn("web/1")
    assert runtime.read(lambda tx: leadership.holder(tx, "web")) == "web/1"


# --- refusals ---------------------------------------------------------------------------------------------


def _lock(runtime: TestController) -> None:
    prepare(runtime)


def _ready(runtime: TestController) -> None:
    prepare(runtime)
    runtime.settle()


def _completing(runtime: TestController) -> None:
    _ready(runtime)
    complete(runtime)


def _busy(runtime: TestController) -> None:
    set_config(runtime, "busy")
    runtime.until("config-changed")


def _broken(runtime: TestController) -> None:
    set_config(runtime, "broken")
    runtime.played().fail("config-changed")
    runtime.settle()


def _machine(runtime: TestController) -> None:
    machines.add_machine(runtime.ctx, runtime.model, base=NOBLE, constraints={})


def _nothing(runtime: TestController) -> None:
    del runtime


NOT_READY = "unit web/0 is not ready to start a series upgrade; its"


@pytest.mark.parametrize(
    ("before", "act", "error", "text"),
    [
        (_nothing, lambda s: prepare(s, "7"), NotFound,
         'unable to locate instance: instance "7" not found'),
        (_machine, lambda s: prepare(s, "1"), NotFound, 'units for machine "1" not found'),
        (_nothing, lambda s: prepare(s, base=Base.parse("ubuntu@22.04")), NotValid,
         "machine-0 is already running base ubuntu@22.04"),
        (_nothing, lambda s: prepare(s, base=Base.parse("ubuntu@20.04")), NotValid,
         "machine machine-0 is running ubuntu@22.04 which is a newer base than ubuntu@20.04."),
        (_nothing, lambda s: prepare(s, base=Base.parse("ubuntu@26.04")), NotValid,
         'base "ubuntu@26.04" not supported by charm "web", supported bases are: ubuntu@22.04, ubuntu@24.04'),
        (_busy, prepare, Conflict, f'{NOT_READY} agent status is: "executing" running config-changed hook'),
        (_broken, prepare, Conflict, f'{NOT_READY} status is: "error" hook failed: "config-changed"'),
        (lambda s: s.deploy("late", packed=both(s.charms, "late")), lambda s: prepare(s, "1"), Conflict,
         'unit late/0 is not ready to start a series upgrade; its agent status is: "allocating" '),
        (_lock, prepare, Conflict,
         'upgrade series lock found for "0"; series upgrade is in the "prepare started" state'),
        (_ready, prepare, Conflict,
         'upgrade series lock found for "0"; series upgrade is in the "prepare completed" state'),
        (_completing, prepare, Conflict,
         'upgrade series lock found for "0"; series upgrade is in the "complete started" state'),
        (_nothing, complete, NotFound, 'upgrade lock for machine "0" not found'),
        (_nothing, lambda s: complete(s, "7"), NotFound, "machine 7 not found"),
        (_lock, complete, Conflict,
         'machine "0" can not complete, it is either not prepared or already completed'),
        (_completing, complete, Conflict,
         'machine "0" can not complete, it is either not prepared or already completed'),
        (_ready, lambda s: removals.remove_machines(s.ctx, s.model, ["0"]), Conflict,
         "machine 0 is locked for series upgrade"),
        (_ready, lambda s: units.add_units(s.ctx, s.model, "web", 1, [Placement.parse("0")]), NotValid,
         'cannot deploy "web" to machine 0: machine is locked for series upgrade'),
    ],
)  # fmt: skip
def test_refused(
    web: TestController,
    before: Callable[[TestController], Any],
    act: Callable[[TestController], Any],
    error: type[PushjujuError],
    text: str,
) -> None:
    before(web)
    found = web.dump()
    with pytest.raises(error) as caught:
        act(web)
    assert caught.value.message == text
    assert web.dump() == found


def test_other_systems_are_not_upgraded(web: TestController) -> None:
    web.write(lambda tx: tx.run("machine_set_base", id="0", base="debian@12/stable"))
    with pytest.raises(NotValid) as caught:
        prepare(web)
    assert caught.value.message == "machine-0 is running debian and is not valid for Ubuntu series upgrade"


def test_force_is_for_charms_only(runtime: TestController) -> None:
    runtime.active()
    with pytest.raises(NotValid, match='not supported by charm "web"'):
        prepare(runtime)
    with pytest.raises(NotValid, match="newer base"):
        prepare(runtime, base=Base.parse("ubuntu@20.04"), force=True)
    prepare(runtime, force=True)
    runtime.settle()
    assert status(runtime) == "prepare completed"


@pytest.mark.parametrize(("text", "good"), [("ubuntu@24.04/edge", True), ("ubuntu@1.04", False)])
def test_supported_bases(text: str, good: bool) -> None:
    base = Base.parse(text)
    if good:
        upgrade_machine_requests.check_supported(base)
        return
    with pytest.raises(NotValid) as caught:
        upgrade_machine_requests.check_supported(base)
    assert caught.value.message == '"ubuntu@1.04/stable" is an unsupported base'


# --- what goes meanwhile ----------------------------------------------------------------------------------


def test_a_unit_that_is_removed_in_between_goes_afterwards(web: TestController) -> None:
    _ready(web)
    removals.remove_units(web.ctx, web.model, ["web/0"])
    web.settle()
    assert (web.unit("web/0").life, web.of("web/0")) == ("dying", ["pre-series-upgrade"])
    complete(web)
    web.settle()
    assert web.of("web/0") == ["pre-series-upgrade", "post-series-upgrade", "stop", "remove"]
    assert (web.units(), web.machine_ids()) == ([], [])


def test_a_unit_that_is_forced_away_counts_no_more(web: TestController) -> None:
    web.active("db", packed=both(web.charms, "db", peers=None), placements=[Placement.parse("0")])
    web.played().fail("pre-series-upgrade", unit="db/0")
    prepare(web)
    web.settle()
    assert status(web) == "prepare started"
    row = web.unit("db/0")
    web.write(lambda tx: removal.force_unit(tx, row))
    assert status(web) == "prepare completed"


def test_the_last_unit_takes_the_lock_and_the_machine_with_it(web: TestController) -> None:
    _ready(web)
    row = web.unit("web/0")
    web.write(lambda tx: removal.force_unit(tx, row))
    assert status(web) == "not started"
    assert web.machine("0").life == "dying"


def test_a_machine_is_forced_away(web: TestController) -> None:
    _ready(web)
    removals.remove_machines(web.ctx, web.model, ["0"], force=Force())
    web.settle()
    assert web.of("web/0") == ["pre-series-upgrade", "stop", "remove"]
    assert web.machine_ids() == []
    assert {
        name: rows for name, rows in web.dump().items() if name.startswith("machine_upgrade") and rows
    } == {}


def test_a_model_is_forced_away(web: TestController) -> None:
    _ready(web)
    model = web.resolve_model()
    web.write(lambda tx: removal.destroy_model(tx, model, Force(wait_s=0.0)))
    web.settle()
    assert web.machine_ids() == []


def test_a_dying_model_begins_nothing(web: TestController) -> None:
    web.write(lambda tx: removal.destroy_model(tx, models.get(tx)))
    found = web.dump()
    with pytest.raises(PushjujuError):
        prepare(web)
    assert web.dump() == found


# --- words ------------------------------------------------------------------------------------------------


def test_the_order_of_the_words() -> None:
    order = list(SeriesStatus)
    assert [word.frozen for word in order] == [False, True, False, False, True, False, False, False, False]
    assert SeriesStatus.COMPLETED.is_after(SeriesStatus.PREPARE_RUNNING)
    assert not SeriesStatus.PREPARE_RUNNING.is_after(SeriesStatus.PREPARE_RUNNING)
