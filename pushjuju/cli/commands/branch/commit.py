"""commit: commits a branch to the model.

Mirrors: juju cmd/juju/model/{addbranch,branch,trackbranch,commit,abort,diff,commits,showcommit}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.branch.branch_words import branch_word

commit = branch_word("commit", usage="<branch name>", summary="Commits a branch to the model.")
