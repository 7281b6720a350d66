"""whoami: the local user. Layer: cli. Mirrors: juju cmd/juju/user/whoami.go (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli import flags, session
from pushjuju.cli.command import Cli, command
from pushjuju.cli.tabwriter import TabWriter
from pushjuju.services import controllers as service
from pushjuju.services.context import DEFAULT_USER


@command(
    "whoami",
    summary="Print current login details.",
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=flags.LOGIN,
)
def whoami(cli: Cli, _args: tuple[str, ...]) -> None:
    """Print controller, model and user."""
    folder = session.data_dir(cli)
    controller = service.current(folder, None, cli.env)
    model = str(folder.controller(controller).settings().get("current-model") or "").rpartition("/")[2]
    document = {"controller": controller, **({"model": model} if model else {}), "user": DEFAULT_USER}
    cli.output.write(document, {"tabular": _table})


def _table(document: dict[str, Any]) -> str:
    table = TabWriter()
    table.row("Controller:", document["controller"])
    table.row("Model:", document.get("model", "<no-current-model>"))
    table.row("User:", document["user"])
    return table.text()
