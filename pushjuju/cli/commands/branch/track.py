"""track: set units and/or applications to realize changes made under the target branch.

Mirrors: juju cmd/juju/model/{addbranch,branch,trackbranch,commit,abort,diff,commits,showcommit}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.branch.branch_words import branch_word
from pushjuju.cli.syntax import flags

track = branch_word(
    "track",
    flags.number("n", "Number of units to track"),
    usage="<branch name> <entities> ...",
    summary="Set units and/or applications to realize changes made under the target branch.",
)
