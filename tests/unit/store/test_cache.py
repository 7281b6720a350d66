"""What was read before is told again only as long as it is so.

The tests run on both engines.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import NotFound, PushjujuError
from pushjuju.core.values import changed
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine.machines import new_machine
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.store import late
from pushjuju.store.cache import Bounded, Memo
from pushjuju.store.db import Store
from pushjuju.store.late import LateMemo
from pushjuju.store.leases import DeferredStore
from pushjuju.store.postgres import ahead
from pushjuju.store.postgres.ahead import AheadMemo
from pushjuju.store.rows.records import Machine, Model
from pushjuju.store.statements import queries
from pushjuju.store.tx import ModelTx, Tx
from pushjuju.uniter import turn as turns
from pushjuju.uniter.turn import Turn
from tests.bench.simulated import Simulation
from tests.unit.store.conftest import ENGINES, place_of
from tests.unit.workers.test_random_lives import live
from tests.world.charms import Charms
from tests.world.controller import TestController

KEY = {"key": "k"}


def plain(answer: Any) -> Any:
    """Return an answer with tuples in place of rows, which an engine may compare as objects."""
    if isinstance(answer, list):
        return [plain(item) for item in answer]
    return tuple(answer) if hasattr(answer, "keys") and not isinstance(answer, Mapping) else answer


class Distrustful(Memo):
    """Asks the database as well, each time; `told`: how often it had an answer without asking."""

    told = 0
    _server: Any = None

    def ask(self, make: Callable[..., Any], statement: str, params: Mapping[str, Any], *record: Any) -> Any:
        before = self._answers.get((statement, *params.items()))
        answer = super().ask(make, statement, params, *record)
        if self.effects(statement).kept:
            now = self._asked_now(make, statement, params, *record)
            assert plain(answer) == plain(now), statement
            Distrustful.told += before is not None and before[3] is answer
        return answer

    def _asked_now(
        self, make: Callable[..., Any], statement: str, params: Mapping[str, Any], *record: Any
    ) -> Any:
        """Ask the database, for which alone the statements that are held back have run."""
        connection = self._server or self._connection
        if not self._held:
            return make(connection.execute(statement, params), *record)
        connection.execute("SAVEPOINT doubt")
        for (held, _), values in self._held.items():
            connection.execute(held, values)
        now = make(connection.execute(statement, params), *record)
        connection.execute("ROLLBACK TO doubt")
        connection.execute("RELEASE doubt")
        return now

    def derived(self, key: Hashable, make: Callable[[], Any]) -> Any:
        made = super().derived(key, make)
        trail = self.trail
        assert made == make(), key
        self.trail = trail
        return made


class DistrustfulLate(Distrustful, LateMemo):
    """The same for a file."""


class DistrustfulAhead(Distrustful, AheadMemo):
    """The same for a server."""


class Overheard:
    """A connection; `asked` has the statements that it runs within transactions."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.asked: list[str] = []

    def execute(self, statement: str, params: Any = (), /) -> Any:
        self.asked.append(statement)
        return self._connection.execute(statement, params)

    @classmethod
    def of(cls, store: Store) -> list[str]:
        """Return the statements that a store runs from now on."""
        made = cls(store._connection)
        assert store._memo is not None
        store._connection = store._memo._connection = store._memo._writer = made
        return made.asked


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Path | str:
    return place_of(request)


@pytest.fixture
def remembering(store: Store) -> Store:
    """A store that remembers."""
    store.remember()
    return store


def value(store: Store, model: Model) -> object:
    with store.read() as tx:
        return tx.scalar("model_config_get", model=model.uuid, **KEY)


def put(store: Store, model: Model, text: str) -> None:
    with store.write() as tx:
        tx.run("model_config_set", model=model.uuid, **KEY, value=text)


