"""The strict reader of charm archives, against Python's zipfile and against what must be refused."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pushjuju.runner.remote.disk import unzip

LINK, FIFO, DEVICE, SOCKET = 0o120777, 0o010644, 0o060644, 0o140644


def archive(entries: list[tuple[str, bytes, int]], **kwargs: Any) -> io.BytesIO:
    """Write an archive of (name, content, unix mode)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **kwargs) as file:
        for name, content, mode in entries:
            info = zipfile.ZipInfo("x")
            info.filename = name
            info.create_system = 3
            info.external_attr = mode << 16
            info.compress_type = kwargs.get("compression", zipfile.ZIP_DEFLATED)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of names that are there twice, on purpose
                file.writestr(info, content)
    return buffer


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\\:\0", exclude_categories=["Cc"]), min_size=1
)


@settings(max_examples=60)
@given(
    st.dictionaries(NAMES.filter(lambda name: name not in (".", "..")), st.binary(max_size=5000), max_size=6),
    st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
)
def test_reads_what_zipfile_wrote(files: dict[str, bytes], compression: int) -> None:
    file = archive([(f"d/{name}", data, 0o100755) for name, data in files.items()], compression=compression)
    members = unzip.read_members(file)
    assert {m.name: b"".join(unzip.content(file, m)) for m in members} == {
        f"d/{n}": d for n, d in files.items()
    }
    assert all((member.kind, member.mode) == ("file", 0o755) for member in members)


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([("../x", b"", 0o100644)], "unsafe path"),
        ([("a/../../x", b"", 0o100644)], "unsafe path"),
        ([("/x", b"", 0o100644)], "unsafe path"),
        ([("a//x", b"", 0o100644)], "unsafe path"),
        ([("./x", b"", 0o100644)], "unsafe path"),
        ([("..", b"", 0o100644)], "unsafe path"),
        ([("a\\..\\x", b"", 0o100644)], "unsafe path"),
        ([("C:/x", b"", 0o100644)], "unsafe path"),
        ([("x", b"", FIFO)], "unknown file type"),
        ([("x", b"", DEVICE)], "unknown file type"),
        ([("x", b"", SOCKET)], "unknown file type"),
        ([("x", b"1", 0o100644), ("x", b"2", 0o100644)], "there twice"),
        ([("x", b"1", 0o100644), ("x/", b"", 0o040755)], "there twice"),
        ([("x", b"1", 0o100644), ("x/y", b"", 0o100644)], "is not a directory"),
        ([("x", b"hooks", LINK), ("x/y", b"", 0o100644)], "is not a directory"),
        ([("x", b"/etc/passwd", LINK)], "is absolute"),
        ([("x", b"../y", LINK)], "leads out of scope"),
        ([("a/x", b"../../y", LINK)], "leads out of scope"),
        ([("a/x", b"b/../../..", LINK)], "leads out of scope"),
        ([("d/up", b"..", LINK), ("x", b"d/up/..", LINK)], "leads out of scope"),
        ([("x", b"y", LINK), ("y", b"x", LINK)], "loops"),
        ([("x", b"x", LINK)], "loops"),
        ([("x", b"", LINK)], "without target"),
        ([("x", b"a" * 5000, LINK)], "too long"),
    ],
)
def test_unsafe_archives_are_refused(entries: list[tuple[str, bytes, int]], text: str) -> None:
    with pytest.raises(unzip.BadArchive, match=text):
        unzip.read_members(archive(entries))


def test_links_inside_the_tree_are_fine_and_special_bits_are_dropped() -> None:
    entries = [("venv/lib64", b"lib", LINK), ("hooks/install", b"../dispatch", LINK), ("s", b"", 0o104755)]
    members = {member.name: member for member in unzip.read_members(archive(entries))}
    assert (members["venv/lib64"].link, members["hooks/install"].link) == ("lib", "../dispatch")
    assert members["s"].mode == 0o755


def test_archives_without_unix_modes_get_usual_ones() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        info = zipfile.ZipInfo("x")
        info.create_system = 0
        info.external_attr = 0
        file.writestr(info, b"data")
    assert [(m.mode, m.kind) for m in unzip.read_members(buffer)] == [(0o644, "file")]


def test_damaged_archives_are_refused_or_read_right() -> None:
    good = archive([("a", b"hello" * 100, 0o100644), ("b/c", b"x", 0o100755)]).getvalue()
    for at in range(len(good)):
        data = bytearray(good)
        data[at] ^= 0x41
        file = io.BytesIO(bytes(data))
        try:
            for member in unzip.read_members(file):
                b"".join(unzip.content(file, member))
        except (unzip.BadArchive, OSError):
            continue
    for size in (0, 10, 21, len(good) // 2):
        with pytest.raises(unzip.BadArchive):
            unzip.read_members(io.BytesIO(good[:size]))


def test_more_data_than_declared_is_refused(tmp_path: Path) -> None:
    file = archive([("bomb", b"\0" * 1_000_000, 0o100644)])
    member = unzip.read_members(file)[0]
    member.size = 1000
    with pytest.raises(unzip.BadArchive, match="more data than declared"):
        list(unzip.content(file, member))
