"""Folders, modules and functions keep their size; what is too large today may only become smaller."""

from __future__ import annotations

import statistics

import pytest

from contrib import shape


@pytest.mark.parametrize("gate", [gate for gate in shape.GATES if gate != "words"])
def test_what_is_to_become_less_never_becomes_more(gate: str) -> None:
    assert shape.differences(gate) == []


def test_functions_stay_short() -> None:
    lengths = shape.function_lengths()
    assert statistics.median(lengths) <= 5
    assert lengths[len(lengths) * 9 // 10] <= 15
    assert shape.longest_function()[0] <= 80


def test_no_module_is_very_long() -> None:
    """A module of more than 400 lines is listed in the baseline; more than 800 are never right."""
    assert [module.path for module in shape.modules() if module.lines > 800] == []


def test_every_baseline_belongs_to_a_gate() -> None:
    assert {file.stem for file in shape.BASELINES.iterdir()} == set(shape.GATES)


def test_update_writes_lower_numbers_and_keeps_reasons(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shape, "BASELINES", tmp_path)
    now = {"a.py C901": 1, "a.py E1": 2}
    monkeypatch.setattr(shape, "GATES", {"lint": (lambda: shape.Counter(now), True)})
    baseline = shape.BASELINES / "lint.txt"
    baseline.write_text("# what ruff says\na.py C901 2  # a reason\na.py E1 2\nb.py E1 1\n")
    assert [text.partition(":")[0] for text in shape.differences("lint")] == ["a.py C901", "b.py E1"]
    assert shape.update(moved=False) == 0
    assert baseline.read_text() == "# what ruff says\na.py C901 1  # a reason\na.py E1 2\n"
    assert shape.differences("lint") == []
    now["a.py E1"], now["c.py E1"] = 1, 1
    assert shape.update(moved=False) == 1
    assert f"c.py E1: 1, was 0: {shape.TOO_MANY}" in capsys.readouterr().out
    assert shape.update(moved=True) == 0
    assert baseline.read_text() == "# what ruff says\na.py C901 1  # a reason\na.py E1 1\nc.py E1 1\n"
    now["c.py E1"] = 2
    assert shape.update(moved=True) == 1
    assert "c.py E1 1\n" in baseline.read_text()
