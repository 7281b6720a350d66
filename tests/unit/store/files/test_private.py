"""Texts that go where a user says: into a file, a link, a pipe."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreError
from pushjuju.store.files.private import put_text


def test_a_link_stays_and_its_file_gets_the_text(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    put_text(link, "some text")
    assert (link.is_symlink(), (tmp_path / "file").read_text()) == (True, "some text")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_a_pipe_gets_the_text_and_one_that_nobody_reads_is_an_error(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StoreError, match="no program reads from this pipe"):
        put_text(pipe, "some text")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    put_text(pipe, "some text")
    assert os.read(reader, 100) == b"some text"
    os.close(reader)
