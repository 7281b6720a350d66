"""constraints, set-constraints and the same of models: what new machines are like.

Mirrors: juju cmd/juju/application/constraints.go, cmd/juju/model/constraints.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.commands.config import config_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.model import constraints as service
from pushjuju.services.entities.model import models

_FORMATS = ("constraints", "yaml", "json")
_DETAILS = (
    "Machines that are there stay as they are. Everything that was set before is replaced; an empty value\n"
    "(mem=) keeps what the model says from counting."
)


@command(
    "constraints",
    usage="<application>",
    summary="Displays machine constraints for an application.",
    at_least=(1, "no application name specified"),
    at_most=1,
    formats=_FORMATS,
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju constraints postgresql\n    pushjuju constraints postgresql --format json\n",
    see_also=("set-constraints", "model-constraints"),
)
def constraints(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Show the constraints of an application."""
    name = values.application_name(args)
    opened = session.open_model(cli, model)
    with opened.ctx.store.read() as tx:
        found = applications.get(tx, opened.uuid, name).constraints
    cli.output.text(formatters.constraints(cli.output.form, found))


@command(
    "set-constraints",
    usage="<application> <constraint>=<value> ...",
    summary="Sets machine constraints for an application.",
    at_least=(1, "no application name specified"),
    flags=(*flags.MODEL, *flags.LOGIN),
    details=_DETAILS,
    examples="    pushjuju set-constraints web mem=8G cores=4\n    pushjuju set-constraints web mem=\n",
    see_also=("constraints", "model-constraints", "set-model-constraints"),
)
def set_constraints(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Replace the constraints of an application."""
    name = values.application_name(args)
    asked = values.constraints(args[1:], cli.console)
    opened = session.open_model(cli, model)
    _check(cli, opened, asked, f'application "{name}"')
    applications.set_constraints(opened.ctx, opened.uuid, name, asked)


@command(
    "model-constraints",
    summary="Displays machine constraints for a model.",
    at_most=0,
    formats=_FORMATS,
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju model-constraints\n    pushjuju model-constraints -m test --format yaml\n",
    see_also=("set-model-constraints", "constraints"),
)
def model_constraints(cli: Cli, _args: tuple[str, ...], *, model: str) -> None:
    """Show the constraints of a model."""
    opened = session.open_model(cli, model)
    with opened.ctx.store.read() as tx:
        found = service.of_model(tx, opened.uuid)
    cli.output.text(formatters.constraints(cli.output.form, found))


@command(
    "set-model-constraints",
    usage="<constraint>=<value> ...",
    summary="Sets machine constraints on a model.",
    flags=(*flags.MODEL, *flags.LOGIN),
    details=_DETAILS,
    examples="    pushjuju set-model-constraints cores=8 mem=16G\n",
    see_also=("model-constraints", "constraints", "set-constraints"),
)
def set_model_constraints(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Replace the constraints of a model."""
    asked = values.constraints(args, cli.console)
    opened = session.open_model(cli, model)
    with opened.ctx.store.read() as tx:
        found = models.get(tx, opened.uuid)
    _check(cli, opened, asked, f'model "{found.name}"')
    service.set_model(opened.ctx, opened.uuid, asked)


def _check(cli: Cli, opened: session.Session, asked: Mapping[str, Any], what: str) -> None:
    if asked:
        from pushjuju.workers.provision.precheck import check_constraints

        check_constraints(opened.ctx, opened.uuid, asked, what=what, warn=cli.console.warn)
