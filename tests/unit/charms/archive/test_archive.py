"""Archives of strangers: each row of what is refused, and nothing ever lands outside."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pushjuju.charms.archive.archiving import ArchiveLimits
from pushjuju.charms.archive.pack import pack
from pushjuju.charms.archive.reader import read_charm
from pushjuju.core.errors import InvalidCharm
from tests.charms_tools.unpacking import unpack
from tests.world.charm_trees import METADATA, charm_tree

REG, DIR, LNK = stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK


class Zip:
    """Writes any entry, also those that a library refuses to make."""

    def __init__(self, *, base: bool = True) -> None:
        self.body = io.BytesIO()
        self.file = zipfile.ZipFile(self.body, "w")
        if base:
            self.add("metadata.yaml", METADATA)
            self.add("hooks/install", "#!/bin/sh\n", mode=REG | 0o755)

    def add(self, name: str, body: str | bytes = b"", *, mode: int = REG | 0o644, system: int = 3,
            method: int = zipfile.ZIP_DEFLATED) -> Zip:  # fmt: skip
        info = zipfile.ZipInfo("x")
        info.filename = name
        info.create_system = system
        info.external_attr = mode << 16
        info.compress_type = method
        self.file.NameToInfo.clear()  # it would warn of names written twice
        self.file.writestr(info, body)
        return self

    def link(self, name: str, target: str) -> Zip:
        return self.add(name, target, mode=LNK | 0o777)

    def write(self, path: Path) -> Path:
        self.file.close()
        path.write_bytes(self.body.getvalue())
        return path


def refused(path: Path, fault: str) -> InvalidCharm:
    """Every door refuses it with the same text, and leaves nothing behind."""
    before = sorted(path.parent.rglob("*"))
    doors: tuple[Callable[[], object], ...] = (
        lambda: read_charm(path),
        lambda: pack(path, path.parent / "packed.charm"),
        lambda: unpack(path, path.parent / "unpacked"),
    )
    for door in doors:
        with pytest.raises(InvalidCharm) as caught:
            door()
        assert fault in caught.value.message
    assert sorted(path.parent.rglob("*")) == before
    return caught.value


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("/etc/passwd", 'entry "/etc/passwd" has an absolute name'),
        ("../x", 'entry "../x" has ".." in its name'),
        ("..", 'entry ".." has ".." in its name'),
        ("a/../b", 'entry "a/../b" has ".." in its name'),
        ("a/..", 'entry "a/.." has ".." in its name'),
        ("C:/x", 'entry "C:/x" has a drive letter in its name'),
        ("c:x", 'entry "c:x" has a drive letter in its name'),
        ("a\\b", 'entry "a\\\\b" has a backslash in its name'),
        ("a//b", 'entry "a//b" has an empty or a "." part in its name'),
        ("./a", 'entry "./a" has an empty or a "." part in its name'),
        ("a/./b", 'entry "a/./b" has an empty or a "." part in its name'),
        ("a\nb", 'entry "a\\nb" has a control character in its name'),
        ("x" * 300, "has too long a name"),
        ("/".join(["x" * 200] * 25), "has too long a name"),
    ],
)
def test_names(tmp_path: Path, name: str, fault: str) -> None:
    refused(Zip().add(name).write(tmp_path / "c.charm"), fault)


def test_a_nul_in_a_name(tmp_path: Path) -> None:
    path = Zip().add("aNULb").write(tmp_path / "c.charm")
    path.write_bytes(path.read_bytes().replace(b"aNULb", b"a\0ULb"))
    refused(path, 'entry "a\\x00ULb" has a NUL byte in its name')


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda z: z.add("a", "1").add("a", "2"), 'entry "a" appears twice'),
        (lambda z: z.add("a", "1").add("a/", mode=DIR | 0o755), 'entry "a" appears twice'),
        (lambda z: z.add("a/", mode=DIR | 0o755).add("a/", mode=DIR | 0o755), 'entry "a" appears twice'),
        (lambda z: z.add("a", "1").add("a/b", "2"), 'entry "a/b" lies below "a", which is a file'),
        (lambda z: z.add("a/b", "2").link("a", "hooks"), 'entry "a/b" lies below "a", which is a link'),
        (lambda z: z.link("a", "/tmp"), 'symlink "a" is absolute: "/tmp"'),
        (lambda z: z.link("a", ".."), 'symlink "a" links out of charm: ".."'),
        (lambda z: z.link("a", "hooks/../../x"), 'symlink "a" links out of charm: "hooks/../../x"'),
        (lambda z: z.link("d", "e/f").add("e/f/g", "").link("h", "d/../../.."),
         'symlink "h" links out of charm: "d/../../.."'),
        (lambda z: z.link("a", "b").link("b", "a"), 'symlink "a" links out of charm: "b"'),
        (lambda z: z.link("a", "a"), 'symlink "a" links out of charm: "a"'),
        (lambda z: z.link("a", ""), 'entry "a" is a symlink without a usable target'),
        (lambda z: z.link("a", "b\0c"), 'entry "a" is a symlink without a usable target'),
        (lambda z: z.link("a", "x" * 5000), 'entry "a" is a symlink with too long a target'),
        (lambda z: z.add("a", mode=stat.S_IFCHR | 0o644), "neither a file nor a directory nor a symlink"),
        (lambda z: z.add("a", mode=stat.S_IFBLK | 0o644), "neither a file nor a directory nor a symlink"),
        (lambda z: z.add("a", mode=stat.S_IFIFO | 0o644), "neither a file nor a directory nor a symlink"),
        (lambda z: z.add("a", mode=stat.S_IFSOCK | 0o644), "neither a file nor a directory nor a symlink"),
        (lambda z: z.add("a", mode=DIR | 0o755), 'entry "a" is a directory by its name or by its mode'),
        (lambda z: z.add("a/", mode=REG | 0o755), 'entry "a/" is a directory by its name or by its mode'),
        (lambda z: z.add("a", "x", method=zipfile.ZIP_BZIP2), 'entry "a" uses compression method 12'),
        (lambda z: z.add("a", "x", method=zipfile.ZIP_LZMA), 'entry "a" uses compression method 14'),
    ],
)  # fmt: skip
def test_entries(tmp_path: Path, make: Callable[[Zip], Zip], fault: str) -> None:
    refused(make(Zip()).write(tmp_path / "c.charm"), fault)


def test_all_refused_entries_are_told_at_once(tmp_path: Path) -> None:
    strange = Zip().add("../x").add("a", "1").add("a", "2").add("b\\c").link("d", "/tmp")
    error = refused(strange.write(tmp_path / "c.charm"), 'entry "../x" has ".." in its name')
    assert error.detail.splitlines() == [
        "also:",
        '  invalid charm archive: entry "b\\\\c" has a backslash in its name',
        '  symlink "d" is absolute: "/tmp"',
        '  invalid charm archive: entry "a" appears twice',
    ]
    links = Zip().link("a", "..").link("b", "b")
    error = refused(links.write(tmp_path / "c.charm"), 'symlink "a" links out of charm: ".."')
    assert error.detail.splitlines() == ["also:", '  symlink "b" links out of charm: "b"']


def patched(path: Path, name: bytes, offset: int, value: bytes) -> Path:
    """Change a field of an entry's record in the central directory."""
    data = bytearray(path.read_bytes())
    at = data.rindex(name) - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    data[at + offset : at + offset + len(value)] = value
    path.write_bytes(bytes(data))
    return path


