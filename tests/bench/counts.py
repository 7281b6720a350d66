"""Compare what the bench counts with the last release: `python -m tests.bench.counts`; 20 % more is an error.

No clock takes part, so that the figures are those of any computer. With `--print` the script prints its own
figures as JSON; that is what it runs in the tree of the release.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from contrib import docsite
from pushjuju.services.views.status.document import document
from pushjuju.web.pages import rendering
from tests.bench import one_change
from tests.bench.models import populate
from tests.bench.statements import counted
from tests.world.charms import Charms
from tests.world.controller import TestController

MOST = 1.2


def main(arguments: list[str]) -> int:
    """Return 1 when a figure is a fifth above that of the last release."""
    if arguments == ["--print"]:
        print(json.dumps(dict(figures())))
        return 0
    releases = docsite.minor_versions(docsite.git("tag", "--list", "v*").split())
    if not releases:
        print("there is no release to compare with")
        return 0
    last = next(iter(releases.values()))
    worse = list(risen(of_release(last), dict(figures())))
    print("\n".join(worse or [f"no figure is a fifth above that of {last}"]))
    return int(bool(worse))


def figures() -> Iterator[tuple[str, int]]:
    """Yield the name and the number of everything that is counted."""
    with tempfile.TemporaryDirectory(prefix="pushjuju-counts-") as root:
        yield "SQL statements of `status`", statements_of_status(Path(root) / "status")
        recording, working = one_change.measure(Path(root) / "change")
    yield "files that record a `config` change", one_change.files(recording)
    yield "files that work it", one_change.files(working)
    for what, number in one_change.looks(working).items():
        yield f"{what} for one hook", number
    for name, (data, _) in rendering.files().items():
        yield f"bytes of {name}, packed", len(gzip.compress(data))


def statements_of_status(root: Path) -> int:
    """Return how many statements the status of 20 units takes."""
    made = TestController.build(root, Charms(root / "charms"))
    populate(made, 20)
    with counted(made.ctx.store) as statements:
        document(made.ctx, made.resolve_model())
    made.ctx.close()
    return len(statements)


def of_release(tag: str) -> dict[str, int]:
    """Return the figures of a release, counted in a copy of its files."""
    with tempfile.TemporaryDirectory(prefix="pushjuju-release-") as folder:
        tree = docsite.checked_out(tag, Path(folder) / "tree")
        command = [sys.executable, "-m", "tests.bench.counts", "--print"]
        done = subprocess.run(command, cwd=tree, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, int] = json.loads(done.stdout)
    return found


def risen(before: Mapping[str, int], now: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each figure that is a fifth above what it was; new figures have nothing to compare."""
    for name, number in now.items():
        if name in before and number > before[name] * MOST:
            yield f"{name}: {before[name]} -> {number}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
