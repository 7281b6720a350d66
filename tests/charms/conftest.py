"""Real machines, driven by the program itself. What a test made is gone at its end, also after a failure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pushjuju.testing.machines import LocalCloud, local_cloud  # noqa: F401
from tests.charms.client import Client


@contextmanager
def _client(cloud: LocalCloud, work: Path) -> Iterator[Client]:
    # Below the run's own folder: what a killed run leaves is removed by the next one.
    client = Client(cloud.data_dir(), work)
    client.environ["TMPDIR"] = str(cloud.data_dir())  # so is what a killed command leaves; short, for sockets
    try:
        yield client
    finally:
        client.end_processes()
        for folder in client.machine_folders():
            cloud.sweep_data_dir(folder)
            assert cloud.leftovers(folder) == []


@pytest.fixture
def client(local_cloud: LocalCloud, tmp_path: Path) -> Iterator[Client]:  # noqa: F811
    """A person with no controller yet."""
    with _client(local_cloud, tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared_client(local_cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:  # noqa: F811
    """The same for all tests of a module, which must leave things as they found them."""
    with _client(local_cloud, tmp_path_factory.mktemp("shared")) as made:
        yield made
