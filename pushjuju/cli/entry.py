"""Where the program begins: completion is answered before anything else is imported. Layer: cli."""

from __future__ import annotations

import sys

ASKED = "__complete"  # the word with which the scripts of shells ask


def main() -> None:
    """Answer a shell, or run the command line of this process; then exit."""
    if sys.argv[1:2] == [ASKED]:
        from pushjuju.cli import completing

        sys.exit(completing.main(sys.argv[2:]))
    from pushjuju.cli.main import main as run

    run()
