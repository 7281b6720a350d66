"""notify: tells users of events, by a web server, a program or email."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.charms.archive import named_files
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.work import scope, session
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.services.requests.controller import notify as requests
from pushjuju.services.views.listings import notify_targets

_WORDS = {"add": (1, 2), "list": (0, 0), "events": (0, 0), "test": (1, 1), "remove": (1, 1)}
_OF_ADD = {"events", "models", "body", "file"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyFlags:
    controller: str = flags.CONTROLLER[0]
    events: str = flags.text("events", "add: only these events, NAME[,...]; unit.* stands for all of units")
    models: str = flags.text("models", "add: only events of these models, NAME[,...]")
    body: str = flags.text("body", "add: send the whole event (json), or its sentence (text)", default="json")
    file: str = flags.text(
        "file", "add: read the address, and on a second line the secret; - for standard input"
    )


@command(
    "notify",
    usage="add NAME [ADDRESS]|list|events|test NAME|remove NAME",
    summary="Tells people and programs of events, such as a unit in error.",
    at_least=(1, "no subcommand specified: notify add|list|events|test|remove"),
    at_most=3,
    formats=("tabular", "yaml", "json"),
    into=NotifyFlags,
    details="The address of a target is one of:\n\n"
    "    https://HOST/PATH         posts the event; http:// only to this computer\n"
    "    command:NAME              runs the program NAME of the folder notify.d in the controller's folder\n"
    "    smtps://USER@HOST/TO,...  sends an email; smtp:// takes STARTTLS where the server offers it\n\n"
    "Plugins add more. An address that is itself a secret, as those of chat services are, belongs in a\n"
    "file: --file FILE has the address in its first line. Its second line is the secret that signs posts,\n"
    "or the password of the mail server's user.\n\n"
    'An event is a CloudEvent in JSON; with --body text, posts are {"text": ...}, as chat services take\n'
    "them. Events wait in the store until they are delivered: at least once, in order for each entity. A\n"
    "target that fails is tried again after 10 s, then later, up to an hour; an event is dropped after a\n"
    "day. Equal events within 5 minutes become one with a count. The process that works on a model\n"
    "delivers its events: a command, `controller run`, or `update-status` from cron.",
    examples="    pushjuju notify add chat --file chat-url --body text --events unit.error,unit.recovered\n"
    "    pushjuju notify add pager command:page --events 'unit.*,machine.*' --models shop\n"
    "    pushjuju notify test chat\n    pushjuju notify list\n",
    see_also=("metrics", "controller", "update-status"),
)
def notify(cli: Cli, args: tuple[str, ...], asked: NotifyFlags) -> None:
    word, *names = args
    if word not in _WORDS:
        raise UsageError(f'unknown subcommand "{word}" of notify: it has {", ".join(_WORDS)}')
    least, most = _WORDS[word]
    if not least <= len(names) <= most:
        raise UsageError(f"usage: notify {word}{' NAME' * least}{' [ADDRESS]' * (most - least)}")
    if word != "add" and _OF_ADD & cli.given:
        raise UsageError(f"notify {word} does not take that flag")
    if word == "add":
        _add(cli, asked, *names)
    elif word == "list":
        _list(cli, asked)
    elif word == "events":
        cli.output.write(notify_targets.events(), {"tabular": _events})
    elif word == "test":
        requests.test(session.open_controller(cli, asked.controller), scope.host(cli), names[0])
        cli.console.info(f"Target {names[0]} has taken the event")
    else:
        requests.remove(session.open_controller(cli, asked.controller), names[0])
        cli.console.info(f"Removed target {names[0]}")


def _add(cli: Cli, asked: NotifyFlags, name: str, address: str = "") -> None:
    if bool(address) == bool(asked.file):
        raise UsageError("say where events go: an ADDRESS, or --file FILE with the address")
    ctx, secret = session.open_controller(cli, asked.controller), ""
    if asked.file:
        address, secret = _read(asked.file)
    options = requests.TargetOptions(
        name=name, address=address, secret=secret, events=_split(asked.events), models=_split(asked.models),
        body=asked.body,
    )  # fmt: skip
    shown = requests.add(ctx, scope.host(cli), options)
    cli.console.info(f"Added target {name}: {shown}")
    cli.console.info(f"next: pushjuju notify test {name}")


def _read(file: str) -> tuple[str, str]:
    """Return the address and the secret in a file."""
    try:
        text = sys.stdin.read(named_files.MAX) if file == "-" else named_files.read(file).decode()
    except (OSError, ValueError) as error:
        raise UsageError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or 'it is no text'}"
        ) from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not 1 <= len(lines) <= 2:
        raise UsageError(f"{file} has not one or two lines: the address, and the secret")
    return lines[0], lines[1] if len(lines) > 1 else ""


def _split(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _list(cli: Cli, asked: NotifyFlags) -> None:
    found = notify_targets.targets(session.open_controller(cli, asked.controller))
    if not found and cli.output.form == "tabular":
        cli.console.info("Nobody is told of events; next: pushjuju notify add NAME ADDRESS")
    cli.output.write(found, {"tabular": _table})


def _table(found: Sequence[Mapping[str, Any]]) -> str:
    if not found:
        return ""
    table = TabWriter("Target", "Address", "Events", "Models", "Waiting", "State")
    for item in found:
        state = f"{item['state']}: {item['error']}" if "error" in item else item["state"]
        events, models = (",".join(item[key]) or "all" for key in ("events", "models"))
        table.row(item["name"], item["address"], events, models, str(item["waiting"]), state)
    return table.text()


def _events(found: Mapping[str, str]) -> str:
    table = TabWriter("Event", "When")
    for name, when in found.items():
        table.row(name, when)
    return table.text()
