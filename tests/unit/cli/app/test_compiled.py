"""Modules that are found and read with less work than Python's own."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pushjuju.cli.lazy_imports import Finder


def load(folder: Path, name: str) -> ModuleType:
    spec = Finder().find(f"package.{name}", [str(folder)])
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def write(folder: Path, text: str, *, compiled: str | None = None) -> Path:
    """Write a module, and the compiled file of another text of the same length and time."""
    path = folder / "one.py"
    if compiled is not None:
        path.write_text(compiled)
        os.utime(path, (1, 1))
        py_compile.compile(str(path), doraise=True)
    path.write_text(text)
    os.utime(path, (1, 1))
    return path


def test_the_compiled_file_of_the_source_is_used(tmp_path: Path) -> None:
    path = write(tmp_path, "answer = 1", compiled="answer = 2")
    module = load(tmp_path, "one")
    assert (module.answer, module.__file__) == (2, str(path))
    assert module.__spec__.cached == importlib.util.cache_from_source(str(path))


def test_the_compiled_file_of_an_older_source_is_not_used(tmp_path: Path) -> None:
    path = write(tmp_path, "answer = 1", compiled="answer = 2")
    os.utime(path, (2, 2))
    assert load(tmp_path, "one").answer == 1


@pytest.mark.parametrize("content", [b"", b"short", None])
def test_a_broken_compiled_file_is_not_used(tmp_path: Path, content: bytes | None) -> None:
    path = write(tmp_path, "answer = 1", compiled="answer = 2")
    kept = Path(importlib.util.cache_from_source(str(path)))
    kept.write_bytes(kept.read_bytes()[:20] if content is None else content)
    os.utime(path, (3, 3))
    assert load(tmp_path, "one").answer == 1


def test_code_that_was_compiled_elsewhere_shows_the_file_of_today(tmp_path: Path) -> None:
    write(tmp_path, "def where(): return where.__code__.co_filename", compiled="")
    path = tmp_path / "one.py"
    py_compile.compile(str(path), dfile="/elsewhere/one.py", doraise=True)
    assert load(tmp_path, "one").where() == str(path)


def test_a_folder_for_compiled_files_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "compiled"))
    write(tmp_path, "answer = 1", compiled="answer = 2")
    assert not (tmp_path / "__pycache__").exists()
    assert load(tmp_path, "one").answer == 2


@pytest.mark.parametrize("path", [None, [], ["a"], ["/nowhere"], ["/a", "/b"]])
def test_python_looks_for_what_is_not_there(path: list[str] | None) -> None:
    assert Finder().find("package.one", path) is None
