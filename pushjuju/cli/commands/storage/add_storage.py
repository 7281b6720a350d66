"""The command add-storage. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.storage.storage_words import directives_of, finish_change
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_unit
from pushjuju.services.requests.storage import storage_requests


@command(
    "add-storage",
    usage="<unit> <storage name>[=<storage directive>] ...",
    summary="Adds storage to a unit after it has been deployed.",
    at_least=(2, "add-storage requires a unit and a storage directive"),
    flags=(*flags.IN_MODEL, *flags.NO_WAIT),
    details="A directive is `[pool][,count][,size]`; for missing parts the application's directive counts.",
    examples="    pushjuju add-storage web/0 data=loop,2G\n",
    see_also=("attach-storage", "detach-storage", "storage"),
)
def add_storage(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    if not is_unit(args[0]):
        raise UsageError(f'unit name "{args[0]}" not valid')
    options = directives_of(args[1:])

    opened = session.open_model(cli, model)
    answers = storage_requests.add(opened.ctx, opened.uuid, args[0], options)
    lines = [f"added storage {made} to {args[0]}" for answer in answers for made in answer.made]
    failed = [
        f'failed to add storage "{answer.subject}" to {args[0]}: {answer.error.message}'
        for answer in answers
        if answer.error
    ]
    reasons = sorted({answer.error.message for answer in answers if answer.error})
    if len(reasons) < len(failed) == len(answers):
        failed = reasons
    finish_change(cli, opened, answers, lines, failed, no_wait=no_wait)
