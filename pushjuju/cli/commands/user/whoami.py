"""whoami: print current login details. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.work import session
from pushjuju.services.entities.basis import context
from pushjuju.services.requests.controller import controllers as service


@command(
    "whoami",
    summary="Print current login details.",
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=flags.LOGIN,
    examples="    pushjuju whoami\n    pushjuju whoami --format json\n",
)
def whoami(cli: Cli, _args: tuple[str, ...]) -> None:
    folder = session.data_dir(cli)
    controller = service.current(folder, None, cli.env)
    known = folder.known(controller)
    user, current = known.get("user", context.DEFAULT_USER), str(known.get("current-model") or "")
    model = current.removeprefix(f"{user}/")
    document = {"controller": controller, **({"model": model} if model else {}), "user": user}
    cli.output.write(document, {"tabular": _table})


def _table(document: dict[str, Any]) -> str:
    table = TabWriter()
    table.row("Controller:", document["controller"])
    table.row("Model:", document.get("model", "<no-current-model>"))
    table.row("User:", document["user"])
    return table.text()
