"""Names and ids of Juju's entities."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core import names
from pushjuju.core.errors import NotValid
from pushjuju.core.names import UnitName
from pushjuju.portable.names import is_application, is_unit

GOOD_APPLICATIONS = ["a", "mysql", "web2", "a-b", "my-app-2x", "a-0a", "k8s"]
BAD_APPLICATIONS = ["", "A", "2web", "-a", "a-", "a--b", "a-0", "web_1", "a b", "é", "web\n", "a/0", "a.b"]


@pytest.mark.parametrize("text", GOOD_APPLICATIONS)
def test_application_names(text: str) -> None:
    assert is_application(text)


@pytest.mark.parametrize("text", BAD_APPLICATIONS)
def test_what_cannot_name_an_application(text: str) -> None:
    assert not is_application(text)


def test_a_hostile_application_name_is_refused_at_once() -> None:
    started = time.perf_counter()
    assert not is_application("a" + "-aaaa" * 200 + "!")
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("text", ["mysql/0", "a-b/17", "web2/100"])
def test_unit_names(text: str) -> None:
    unit = UnitName.parse(text)
    assert str(unit) == text
    assert is_unit(text)
    assert names.application_of(text) == unit.application
    assert names.unit_tag(text) == unit.tag == f"unit-{text.replace('/', '-')}"


@pytest.mark.parametrize(
    "text", ["", "mysql", "mysql/", "mysql/01", "mysql/-1", "/0", "A/0", "a/0/1", "mysql/٣", "a/0\n"]
)
def test_what_is_no_unit_name(text: str) -> None:
    assert not is_unit(text)
    for parse in (UnitName.parse, names.application_of, names.unit_tag):
        with pytest.raises(NotValid, match="is not a valid unit name"):
            parse(text)


@given(
    st.from_regex(r"[a-z][a-z0-9]{0,9}(?:-[0-9]{0,9}[a-z][a-z0-9]{0,9}){0,3}", fullmatch=True),
    st.integers(0, 10**12),
)
def test_every_unit_name_reads_back(application: str, number: int) -> None:
    unit = UnitName(application, number)
    assert UnitName.parse(str(unit)) == unit


def test_units_sort_by_number() -> None:
    assert sorted([UnitName("b", 0), UnitName("a", 10), UnitName("a", 2)]) == [
        UnitName("a", 2),
        UnitName("a", 10),
        UnitName("b", 0),
    ]


@pytest.mark.parametrize(
    ("text", "valid"),
    [("0", True), ("17", True), ("0/lxd/1", True), ("0/lxd/1/kvm/2", True)]
    + [(text, False) for text in ("", "01", "-1", "0/", "0/lxd", "0/lxd/", "a", "0/LXD/1", "0/lxd/01", "٣")],
)
def test_machine_ids(text: str, valid: bool) -> None:
    assert names.is_machine(text) is valid


@pytest.mark.parametrize(
    ("machine", "tag", "parent"),
    [
        ("0", "machine-0", None),
        ("3/lxd/1", "machine-3-lxd-1", "3"),
        ("3/lxd/1/kvm/0", "machine-3-lxd-1-kvm-0", "3/lxd/1"),
    ],
)
def test_machine_tag_and_parent(machine: str, tag: str, parent: str | None) -> None:
    assert names.machine_tag(machine) == tag
    assert names.parent_machine(machine) == parent


@pytest.mark.parametrize(
    ("text", "valid"),
    [("db", True), ("db-admin", True), ("juju_info", True), ("db0-1", True)]
    + [(text, False) for text in ("", "Db", "db-", "_db", "db--x", "0db", "db.x")],
)
def test_endpoint_names(text: str, valid: bool) -> None:
    assert names.is_endpoint(text) is valid


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("m", True),
        ("0", True),
        ("prod-1", True),
        ("a--", True),
        ("", False),
        ("-a", False),
        ("A", False),
        ("a_b", False),
    ],
)
def test_model_names(text: str, valid: bool) -> None:
    assert names.is_model(text) is valid


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("admin", True),
        ("a", True),
        ("Bob.B+x-1", True),
        ("", False),
        (".a", False),
        ("a.", False),
        ("a@b", False),
    ],
)
def test_user_names(text: str, valid: bool) -> None:
    assert names.is_user(text) is valid


ODD = ["", "$(id)", "../x", "a/b", "a b", "a\nb", "-a", "`id`", "a;b", "a\x1b[31m", "\u202ea"]


@pytest.mark.parametrize(
    ("valid", "most"),
    [
        (is_application, 200),
        (names.is_storage, 200),
        (names.is_endpoint, 200),
        (names.is_model, 128),
        (names.is_controller, 128),
    ],
)
def test_names_are_plain_and_have_an_end(valid: Callable[[str], bool], most: int) -> None:
    assert [text for text in ODD if valid(text)] == []
    assert [valid("a" * most), valid("a" * (most + 1)), valid("a" * 5000)] == [True, False, False]


def test_names_of_files_stay_in_their_folder() -> None:
    assert [text for text in ("a", "a.tar.gz", "A_b", "web image") if not names.is_file(text)] == []
    assert [
        text for text in (".", "..", ".a", "-a", "a/b", "a\nb", "", "a" * 201) if names.is_file(text)
    ] == []
