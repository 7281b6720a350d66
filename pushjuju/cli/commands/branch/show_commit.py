"""show-commit: displays details of the commit.

Mirrors: juju cmd/juju/model/{addbranch,branch,trackbranch,commit,abort,diff,commits,showcommit}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.branch.branch_words import UTC, branch_word

show_commit = branch_word(
    "show-commit",
    UTC,
    usage="<commit number>",
    summary="Displays details of the commit.",
    formats=("yaml", "json"),
)
