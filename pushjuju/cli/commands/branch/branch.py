"""branch: work on the active branch or switch to another.

Mirrors: juju cmd/juju/model/{addbranch,branch,trackbranch,commit,abort,diff,commits,showcommit}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.branch.branch_words import branch_word

branch = branch_word(
    "branch", usage="[<branch name>]", summary="Work on the active branch or switch to another."
)
