"""Golden texts: what the command line prints, compared byte for byte with files.

`pytest tests/golden --golden-update` writes the files anew; look at the difference before you commit it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-update", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that compares a text with a file under tests/golden."""

    def compare(name: str, text: str) -> None:
        path = HERE / name
        if request.config.getoption("--golden-update"):
            path.write_text(text)
        assert text == path.read_text()

    return compare


@pytest.fixture
def shop() -> ModuleType:
    """Return the module with the model of the status texts."""
    spec = importlib.util.spec_from_file_location("golden_shop", HERE / "status" / "document.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