@pytest.mark.parametrize(
    ("offset", "value", "fault"),
    [
        (8, struct.pack("<H", 0x1), 'entry "secret" is encrypted'),
        (8, struct.pack("<H", 0x40), 'entry "secret" is encrypted'),
        (34, struct.pack("<H", 3), 'entry "secret" is on another disk'),
        (16, struct.pack("<I", 7), 'entry "secret" is damaged'),
        (42, struct.pack("<I", 0), "overlaps another entry"),
    ],
)
def test_records(tmp_path: Path, offset: int, value: bytes, fault: str) -> None:
    path = patched(Zip().add("secret", "x" * 50).write(tmp_path / "c.charm"), b"secret", offset, value)
    if "damaged" in fault:
        # Reading the metadata does not touch it; whatever takes the whole does.
        with pytest.raises(InvalidCharm, match="is damaged: Bad CRC"):
            pack(path, tmp_path / "out.charm")
        with pytest.raises(InvalidCharm, match="is damaged: Bad CRC"):
            unpack(path, tmp_path / "out")
        assert list(tmp_path.iterdir()) == [path]
        return
    refused(path, fault)


def test_several_disks(tmp_path: Path) -> None:
    path = Zip().write(tmp_path / "c.charm")
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x05\x06")
    data[at + 4 : at + 6] = b"\x01\x00"
    path.write_bytes(bytes(data))
    refused(path, "parts on several disks are not supported")


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x05\x06" + b"\0" * 10, b"\0" * 5000])
def test_no_zip_at_all(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "c.charm"
    path.write_bytes(data)
    refused(path, f'invalid charm or bundle provided at "{path}"')


def test_bombs(tmp_path: Path) -> None:
    path = Zip().add("zeros", b"\0" * 5_000_000).write(tmp_path / "c.charm")
    for limits, fault in (
        (ArchiveLimits(ratio_from=1_000_000), "unpacks to more than 100 times its size"),
        (ArchiveLimits(total=4_000_000), "larger than 4000000 bytes unpacked"),
        (ArchiveLimits(entries=2), "more than 2 entries"),
    ):
        with pytest.raises(InvalidCharm, match=fault):
            read_charm(path, limits)
    assert read_charm(path).charm.name == "web"


def test_a_lying_size_does_not_unpack_more(tmp_path: Path) -> None:
    path = Zip().add("zeros", b"\0" * 1_000_000).write(tmp_path / "c.charm")
    patched(path, b"zeros", 24, struct.pack("<I", 10))
    with pytest.raises(InvalidCharm, match='entry "zeros" is damaged'):
        unpack(path, tmp_path / "out")
    assert list(tmp_path.iterdir()) == [path]


def test_a_large_document_is_not_read(tmp_path: Path) -> None:
    path = Zip().add("config.yaml", b"#" * 100_000).write(tmp_path / "c.charm")
    with pytest.raises(InvalidCharm, match=r'archive file "config\.yaml" is too large'):
        read_charm(path, ArchiveLimits(document=1000))


def test_dos_archives_are_taken_with_plain_modes(tmp_path: Path) -> None:
    path = Zip(base=False).add("metadata.yaml", METADATA, mode=0, system=0)
    path.add("hooks/", mode=0, system=0).add("hooks/install", "#!/bin/sh\n", mode=0, system=0)
    path.add("tool", "x", mode=0, system=0)
    packed = pack(path.write(tmp_path / "c.charm"), tmp_path / "out.charm")
    unpack(packed.path, tmp_path / "out")
    assert stat.S_IMODE((tmp_path / "out/hooks/install").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "out/tool").stat().st_mode) == 0o644
    with zipfile.ZipFile(packed.path) as file:
        assert all(info.create_system == 3 for info in file.infolist())


