"""A pushjuju that dies at a step: `python -m tests.chaos.first STEP WORD...`.

A step is `before:MODULE:NAME` or `after:MODULE:NAME`; the words are those of a command. Nothing is driven:
what is tried here comes before the first machine.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

from pushjuju.cli.lazy_imports import import_lazily

main: Any = import_lazily("pushjuju.cli.app.main")  # as the entry point does
drive: Any = import_lazily("pushjuju.cli.work.drive")


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still here")


def arm(step: str) -> None:
    when, module, name = step.split(":")
    owner: Any = import_lazily(module)
    *inner, last = name.split(".")
    for part in inner:
        owner = getattr(owner, part)
    real = getattr(owner, last)

    def deadly(*args: Any, **more: Any) -> Any:
        if when == "after":
            real(*args, **more)
        die()

    setattr(owner, last, deadly)


if __name__ == "__main__":
    drive.settle = lambda *_args, **_more: None
    if sys.argv[1]:
        arm(sys.argv[1])
    del sys.argv[1]
    main.main()
