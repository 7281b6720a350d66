"""add-machine, remove-machine, retry-provisioning. Mirrors: juju cmd/juju/machine (3.6)"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.machine import machine_formats as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.work import drive, removals, session
from pushjuju.cli.work.status_document import status_document
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid, PushjujuError, Silent, UsageError
from pushjuju.core.placement import PlacementKind
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import model_config
from pushjuju.services.lifecycle import removal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pushjuju.cli.terminal.progress import Report
    from pushjuju.services.requests.inventories import Listed


@command(
    "add-machine",
    usage="[<container-type>[:<machine-id>] | ssh:[<user>@]<host> | <placement>]",
    summary="Provisions a new machine or assigns one to the model.",
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.text("series", "Series of the new machine(s) (deprecated)"),
        flags.text("base", "The operating system base to install on the new machine(s)"),
        flags.number("n", "The number of machines to add", default=1),
        flags.many(
            "constraints",
            "Constraints of the machine",
            kind=Kind.CONSTRAINTS,
            default="",
        ),
        flags.many(
            "disks", "Storage directives for disks to attach to the machine(s)", kind=Kind.STORAGE, default=""
        ),
        flags.text("private-key", "Private key to use for the ssh: connection"),
        flags.text("public-key", "Public key to install on the host"),
        flags.text(
            "from", "Take in all hosts of an ssh_config, Ansible inventory or Terraform state", dest="source"
        ),
        *flags.NO_WAIT,
    ),
    details="`ssh:[user@]host[:port]` takes a machine that is there already; only what the\n"
    "model's proxies and cloudinit-userdata ask for is installed on it.\n"
    "`lxd:N` makes a container on machine N, `lxd` one on a new machine.\n"
    "--disks gives the new machines volumes of their own, which go with them: `[pool,]size[,count]`,\n"
    "several blank-separated.\n"
    "--from takes all that a file names; those that are in the model already are left as they are.",
    examples="    pushjuju add-machine ssh:root@10.0.0.7\n    pushjuju add-machine -n 2\n"
    "    pushjuju add-machine --disks 'ebs,100G,2 loop,5G'\n"
    "    pushjuju add-machine --from inventory.ini\n",
    see_also=("machines", "remove-machine"),
)
def add_machine(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    series: str,
    base: str,
    n: int,
    constraints: tuple[str, ...],
    disks: tuple[str, ...],
    private_key: str,
    public_key: str,
    source: str,
    no_wait: bool,
) -> None:
    """Add machines."""
    if source:
        if args or n != 1 or constraints or disks or base or series:
            raise UsageError("--from takes hosts as they are: no placement, -n, base, constraints or disks")
        _take_in_file(cli, model, source, private_key=private_key, public_key=public_key, no_wait=no_wait)
        return
    target = machines.check_placement(args[0] if args else "")
    if target is not None and n != 1:
        raise UsageError("cannot use -n when specifying a placement directive")
    if n < 1:
        raise UsageError("-n must be a positive integer")
    wanted = values.constraints(constraints, cli.console)
    if wanted.get("container"):
        raise UsageError(f'container constraint "{wanted["container"]}" not allowed when adding a machine')
    if (private_key or public_key) and (target is None or target.kind is not PlacementKind.SSH):
        raise UsageError("--private-key and --public-key are for ssh: only")
    volumes = values.disks(disks)
    if volumes and target is not None and target.kind in (PlacementKind.SSH, PlacementKind.CONTAINER):
        raise UsageError("--disks is for machines that a cloud makes: not for ssh: and containers")
    chosen = values.base(base, series, cli.console)
    opened = session.open_or_make_model(cli, model)
    if target is not None and target.kind is PlacementKind.SSH:
        machine_id = _take_in(cli, opened, str(target), private_key=private_key, public_key=public_key)
        cli.console.info(f"created machine {machine_id}")
        made = [machine_id]
    else:
        from pushjuju.workers.provision.precheck import precheck

        inside = target if target is not None and target.kind is PlacementKind.CONTAINER else None
        placement = "" if target is None or inside else str(target)
        real = chosen or _default_base(opened)
        precheck(
            opened.ctx,
            opened.uuid,
            base=real,
            constraints=wanted,
            directives=[] if inside and inside.parent else [placement],
            warn=cli.console.warn,
        )
        made = []
        for _ in range(n):
            machine = machines.add_machine(
                opened.ctx,
                opened.uuid,
                base=real,
                constraints=wanted,
                placement=placement,
                container=inside,
                disks=volumes,
            )
            made.append(machine.id)
            cli.console.info(f"created {'container' if '/' in machine.id else 'machine'} {machine.id}")
    drive.settle(cli, opened.ctx, opened.uuid, touched=made, no_wait=no_wait)


def _take_in_file(
    cli: Cli, model: str, source: str, *, private_key: str, public_key: str, no_wait: bool
) -> None:
    """Take in the hosts of a file; one that cannot be taken does not stop the others."""
    import asyncio

    from pushjuju.cli.terminal.progress import progress
    from pushjuju.services.requests import inventories

    path = Path(source).expanduser()
    if path.is_dir():
        raise NotValid(f"{source} is a directory", hint="name the inventory in it")
    try:
        text = values.read_file(source, cli.console.stdin).decode()
        folder, name = (None, "standard input") if source == "-" else (path.parent, source)
        listed = inventories.read(text, name, folder, cli.console.info)
    except UnicodeDecodeError:
        raise NotValid(f"{source} is no text") from None
    keys = values.public_keys(public_key)
    opened = session.open_or_make_model(cli, model)
    with opened.ctx.store.read() as tx:
        known = {
            (machine.ssh.get("host"), machine.ssh.get("port"))
            for machine in machines.list_machines(tx, opened.uuid)
        }
    new = [item for item in listed if (item.host, item.port) not in known]
    if len(new) < len(listed):
        cli.console.info(f"{len(listed) - len(new)} of {len(listed)} hosts are machines of the model already")
    with progress(cli.console) as report:
        found = asyncio.run(_enlist_all(cli, opened, new, report, private_key=private_key, keys=keys))
    for item, outcome in zip(new, found, strict=True):
        if isinstance(outcome, str):
            cli.console.info(f"created machine {outcome} ({item.name})")
        else:
            told = f"{item.name}: {outcome.message}"
            cli.console.error(type(outcome)(told, detail=outcome.detail, hint=outcome.hint))
    made = [outcome for outcome in found if isinstance(outcome, str)]
    drive.settle(cli, opened.ctx, opened.uuid, touched=made, no_wait=no_wait)
    if any(not isinstance(outcome, str) for outcome in found):
        raise Silent


async def _enlist_all(
    cli: Cli,
    opened: session.Session,
    listed: Sequence[Listed],
    report: Report,
    *,
    private_key: str,
    keys: Sequence[str],
) -> list[str | PushjujuError]:
    """Return the id of each host's machine, or why it is none."""
    import asyncio

    from pushjuju.workers.provision.enlist import add_given_machine
    from pushjuju.workers.runtime import STARTS, Runtime

    runtime = Runtime(opened.ctx, report, cli.console.warn)
    slots = asyncio.Semaphore(STARTS)

    async def enlist(item: Listed) -> str | PushjujuError:
        async with slots:
            try:
                machine = await add_given_machine(
                    runtime,
                    opened.uuid,
                    item.target,
                    identities=_identities(private_key, item.identity),
                    public_keys=keys,
                    jump=item.jump,
                )
            except PushjujuError as error:
                return error
        return machine.id

    try:
        return list(await asyncio.gather(*(enlist(item) for item in listed)))
    finally:
        await runtime.close()