def test_setuid_bits_are_dropped(tmp_path: Path) -> None:
    path = Zip().add("tool", "x", mode=REG | 0o6755).add("d/", mode=DIR | 0o3777).write(tmp_path / "c.charm")
    unpack(path, tmp_path / "direct")
    unpack(pack(path, tmp_path / "out.charm").path, tmp_path / "packed")
    for tree in ("direct", "packed"):
        assert stat.S_IMODE((tmp_path / tree / "tool").stat().st_mode) == 0o755
        assert stat.S_IMODE((tmp_path / tree / "d").stat().st_mode) == 0o755


def test_links_inside_are_kept(tmp_path: Path) -> None:
    path = Zip().link("hooks/start", "install").link("venv/lib64", "lib").add("venv/lib/x", "1")
    path.link("far", "venv/lib64/x").link("later", "venv/bin/python")
    archive = path.write(tmp_path / "c.charm")
    unpack(pack(archive, tmp_path / "out.charm").path, tmp_path / "out")
    assert (tmp_path / "out/far").read_text() == "1"
    assert str((tmp_path / "out/hooks/start").readlink()) == "install"


def test_metadata_may_be_a_link(tmp_path: Path) -> None:
    path = (
        Zip(base=False).add("src/m.yaml", METADATA).link("metadata.yaml", "src/m.yaml").add("dispatch", "x")
    )
    assert read_charm(path.write(tmp_path / "c.charm")).charm.name == "web"


def test_names_without_the_utf8_mark(tmp_path: Path) -> None:
    path = Zip().add("caf_x.txt", "x").write(tmp_path / "c.charm")
    path.write_bytes(path.read_bytes().replace(b"caf_x.txt", "café.txt".encode()))
    packed = pack(path, tmp_path / "out.charm")
    assert "café.txt" in packed.members
    with zipfile.ZipFile(packed.path) as file:
        assert "café.txt" in file.namelist()
    path.write_bytes(path.read_bytes().replace("café.txt".encode(), b"caf\xff\xfe.txt"))
    refused(path, "has a name that is not UTF-8")


def test_a_sub_root_is_repacked(tmp_path: Path) -> None:
    path = Zip(base=False).add("web/metadata.yaml", METADATA).add("web/hooks/install", "x").add("other", "x")
    path.add("web/src/metadata.yaml", "deeper").link("web/l", "hooks/install")
    packed = pack(path.write(tmp_path / "c.charm"), tmp_path / "out.charm")
    assert packed.members == (
        "hooks", "hooks/install", "l", "metadata.yaml", "revision", "src", "src/metadata.yaml",
    )  # fmt: skip
    assert read_charm(packed.path).charm.name == "web"


