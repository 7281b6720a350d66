"""Branches of a model: off by default in Juju 3.6, and not here.

Mirrors: juju cmd/juju/model/{addbranch,branch,trackbranch,commit,abort,diff,commits,showcommit}.go (3.6)
"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Command
from pushjuju.cli.syntax.refusing import refused

_REASON = "branches are no part of Juju 3.6 unless a feature flag is set"
_UTC = flags.switch("utc", "Display time as UTC in RFC3339 format")


def _branch_word(name: str, *more: Any, **settings: Any) -> Command:
    return refused(name, _REASON, flags=(*flags.MODEL, *flags.LOGIN, *more), **settings)


add_branch = _branch_word("add-branch", usage="<branch name>", summary="Adds a new branch to the model.")
branch = _branch_word(
    "branch", usage="[<branch name>]", summary="Work on the active branch or switch to another."
)
track = _branch_word(
    "track",
    flags.number("n", "Number of units to track"),
    usage="<branch name> <entities> ...",
    summary="Set units and/or applications to realize changes made under the target branch.",
)
commit = _branch_word("commit", usage="<branch name>", summary="Commits a branch to the model.")
abort = _branch_word("abort", usage="<branch name>", summary="Aborts a branch in the model.")
diff = _branch_word(
    "diff",
    _UTC,
    flags.switch("all", "Show per-unit branch-tracking detail"),
    usage="<branch name>",
    summary="Displays details of active branches.",
    formats=("yaml", "json"),
)
commits = _branch_word(
    "commits",
    _UTC,
    summary="Lists commits history.",
    aliases=("list-commits",),
    formats=("tabular", "yaml", "json"),
)
show_commit = _branch_word(
    "show-commit",
    _UTC,
    usage="<commit number>",
    summary="Displays details of the commit.",
    formats=("yaml", "json"),
)
