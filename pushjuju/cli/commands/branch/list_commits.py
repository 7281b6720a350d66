"""commits: lists commits history.

Mirrors: juju cmd/juju/model/{addbranch,branch,trackbranch,commit,abort,diff,commits,showcommit}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.branch.branch_words import UTC, branch_word

commits = branch_word(
    "commits",
    UTC,
    summary="Lists commits history.",
    aliases=("list-commits",),
    formats=("tabular", "yaml", "json"),
)
