"""The program for machines: its hash is kept until a source file changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushjuju.core.errors import RemoteFailed
from pushjuju.runner.push import packer
from pushjuju.runner.push.packer import Program, pack

TOOL = (
    "from pushjuju.runner.remote.toolkit import Tool\n\nTOOLS = {'probe': Tool('probe', print, summary='')}\n"
)


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """The source of a family of hook tools."""
    source = tmp_path / "probes.py"
    source.write_text(TOOL)
    return source


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The file that keeps the hash."""
    return tmp_path / "cache" / "program.json"


def forgotten() -> None:
    """Forget what this process has packed, as a new process does."""
    packer._packed.cache_clear()
    packer._boot.cache_clear()


def packed(family: Path, cache: Path) -> Program:
    """Return the program as a new process packs it."""
    forgotten()
    return pack([("probes", family)], {"ask": "Usage: ask"}, cache)


def test_a_program_that_is_kept_is_not_packed_again(
    family: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = packed(family, cache)
    with monkeypatch.context() as patched:
        patched.setattr(packer, "_packed", None)
        patched.setattr(packer, "_boot", None)
        kept = pack([("probes", family)], {"ask": "Usage: ask"}, cache)
    assert (kept, kept.tools) == (first, ("ask", "probe"))
    assert kept.data == first.data


def test_a_changed_source_is_packed_again(family: Path, cache: Path) -> None:
    first = packed(family, cache)
    family.write_text(f"{TOOL}# changed\n")
    assert packed(family, cache).digest != first.digest


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": ["x"], "found": null}'])
def test_a_damaged_cache_is_written_anew(family: Path, cache: Path, text: str) -> None:
    first, good = packed(family, cache), cache.read_text()
    cache.write_text(text)
    assert (packed(family, cache), cache.read_text()) == (first, good)


def test_a_kept_value_of_another_form_is_packed_again(family: Path, cache: Path) -> None:
    first = packed(family, cache)
    cache.write_text(cache.read_text().replace(f'["{first.digest}", ', "["))
    assert packed(family, cache) == first


def test_a_program_is_packed_without_a_place_to_keep_it(family: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert packed(family, tmp_path / "file" / "program.json").tools == ("ask", "probe")


def test_a_program_that_changes_before_it_is_sent_is_not_sent_under_its_old_name(
    family: Path, cache: Path
) -> None:
    packed(family, cache)
    kept = packed(family, cache)
    forgotten()
    family.write_text(f"{TOOL}# upgraded\n")
    with pytest.raises(RemoteFailed, match="was upgraded while this command ran"):
        assert kept.data
    assert not cache.exists()  # so that the next command packs the program again
