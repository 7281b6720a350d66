"""What a machine remembers of leases."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushjuju.runner.remote.base.layout import BadName
from pushjuju.runner.remote.disk.leases import Leases


def op(number: int, model: str = "m1") -> dict[str, object]:
    return {"t": "op", "id": "x", "lease": {"of": model, "number": number}}


def test_highest_lease_counts(tmp_path: Path) -> None:
    leases = Leases(str(tmp_path))
    assert [leases.overtaken(op(number)) for number in (5, 5, 9, 6, 9, 10)] == [0, 0, 0, 9, 0, 0]
    assert leases.overtaken({"t": "op", "id": "x"}) == 0
    assert leases.overtaken(op(1, "m2")) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lease-m1", "lease-m2"]


def test_what_another_server_heard_counts_too(tmp_path: Path) -> None:
    one, two = Leases(str(tmp_path)), Leases(str(tmp_path))
    assert (one.overtaken(op(5)), two.overtaken(op(6)), one.overtaken(op(5))) == (0, 0, 6)


def test_full_disk_leaves_the_memory(tmp_path: Path) -> None:
    leases = Leases(str(tmp_path / "missing"))
    assert [leases.overtaken(op(number)) for number in (5, 4)] == [0, 5]


@pytest.mark.parametrize("text", ["", "x", "-1", "\xb2"])
def test_damaged_file_is_no_lease(tmp_path: Path, text: str) -> None:
    (tmp_path / "lease-m1").write_text(text)
    assert Leases(str(tmp_path)).overtaken(op(1)) == 0
    assert (tmp_path / "lease-m1").read_text() == "1"


def test_name_of_a_model_cannot_leave_the_directory(tmp_path: Path) -> None:
    with pytest.raises(BadName):
        Leases(str(tmp_path)).overtaken(op(1, "../x"))
