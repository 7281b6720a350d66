"""dump-db: displays the mongo documents of the model.

Mirrors: juju cmd/juju/model/{modelcredential,dump,dumpdb}.go, cmd/juju/commands/upgrademodel.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

dump_db = refused(
    "dump-db",
    "a developer's word; the store is one SQLite file, which create-backup copies",
    summary="Displays the mongo documents of the model.",
    at_most=0,
    formats=("yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN),
)
