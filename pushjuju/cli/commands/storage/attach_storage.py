"""attach-storage: attaches existing storage to a unit. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.storage.storage_words import check_ids, failure_lines, finish_change
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import NotValid
from pushjuju.portable.names import is_unit
from pushjuju.services.requests.storage import storage_requests


@command(
    "attach-storage",
    usage="<unit> <storage> [<storage> ...]",
    summary="Attaches existing storage to a unit.",
    at_least=(2, "attach-storage requires a unit ID and at least one storage ID"),
    flags=(*flags.IN_MODEL, *flags.NO_WAIT),
    details="Storage on the disk of a machine can be attached only to units of that machine.",
    examples="    pushjuju attach-storage postgresql/1 pgdata/0\n",
    see_also=("add-storage", "detach-storage", "storage"),
)
def attach_storage(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    if not is_unit(args[0]):
        raise NotValid(f'unit ID "{args[0]}" not valid')
    check_ids(args[1:])

    opened = session.open_model(cli, model)
    answers = storage_requests.attach(opened.ctx, opened.uuid, args[0], args[1:])
    lines = [f"attaching {answer.subject} to {args[0]}" for answer in answers if not answer.error]
    failed = failure_lines("attach", answers, f" to {args[0]}")
    finish_change(cli, opened, answers, lines, failed, no_wait=no_wait)
