"""download-backup: download a backup archive file. Mirrors: juju cmd/juju/backups/download.go (3.6)"""

from __future__ import annotations

import shutil
from pathlib import Path

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.refusing import refusal
from pushjuju.cli.work import session
from pushjuju.core.errors import AlreadyExists


@command(
    "download-backup",
    usage="<full path of the archive>",
    summary="Download a backup archive file.",
    at_least=(1, "missing filename"),
    at_most=1,
    flags=(*flags.IN_MODEL, flags.text("filename", "Where to put the copy")),
    details="The store is on this computer, so the archive is copied from a path on this computer.",
    see_also=("create-backup",),
)
def download_backup(cli: Cli, args: tuple[str, ...], *, model: str, filename: str) -> None:
    if model:  # no controller is needed to copy a file; but naming an unknown controller is an error
        session.open_controller(cli, session.split_model(model)[0])
    source = Path(args[0]).expanduser()
    if not source.is_file():
        raise refusal("download-backup", f"archives are files on this computer, and {args[0]} is none")
    target = Path(filename or source.name).expanduser()
    if target.exists():
        raise AlreadyExists(f"{target} is there already", hint="--filename NAME    uses another name")
    partial = target.with_name(f".{target.name}.part")
    try:
        shutil.copyfile(source, partial)
        partial.chmod(0o600)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    cli.output.text(f"{target}\n")
