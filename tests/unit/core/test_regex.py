"""Regular expressions that are compiled at their first use."""

from __future__ import annotations

import copy
import re

import pytest

from pushjuju.core import values
from pushjuju.core.values import regex


def test_an_expression_is_compiled_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    compiled = re.compile("a(b+)", re.IGNORECASE)
    monkeypatch.setattr(values.re, "compile", lambda *given: made.append(given) or compiled)
    found = regex("a(b+)", re.IGNORECASE)
    assert made == []
    assert (found.sub("x", "ab cAB"), found.pattern, bool(found.fullmatch("abc"))) == ("x cx", "a(b+)", False)
    assert made == [("a(b+)", re.IGNORECASE)]


def test_an_expression_can_be_copied() -> None:
    assert copy.copy(regex("a")).fullmatch("a")
