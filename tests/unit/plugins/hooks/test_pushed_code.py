"""What is pushed to machines stays small and old: Python 3.8, and nothing heavy at start."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world import CHECKOUT

ROOT = CHECKOUT
MODULES = sorted((ROOT / "pushjuju" / "plugins" / "hooks").glob("[a-z]*.py"))
REMOTE = ROOT / "pushjuju" / "runner" / "remote"
PORTABLE = sorted((ROOT / "pushjuju" / "portable").glob("*.py"))
INTERFACE = [
    *PORTABLE,
    *sorted(REMOTE.rglob("go*.py")),
    REMOTE / "toolkit.py",
    *REMOTE.rglob("toolcontext.py"),
]
HEAVY = (
    "json",
    "re",
    "typing",
    "argparse",
    "enum",
    "dataclasses",
    "subprocess",
    "asyncio",
    "collections",
    "yaml",
)


def test_tools_load_nothing_heavy() -> None:
    names = [f"pushjuju.plugins.hooks.{path.stem}" for path in MODULES]
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); [__import__(name) for name in {names!r}];"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.parametrize("path", MODULES + INTERFACE, ids=lambda path: path.name)
def test_syntax_is_python_3_8(path: Path) -> None:
    ast.parse(path.read_text(), feature_version=(3, 8))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_families_import_only_the_interface_and_what_is_portable(path: Path) -> None:
    tree = ast.parse(path.read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {f"pushjuju.portable.{path.stem}" for path in PORTABLE}
    assert imported <= {"__future__", "typing", "pushjuju.runner.remote.toolkit", *ours}
