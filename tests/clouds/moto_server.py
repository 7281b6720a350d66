"""Moto as a server of its own: EC2 over HTTP, without a machine behind an instance."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Moto:
    """A running server."""

    url: str

    def reset(self) -> None:
        request = urllib.request.Request(f"{self.url}/moto-api/reset", method="POST")
        urllib.request.urlopen(request, timeout=30).read()


@pytest.fixture(scope="module")
def server() -> Iterator[Moto]:
    """Moto on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{url}/moto-api/data.json", timeout=5).read()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.1)
        yield Moto(url)
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A controller's directory that keeps the instance types: moto needs seconds to tell them all."""
    return tmp_path_factory.mktemp("kept")
