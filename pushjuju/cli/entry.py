"""Where the program begins: completion is answered before anything else is imported."""

from __future__ import annotations

import os
import sys

ASKED = "__complete"  # the word with which the scripts of shells ask


def main() -> None:
    """Answer a shell, or run the command line of this process; then exit."""
    _whole_streams()
    if sys.argv[1:2] == [ASKED]:
        from pushjuju.cli.complete import completing  # answers before anything else is imported

        sys.exit(completing.main(sys.argv[2:]))
    from pushjuju.cli.app import lazy_imports  # a shell waits for none of it

    lazy_imports.import_lazily("pushjuju.cli.app.main").main()


def _whole_streams() -> None:
    """Put the null device where a standard stream is closed, as Go does, so that no file gets its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))
