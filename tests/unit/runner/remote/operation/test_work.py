"""The process that runs operations one after another."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from pushjuju.portable.jsontext import dumps
from pushjuju.runner.remote.base import wire
from pushjuju.runner.remote.base.layout import Layout
from pushjuju.runner.remote.operation import work
from pushjuju.runner.remote.operation.families import Registry

SETTING = dumps({"options": {}, "lock": "machine", "boot_id": "b"}).encode()


@pytest.fixture
def paths(tmp_path: Path) -> Layout:
    """A machine with a charm whose start hook lasts a minute."""
    made = Layout(str(tmp_path), str(tmp_path / "program"))
    hook = Path(made.charm("web/0")) / "hooks" / "start"
    hook.parent.mkdir(parents=True)
    (hook.parent.parent / "metadata.yaml").write_text("name: web")
    hook.write_text("#!/bin/sh\nexec sleep 60\n")
    hook.chmod(0o755)
    Path(made.base).mkdir(parents=True, exist_ok=True)
    return made


def test_a_cancellation_that_comes_together_with_the_start_ends_the_hook(paths: Layout) -> None:
    op = {"t": "op", "id": "1", "kind": "hook", "unit": "web/0", "hook": "start", "context": {}}
    start = SETTING + b"\n" + bytes((wire.RAW,)) + dumps(op).encode()
    cancel = wire.frame(wire.CANCEL, b'{"signal":15}')
    result = _result(paths, cancel + wire.frame(wire.START, start) + cancel)
    assert (result["outcome"], result["signal"]) == ("interrupted", 15)


def _result(paths: Layout, sent: bytes) -> dict[str, object]:
    """Return the first result of a process that gets these frames."""
    here, there = socket.socketpair()
    here.sendall(sent)
    here.settimeout(30)
    pid = os.fork()
    if not pid:
        try:
            here.close()
            work.run(paths, there.detach(), Registry({}))
        finally:
            os._exit(0)
    there.close()
    try:
        reader = wire.Reader()
        while True:
            for kind, payload in reader.feed(here.recv(1 << 16)):
                if kind == wire.RESULT:
                    return dict(json.loads(payload[5:]))
    finally:
        here.close()
        os.waitpid(pid, 0)
