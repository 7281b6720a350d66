"""JSON by the private C functions of Python, and without them."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pushjuju.portable import jsontext

VALUES = [{"b": [1, 2.5, None, True, "blå\n"], "a": {}}, [], "", 0, {"é": {"z": 1, "y": [[]]}}]


def differs(*_: object) -> None:
    """Stand for a C function of another Python, which wants more."""
    raise TypeError("another signature")


def read_again(monkeypatch: pytest.MonkeyPatch, private: ModuleType | SimpleNamespace | None) -> Any:
    """Execute the module in a Python that has `private` instead of its C functions."""
    monkeypatch.setitem(sys.modules, "_json", private)
    spec = importlib.util.spec_from_file_location("another", jsontext.__file__)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    monkeypatch.undo()
    return made


@pytest.mark.parametrize("private", [None, SimpleNamespace(make_scanner=differs, make_encoder=differs)])
def test_a_python_with_other_private_functions_reads_and_writes_the_same(
    monkeypatch: pytest.MonkeyPatch, private: SimpleNamespace | None
) -> None:
    other = read_again(monkeypatch, private)
    for value in VALUES:
        for name in ("dumps", "compact", "to_json"):
            text = getattr(other, name)(value)
            assert text == getattr(jsontext, name)(value)
            assert other.loads(text) == value
    for wrong in ("", "{", "[1] 2", "nope"):
        with pytest.raises(ValueError):
            other.loads(wrong)
