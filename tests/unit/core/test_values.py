"""Bases, clock, life, placement, statuses, errors."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core import errors
from pushjuju.core.base import RISKS, SERIES, Base
from pushjuju.core.clock import SystemClock, from_iso, to_iso
from pushjuju.core.errors import InvalidCharm, NotValid, PushjujuError
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.core.status import Life, StatusInfo, derive_application_status
from pushjuju.core.values import assembler, changed, dataclass
from tests.world.clock import FakeClock


@pytest.mark.parametrize(
    ("text", "base", "full", "display", "channel"),
    [
        ("ubuntu@24.04", Base("ubuntu", "24.04"), "ubuntu@24.04/stable", "ubuntu@24.04", "24.04"),
        ("ubuntu@22.04/stable", Base("ubuntu", "22.04"), "ubuntu@22.04/stable", "ubuntu@22.04", "22.04"),
        ("Debian@12/edge", Base("debian", "12", "edge"), "debian@12/edge", "debian@12/edge", "12/edge"),
    ],
)
def test_base(text: str, base: Base, full: str, display: str, channel: str) -> None:
    assert Base.parse(text) == base
    assert (str(base), base.display, base.channel) == (full, display, channel)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'base string must contain exactly one @. "" not valid'),
        ("ubuntu", 'base string must contain exactly one @. "ubuntu" not valid'),
        ("a@b@c", 'base string must contain exactly one @. "a@b@c" not valid'),
        ("@24.04", 'invalid base string "@24.04"'),
        ("ubuntu@", 'invalid base string "ubuntu@"'),
        ("ubuntu@24.04/", 'malformed channel in base string "ubuntu@24.04/"'),
        ("ubuntu@24.04/hot", 'malformed channel in base string "ubuntu@24.04/hot"'),
        ("ubuntu@24.04/stable/x", 'malformed channel in base string "ubuntu@24.04/stable/x"'),
    ],
)
def test_what_is_no_base(text: str, message: str) -> None:
    with pytest.raises(NotValid) as caught:
        Base.parse(text)
    assert caught.value.message.startswith(message)


@given(
    st.sampled_from(["ubuntu", "debian"]),
    st.from_regex(r"[0-9]{1,2}\.[0-9]{2}", fullmatch=True),
    st.sampled_from(RISKS),
)
def test_a_base_reads_back(os: str, track: str, risk: str) -> None:
    base = Base(os, track, risk)
    assert Base.parse(str(base)) == Base.parse(base.display) == base


def test_base_from_series() -> None:
    assert {name: str(Base.from_series(name)) for name in ("jammy", "bookworm")} == {
        "jammy": "ubuntu@22.04/stable",
        "bookworm": "debian@12/stable",
    }
    assert all(Base.from_series(name) for name in SERIES)
    with pytest.raises(NotValid, match='unknown series "warty"'):
        Base.from_series("warty")


def test_bases_match_whatever_their_risk() -> None:
    assert Base("ubuntu", "24.04", "edge").matches(Base("ubuntu", "24.04"))
    assert not Base("ubuntu", "24.04").matches(Base("ubuntu", "22.04"))
    assert not Base("debian", "12").matches(Base("ubuntu", "12"))


@pytest.mark.parametrize(
    ("text", "expected", "shown"),
    [
        ("0", Placement(PlacementKind.MACHINE, "0"), "0"),
        ("0/lxd/1", Placement(PlacementKind.MACHINE, "0/lxd/1"), "0/lxd/1"),
        ("lxd", Placement(PlacementKind.CONTAINER, "lxd"), "lxd"),
        ("kvm:3", Placement(PlacementKind.CONTAINER, "kvm", "3"), "kvm:3"),
        ("ssh:bob@10.0.0.7:2222", Placement(PlacementKind.SSH, "bob@10.0.0.7:2222"), "ssh:bob@10.0.0.7:2222"),
        ("zone=eu-1", Placement(PlacementKind.PROVIDER, "zone=eu-1"), "zone=eu-1"),
        ("subnet=fd00::/64", Placement(PlacementKind.PROVIDER, "subnet=fd00::/64"), "subnet=fd00::/64"),
        ("node7", Placement(PlacementKind.PROVIDER, "node7"), "node7"),
    ],
)
def test_placement(text: str, expected: Placement, shown: str) -> None:
    assert Placement.parse(text) == expected
    assert str(expected) == shown
    assert Placement.parse(shown) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'invalid --to parameter ""'),
        ("lxd:", 'invalid --to parameter "lxd:"'),
        ("lxd:web", 'invalid value "web" for "lxd" scope: expected machine-id'),
        ("kvm:01", 'invalid value "01" for "kvm" scope: expected machine-id'),
    ],
)
def test_what_is_no_placement(text: str, message: str) -> None:
    with pytest.raises(NotValid) as caught:
        Placement.parse(text)
    assert caught.value.message == message


def test_a_changed_value_is_what_replace_makes() -> None:
    info = StatusInfo(status="active", message="ready")
    assert changed(info) == info
    assert changed(info, message="") == replace(info, message="")
    assert info.message == "ready"
    with pytest.raises(KeyError):
        changed(info, colour="red")


@dataclass(frozen=True, slots=True)
class Point:
    """A value of two fields."""

    x: int
    y: int = 0


@dataclass(frozen=True, slots=True)
class Named(Point):
    """A value with fields of its base."""

    name: str = ""


def test_a_value_of_parts_equals_one_of_the_constructor_and_is_frozen() -> None:
    made = assembler(Point, [("y", int), None, ("x", None)])(["2", "left out", 1])
    assert (made, type(made), hash(made)) == (Point(1, 2), Point, hash(Point(1, 2)))
    with pytest.raises(FrozenInstanceError):
        made.x = 3
    with pytest.raises(ValueError, match="unpack"):
        assembler(Point, [("x", None), ("y", None)])([1])


def test_values_with_inherited_fields_are_made_and_changed_alike() -> None:
    made = assembler(Named, [("name", None), ("x", None), ("y", None)])(["a", 1, 2])
    assert (made, type(changed(made, x=5)), changed(made, x=5)) == (Named(1, 2, "a"), Named, Named(5, 2, "a"))


def test_clocks_tell_utc() -> None:
    assert SystemClock().now().tzinfo is UTC
    clock = FakeClock()
    before = clock.now()
    assert clock.now() == before
    clock.advance(1.5)
    assert clock.now() - before == timedelta(seconds=1.5)
    start = datetime(2030, 1, 1, tzinfo=UTC)
    assert FakeClock(start).now() == start


MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the bounds are naive by rule


@given(MOMENTS, MOMENTS)
def test_moments_read_back_and_sort_as_text(one: datetime, other: datetime) -> None:
    assert from_iso(to_iso(one)) == one
    assert (to_iso(one) < to_iso(other)) is (one < other)


def test_moments_are_written_in_utc() -> None:
    there = datetime(2025, 3, 1, 10, 0, tzinfo=timezone(timedelta(hours=1)))
    assert to_iso(there) == "2025-03-01T09:00:00.000000Z"


def test_life_has_jujus_words() -> None:
    assert [str(life) for life in Life] == ["alive", "dying", "dead"]


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([], "unknown"),
        (["active"], "active"),
        (["active", "waiting"], "waiting"),
        (["waiting", "maintenance"], "maintenance"),
        (["maintenance", "blocked", "active"], "blocked"),
        (["blocked", "error"], "error"),
        (["terminated", "unknown"], "terminated"),
        (["unset"], "unknown"),
    ],
)
def test_an_application_shows_its_worst_unit(units: list[str], expected: str) -> None:
    assert derive_application_status(StatusInfo(status=status) for status in units).status == expected


def test_the_first_of_equal_units_speaks_for_the_application() -> None:
    units = [StatusInfo(status="blocked", message="first"), StatusInfo(status="blocked", message="second")]
    assert derive_application_status(units).message == "first"


TREE = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, PushjujuError)]


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_every_error_has_a_sentence_a_code_and_a_place_in_the_tree(kind: type[PushjujuError]) -> None:
    error = kind()
    assert str(error) == error.message == kind.message
    assert kind.code == kind.code.lower()
    assert (error.detail, error.hint) == ("", "")
    assert kind.__name__ in (errors.__doc__ or "")
    assert kind.exit_code == (2 if kind is errors.UsageError else 1)


def test_error_codes_are_unique() -> None:
    codes = [kind.code for kind in TREE]
    assert len(codes) == len(set(codes))


def test_an_error_carries_detail_hint_and_whether_to_retry() -> None:
    error = errors.Unreachable("no answer", detail="timed out", hint="ping it", retryable=False)
    assert (error.message, error.detail, error.hint, error.retryable) == (
        "no answer",
        "timed out",
        "ping it",
        False,
    )
    assert errors.Unreachable().retryable
    charm = InvalidCharm("bad", file="metadata.yaml", key="requires.db")
    assert (charm.file, charm.key) == ("metadata.yaml", "requires.db")
