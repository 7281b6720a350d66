"""remove-storage: removes storage from the model. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.storage.storage_words import check_ids, failure_lines, finish_change
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import Conflict
from pushjuju.services.requests.storage import storage_requests

_ATTACHED = """
Use the --force option to remove attached storage, or use
"{program} detach-storage" to explicitly detach the storage
before removing."""


@command(
    "remove-storage",
    usage="<storage> [<storage> ...]",
    summary="Removes storage from the model.",
    at_least=(1, "remove-storage requires at least one storage ID"),
    flags=(
        *flags.IN_MODEL,
        flags.switch("force", "Remove storage even if it is currently attached"),
        flags.switch("no-destroy", "Remove the storage without destroying it"),
        *flags.NO_WAIT,
    ),
    details="The data is destroyed; with --no-destroy the cloud keeps them.",
    examples="    pushjuju remove-storage pgdata/0\n    pushjuju remove-storage --no-destroy pgdata/0\n",
    see_also=("detach-storage", "import-filesystem", "storage"),
)
def remove_storage(
    cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_destroy: bool, no_wait: bool
) -> None:
    check_ids(args)

    opened = session.open_model(cli, model)
    answers = storage_requests.remove(opened.ctx, opened.uuid, args, force=force, destroy=not no_destroy)
    lines = [f"removing {answer.subject}" for answer in answers if not answer.error]
    failed = failure_lines("remove", answers)
    if any(isinstance(answer.error, Conflict) for answer in answers):
        failed += _ATTACHED.format(program=cli.program).split("\n")
    finish_change(cli, opened, answers, lines, failed, no_wait=no_wait)
