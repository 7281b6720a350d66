"""diff: displays details of active branches.

Mirrors: juju cmd/juju/model/{addbranch,branch,trackbranch,commit,abort,diff,commits,showcommit}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.branch.branch_words import UTC, branch_word
from pushjuju.cli.syntax import flags

diff = branch_word(
    "diff",
    UTC,
    flags.switch("all", "Show per-unit branch-tracking detail"),
    usage="<branch name>",
    summary="Displays details of active branches.",
    formats=("yaml", "json"),
)