def test_a_sub_root_must_be_one(tmp_path: Path) -> None:
    refused(
        Zip(base=False).add("x", "").write(tmp_path / "c.charm"),
        "invalid charm archive: missing metadata.yaml",
    )
    path = Zip(base=False).add("a/metadata.yaml", METADATA).add("b/metadata.yaml", METADATA)
    error = refused(path.write(tmp_path / "d.charm"), "invalid charm archive: ambiguous root directory")
    assert error.detail == "a/metadata.yaml\nb/metadata.yaml"


def test_a_link_out_of_the_sub_root(tmp_path: Path) -> None:
    path = Zip(base=False).add("web/metadata.yaml", METADATA).add("web/dispatch", "x").link("web/l", "../x")
    refused(path.add("x", "").write(tmp_path / "c.charm"), 'symlink "l" links out of charm: "../x"')


def test_an_archive_without_hooks(tmp_path: Path) -> None:
    path = Zip(base=False).add("metadata.yaml", METADATA).add("hooks/", mode=DIR | 0o755)
    with pytest.raises(InvalidCharm, match='invalid charm "web": has no hooks nor dispatch file'):
        pack(path.write(tmp_path / "c.charm"), tmp_path / "out.charm")


def test_hooks_of_an_archive_get_their_bit(tmp_path: Path) -> None:
    path = Zip().add("hooks/start", "#!/bin/sh\n").add("hooks/lib.sh", "x").write(tmp_path / "c.charm")
    packed = pack(path, tmp_path / "out.charm")
    unpack(path, tmp_path / "direct")
    with zipfile.ZipFile(packed.path) as file:
        found = {info.filename: stat.filemode(info.external_attr >> 16) for info in file.infolist()}
    assert found["hooks/start"] == "-rwxr-xr-x"
    assert found["hooks/lib.sh"] == "-rw-r--r--"
    assert os.access(tmp_path / "direct/hooks/start", os.X_OK)


def test_repacking_is_deterministic_too(tmp_path: Path) -> None:
    one = Zip().add("tool", "x", mode=REG | 0o4755).write(tmp_path / "1.charm")
    two = (
        Zip(base=False)
        .add("tool", "x", mode=REG | 0o4755)
        .add("hooks/install", "#!/bin/sh\n", mode=REG | 0o700)
    )
    two.add("metadata.yaml", METADATA).write(tmp_path / "2.charm")
    assert pack(one, tmp_path / "a").sha256 == pack(tmp_path / "2.charm", tmp_path / "b").sha256


PARTS = st.sampled_from(["a", "b", "..", ".", "", "hooks", "C:", "\\", "x\n"])
HOSTILE = st.lists(
    st.tuples(
        st.lists(PARTS, min_size=1, max_size=4).map("/".join).filter(bool),
        st.sampled_from([REG | 0o644, REG | 0o4777, DIR | 0o755, LNK | 0o777, stat.S_IFIFO, 0]),
        st.one_of(
            st.binary(max_size=8), st.lists(PARTS, max_size=5).map(lambda parts: "/".join(parts).encode())
        ),
        st.sampled_from([0, 3, 19]),
    ),
    max_size=5,
)


@settings(max_examples=150, deadline=None)
@given(HOSTILE)
def test_nothing_ever_lands_outside(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[str, int, bytes, int]]
) -> None:
    work = tmp_path_factory.mktemp("hostile")
    archive = Zip()
    for name, mode, body, system in entries:
        archive.add(name, body, mode=mode, system=system)
    path = archive.write(work / "c.charm")
    (work / "in").mkdir()
    done = True
    try:
        unpack(path, work / "in/out")
    except InvalidCharm:
        done = False
    assert sorted(item.name for item in work.iterdir()) == ["c.charm", "in"]
    assert sorted(item.name for item in (work / "in").iterdir()) == (["out"] if done else [])
    root = work / "in/out"
    for item in root.rglob("*") if done else ():
        assert item.resolve().is_relative_to(root.resolve())
        assert not stat.S_IMODE(item.lstat().st_mode) & 0o7000


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(0, 2000),
)
def test_damaged_archives_are_refused_or_whole(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]], cut: int
) -> None:
    work = tmp_path_factory.mktemp("damaged")
    packed = pack(charm_tree(work / "c", {"src/x.py": "x = 1\n" * 20}), work / "c.charm")
    data = bytearray(packed.path.read_bytes())
    for at, value in changes:
        data[at % len(data)] = value
    if cut % 3 == 0:
        del data[cut % len(data) :]
    (work / "d.charm").write_bytes(bytes(data))
    try:
        unpack(work / "d.charm", work / "out")
    except InvalidCharm:
        assert not (work / "out").exists()
    else:
        assert (work / "out/metadata.yaml").is_file()
    assert sorted(item.name for item in work.iterdir() if item.name.startswith(".")) == []