def _identities(*paths: str) -> list[Path]:
    return [Path(path).expanduser() for path in paths if path]


def _take_in(cli: Cli, opened: session.Session, target: str, *, private_key: str, public_key: str) -> str:
    """Take in a machine that is there already; return its id. It is reached at once, or not recorded."""
    import asyncio

    from pushjuju.cli.terminal.progress import progress
    from pushjuju.workers.provision.enlist import add_given_machine
    from pushjuju.workers.runtime import Runtime

    keys = values.public_keys(public_key)
    identities = [Path(private_key).expanduser()] if private_key else []

    async def enlist(report: Report) -> str:
        runtime = Runtime(opened.ctx, report, cli.console.warn)
        try:
            machine = await add_given_machine(
                runtime, opened.uuid, target, identities=identities, public_keys=keys
            )
        finally:
            await runtime.close()
        return machine.id

    with progress(cli.console) as report:
        return asyncio.run(enlist(report))


def _default_base(opened: session.Session) -> Base:
    with opened.ctx.store.read() as tx:
        text = model_config.get(tx, opened.uuid, "default-base")
    return Base.parse(text) if text else Base("ubuntu", "24.04")


@command(
    "remove-machine",
    usage="<machine number> ...",
    summary="Removes one or more machines from a model.",
    at_least=(1, "no machines specified"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        *flags.NO_PROMPT,
        *removals.FLAGS,
        flags.switch("force", "Completely remove a machine and all its dependencies"),
        flags.switch("keep-instance", "Do not stop the running cloud instance"),
    ),
    details="Units and containers keep a machine from going; --force removes them too.\n" + removals.HOW,
    examples="    pushjuju remove-machine 5\n"
    "    pushjuju remove-machine 6 --force\n"
    "    pushjuju remove-machine 6 --force --no-wait\n"
    "    pushjuju remove-machine 7 --keep-instance\n",
    see_also=("add-machine",),
)
def remove_machine(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    no_prompt: bool,
    dry_run: bool,
    force: bool,
    no_wait: bool,
    keep_instance: bool,
) -> None:
    """Remove machines."""
    forced = removals.force(force=force, no_wait=no_wait)
    ids = [machines.require_id(arg) for arg in args]
    opened = session.open_model(cli, model)
    look = partial(removals.machine_lines, opened, keep_instance=keep_instance)
    plan = removals.Plan.of(ids, look, failed="removing machine failed")
    besides = [line for line in plan.text() if not line.startswith(removals.DISK)]
    told = removals.confirm(
        cli,
        opened,
        plan,
        what="machine removal",
        no_prompt=no_prompt,
        dry_run=dry_run,
        needs_force=not force and len(besides) > len(ids),  # more goes than the machines themselves
    )
    if dry_run:
        return
    remove = partial(removal.remove_machines, opened.ctx, opened.uuid)
    with opened.ctx.store.read() as tx:
        there = [unit.name for name in ids for unit in machines.units_on(tx, opened.uuid, name)]
    plan.carry_out(lambda names: remove(names, force=forced, keep_instance=keep_instance))
    removals.finish(cli, opened, plan, told=told, touched=(*ids, *there))


