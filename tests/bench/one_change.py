"""One `config` change from the command to rest: which of our files take part, and how often a unit is read.

    python -m tests.bench.one_change

One unit on a played machine: what counts is the way through the code, not its speed.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from pushjuju.cli.app import main as cli
from pushjuju.core.clock import SystemClock
from pushjuju.services.requests.application import new_application
from pushjuju.services.requests.application.new_application import NewApplication
from pushjuju.workers import background
from tests.world import wire
from tests.world.charms import UBUNTU, Charms
from tests.world.controller import TestController
from tests.world.wire import WireCloud

OURS = str(Path(__file__).parents[2] / "pushjuju") + os.sep
# A turn that is answered from memory, or takes up what was decided a moment ago, looks at no timer.
COUNTED = {"turns": "_tick", "snapshots": "_read_around", "decisions": "decide"}


@contextmanager
def traced() -> Iterator[Counter[CodeType]]:
    """Count the calls of our functions, in every thread."""
    calls: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            calls[frame.f_code] += 1

    threading.setprofile_all_threads(note) if sys.version_info >= (3, 12) else threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile_all_threads(None) if sys.version_info >= (3, 12) else threading.setprofile(None)


def files(calls: Counter[CodeType]) -> int:
    """Return how many of our files had a function called; a module's own body does not count."""
    return len({code.co_filename for code in calls if code.co_name != "<module>"})


def record(root: Path) -> None:
    """Type the command; what starts a process for the work is left out."""
    background.ensure = lambda *_: None
    out = io.StringIO()
    words = ("config", "--model", "home:shop", "log", "title=new", "--no-wait")
    env = {"PUSHJUJU_DATA": str(root / "data"), "HOME": str(root)}
    code = cli.run(words, stdin=io.StringIO(), stdout=out, stderr=out, env=env, program="pushjuju")
    assert code == 0, out.getvalue()


def work(world: TestController, cloud: WireCloud) -> None:
    """Work until nothing is due."""
    settled = asyncio.run(wire.driver(world.ctx, world.model, cloud).settle())
    assert not settled.problems, settled.problems


def deployed(root: Path) -> tuple[TestController, WireCloud]:
    """Return a model with one unit at rest."""
    charms, cloud = Charms(root / "charms"), WireCloud()
    world = TestController.build(root, charms)
    packed = charms.make("log", config={"title": {"type": "string"}})
    request = NewApplication(application="log", packed=packed, base=UBUNTU)
    new_application.add(world.ctx, world.model, request)
    work(world, cloud)
    return world, cloud


def looks(calls: Counter[CodeType]) -> dict[str, int]:
    """Return how often a unit took a turn, was read, and decided."""
    names = Counter[str]()
    for code, number in calls.items():
        if f"{os.sep}uniter{os.sep}" in code.co_filename:
            names[code.co_name] += number
    return {what: names[name] for what, name in COUNTED.items()}


def measure(root: Path) -> tuple[Counter[CodeType], Counter[CodeType]]:
    """Return the calls while a change is recorded, and while the change is worked."""
    world, cloud = deployed(root)
    hooks = cloud.tally.hooks
    SystemClock.now = lambda _: world.clock.now()  # type: ignore[method-assign]
    with traced() as recording:
        record(root)
    with traced() as working:
        work(world, cloud)
    assert cloud.tally.hooks == hooks + 1, "a change of one setting is one hook"
    world.ctx.close()
    return recording, working


def main() -> None:
    """Print the figures as JSON."""
    with tempfile.TemporaryDirectory(prefix="pushjuju-change-") as root:
        recording, working = measure(Path(root))
    counted = ", ".join(str(number) for number in looks(working).values())
    found = {
        "files of recording / working one `config` change": f"{files(recording)} / {files(working)}",
        f"{', '.join(COUNTED)} for one hook": counted,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
