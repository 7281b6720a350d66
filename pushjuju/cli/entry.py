"""The entry point: answers shell completion before it imports anything else."""

from __future__ import annotations

import gc
import os
import sys

ASKED = "__complete"  # the word with which the completion scripts call pushjuju
# New objects after which Python looks for garbage. Imports make up to 150,000 objects and hardly any garbage;
# Python's own 700 would make them take 20 % longer.
_FIRST_AFTER, _NEXT_AFTER = 200_000, 20_000


def main() -> None:
    """Answer shell completion, or run the command line of this process; then exit."""
    try:
        _run()
    except KeyboardInterrupt:  # before a command begins, or once more while it ends
        sys.exit(130)


def _run() -> None:
    collect_seldom()
    _whole_streams()
    if sys.argv[1:2] == [ASKED]:
        from pushjuju.cli.complete import completing  # imported here: completion needs nothing else

        sys.exit(completing.main(sys.argv[2:]))
    from pushjuju.cli import lazy_imports  # imported here: completion does not wait for this import

    lazy_imports.import_lazily("pushjuju.cli.app.main").main()


def collect_seldom() -> None:
    """Let Python look for garbage after the imports, and then more seldom than by itself."""
    gc.set_threshold(_FIRST_AFTER)
    gc.callbacks.append(_after_imports)


def _after_imports(phase: str, _info: dict[str, int]) -> None:
    """After the first search for garbage, search more often, and pass over all objects of today."""
    if phase == "stop":
        gc.callbacks.remove(_after_imports)
        gc.freeze()
        gc.set_threshold(_NEXT_AFTER)


def _whole_streams() -> None:
    """Open the null device for closed standard streams, as Go does: no other file gets their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))
