"""TOML files of the data directory: plain ones are read without tomllib, with the same result."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.store.files import toml_files

PLAIN = 'uuid = "a-1"\n\n[config.model-defaults]\nname = "ä = [x]"\n[config]\nother = ""\n'
ODD = (
    "a = 1", "a = 'b'", 'a = "\\n"', 'a = """b"""', "a = [1]", 'a.b = "c"', '"a" = "b"', 'a="b"', "# a = 1",
    '[a."b"]', "[[a]]", "[a]\n[b]  # more", '[a]\r\nb = "c"', 'a = "\t"', "[a]\nb = 1979-05-27",
)  # fmt: skip
BROKEN = (
    'a = "b"\na = "c"', "[a]\n[a]", 'a = "b"\n[a]', 'a = "b"\n[a.b]', '[a.b]\n[a]\nb = "c"', "[]", "[a..b]",
    "a", 'a = "b', 'a = "b"c"', 'a = "\x01"', "[a", '= "b"', "a = ", '[a]\nb = "c"\n[a.b.c]', 'a = "b" \x00',
)  # fmt: skip
LINES = st.lists(
    st.sampled_from(["", "[a]", "[b]", "[a.b]", "[a.b.c]", 'a = "x"', 'b = "y"', 'c = "[a]"', "[c]", "a"])
)


def test_a_plain_file_is_read_without_tomllib(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tomllib.loads(PLAIN)
    monkeypatch.delattr(tomllib, "loads")
    assert toml_files.parsed(PLAIN) == wanted
    assert wanted["config"]["model-defaults"] == {"name": "ä = [x]"}


@pytest.mark.parametrize("text", ODD)
def test_a_file_that_is_not_plain_is_read_by_tomllib(text: str) -> None:
    assert toml_files.parsed(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\(at "):
        toml_files.parsed(text)


@given(LINES)
def test_lines_in_any_order_mean_what_tomllib_says(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        wanted = tomllib.loads(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"\(at "):
            toml_files.parsed(text)
    else:
        assert toml_files.parsed(text) == wanted