_LIST_FLAGS = (
    *flags.MODEL,
    *flags.LOGIN,
    flags.switch("utc", "Display timestamps in the UTC timezone"),
    flags.switch("color", "Force use of ANSI color codes", void=True),
)


@command(
    "machines",
    summary="Lists machines in a model.",
    aliases=("list-machines",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=_LIST_FLAGS,
    examples="    pushjuju machines\n    pushjuju machines -m test --format json\n",
    see_also=("status", "show-machine"),
)
def list_machines(cli: Cli, _args: tuple[str, ...], *, model: str, utc: bool) -> None:
    """List the machines of a model."""
    cli.output.write(_document(cli, model, (), utc=utc), formatters.formatters(colour=cli.output.colour))


@command(
    "show-machine",
    usage="<machineID> ...",
    summary="Shows a machine's status.",
    formats=("yaml", "tabular", "json"),
    flags=_LIST_FLAGS,
    examples="    pushjuju show-machine 0\n    pushjuju show-machine 1 2 --format json\n",
    see_also=("machines",),
)
def show_machine(cli: Cli, args: tuple[str, ...], *, model: str, utc: bool) -> None:
    """Show machines."""
    cli.output.write(_document(cli, model, args, utc=utc), formatters.formatters(colour=cli.output.colour))


def _document(cli: Cli, model: str, ids: tuple[str, ...], *, utc: bool) -> dict[str, Any]:
    opened = session.open_model(cli, model)
    return formatters.document(status_document(opened, utc=utc), ids)


@command(
    "retry-provisioning",
    usage="<machine> [...]",
    summary="Retries provisioning for failed machines.",
    flags=(*flags.MODEL, flags.switch("all", "Retry provisioning all failed machines", dest="every")),
    examples="    pushjuju retry-provisioning 0\n    pushjuju retry-provisioning --all\n",
)
def retry_provisioning(cli: Cli, args: tuple[str, ...], *, model: str, every: bool) -> None:
    """Try machines again whose start failed."""
    if bool(args) == every:
        raise UsageError("specify machines or --all" if every else "no machine specified")
    opened = session.open_model(cli, model)
    with opened.ctx.store.write() as tx:
        names = [machines.require_id(arg) for arg in args] or list(machines.not_started(tx, opened.uuid))
        for name in names:
            machines.retry_provisioning(tx, opened.uuid, name, cli.clock.now())
    drive.settle(cli, opened.ctx, opened.uuid, touched=names)
