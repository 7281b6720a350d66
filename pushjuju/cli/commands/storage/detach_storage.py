"""detach-storage: detaches storage from units. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.storage.storage_words import check_ids, failure_lines, finish_change
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.storage import storage_requests


@command(
    "detach-storage",
    usage="<storage> [<storage> ...]",
    summary="Detaches storage from units.",
    at_least=(1, "detach-storage requires at least one storage ID"),
    flags=(
        *flags.IN_MODEL,
        flags.switch("force", "Detach before the charm has run its storage-detaching hook"),
        *flags.NO_WAIT,
    ),
    details="The data stays; `storage` shows what a detach waits for.",
    examples="    pushjuju detach-storage pgdata/0\n",
    see_also=("attach-storage", "remove-storage", "storage"),
)
def detach_storage(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    check_ids(args)

    opened = session.open_model(cli, model)
    answers = storage_requests.detach(opened.ctx, opened.uuid, args, force=force)
    lines = [f"detaching {answer.subject}" for answer in answers if not answer.error]
    finish_change(cli, opened, answers, lines, failure_lines("detach", answers), no_wait=no_wait)
