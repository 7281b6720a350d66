"""What commands read from words: bindings, placements, ids."""

from __future__ import annotations

import pytest

from pushjuju.cli.syntax import values
from pushjuju.core.errors import NotValid, PushjujuError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("inner", {"": "inner"}),
        ("a=x inner b=y", {"a": "x", "": "inner", "b": "y"}),
    ],
)
def test_bindings_are_read(text: str, found: dict[str, str]) -> None:
    assert values.bindings(text) == found


@pytest.mark.parametrize(
    ("text", "problem"),
    [("=x", 'found "=" without endpoint name'), ("a=b=c", 'found multiple "=" in binding')],
)
def test_odd_bindings_are_refused(text: str, problem: str) -> None:
    with pytest.raises(NotValid, match=problem):
        values.bindings(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", None), ("lxd", "lxd"), ("lxd:0", "lxd:0"), ("ssh:u@h", "ssh:u@h"), ("zone=a", "zone=a")],
)
def test_placement_of_add_machine(text: str, shown: str | None) -> None:
    found = values.machine_placement(text)
    assert (str(found) if found else None) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "machine-id cannot be specified when adding machines"),
        ("lxd:", 'invalid --to parameter "lxd:"'),
    ],
)
def test_bad_placement_of_add_machine(text: str, message: str) -> None:
    with pytest.raises(PushjujuError) as caught:
        values.machine_placement(text)
    assert caught.value.message == message


def test_machine_ids_that_people_type() -> None:
    assert values.machine_id("0/lxd/1") == "0/lxd/1"
    with pytest.raises(PushjujuError) as caught:
        values.machine_id("x")
    assert (caught.value.message, caught.value.exit_code) == ('invalid machine id "x"', 2)
