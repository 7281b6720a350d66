"""The command restore-backup. Mirrors: juju cmd/juju/backups/create.go (3.6)"""

from __future__ import annotations

from pathlib import Path

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import NotFound
from pushjuju.services.requests.controller import backups


@command(
    "restore-backup",
    usage="<archive>",
    summary="Put a backup in the place of a controller's store.",
    at_least=(1, "missing filename"),
    at_most=1,
    flags=(*flags.CONTROLLER, *flags.NO_PROMPT),
    details="The store may be in use, damaged or missing: the old store is kept beside the new one.\n"
    "Integrity and version of the archive are checked first; the archive of another controller is\n"
    "refused. Processes that work on the store lose their leases and go on with the restored\n"
    "content.\n\n"
    "Machines are not touched: what was done on them since the backup stays done.\n"
    "A hook that has run since does not run again: its unit goes into error, and resolved ends the\n"
    "error.",
    examples="    pushjuju restore-backup juju-backup-20250301-091500.tar.gz\n",
    see_also=("create-backup", "doctor", "resolved"),
)
def restore_backup(cli: Cli, args: tuple[str, ...], *, controller: str, no_prompt: bool) -> None:
    source = Path(args[0]).expanduser()
    if not source.is_file():
        raise NotFound(f"open {source}: no such file or directory")

    backups.check_archive(source)
    folder = session.data_dir(cli)
    if not no_prompt:
        cli.console.warn("This command will replace all models of the controller by those of the backup.")
        cli.console.confirm("\nContinue [y/N]? ", what="restore")
    done = backups.restore_anywhere(folder, source, clock=cli.clock, name=controller)
    if folder.current_controller() is None:
        folder.set_current_controller(done.controller)
    backups.note_restored(session.open_controller(cli, done.controller), source)
    cli.console.info(f'Controller "{done.controller}" restored from {source}; its store was {done.was}.')
    if done.before:
        cli.console.info(f"The store as it was is kept as {done.before}")
