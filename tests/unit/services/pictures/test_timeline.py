"""The timeline: an axis without long rests, rows by machine, and the trace."""

from __future__ import annotations

from datetime import timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pushjuju.cli.commands.status import timeline as timeline_table
from pushjuju.services.pictures import timeline, timeline_svg
from pushjuju.services.views.hook_runs import Contact, HookRun, Hour
from tests.world.known_models import runs
from tests.world.printed import NINE

SVG = "{http://www.w3.org/2000/svg}"


def run(
    unit: str, at: float, took: float | None, hook: str = "config-changed", result: str = "ok"
) -> HookRun:
    begun = NINE + timedelta(seconds=at)
    over = None if took is None else begun + timedelta(seconds=took)
    return HookRun(
        unit=unit,
        hook=hook,
        kind="hook",
        operation="1",
        result=result,
        started=begun,
        committed=over,
        took_s=took,
    )


def test_a_long_rest_is_cut_and_a_short_one_is_not() -> None:
    found = timeline.of_runs([run("a/0", 0, 10), run("a/0", 30, 10), run("a/0", 3640, 20)], {}, NINE)
    assert [seconds for _, _, seconds in found.axis.rests()] == [3600]
    assert found.axis.place(NINE.timestamp()) == 0
    assert found.axis.place(NINE.timestamp() + 3660) == pytest.approx(1)
    ((start, end, _),) = found.axis.rests()
    assert end - start == pytest.approx(0.03 * 60 / 61.8)


def test_rows_are_ordered_by_machine_and_unit() -> None:
    found = timeline.of_runs(
        [run("b/10", 0, 1), run("b/2", 1, 1), run("a/0", 2, 1)], {"b/10": "2", "b/2": "2", "a/0": "10"}, NINE
    )
    assert [row.unit for row in found.rows] == ["b/2", "b/10", "a/0"]


def test_a_run_that_is_under_way_ends_now() -> None:
    now = NINE + timedelta(seconds=12)
    (row,) = timeline.of_runs([run("a/0", 2, None, result="running")], {}, now).rows
    assert row.bars[0].end - row.bars[0].start == 10


def test_the_trace_has_machines_as_processes_and_units_as_threads() -> None:
    found = timeline.of_runs(
        [run("a/0", 0, 1.5), run("b/0", 2, 1, result="failed")], {"a/0": "0", "b/0": "1"}, NINE
    )
    events = timeline.trace(found)["traceEvents"]
    names = {(e["name"], e["args"]["name"]) for e in events if e["ph"] == "M"}
    assert names == {
        ("process_name", "machine 0"),
        ("process_name", "machine 1"),
        ("thread_name", "a/0"),
        ("thread_name", "b/0"),
    }
    first, second = (event for event in events if event["ph"] == "X")
    assert (first["ts"], first["dur"]) == (round(NINE.timestamp() * 1e6), 1_500_000)
    assert first["pid"] != second["pid"]
    assert second["args"]["result"] == "failed"


def test_the_table_marks_failures_and_rests() -> None:
    found = timeline.of_runs([run("a/0", 0, 10), run("b/0", 100, 10, result="failed")], {}, NINE)
    plain = timeline_table.table(found, timeline_table.Look(columns=60, utc=True))
    head, first, second, _, rest = plain.splitlines()
    assert head.startswith("Unit  2025-03-01 09:00:00Z")
    assert head.endswith("2025-03-01 09:01:50Z")
    assert "█" in first
    assert "┊" in first
    assert "!" in second
    assert rest == "┊ nothing ran for 1m30s"
    assert max(map(len, plain.splitlines())) <= 60
    letters = timeline_table.table(found, timeline_table.Look(columns=60, letters=True))
    assert letters.isascii()


