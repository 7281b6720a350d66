"""Jump hosts as people write them."""

from __future__ import annotations

import pytest

from pushjuju.core import jumps
from pushjuju.core.errors import NotValid


@pytest.mark.parametrize(
    "text",
    ["gate", "kim@gate", "kim@gate:2222", "[fd00::1]:22", "kim@[fd00::1]", "a,b:2,kim@c", "10.0.0.1:22"],
)
def test_what_is_read_is_written_the_same(text: str) -> None:
    assert ",".join(map(str, jumps.parse(text))) == text


def test_no_way_is_no_jump() -> None:
    assert jumps.parse("") == jumps.parse(" ") == ()
    assert [hop.host for hop in jumps.parse("a , b")] == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    ["-oProxyCommand=x", "gate:0", "gate:99999", "a b", "a\nProxyCommand x", "a,,b", "kim@", "@gate", "%h",
     "$(id)", "[gate]", "fd00::1", "gate:x", "ssh://gate", "kim@-x", ",".join("abcdefghi")],
)  # fmt: skip
def test_nothing_else_gets_into_a_configuration(text: str) -> None:
    with pytest.raises(NotValid):
        jumps.parse(text)