@pytest.mark.parametrize("seed", [1, 3, 5, 6])
def test_every_answer_is_what_the_store_would_say(
    tmp_path: Path, empty_controller: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(late, "LateMemo", DistrustfulLate)
    monkeypatch.setattr(Distrustful, "told", 0)
    remember_always(monkeypatch)
    runtime = TestController.copy(empty_controller, tmp_path, packs)
    live(runtime, Random(seed))
    assert Distrustful.told > 500
    runtime.ctx.close()


def remember_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every store remember."""
    opened = Store.open

    def open_remembering(path: Path, **options: bool) -> Store:
        made = opened(path, **options)
        made.remember()
        return made

    monkeypatch.setattr(Store, "open", open_remembering)


class Alternating(Store):
    """A store of which each transaction is run by one of two connections, each with answers of its own.

    So the one learns what the other has written, as two processes do.
    """

    chance: Random
    both: list[Store]

    def _begin(self, **options: Any) -> None:
        chosen = self.chance.choice(self.both)
        self.engine, self._connection, self._memo = chosen.engine, chosen._connection, chosen._memo
        super()._begin(**options)


@pytest.mark.parametrize("seed", [1, 3])
def test_every_answer_is_right_beside_another_process_that_writes(
    tmp_path: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch, postgres_url: str, seed: int
) -> None:
    world = TestController.build(tmp_path, packs, Database(url=postgres_url, insecure=True))
    monkeypatch.setattr(ahead, "AheadMemo", DistrustfulAhead)
    monkeypatch.setattr(Distrustful, "told", 0)
    both = [Store.open(postgres_url) for _ in range(2)]
    for each in both:
        each.remember()
    world.ctx.store.close()
    store = Alternating(both[0].engine)
    store.chance, store.both = Random(seed), both
    world.ctx = changed(world.ctx, store=store)
    try:
        live(world, Random(seed))
    finally:
        for each in both:
            each.close()
    assert Distrustful.told > 500


@pytest.mark.parametrize("seed", [1, 3, 5, 6])
def test_a_turn_that_is_spared_would_have_come_to_the_same_and_written_nothing(
    tmp_path: Path, empty_controller: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    spared: list[Turn] = []
    at_rest = turns._at_rest

    def doubted(ctx: Context, model: str, name: str, *, routine: bool = True) -> Turn | None:
        found = at_rest(ctx, model, name, routine=routine)
        if found is not None:
            before = ctx.store._connection.total_changes
            with monkeypatch.context() as patch:
                patch.setattr(turns, "_at_rest", lambda *_, **__: None)
                turn = turns.take_turn(ctx, model, name, routine=routine)
                assert replace(turn, decided=None) == found
            assert ctx.store._connection.total_changes == before
            spared.append(found)
        return found

    monkeypatch.setattr(turns, "_at_rest", doubted)
    remember_always(monkeypatch)
    runtime = TestController.copy(empty_controller, tmp_path, packs)
    live(runtime, Random(seed))
    assert len(spared) > 5
    runtime.ctx.close()


def test_what_was_concluded_stands_until_something_of_it_changes(remembering: Store, model: Model) -> None:
    put(remembering, model, "1")
    with remembering.read() as tx:
        tx.watch()
        tx.conclude("it", tx.scalar("model_config_get", model=model.uuid, **KEY))
    assert remembering.concluded("it") == "1"
    put(remembering, model, "2")
    assert remembering.concluded("it") is None


def test_a_look_at_what_was_concluded_hides_no_later_change(remembering: Store, model: Model) -> None:
    """Each look that finds the value valid lets the next look compare less."""
    put(remembering, model, "1")
    with remembering.read() as tx:
        tx.watch()
        tx.conclude("it", tx.scalar("model_config_get", model=model.uuid, **KEY))
    for _ in range(2):
        with remembering.write() as tx:
            drawn(tx, "another")
        assert remembering.concluded("it") == "1"
    put(remembering, model, "2")
    assert remembering.concluded("it") is None


def test_what_was_concluded_falls_with_a_write_of_another_process(
    remembering: Store, beside: Store, model: Model
) -> None:
    with remembering.read() as tx:
        tx.watch()
        tx.conclude("it", (tx.scalar("model_config_get", model=model.uuid, **KEY),))
    put(beside, model, "1")
    assert remembering.concluded("it") is None


def wrapped(tx: Tx, key: str) -> object:
    """Return something new that is made of a row, and of nothing else."""
    return (tx.scalar("model_config_get", model=key, **KEY),)


def drawn(tx: Tx, key: str) -> int:
    return tx.next(key, "name")


def refused(tx: Tx, key: str) -> None:
    raise NotFound(f"no {key}")


def test_what_is_made_of_rows_is_made_again_when_one_of_them_changes(
    remembering: Store, model: Model
) -> None:
    def made() -> object:
        with remembering.read() as tx:
            return tx.derived(wrapped, model.uuid)

    put(remembering, model, "1")
    first = made()
    assert first == ("1",)
    assert made() is first
    put(remembering, model, "2")
    assert made() == ("2",)


def test_what_follows_from_something_made_falls_with_its_rows(remembering: Store, model: Model) -> None:
    for text in ("1", "2"):
        put(remembering, model, text)
        for _ in range(2):  # made, then known
            with remembering.read() as tx:
                tx.watch()
                tx.conclude("it", tx.derived(wrapped, model.uuid))
            assert remembering.concluded("it") == (text,)
        put(remembering, model, "0")
        assert remembering.concluded("it") is None


def test_what_is_made_of_drawn_numbers_is_never_kept(remembering: Store) -> None:
    with remembering.write() as tx:
        assert [tx.derived(drawn, "scope") for _ in range(3)] == [0, 1, 2]


def test_nothing_is_concluded_once_something_could_not_be_made(remembering: Store) -> None:
    with remembering.read() as tx:
        tx.watch()
        with pytest.raises(NotFound):
            tx.derived(refused, "row")
        tx.conclude("it", "all is well")
    assert remembering.concluded("it") is None


def test_nothing_is_concluded_from_numbers_that_are_drawn(remembering: Store) -> None:
    with remembering.write() as tx:
        tx.watch()
        tx.conclude("it", tx.next("scope", "name"))
    assert remembering.concluded("it") is None


def test_a_watch_ends_with_its_transaction(remembering: Store, model: Model) -> None:
    with remembering.read() as tx:
        tx.watch()
    with remembering.read() as tx:
        tx.conclude("it", tx.scalar("model_config_get", model=model.uuid, **KEY))
    assert remembering.concluded("it") is None


@pytest.fixture
def machine(remembering: Store, model: Model) -> dict[str, Any]:
    """The key of a machine."""
    with remembering.write() as tx:
        now = SystemClock().now()
        made = new_machine(ModelTx(tx, model.uuid, now), base=Base("ubuntu", "24.04"), constraints={})
    return {"model": model.uuid, "id": made.id}


def attempts(store: Store, machine: Mapping[str, Any]) -> int:
    with store.read() as tx:
        return tx.get(Machine, "machine_get", "no machine", **machine).attempts


def test_who_changes_a_known_row_spares_the_next_one_the_reading(
    remembering: Store, machine: dict[str, Any]
) -> None:
    assert attempts(remembering, machine) == 0
    with remembering.write() as tx:
        tx.change(Machine, "machine_get", "machine_set_attempts", machine, attempts=3)
    seen = Overheard.of(remembering)
    assert attempts(remembering, machine) == 3
    assert not any("FROM machine" in text for text in seen)
    remembering.forget()
    assert attempts(remembering, machine) == 3


def test_several_changes_of_a_row_are_written_once(remembering: Store, machine: dict[str, Any]) -> None:
    asked, statement = Overheard.of(remembering), queries()["machine_set_attempts"]
    with remembering.write() as tx:
        for number in (1, 2):
            tx.change(Machine, "machine_get", "machine_set_attempts", machine, attempts=number)
        assert statement not in asked
    assert asked.count(statement) == 1
    remembering.forget()
    assert attempts(remembering, machine) == 2


def test_a_statement_that_reads_a_changed_column_runs_after_the_change(
    remembering: Store, machine: dict[str, Any]
) -> None:
    with remembering.write() as tx:
        tx.change(Machine, "machine_get", "machine_set_attempts", machine, attempts=3)
        rows = tx.rows("machine_list", model=machine["model"])
    assert [row["attempts"] for row in rows] == [3]


def test_a_row_that_nobody_read_is_changed_as_well(remembering: Store, machine: dict[str, Any]) -> None:
    with remembering.write() as tx:
        tx.change(Machine, "machine_get", "machine_set_attempts", machine, attempts=3)
    assert attempts(remembering, machine) == 3


def test_what_was_known_of_a_row_falls_with_its_change(remembering: Store, machine: dict[str, Any]) -> None:
    attempts(remembering, machine)
    with pytest.raises(PushjujuError), remembering.write() as tx:  # noqa: PT012 - the block is the transaction
        tx.change(Machine, "machine_get", "machine_set_attempts", machine, attempts=3)
        raise PushjujuError("no")
    assert attempts(remembering, machine) == 0


def test_a_row_is_not_read_again_when_another_one_is_written(remembering: Store, model: Model) -> None:
    def set_status(entity: str) -> None:
        with remembering.write() as tx:
            tx.run(
                "status_set", model=model.uuid, kind="workload", entity=entity, status="active", message="",
                data="{}", since=entity,
            )  # fmt: skip

    def read_status() -> object:
        with remembering.read() as tx:
            return tx.rows("status_get", model=model.uuid, kind="workload", entity="web/0")

    set_status("web/0")
    read_status()
    set_status("web/1")
    seen = Overheard.of(remembering)
    read_status()
    assert not any("FROM status" in text for text in seen)
    set_status("web/0")
    read_status()
    assert any("FROM status" in text for text in seen)


def test_a_row_that_exists_is_not_read_again_when_rows_are_added(remembering: Store) -> None:
    def touch() -> None:
        with remembering.write() as tx:
            tx.run("work_touch", key="m/machine/0", due="2026-01-01", reason="", trace="", cause="")

    def lease() -> object:
        with remembering.read() as tx:
            return tx.row("work_holds", key="m/machine/0", lease=0)

    assert lease() is None
    touch()
    assert lease() is not None
    touch()  # adds the row if it is missing
    seen = Overheard.of(remembering)
    assert lease() is not None
    assert not any("FROM work" in text for text in seen)
    with remembering.write() as tx:
        tx.run("work_delete", key="m/machine/0")
    assert lease() is None


def test_what_was_read_is_not_read_again(remembering: Store, model: Model) -> None:
    put(remembering, model, "1")
    assert value(remembering, model) == "1"
    seen = Overheard.of(remembering)
    assert value(remembering, model) == "1"
    assert seen == []


def test_what_another_process_writes_is_seen(remembering: Store, beside: Store, model: Model) -> None:
    for text in "123":
        assert value(remembering, model) != text
        put(beside, model, text)
        assert value(remembering, model) == text


def test_what_was_undone_was_never_read(remembering: Store, model: Model) -> None:
    put(remembering, model, "1")
    with pytest.raises(PushjujuError), remembering.write() as tx:  # noqa: PT012 - the block is the transaction
        tx.run("model_config_set", model=model.uuid, **KEY, value="2")
        assert tx.scalar("model_config_get", model=model.uuid, **KEY) == "2"
        raise PushjujuError("no")
    assert value(remembering, model) == "1"


async def test_a_part_that_was_undone_was_never_read(remembering: Store, model: Model) -> None:
    deferred = DeferredStore(remembering)
    put(deferred, model, "1")
    with pytest.raises(PushjujuError), deferred.write() as tx:  # noqa: PT012 - the block is the part
        tx.run("model_config_set", model=model.uuid, **KEY, value="2")
        assert tx.scalar("model_config_get", model=model.uuid, **KEY) == "2"
        raise PushjujuError("no")
    assert value(deferred, model) == "1"
    await deferred.durable()


def test_a_row_that_went_with_another_one_is_gone(remembering: Store, model: Model) -> None:
    put(remembering, model, "1")
    assert value(remembering, model) == "1"
    with remembering.write() as tx:
        tx.run("model_delete", model=model.uuid)
    assert value(remembering, model) is None


def test_what_a_statement_touches(remembering: Store) -> None:
    remembering.remember()
    memo = remembering._memo
    assert memo is not None
    statements = queries()
    assert memo.effects(statements["unit_set_charm_gone"]).writes == (("unit", "charm_gone"),)
    assert memo.effects(statements["sequence_next"]).kept is False
    assert {("relation", ""), ("relation_bag", ""), ("relation_scope", "")} <= set(
        memo.effects(statements["relation_delete"]).writes
    )
    assert ("work", "+") in memo.effects(statements["work_touch"]).writes
    holds = memo.effects(statements["work_holds"])
    assert holds.cells == (("work", (("work", ""), ("work", "+"), *holds.found[0][1][1:])),)
    for of_many in ("port_of_unit", "history_newest", "unit_lives_of_principal"):  # more rows may be added
        assert memo.effects(statements[of_many]).found == memo.effects(statements[of_many]).cells
    lives = memo.effects(statements["unit_lives_of_principal"])
    assert lives.reads == (("unit", ("application", "life", "model", "name", "number", "principal")),)
    for statement in statements.values():
        found = memo.effects(statement)
        assert found.kept != bool(found.writes), statement


def test_a_cache_has_a_limit() -> None:
    bounded = Bounded(8)
    for number in range(100):
        bounded.put(number, number)
        assert len(bounded) <= 8
        assert bounded.get(number) == number


def test_of_a_model_that_is_too_large_for_the_cache_a_part_is_cached() -> None:
    bounded, found = Bounded(1000), 0
    for _ in range(20):  # each unit in its turn, as update-status visits them
        found = 0
        for unit in range(1300):
            if unit in bounded:
                found += 1
            else:
                bounded.put(unit, unit)
    assert found > 300


def test_an_operation_that_is_over_takes_no_room(tmp_path: Path) -> None:
    world = TestController.build(tmp_path, Charms(tmp_path / "charms"))
    made = Simulation(tmp_path, 8, world)
    made.deploy()
    hooks = made.measure("deploy to idle").hooks
    memo: Any = world.ctx.store._memo
    asked = queries()["operation_get"]
    kept = [key for key in memo._answers if key[0] == asked]
    kept += [place for place in memo._rows if place[0] == "operation"]
    leases = [key for key in memo._answers if key[0] == queries()["work_holds"]]
    units = 5 * 8
    values = len(memo.values)
    world.ctx.close()
    assert hooks > 10 * units
    assert not kept
    assert not leases
    assert values < 5 * units


def test_no_value_is_derived_from_an_answer_that_is_dropped(remembering: Store) -> None:
    def conclude(answer: str) -> None:
        with remembering.read() as tx:
            tx.watch()
            tx.row("operation_get", id=answer)
            tx.conclude("it", answer)

    conclude("1")
    assert remembering.concluded("it") == "1"
    with remembering.write() as tx:
        tx.forget("operation_get", id="2")
    assert remembering.concluded("it") is None
    conclude("3")
    assert remembering.concluded("it") is None