@settings(max_examples=60, deadline=None)
@given(
    found=st.lists(
        st.tuples(
            st.integers(0, 9),
            st.floats(0, 1e5),
            st.floats(0, 1e4) | st.none(),
            st.text(min_size=1, max_size=20),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_any_runs_have_a_picture_in_which_bars_are_inside_and_in_order(
    found: list[tuple[int, float, float | None, str]],
) -> None:
    made = timeline.of_runs([run(f"u/{unit}", at, took, hook) for unit, at, took, hook in found], {}, NINE)
    for row in made.rows:
        for bar in row.bars:
            assert -1e-9 <= made.axis.place(bar.start) <= made.axis.place(bar.end) <= 1 + 1e-9
    ElementTree.fromstring(timeline_svg.draw("m", made))
    assert timeline_table.table(made, timeline_table.Look(columns=70)).count("\n") >= len(made.rows)


def test_two_thousand_runs_are_drawn_whole() -> None:
    made = timeline.of_runs(runs(2000, units=40), {}, NINE)
    drawn = timeline_svg.draw("m", made)
    assert drawn.count("<g><title>") == 2000


def contact(at: float, took: float, machine: str = "0", result: str = "ok") -> Contact:
    begun = NINE + timedelta(seconds=at)
    return Contact(machine=machine, begun=begun, ended=begun + timedelta(seconds=took), result=result)


def test_contacts_stand_above_the_units_of_their_machine_and_begin_before_the_hooks() -> None:
    seen = [contact(-5, 20), contact(-29, 4, "1", "unreachable"), contact(9000, 5), contact(-900, 5)]
    runs = [run("a/0", 0, 10), run("b/0", 0, 10), run("a/0", 3600, 10)]
    made = timeline.of_runs(runs, {"a/0": "0", "b/0": "1"}, NINE, seen)
    assert {machine: len(found) for machine, found in made.contacts.items()} == {"0": 1, "1": 1}
    assert made.start == NINE - timedelta(seconds=29)
    drawn = ElementTree.fromstring(timeline_svg.draw("m", made))
    lines = [rect for rect in drawn.iter(f"{SVG}rect") if "contact" in (rect.findtext(f"{SVG}title") or "")]
    assert [rect.get("class") for rect in lines] == ["b-other", "f error"]
    assert (lines[1].findtext(f"{SVG}title") or "").startswith("contact with machine 1: unreachable, 2025")
    labels = {text.text: float(text.get("y", "")) for text in drawn.iter(f"{SVG}text")}
    at = [float(rect.get("y", "")) for rect in lines]
    assert labels["machine 0"] - 12 < at[0] < labels["a/0"] < at[1] < labels["b/0"]


def test_contacts_with_machines_that_are_not_shown_leave_the_axis_alone() -> None:
    runs = [run("a/0", 0, 10)]
    alone = timeline.of_runs(runs, {"a/0": "0"}, NINE)
    assert timeline.of_runs(runs, {"a/0": "0"}, NINE, [contact(-20, 900, "100/lxd/100")]) == alone


def test_a_page_has_room_for_bars_that_grow_and_a_file_has_no_marks_for_a_page() -> None:
    now = NINE + timedelta(seconds=100)
    under_way = [run("a/0", 0, None, result="running")]
    assert timeline.of_runs(under_way, {}, now).axis.seconds == 100
    found = timeline.of_runs(under_way, {}, now, grows=True)
    assert found.axis.seconds == 110
    drawn = timeline_svg.draw("shop", found, lambda _kind, name: f"/{name}")
    bar = next(rect for rect in ElementTree.fromstring(drawn).iter(f"{SVG}rect") if rect.get("data-pace"))
    wide, pace, most = (float(bar.get(name, "")) for name in ("width", "data-pace", "data-most"))
    assert (wide, most) == (pytest.approx(100 * pace, abs=0.1), pytest.approx(110 * pace, abs=0.1))
    assert "data-" not in timeline_svg.draw("shop", found)
    over = [run("a/0", 0, 100)]
    assert timeline.of_runs(over, {}, now, grows=True) == timeline.of_runs(over, {}, now)


def test_many_hours_of_a_heat_line_become_days() -> None:
    hours = [Hour(begin=NINE + timedelta(hours=at), runs=at, failed=at % 2) for at in range(61)]
    assert timeline.by_hours(hours[:60]) == hours[:60]
    days = timeline.by_hours(hours)
    assert [(day.begin.day, day.hours) for day in days] == [(1, 24), (2, 24), (3, 24)]
    assert (sum(day.runs for day in days), sum(day.failed for day in days)) == (sum(range(61)), 30)
    assert days[0].runs == sum(range(15))


def test_a_heat_line_is_darkest_where_most_ran_and_marks_what_failed() -> None:
    hours = [Hour(begin=NINE, runs=10, failed=0), Hour(begin=NINE + timedelta(hours=1), runs=5, failed=2)]
    drawn = ElementTree.fromstring(timeline_svg.heat(hours, lambda hour: f"/<{hour.runs}>"))
    links = list(drawn.iter(f"{SVG}a"))
    assert [link.get("href") for link in links] == ["/<10>", "/<5>"]
    assert [link[0].text for link in links] == [
        "2025-03-01 09:00Z: 10 runs", "2025-03-01 10:00Z: 5 runs, 2 failed"
    ]  # fmt: skip
    assert [link[1].get("fill-opacity") for link in links] == ["1.00", "0.57"]
    assert [len(link) for link in links] == [2, 3]
