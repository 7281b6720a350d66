"""storage, show-storage, add-, attach-, detach-, remove-storage, import-filesystem.

Mirrors: juju cmd/juju/storage (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pushjuju.cli.commands.config import config_arguments
from pushjuju.cli.commands.storage import storage_table
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.shapes import struct
from pushjuju.cli.terminal.times import since_text, with_texts
from pushjuju.cli.work import drive, removals, session
from pushjuju.core.errors import Conflict, NotFound, NotValid, Silent, UsageError
from pushjuju.core.storage import Directive, is_storage, is_store, parse_directives
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import quote

_ATTACHED = """
Use the --force option to remove attached storage, or use
"{program} detach-storage" to explicitly detach the storage
before removing."""


@command(
    "storage",
    usage="[<filesystem or volume> ...]",
    summary="Lists storage details.",
    aliases=("list-storage",),
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("filesystem", "List filesystem storage (deprecated)"),
        flags.switch("volume", "List volume storage (deprecated)"),
    ),
    examples="    pushjuju storage\n"
    "    pushjuju storage --filesystem\n"
    "    pushjuju storage --volume --format json\n",
    see_also=("show-storage", "add-storage", "remove-storage"),
)
def storage(cli: Cli, args: tuple[str, ...], *, model: str, filesystem: bool, volume: bool) -> None:
    """List storage."""
    if filesystem and volume:
        raise UsageError("--filesystem and --volume can not be used together")
    if args and not (filesystem or volume):
        raise UsageError("specifying IDs only supported with --filesystem and --volume options")
    from pushjuju.services.views.status import storage_document

    opened = session.open_model(cli, model)
    document = _with_times(storage_document.document(opened.ctx, opened.uuid))
    table = storage_table.tabular
    if filesystem or volume:
        part = "filesystems" if filesystem else "volumes"
        document = _part(document, part, args)
        table = storage_table.filesystems if filesystem else storage_table.volumes
    plain = cli.output.form == "tabular" and not (filesystem or volume)
    if not document or (plain and "storage" not in document):  # disks of machines are no storage of units
        if cli.output.form == "tabular":
            cli.console.info("No storage to display.")
        return cli.output.text("")
    colour = cli.output.colour
    return cli.output.write(
        document, {"tabular": lambda found: table(found, colour=colour), **_structured("storage")}
    )


def _part(document: dict[str, Any], part: str, ids: Sequence[str]) -> dict[str, Any]:
    found = {key: value for key, value in document.get(part, {}).items() if not ids or key in ids}
    missing = [key for key in ids if key not in found]
    if missing:
        raise NotValid(f'{part.removesuffix("s")} "{missing[0]}" not found')
    return {part: found} if found else {}


def _with_times(document: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = with_texts(document, lambda moment: since_text(moment, utc=False))
    return shown


def _structured(shape: str) -> dict[str, Callable[[Any], str]]:
    return {
        "yaml": lambda document: render("yaml", struct(document, shape)),
        "json": lambda document: render("json", struct(document, shape)),
    }


@command(
    "show-storage",
    usage="<storage ID> [...]",
    summary="Shows storage instance information.",
    at_least=(1, "must specify storage ID(s)"),
    formats=("yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju show-storage data/0\n    pushjuju show-storage data/0 data/1 --format json\n",
    see_also=("storage", "attach-storage", "detach-storage", "remove-storage"),
)
def show_storage(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Show storage instances."""
    _check_ids(args)
    from pushjuju.services.views.status import storage_document

    opened = session.open_model(cli, model)
    document = _with_times(storage_document.show(opened.ctx, opened.uuid, args))
    cli.output.write(document, _structured("*storage-instance"))


def _check_ids(ids: Sequence[str]) -> None:
    for item in ids:
        if not is_storage(item):
            raise UsageError(f'storage ID "{item}" not valid')


def _check_unit(name: str) -> None:
    if not is_unit(name):
        raise UsageError(f'unit name "{name}" not valid')


