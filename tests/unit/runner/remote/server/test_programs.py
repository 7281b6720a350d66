"""Copies of the program on a machine: old ones go, one that another process still writes stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pushjuju.runner.remote.base.layout import Layout
from pushjuju.runner.remote.server.ledger import forget_programs

GONE = 2**22 + 1  # above every process id


@pytest.mark.parametrize(
    ("name", "stays"),
    [("now", True), ("old", False), (f"next.{os.getpid()}", True), (f"next.{GONE}", False)],
    ids=["now", "old", "of-a-process", "of-no-process"],  # the same in all processes of a run
)
def test_a_copy_that_is_still_written_is_not_taken_for_an_old_one(
    tmp_path: Path, *, name: str, stays: bool
) -> None:
    paths = Layout(str(tmp_path), f"{tmp_path}/var/lib/juju/pushjuju/now")
    copy = Path(paths.base, name)
    copy.mkdir(parents=True)
    copy.joinpath("tools.json").touch()
    forget_programs(paths)
    assert copy.exists() is stays
