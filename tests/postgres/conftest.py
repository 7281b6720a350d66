"""Fixtures for hosts of one controller."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.postgres import background
from tests.postgres.hosts import Cable, Host, done


@pytest.fixture
def host(tmp_path: Path, postgres_url: str) -> Iterator[Callable[[str], Host]]:
    """A function that returns a host with a name; its processes end before the database goes."""
    assert postgres_url
    yield lambda name: Host(tmp_path / name)
    for home in tmp_path.iterdir():
        background.end(home / "data")


@pytest.fixture
def pair(host: Callable[[str], Host], postgres_url: str) -> tuple[Host, Host]:
    """Two hosts of the controller `prod`; the first has made it."""
    first, second = host("one"), host("two")
    done(first("bootstrap", "manual", "prod", "--store", postgres_url, "--insecure-store"))
    done(first("controller", "key", "export", "../controller.key"))
    done(second("controller", "join", postgres_url, "--insecure-store", "--key-file", "../controller.key"))
    return first, second


@pytest.fixture
def cables() -> Iterator[list[Cable]]:
    """The cables of two hosts that are network namespaces."""
    number = os.getpid() % 50_000 * 2
    with ExitStack() as stack:
        made = [Cable(number), Cable(number + 1)]
        for item in made:
            item.make()
            stack.callback(item.remove)
        yield made


@pytest.fixture
def cable(cables: list[Cable]) -> Cable:
    """The cable of a host that is a network namespace."""
    return cables[0]