@command(
    "add-storage",
    usage="<unit> <storage name>[=<storage directive>] ...",
    summary="Adds storage to a unit after it has been deployed.",
    at_least=(2, "add-storage requires a unit and a storage directive"),
    flags=(*flags.MODEL, *flags.LOGIN, *flags.NO_WAIT),
    details="A directive is `[pool][,count][,size]`; what it leaves out is that of the application.",
    examples="    pushjuju add-storage web/0 data=loop,2G\n",
    see_also=("attach-storage", "detach-storage", "storage"),
)
def add_storage(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Add storage to a unit."""
    _check_unit(args[0])
    asked = _directives(args[1:])
    from pushjuju.services.requests import storage_requests

    opened = session.open_model(cli, model)
    answers = storage_requests.add(opened.ctx, opened.uuid, args[0], asked)
    lines = [f"added storage {made} to {args[0]}" for answer in answers for made in answer.made]
    failed = [
        f'failed to add storage "{answer.subject}" to {args[0]}: {answer.error.message}'
        for answer in answers
        if answer.error
    ]
    _finish(cli, opened, answers, lines, failed, no_wait=no_wait)


def _directives(words: Sequence[str]) -> dict[str, Directive]:
    try:
        return parse_directives(words, bare=True)
    except NotValid as error:
        raise UsageError(error.message) from None


def _finish(
    cli: Cli,
    opened: session.Session,
    answers: Sequence[Any],
    lines: Sequence[str],
    failed: Sequence[str],
    *,
    no_wait: bool,
) -> None:
    """Tell what was asked for and what was refused, then work it off.

    Raises:
        Silent: Something was refused; it has been told.
    """
    for line in (*lines, *failed):
        cli.console.info(line)
    for answer in answers:
        if answer.error is not None and answer.error.hint:
            cli.console.detail(answer.error.hint)
    touched = [unit for answer in answers for unit in answer.units]
    touched += [drive.storage_subject(answer.subject) for answer in answers]
    if lines:
        removals.settle(cli, opened, touched=touched, no_wait=no_wait)
    if failed:
        raise Silent


def _failed(verb: str, answers: Sequence[Any], end: str = "") -> list[str]:
    return [
        f"failed to {verb} {answer.subject}{end}: {answer.error.message}"
        for answer in answers
        if answer.error
    ]


@command(
    "attach-storage",
    usage="<unit> <storage> [<storage> ...]",
    summary="Attaches existing storage to a unit.",
    at_least=(2, "attach-storage requires a unit ID and at least one storage ID"),
    flags=(*flags.MODEL, *flags.LOGIN, *flags.NO_WAIT),
    details="Storage that lives on a machine is attached to units of that machine only.",
    examples="    pushjuju attach-storage postgresql/1 pgdata/0\n",
    see_also=("add-storage", "detach-storage", "storage"),
)
def attach_storage(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Attach storage to a unit."""
    _check_unit(args[0])
    _check_ids(args[1:])
    from pushjuju.services.requests import storage_requests

    opened = session.open_model(cli, model)
    answers = storage_requests.attach(opened.ctx, opened.uuid, args[0], args[1:])
    lines = [f"attaching {answer.subject} to {args[0]}" for answer in answers if not answer.error]
    failed = _failed("attach", answers, f" to {args[0]}")
    _finish(cli, opened, answers, lines, failed, no_wait=no_wait)


@command(
    "detach-storage",
    usage="<storage> [<storage> ...]",
    summary="Detaches storage from units.",
    at_least=(1, "detach-storage requires at least one storage ID"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("force", "Detach although the charm has not let go of it"),
        *flags.NO_WAIT,
    ),
    details="The data stays; `storage` tells what a detach waits for.",
    examples="    pushjuju detach-storage pgdata/0\n",
    see_also=("attach-storage", "remove-storage", "storage"),
)
def detach_storage(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    """Detach storage from its units."""
    _check_ids(args)
    from pushjuju.services.requests import storage_requests

    opened = session.open_model(cli, model)
    answers = storage_requests.detach(opened.ctx, opened.uuid, args, force=force)
    lines = [f"detaching {answer.subject}" for answer in answers if not answer.error]
    _finish(cli, opened, answers, lines, _failed("detach", answers), no_wait=no_wait)


@command(
    "remove-storage",
    usage="<storage> [<storage> ...]",
    summary="Removes storage from the model.",
    at_least=(1, "remove-storage requires at least one storage ID"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("force", "Remove storage even if it is currently attached"),
        flags.switch("no-destroy", "Remove the storage without destroying it"),
        *flags.NO_WAIT,
    ),
    details="The data is destroyed, unless --no-destroy leaves it to the cloud.",
    examples="    pushjuju remove-storage pgdata/0\n    pushjuju remove-storage --no-destroy pgdata/0\n",
    see_also=("detach-storage", "import-filesystem", "storage"),
)
def remove_storage(
    cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_destroy: bool, no_wait: bool
) -> None:
    """Remove storage."""
    _check_ids(args)
    from pushjuju.services.requests import storage_requests

    opened = session.open_model(cli, model)
    answers = storage_requests.remove(opened.ctx, opened.uuid, args, force=force, destroy=not no_destroy)
    lines = [f"removing {answer.subject}" for answer in answers if not answer.error]
    failed = _failed("remove", answers)
    if any(isinstance(answer.error, Conflict) for answer in answers):
        failed += _ATTACHED.format(program=cli.program).split("\n")
    _finish(cli, opened, answers, lines, failed, no_wait=no_wait)


@command(
    "import-filesystem",
    usage="<storage pool> <provider ID> <storage name>",
    summary="Imports a filesystem into the model.",
    flags=(*flags.MODEL, *flags.LOGIN, flags.switch("force", "For Kubernetes only")),
    details="It becomes detached storage; `attach-storage` and `--attach-storage` give it to a unit.",
    examples="    pushjuju import-filesystem local volume-4f2a pgdata\n",
    see_also=("storage", "remove-storage"),
)
def import_filesystem(cli: Cli, args: tuple[str, ...], *, model: str, force: bool) -> None:
    """Take in a filesystem that is there."""
    if len(args) < 3:
        raise UsageError("import-filesystem requires a storage provider, provider ID, and storage name")
    if len(args) > 3:
        raise UsageError(f"unrecognized args: {list(args[3:])}")
    if force:
        raise UsageError("--force is only allowed with k8s models")
    pool, provider_id, name = args
    if not is_store(name):
        raise UsageError(f'"{name}" is not a valid storage name')
    from pushjuju.workers.provision.storage_import import import_found

    opened = session.open_model(cli, model)
    cli.console.info(f'importing "{provider_id}" from storage pool "{pool}" as storage "{name}"')
    made = import_found(opened.ctx, opened.uuid, pool, provider_id, name, warn=cli.console.warn)
    cli.console.info(f"imported storage {made}")


@command(
    "create-storage-pool",
    usage="<name> <storage provider> [<key>=<value> ...]",
    summary="Creates or defines a storage pool.",
    at_least=(2, "pool creation requires names, provider type and optional attributes for configuration"),
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju create-storage-pool scratch tmpfs\n",
    see_also=("storage-pools", "update-storage-pool", "remove-storage-pool"),
)
def create_storage_pool(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Make a pool."""
    if "=" in args[0] or "=" in args[1]:
        raise UsageError(
            "pool creation requires names and provider type before optional attributes for configuration"
        )
    attributes = _pairs(args[2:])
    from pushjuju.services.entities.storage import storage_pools

    opened = session.open_model(cli, model)
    storage_pools.create(opened.ctx, opened.uuid, args[0], args[1], attributes)


def _pairs(words: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise UsageError(f'expected "key=value", got "{word}"')
        if key in found:
            raise UsageError(f'key "{key}" specified more than once')
        found[key] = value
    return found


@command(
    "update-storage-pool",
    usage="<name> [<key>=<value> ...]",
    summary="Updates storage pool attributes.",
    at_least=(1, "pool update requires name and configuration attributes"),
    flags=(*flags.MODEL, *flags.LOGIN),
    details="All attributes are replaced. `provider-type=...` changes the type of a pool that is not in use.",
    examples="    pushjuju update-storage-pool fast volume-type=ssd\n",
    see_also=("storage-pools", "create-storage-pool", "remove-storage-pool"),
)
def update_storage_pool(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Change a pool."""
    attributes = _pairs(args[1:])
    if not attributes:
        raise UsageError("pool update requires configuration attributes")
    from pushjuju.services.entities.storage import storage_pools

    opened = session.open_model(cli, model)
    provider = attributes.pop("provider-type", "")
    storage_pools.update(opened.ctx, opened.uuid, args[0], attributes, provider)


@command(
    "remove-storage-pool",
    usage="<name>",
    summary="Removes an existing storage pool.",
    at_least=(1, "pool removal requires storage pool name"),
    at_most=1,
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju remove-storage-pool fast\n",
    see_also=("storage-pools", "create-storage-pool", "update-storage-pool"),
)
def remove_storage_pool(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Remove a pool."""
    from pushjuju.services.entities.storage import storage_pools

    opened = session.open_model(cli, model)
    storage_pools.remove(opened.ctx, opened.uuid, args[0])


@command(
    "storage-pools",
    summary="Lists storage pools.",
    aliases=("list-storage-pools",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.many("provider", "Only show pools of these provider types"),
        flags.many("name", "Only show pools with these names"),
    ),
    examples="    pushjuju storage-pools\n    pushjuju storage-pools --provider loop,rootfs\n",
    see_also=("create-storage-pool", "remove-storage-pool"),
)
def storage_pools(
    cli: Cli, _args: tuple[str, ...], *, model: str, provider: tuple[str, ...], name: tuple[str, ...]
) -> None:
    """List the pools."""
    from pushjuju.services.entities.storage import storage_pools as service

    opened = session.open_model(cli, model)
    document = service.document(opened.ctx, opened.uuid, name, provider)
    if not document:
        cli.console.info("No storage pools to display.")
        return cli.output.text("")
    return cli.output.write(document, {"tabular": storage_table.pools, **_structured("*leaf")})


@command(
    "application-storage",
    usage="<application> [<storage name>[=<storage directive>] ...]",
    summary="Displays or sets the storage that future units of an application get.",
    at_least=(1, "no application specified"),
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN, *flags.CONFIG_NO_RESET),
    details="--file names a YAML file of what is to be set: storage names with directives, or what this\n"
    "command itself printed; what is typed comes over it. A part that is not said keeps its value.",
    examples="    pushjuju application-storage postgresql pgdata=loop,10G\n"
    "    pushjuju application-storage postgresql --file storage.yaml\n",
    see_also=("storage", "storage-pools", "add-storage", "add-unit"),
)
def application_storage(cli: Cli, args: tuple[str, ...], *, model: str, file: str) -> None:
    """Show or set storage directives."""
    if not is_application(args[0]):
        raise UsageError(f"invalid application name {quote(args[0])}")
    wish = config_arguments.parse(args[1:], file=file)
    asked = _directives_of_file(cli, file) if file else {}
    asked.update(_directives([f"{key}={text}" for key, text in wish.values.items()]))
    from pushjuju.services.requests import storage_requests

    opened = session.open_model(cli, model)
    if wish.change:
        session.require_change(opened)
        return storage_requests.set_application_directives(opened.ctx, opened.uuid, args[0], asked)
    known = storage_requests.application_directives(opened.ctx, opened.uuid, args[0])
    if wish.key and wish.key not in known:
        raise NotFound(f"storage {quote(wish.key)} not found")
    document = {
        name: {"pool": item.pool, "size": item.size, "count": item.count}
        for name, item in known.items()
        if wish.key in ("", name)
    }
    named = {name: {key.title(): value for key, value in item.items()} for name, item in document.items()}
    forms = {
        "tabular": storage_table.directives,
        "yaml": _structured("*leaf")["yaml"],
        "json": lambda _document: render("json", struct(named, "*leaf")),  # Go's names: nothing renames them
    }
    return cli.output.write(document, forms)


def _directives_of_file(cli: Cli, path: str) -> dict[str, Directive]:
    """Read the directives of a YAML file; `-` is stdin.

    Raises:
        NotFound: There is no such file.
        NotValid: It is not such a file.
    """
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
