"""doctor: shows what this computer lacks for a cloud, and how to fix it."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.commands.program import installed
from pushjuju.cli.commands.program.doctor_table import findings
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import making, session
from pushjuju.core.errors import Silent
from pushjuju.workers import schedule as regular
from pushjuju.workers.provision import checkup


@command(
    "doctor",
    usage="[<cloud> ...]",
    summary="Says what this computer has and lacks for a cloud, and how to mend it.",
    flags=(
        flags.switch("install", "Install the packages that are missing"),
        flags.switch("schedule", "Add a line to your crontab that runs update-status every five minutes"),
    ),
    formats=("tabular", "yaml", "json"),
    details="Shows also whether something runs `update-status` regularly, whether your shell completes\n"
    "commands of pushjuju, and whether `man pushjuju` finds the page. All of these are optional: each\n"
    "command works what is due.",
    examples="    pushjuju doctor local\n    pushjuju doctor --schedule\n",
    see_also=("plugins", "update-status"),
)
def doctor(cli: Cli, args: tuple[str, ...], *, install: bool, schedule: bool) -> None:
    """Check what the clouds need on this computer."""
    folder = session.data_dir(cli)
    if schedule:
        regular.schedule(folder)
    found: list[dict[str, Any]] = []
    for cloud in args or (making.FIRST_CLOUD,):
        found += checkup.examine(folder, cloud, environ=cli.env, warn=cli.console.warn, install=install)
    found += regular.look(folder, cli.env) + installed.look(cli.env)
    cli.output.write(found, {"tabular": lambda entries: findings(entries, colour=cli.output.colour)})
    if any(entry["level"] == "error" for entry in found):
        raise Silent
