"""The command offer. Mirrors: juju cmd/juju/crossmodel, cmd/juju/application/{consume,removesaas}.go (3.6)"""

from __future__ import annotations

import re

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import models
from pushjuju.services.requests.relation import cross_model

_APPLICATION = regex(r"/?(?:(?P<model>[^.]*)\.)?(?P<application>[^:]*)(?::(?P<endpoints>.*))?", re.DOTALL)

_FORM = 'endpoints must conform to format "<application-name>:<endpoint-name>[,...]" '


@command(
    "offer",
    usage="[model-name.]<application-name>:<endpoint-name>[,...] [offer-name]",
    summary="Offer application endpoints for use in other models.",
    at_least=(1, "an offer must at least specify application endpoint"),
    at_most=2,
    flags=flags.AT_CONTROLLER,
    details="By default the offer has the application's name; it replaces an existing offer of that name.",
    examples="    pushjuju offer mysql:db\n    pushjuju offer mymodel.mysql:db\n"
    "    pushjuju offer db2:db,log hosted-db2\n",
    see_also=("consume", "integrate", "remove-offer"),
)
def offer(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
    model, application, endpoints = parts_of(args[0])
    ctx = session.open_controller(cli, controller)
    found = models.resolve(ctx, model or None)
    name = args[1] if len(args) > 1 else application
    cross_model.offer(ctx, found.uuid, application, endpoints, name)
    shown = ", ".join(endpoints)
    cli.console.info(
        f'Application "{application}" endpoints [{shown}] available at "{found.qualified}.{name}"'
    )


def parts_of(text: str) -> tuple[str, str, list[str]]:
    """Return model, application and endpoints of `[MODEL.]APP:ENDPOINT[,...]`; the model may be empty."""
    found = _APPLICATION.fullmatch(text)
    if found is None or ":" not in text:
        raise NotValid(_FORM)
    if not is_application(found["application"]):
        raise NotValid(f"application name {quote(found['application'])} not valid")
    if not found["endpoints"]:
        raise NotValid(f'specify endpoints for {found["application"]}" ')
    return found["model"] or "", found["application"], found["endpoints"].split(",")
