"""The command status. Mirrors: juju cmd/juju/status (3.6)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from pushjuju.cli.commands.status import row_details
from pushjuju.cli.commands.status.status_formats import FORMATS, PICTURES, formatters
from pushjuju.cli.commands.status.watch_screen import watch as watch_screen
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.times import wants_utc
from pushjuju.cli.work import session
from pushjuju.cli.work.status_document import is_empty, status_document
from pushjuju.core.errors import UsageError
from pushjuju.services.pictures import formats
from pushjuju.services.views import relation_rows
from pushjuju.services.views.status import status_filter


class Reading(NamedTuple):
    """What `status` shows: the document, rows of relations, `owner/model`, places that people chose."""

    document: dict[str, Any]
    relations: Sequence[Mapping[str, Any]]
    model: str
    places: Mapping[str, tuple[float, float]] = MappingProxyType({})


@command(
    "status",
    usage="[<selector> [...]]",
    summary="Report the status of the model, its machines, applications and units.",
    formats=(*FORMATS, *PICTURES),
    flags=(
        *flags.IN_MODEL,
        flags.switch("utc", "Display timestamps in the UTC timezone"),
        flags.switch("color", "Use ANSI color codes in tabular output"),
        flags.switch("no-color", "Disable ANSI color codes in tabular output"),
        flags.switch("integrations", "Show 'integrations' section in tabular output"),
        flags.switch("relations", "The same as '--integrations'"),
        flags.switch("storage", "Show 'storage' section in tabular output"),
        flags.switch("machines", "Draw machines with their units: for the formats svg, dot and mermaid"),
        flags.number(
            "retry-count", "Accepted and ignored: the store is on this computer", default=3, void=True
        ),
        flags.duration("retry-delay", "Accepted and ignored", default="100ms", void=True),
        flags.duration("watch", "Watch the status every period of time", default="0s"),
    ),
    details="Selectors are names of machines, units or applications, with `*`; statuses; addresses and\n"
    "networks; open ports; `exposed`, `not exposed`. Several are alternatives.\n\n"
    "The formats svg, dot and mermaid draw the applications and their relations, or with --machines the\n"
    "machines. An SVG of more than 150 applications shows groups; selectors choose a part of the model.\n\n"
    "On a terminal, --watch takes keys: arrows choose a row, Enter shows why the row is in its state, l its\n"
    "log, h its hooks; q goes back, and ends.",
    examples="    pushjuju status\n    pushjuju status --relations --storage\n"
    "    pushjuju status 'web*' 3 blocked\n"
    "    pushjuju status --format svg -o model.svg\n",
    see_also=("machines", "show-model", "show-status-log"),
)
def status_command(cli: Cli, args: tuple[str, ...], *, model: str, **options: Any) -> None:

    def read(*, utc: bool, relations: bool) -> Reading:
        opened = session.open_model(cli, model)
        return Reading(
            document=status_document(opened, utc=utc, patterns=args),
            relations=relation_rows.relation_rows(opened.ctx, opened.uuid) if relations else [],
            model=opened.identifier,
            places=relation_rows.places(opened.ctx, opened.uuid) if relations else {},
        )

    def about(page: str, name: str, *, utc: bool) -> str:
        return row_details.text(cli, model, page, name, utc=utc)

    show(cli, args, read, about, **options)


def show(
    cli: Cli,
    args: tuple[str, ...],
    read: Callable[..., Reading],
    about: Callable[..., str] | None = None,
    *,
    utc: bool,
    color: bool,
    no_color: bool,
    integrations: bool,
    relations: bool,
    storage: bool,
    machines: bool,
    watch: float,
) -> None:
    """Show the state of a model, once or again and again.

    Args:
        read: A function with the keywords `utc` and `relations` that reads the model.
        about: A function (page, name of a row, `utc`) -> text, for the keys of `--watch`; None for no keys.
    """
    if color and no_color:
        raise UsageError("cannot mix --no-color and --color")
    if machines and cli.output.form not in PICTURES:
        raise UsageError("--machines draws a picture: choose --format svg, dot or mermaid")
    shown, relations = wants_utc(cli.env, flag=utc), relations or integrations
    _note_useless_flags(cli, relations=relations, storage=storage)

    def once() -> tuple[str, str]:
        if cli.output.form in PICTURES:
            return _picture(cli, args, read(utc=True, relations=True), of_machines=machines)
        return _status(cli, args, read(utc=shown, relations=relations), storage=storage)

    if watch > 0:
        details = partial(about, utc=shown) if about and cli.output.form == "tabular" else None
        return watch_screen(cli, once, watch, details)
    text, note = once()
    cli.output.text(text)
    if note:
        cli.console.info(note)
    return None


def _note_useless_flags(cli: Cli, *, relations: bool, storage: bool) -> None:
    words = [word for word, given in (("relations", relations), ("storage", storage)) if given]
    if words and cli.output.form != "tabular":
        verb = "options are" if len(words) > 1 else "option is"
        cli.console.info(f"provided {', '.join(words)} {verb} always enabled in non tabular formats")


def _status(cli: Cli, patterns: tuple[str, ...], read: Reading, *, storage: bool) -> tuple[str, str]:
    """Return the status as text, and the message for stderr when there is nothing to show."""
    document, rows = read.document, read.relations
    if patterns:
        document, rows = status_filter.filter_status(document, patterns, rows)
    forms = formatters(relations=rows, storage=storage, colour=cli.output.colour)
    return cli.output.rendered(document, forms), _note(document, patterns, read.model)


def _picture(cli: Cli, patterns: tuple[str, ...], read: Reading, *, of_machines: bool) -> tuple[str, str]:
    """Return the picture of a model, and the message for stderr when there is nothing to show."""
    document, rows = read.document, read.relations
    if patterns:
        document, rows = status_filter.filter_status(document, patterns, rows)
    forms = formats.formatters(rows, read.places, of_machines=of_machines)
    return cli.output.rendered(document, forms), _note(document, patterns, read.model)


def _note(document: Mapping[str, Any], patterns: tuple[str, ...], identifier: str) -> str:
    if not is_empty(document):
        return ""
    if patterns:
        return f"Nothing matched specified filter{'s' if len(patterns) > 1 else ''}."
    return f'\nModel "{identifier}" is empty.'
