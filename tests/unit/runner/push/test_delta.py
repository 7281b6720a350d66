"""What of an archive is in another one: only the rest has to be sent."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.runner.push.delta import Piece, behind, pieces
from pushjuju.runner.remote.disk.blobs import Receiver, sha256


def archive(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted(files):
            file.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), files[name])
    return path


def noise(seed: int, size: int = 4000) -> bytes:
    return random.Random(seed).randbytes(size)


def rebuilt(new: Path, old: Path) -> tuple[bytes, int]:
    """Return what a machine makes of the pieces, and how many bytes of it were sent."""
    found, sent = b"", 0
    theirs, mine = old.read_bytes(), new.read_bytes()
    for piece in pieces(new, old):
        assert piece.at == len(found)
        if piece.source >= 0:
            found += theirs[piece.source : piece.source + piece.length]
        else:
            found += mine[piece.at : piece.at + piece.length]
            sent += piece.length
    return found, sent


def test_an_edited_file_is_all_that_is_sent(tmp_path: Path) -> None:
    files = {f"venv/{number}": noise(number) for number in range(50)}
    old = archive(tmp_path / "old", {**files, "src/charm.py": b"print(1)\n"})
    new = archive(tmp_path / "new", {**files, "src/charm.py": b"print(2, 'more')\n", "src/new.py": noise(99)})
    found, sent = rebuilt(new, old)
    assert found == new.read_bytes()
    assert sent < 12_000 < len(found)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_files_that_are_no_archives_are_sent_whole(tmp_path: Path, content: bytes) -> None:
    old = tmp_path / "old"
    old.write_bytes(content)
    new = archive(tmp_path / "new", {"a": noise(1)})
    assert pieces(new, old) == [Piece(at=0, length=new.stat().st_size)]
    assert pieces(new, None) == [Piece(at=0, length=new.stat().st_size)]
    assert rebuilt(old, new)[0] == content


def test_pieces_behind_an_offset() -> None:
    found = [Piece(at=0, length=10), Piece(at=10, length=20, source=100), Piece(at=30, length=5)]
    assert list(behind(found, 0)) == found
    assert list(behind(found, 12)) == [Piece(at=12, length=18, source=102), found[2]]
    assert list(behind(found, 35)) == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=12))
def test_any_change_is_put_together_again(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("delta")
    files = {f"f{number}": noise(number, 700 + number) for number in range(6)}
    old = archive(folder / "old", files)
    for number, what in edits:
        if what == 0:
            files.pop(f"f{number}", None)
        else:
            files[f"f{number}"] = noise(number * 10 + what, 100 * number + what)
    new = archive(folder / "new", files)
    assert rebuilt(new, old)[0] == new.read_bytes()


def test_a_machine_takes_pieces_of_another_blob(tmp_path: Path) -> None:
    source, wanted = noise(1, 3_000_000), b""
    (tmp_path / ("a" * 64)).write_bytes(source)
    wanted = b"head" + source[10:2_500_010]
    digest = sha256()
    digest.update(wanted)
    name = digest.hexdigest()
    receiver = Receiver(str(tmp_path), name, len(wanted), 0)
    assert not receiver.feed(b"head")
    assert receiver.copy(str(tmp_path / ("a" * 64)), 10, 2_500_000)
    assert (tmp_path / name).read_bytes() == wanted


def test_a_piece_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / ("a" * 64)).write_bytes(b"short")
    receiver = Receiver(str(tmp_path), "b" * 64, 100, 0)
    with pytest.raises(ValueError, match="too short"):
        receiver.copy(str(tmp_path / ("a" * 64)), 0, 100)
    with pytest.raises(FileNotFoundError):
        receiver.copy(str(tmp_path / ("c" * 64)), 0, 100)
    receiver.abort()
