"""abort: aborts a branch in the model.

Mirrors: juju cmd/juju/model/{addbranch,branch,trackbranch,commit,abort,diff,commits,showcommit}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.branch.branch_words import branch_word

abort = branch_word("abort", usage="<branch name>", summary="Aborts a branch in the model.")
