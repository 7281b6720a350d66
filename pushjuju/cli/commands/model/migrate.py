"""migrate: migrate a workload model to another controller.

Mirrors: juju cmd/juju/model/{modelcredential,dump,dumpdb}.go, cmd/juju/commands/upgrademodel.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

migrate = refused(
    "migrate",
    "two stores cannot exchange a model yet",
    usage="<model-name> <target-controller-name>",
    summary="Migrate a workload model to another controller.",
    at_least=(2, "target controller not specified"),
    at_most=2,
    flags=(*flags.LOGIN, flags.switch("dry-run", "Validate the migration only")),
)
