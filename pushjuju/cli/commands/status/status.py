"""The command status. Mirrors: juju cmd/juju/status (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.commands.status import status_pictures
from pushjuju.cli.commands.status.status_formats import FORMATS, PICTURES, formatters
from pushjuju.cli.commands.status.watch_screen import watch as watch_screen
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.times import wants_utc
from pushjuju.cli.work import session
from pushjuju.cli.work.status_document import is_empty, status_document
from pushjuju.core.errors import UsageError
from pushjuju.services.entities.model import sessions
from pushjuju.services.views import relation_rows
from pushjuju.services.views.status import status_filter


@command(
    "status",
    usage="[<selector> [...]]",
    summary="Report the status of the model, its machines, applications and units.",
    formats=(*FORMATS, *PICTURES),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
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
    "machines. An SVG of more than 150 applications shows groups; selectors choose a part of the model.",
    examples="    pushjuju status\n    pushjuju status --relations --storage\n"
    "    pushjuju status 'web*' 3 blocked\n"
    "    pushjuju status --format svg -o model.svg\n",
    see_also=("machines", "show-model", "show-status-log"),
)
def status_command(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    utc: bool,
    color: bool,
    no_color: bool,
    integrations: bool,
    relations: bool,
    storage: bool,
    machines: bool,
    watch: float,
) -> None:
    """Show the state of a model."""
    if color and no_color:
        raise UsageError("cannot mix --no-color and --color")
    if machines and cli.output.form not in PICTURES:
        raise UsageError("--machines draws a picture: choose --format svg, dot or mermaid")
    shown = wants_utc(cli.env, flag=utc)
    _note_useless_flags(cli, relations=relations or integrations, storage=storage)

    def once() -> tuple[str, str]:
        if cli.output.form in PICTURES:
            return _picture(cli, args, model, of_machines=machines)
        return _status(cli, args, model, utc=shown, relations=relations or integrations, storage=storage)

    if watch > 0:
        return watch_screen(cli, once, watch)
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


def _status(
    cli: Cli, patterns: tuple[str, ...], model: str, *, utc: bool, relations: bool, storage: bool
) -> tuple[str, str]:
    """Return the status as text, and the message for stderr when there is nothing to show."""
    opened = session.open_model(cli, model)
    document, rows = status_document(opened, utc=utc), _relations(opened) if relations else []
    if patterns:
        document, rows = status_filter.filter_status(document, patterns, rows)
    forms = formatters(relations=rows, storage=storage, colour=cli.output.colour)
    return cli.output.rendered(document, forms), _note(document, patterns, opened.identifier)


def _picture(cli: Cli, patterns: tuple[str, ...], model: str, *, of_machines: bool) -> tuple[str, str]:
    """Return the picture of a model, and the message for stderr when there is nothing to show."""
    opened = session.open_model(cli, model)
    document, rows = status_document(opened, utc=True), _relations(opened)
    if patterns:
        document, rows = status_filter.filter_status(document, patterns, rows)
    forms = status_pictures.formatters(rows, of_machines=of_machines)
    return cli.output.rendered(document, forms), _note(document, patterns, opened.identifier)


def _note(document: Mapping[str, Any], patterns: tuple[str, ...], identifier: str) -> str:
    if not is_empty(document):
        return ""
    if patterns:
        return f"Nothing matched specified filter{'s' if len(patterns) > 1 else ''}."
    return f'\nModel "{identifier}" is empty.'


def _relations(opened: sessions.Session) -> list[Mapping[str, Any]]:
    return list(relation_rows.relation_rows(opened.ctx, opened.uuid))
