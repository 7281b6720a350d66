"""jujulib, the JavaScript client of Juju's dashboard, in a process of Node."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.clients.interfaces import Interfaces
from tests.world.api import PASSWORD, ApiWorld

HERE = Path(__file__).parent / "jujulib"
FACADES = (
    "action", "all-watcher", "annotations", "application", "block", "charms", "client", "cloud", "controller",
    "model-manager", "model-upgrader", "pinger", "secrets",
)  # fmt: skip


class CallFailed(Exception):
    """jujulib rejected a call."""


def modules() -> Path:
    """Return the folder with jujulib; the first use installs it into the user's cache.

    A test is skipped without Node or, except in CI, without a package registry.
    """
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("node and npm are not installed")
    lock = HERE / "package-lock.json"
    name = f"jujulib-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pushjuju-tests"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{name}.lock").open("w") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        if not (cache / name).exists():
            _install(cache / name)
    return cache / name / "node_modules"


def _install(folder: Path) -> None:
    made = folder.with_suffix(".new")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, made)
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    ended = subprocess.run(npm, cwd=made, capture_output=True, text=True, check=False)
    if ended.returncode and not os.environ.get("CI"):
        pytest.skip(f"npm cannot install jujulib: {ended.stderr[-300:]}")
    assert not ended.returncode, ended.stderr
    made.rename(folder)


class Jujulib:
    """A client: it keeps one connection to the controller, and one to each model."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._folder = folder
        self.faults: list[str] = []

    async def ask(self, path: str, facade: str, method: str, params: Any = None) -> Any:
        """Call a method, and return its result; add what is wrong with the result's fields to `faults`.

        Args:
            path: The path of the connection.
            facade: The facade as jujulib names it, `modelManager` for example; empty for facts of the login.
        """
        request = {"user": "admin", "password": PASSWORD, "path": path, "facades": FACADES}
        answer = await self._send({**request, "facade": facade, "method": method, "params": params})
        if "error" in answer:
            raise CallFailed(answer["error"])
        if facade:
            name, version = answer["name"], answer["version"]
            (declared,) = self._folder.glob(f"@canonical/jujulib/dist/api/facades/*/{name}V{version}.d.ts")
            self.faults += [
                f"{name} {text}" for text in Interfaces.read(declared).faults(method, answer["result"])
            ]
        return answer.get("result")

    async def _send(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        found: dict[str, Any] = json.loads(await self._process.stdout.readline())
        return found


@asynccontextmanager
async def jujulib(served: ApiWorld) -> AsyncIterator[Jujulib]:
    """Run a client of a server, which trusts the controller's CA, until the block ends."""
    folder = await asyncio.to_thread(modules)
    trust = served.ctx.controller.root / "api" / "ca.pem"
    process = await asyncio.create_subprocess_exec(
        "node", str(HERE / "calls.mjs"), str(folder), served.endpoint, limit=2**24,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "NODE_EXTRA_CA_CERTS": str(trust)},
    )  # fmt: skip
    try:
        yield Jujulib(process, folder)
    finally:
        process.kill()
        await process.communicate()
