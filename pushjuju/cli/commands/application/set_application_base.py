"""set-application-base: set an application's base. Mirrors: juju cmd/juju/application (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.base import Base
from pushjuju.services.requests.application import settings


@command(
    "set-application-base",
    usage="<application> <base>",
    summary="Set an application's base.",
    at_least=(2, "no base specified"),
    at_most=2,
    flags=flags.IN_MODEL,
    details="Units added from now on get the base; other units keep theirs. The charm must name the base.",
    examples="    pushjuju set-application-base web ubuntu@24.04\n",
    see_also=("status", "refresh", "upgrade-machine"),
)
def set_application_base(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    name = values.application_name(args)
    base = Base.parse(args[1]) if "@" in args[1] else Base.from_series(args[1].lower())
    opened = session.open_model(cli, model)
    settings.set_base(opened.ctx, opened.uuid, name, base)
