"""dump-model: displays the database agnostic representation of the model.

Mirrors: juju cmd/juju/model/{modelcredential,dump,dumpdb}.go, cmd/juju/commands/upgrademodel.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

dump_model = refused(
    "dump-model",
    "a developer's word; export-bundle tells what is in a model",
    summary="Displays the database agnostic representation of the model.",
    at_most=0,
    formats=("yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN, flags.switch("simplified", "Dump a simplified partial model")),
)
