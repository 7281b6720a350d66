"""The command application-storage. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.commands.config import config_arguments
from pushjuju.cli.commands.storage import storage_table
from pushjuju.cli.commands.storage.storage_words import directives_of
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.shapes import struct, structured
from pushjuju.cli.work import session
from pushjuju.core.errors import NotValid, UsageError, not_found
from pushjuju.core.storage import Directive, is_store, parse_directives
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.requests.storage import storage_requests


@command(
    "application-storage",
    usage="<application> [<storage name>[=<storage directive>] ...]",
    summary="Displays or sets the storage that future units of an application get.",
    at_least=(1, "no application specified"),
    formats=("tabular", "yaml", "json"),
    flags=(*flags.IN_MODEL, *flags.CONFIG_NO_RESET),
    details="--file names a YAML file with storage names and directives, or with the output of this\n"
    "command; arguments win over the file. Parts that a directive leaves out keep their values.",
    examples="    pushjuju application-storage postgresql pgdata=loop,10G\n"
    "    pushjuju application-storage postgresql --file storage.yaml\n",
    see_also=("storage", "storage-pools", "add-storage", "add-unit"),
)
def application_storage(cli: Cli, args: tuple[str, ...], *, model: str, file: str) -> None:
    if not is_application(args[0]):
        raise UsageError(f"invalid application name {quote(args[0])}")
    wish = config_arguments.parse(args[1:], file=file)
    options = _directives_of_file(cli, file) if file else {}
    options.update(directives_of([f"{key}={text}" for key, text in wish.values.items()]))

    opened = session.open_model(cli, model)
    if wish.change:
        session.require_change(opened)
        return storage_requests.set_application_directives(opened.ctx, opened.uuid, args[0], options)
    known = storage_requests.application_directives(opened.ctx, opened.uuid, args[0])
    if wish.key and wish.key not in known:
        raise not_found("storage", wish.key)
    document = {
        name: {"pool": item.pool, "size": item.size, "count": item.count}
        for name, item in known.items()
        if wish.key in ("", name)
    }
    named = {name: {key.title(): value for key, value in item.items()} for name, item in document.items()}
    forms = {
        "tabular": storage_table.directives,
        "yaml": structured("*leaf")["yaml"],
        "json": lambda _document: render("json", struct(named, "*leaf")),  # Go's names of the fields
    }
    return cli.output.write(document, forms)


def _directives_of_file(cli: Cli, path: str) -> dict[str, Directive]:
    """Read directives from a YAML file; `-` is stdin."""
    found = values.yaml_map(values.read_file(path, cli.console.stdin), path)
    return {str(name): _directive_of_file(str(name), value) for name, value in found.items()}


def _directive_of_file(name: str, value: Any) -> Directive:
    if isinstance(value, dict) and value and value.keys() <= {"pool", "size", "count"}:
        pool, size, count = (value.get(key) for key in ("pool", "size", "count"))
        parts = (pool, count, f"{size}M" if isinstance(size, int) else size)
        value = ",".join(str(part) for part in parts if part not in (None, "", 0))
    if not isinstance(value, str | int) or isinstance(value, bool) or not is_store(name):
        raise NotValid(f"cannot parse constraints for storage {quote(name)}: expected a storage directive")
    return parse_directives([f"{name}={value}"])[name]
