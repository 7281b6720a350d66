"""Names of applications and units, as Juju takes them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.portable.names import is_application, is_unit, unit_tag

# Juju's own pattern.
APPLICATION = re.compile(r"[a-z][a-z0-9]*(?:-[0-9]*[a-z][a-z0-9]*)*", re.ASCII)


@given(st.text("abz09-_/A\u00e9\u0663\n", max_size=8))
def test_a_name_is_taken_exactly_where_juju_takes_it(text: str) -> None:
    assert is_application(text) is bool(APPLICATION.fullmatch(text))


def test_a_name_of_which_no_file_can_be_made_is_refused() -> None:
    assert is_application("a" * 200)
    assert not is_application("a" * 201)


@pytest.mark.parametrize("text", ["mysql/0", "a-b/17", "web2/100"])
def test_units_have_tags(text: str) -> None:
    assert is_unit(text)
    assert unit_tag(text) == f"unit-{text.replace('/', '-')}"


@pytest.mark.parametrize(
    "text", ["", "mysql", "mysql/", "mysql/01", "mysql/-1", "/0", "A/0", "a/0/1", "mysql/\u0663", "a/0\n"]
)
def test_what_is_no_unit_has_no_tag(text: str) -> None:
    assert not is_unit(text)
    with pytest.raises(ValueError, match="is not a valid unit name"):
        unit_tag(text)
