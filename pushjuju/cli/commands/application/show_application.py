"""The command show-application. Mirrors: juju cmd/juju/application/show.go, showunit.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.shapes import struct
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application
from pushjuju.services.views import application_documents


@command(
    "show-application",
    usage="<application name or alias>",
    summary="Displays information about an application.",
    at_least=(1, "an application name must be supplied"),
    formats=("yaml", "json", "smart"),
    flags=flags.IN_MODEL,
    examples="    pushjuju show-application mysql\n"
    "    pushjuju show-application mysql wordpress --format json\n",
    see_also=("status", "config", "show-unit"),
)
def show_application(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    if wrong := [name for name in args if not is_application(name)]:
        raise UsageError(f"application name{'s' * (len(wrong) > 1)} {', '.join(wrong)} not valid")
    opened = session.open_model(cli, model)
    document = application_documents.show_applications(opened.ctx, opened.uuid, list(args))
    cli.output.text(render(cli.output.form, struct(document, "*show-application")))
