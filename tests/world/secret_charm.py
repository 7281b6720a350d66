"""A charm with secrets: runs real hook tools in simulated hooks on a real store."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushjuju.plugins.hooks import leadership, secrets
from pushjuju.runner.remote import toolkit
from pushjuju.services.requests.application import unit_requests
from pushjuju.store.tx import Tx
from pushjuju.uniter.commit import Committed
from pushjuju.uniter.dispatch import Dispatch
from pushjuju.workers import live
from tests.world.controller import TestController
from tests.world.machine import ok

TOOLS: dict[str, toolkit.Tool] = {**secrets.TOOLS, **leadership.TOOLS}


class Hook:
    """A running hook of a unit, in which a test calls hook tools."""

    def __init__(self, runtime: TestController, dispatch: Dispatch) -> None:
        self.runtime = runtime
        self.dispatch = dispatch
        self.unit = dispatch.unit
        self.context: Mapping[str, Any] = json.loads(json.dumps(dispatch.frame["context"]))
        self.writes: dict[str, Any] = {}

    def run(self, line: str) -> tuple[int, str, str]:
        """Call a tool; return exit code, stdout, stderr."""
        name, *argv = shlex.split(line)
        before = copy.deepcopy(self.context)
        rc, out, err = toolkit.run_tool(
            TOOLS,
            name,
            argv,
            self.context,
            self.writes,
            stdin=bytes,
            cwd=str(Path.cwd()),
            emit=lambda _: None,
            live=self._live,
            reads={},
        )
        assert self.context == before, "a tool changed the snapshot"
        return rc, out.decode(), err.decode()

    def _live(self, tool: str, argv: list[str], _stdin: bytes, _cwd: str) -> tuple[int, bytes, bytes]:
        return live.answer(self.runtime.ctx, self.runtime.model, self.unit, tool, argv)

    def ok(self, line: str) -> str:
        """Call a tool that must succeed; return its output without the newline."""
        rc, out, err = self.run(line)
        assert (rc, err) == (0, ""), f"{line}: rc {rc}: {err}"
        return out.rstrip("\n")

    def fails(self, line: str) -> tuple[int, str]:
        """Call a tool that must fail; return exit code and message."""
        rc, out, err = self.run(line)
        assert rc, f"{line} succeeded: {out}"
        return rc, err.removeprefix("ERROR ").rstrip("\n")

    def end(self, **more: Any) -> Committed:
        """End the hook with success, and commit its writes."""
        return self.runtime.commit(self.dispatch, ok(writes=json.loads(json.dumps(self.writes)), **more))

    def add(self, line: str) -> str:
        """Add a secret; return its id."""
        return self.ok(f"secret-add {line}").rpartition("/")[2]


def begin(runtime: TestController, unit: str) -> Hook:
    """Start a hook of a unit, after all hooks that are due before."""
    runtime.work(runtime.unit(unit).machine or "")
    unit_requests.make_due(runtime.ctx, runtime.model, [unit])
    return Hook(runtime, runtime.until("update-status", unit))


def during(runtime: TestController, unit: str, *lines: str) -> list[str]:
    """Run a hook that calls some tools and succeeds; return the tools' outputs."""
    hook = begin(runtime, unit)
    printed = [hook.ok(line) for line in lines]
    done = hook.end()
    assert done.ok, done.message
    return printed


def add(runtime: TestController, unit: str, line: str = "token=first") -> str:
    """Add a secret of a unit in a hook; return its id."""
    (printed,) = during(runtime, unit, f"secret-add {line}")
    return printed.rpartition("/")[2]


def read(runtime: TestController, unit: str, words: str) -> str:
    """Read a secret as a unit in a hook."""
    (printed,) = during(runtime, unit, f"secret-get {words}")
    return printed


def rows(runtime: TestController, query: str, **params: Any) -> list[dict[str, Any]]:

    def look(tx: Tx) -> list[dict[str, Any]]:
        return [dict(row) for row in tx.rows(query, model=runtime.model, **params)]

    found: list[dict[str, Any]] = runtime.read(look)
    return found
