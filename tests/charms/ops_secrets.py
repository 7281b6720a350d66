"""A pytest plugin: what `test/integration/test_secrets.py` of ops wants of its own conftest.

That conftest packs the charm with charmcraft and talks to clusters; here the charm is packed already, and the
only cluster library that it imports is never called.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import jubilant
import pytest

sys.modules.setdefault("minio", ModuleType("minio"))  # imported for tests of other charms


@pytest.fixture(scope="module")
def juju() -> Iterator[jubilant.Juju]:
    """A model for the whole file, as upstream has it."""
    with jubilant.temp_model() as made:
        made.wait_timeout = 180
        yield made


@pytest.fixture
def build_secrets_charm() -> Callable[[], str]:
    """The packed charm."""
    return lambda: os.environ["OPS_SECRETS_CHARM"]
