"""add-branch: adds a new branch to the model.

Mirrors: juju cmd/juju/model/{addbranch,branch,trackbranch,commit,abort,diff,commits,showcommit}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.branch.branch_words import branch_word

add_branch = branch_word("add-branch", usage="<branch name>", summary="Adds a new branch to the model.")
