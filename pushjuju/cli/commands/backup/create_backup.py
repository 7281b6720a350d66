"""create-backup: create a backup. Mirrors: juju cmd/juju/backups/create.go (3.6)"""

from __future__ import annotations

import platform
from datetime import datetime
from pathlib import Path

from pushjuju import JUJU_VERSION
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.services.requests.controller import backups

_NOT_SET = "juju-backup-<date>-<time>.tar.gz"

_TEMPLATE = """
backup format version: {format}
juju version:          {version}
base:                  {base}

controller UUID:       {controller}
model UUID:            {model}
machine ID:            {machine}
created on host:       {host}

checksum:              {checksum}
checksum format:       SHA-1, base64 encoded
size (B):              {size}
stored:                {finished}
started:               {started}
finished:              {finished}

notes:{notes}

"""


@command(
    "create-backup",
    usage="[<notes>]",
    summary="Create a backup.",
    at_most=1,
    flags=(
        *flags.IN_MODEL,
        flags.switch("no-download", "Leave the archive with the controller (deprecated)"),
        flags.text("filename", "Download to this file", default=_NOT_SET),
    ),
    details="The archive holds the store of the controller with all its models, charms, resources and keys:\n"
    "keep it where nobody else can read it. Only you can read the file, which is in the current\n"
    "directory unless --filename says otherwise. Other commands go on during the backup.",
    examples="    pushjuju create-backup\n"
    "    pushjuju create-backup --filename shop.tar.gz 'before the move'\n",
    see_also=("restore-backup", "download-backup"),
)
def create_backup(cli: Cli, args: tuple[str, ...], *, model: str, no_download: bool, filename: str) -> None:
    chosen = "filename" in cli.given
    if chosen and no_download:
        raise UsageError("cannot mix --no-download and --filename")
    if not filename:
        raise UsageError("missing filename")

    controller, _ = session.split_model(model)
    ctx = session.open_controller(cli, controller)
    if no_download:
        cli.console.warn("--no-download flag is DEPRECATED.")
    started = cli.clock.now()
    name = filename if chosen else backups.kept_name(started)
    target = Path(name).expanduser() if chosen else Path.cwd() / name
    if no_download:
        target = backups.kept_place(ctx, name)
    made = backups.create(ctx, target, args[0] if args else "")
    if not cli.console.quiet:
        cli.output.text(_described(made, started, cli.clock.now()))
    if no_download:
        cli.console.info(f"Remote backup stored on the controller as {target}")
    else:
        cli.console.info(f"Downloaded to {target}")
    if tree := next((folder for folder in target.resolve().parents if (folder / ".git").exists()), None):
        cli.console.warn(
            f"{target.name} holds the private key of the controller, and lies in the git work tree {tree}: "
            "keep it out of commits"
        )


def _described(made: backups.Backup, started: datetime, finished: datetime) -> str:
    """Return Juju's text about a backup; a controller here has no machine, so the text names this host."""
    release = platform.freedesktop_os_release() if Path("/etc/os-release").exists() else {}
    notes = str(made.meta["notes"])
    return _TEMPLATE.format(
        format=made.meta["format"],
        version=JUJU_VERSION,
        base=f"{release.get('ID', 'genericlinux')}@{release.get('VERSION_ID', 'genericlinux')}",
        controller=made.meta["controller-uuid"],
        model=made.meta["controller-uuid"],
        machine=0,
        host=platform.node(),
        checksum=backups.checksum(made.path),
        size=made.path.stat().st_size,
        started=_moment(started),
        finished=_moment(finished),
        notes=f"                 {notes}" if notes else "",
    )


def _moment(time: datetime) -> str:
    text = f"{time:%Y-%m-%d %H:%M:%S.%f}".rstrip("0").rstrip(".")
    return f"{text} +0000 UTC"
