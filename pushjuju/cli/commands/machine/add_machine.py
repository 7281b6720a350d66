"""The command add-machine. Mirrors: juju cmd/juju/machine (3.6)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.terminal.progress import progress
from pushjuju.cli.work import drive, making
from pushjuju.core.errors import NotValid, PushjujuError, Silent, UsageError
from pushjuju.core.model.placement import PlacementKind
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests import inventories
from pushjuju.services.requests.machine import add_machines as request
from pushjuju.workers.provision import enlist, precheck


@command(
    "add-machine",
    usage="[<container-type>[:<machine-id>] | ssh:[<user>@]<host> | <placement>]",
    summary="Provisions a new machine or assigns one to the model.",
    at_most=1,
    flags=(
        *flags.IN_MODEL,
        flags.text("series", "Series of the new machine(s) (deprecated)"),
        flags.text("base", "The operating system base to install on the new machine(s)"),
        flags.number("n", "The number of machines to add", default=1),
        flags.many("constraints", "Constraints of the machine", kind=Kind.CONSTRAINTS, default=""),
        flags.many(
            "disks", "Storage directives for disks to attach to the machine(s)", kind=Kind.STORAGE, default=""
        ),
        flags.text("private-key", "Private key to use for the ssh: connection"),
        flags.text("public-key", "Public key to install on the host"),
        flags.text(
            "from", "Add all hosts of an ssh_config, Ansible inventory or Terraform state", dest="source"
        ),
        *flags.NO_WAIT,
    ),
    details="`ssh:[user@]host[:port]` adds a machine that exists already; pushjuju changes only what the\n"
    "model's proxies and cloudinit-userdata ask for.\n"
    "`lxd:N` makes a container on machine N, `lxd` a container on a new machine.\n"
    "--disks gives the new machines volumes of their own, which end with the machines:\n"
    "`[pool,]size[,count]`, several with blanks between.\n"
    "--from adds all hosts in a file; hosts that are in the model already stay as they are.",
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
    if source:
        if args or n != 1 or constraints or disks or base or series:
            raise UsageError("--from takes hosts as they are: no placement, -n, base, constraints or disks")
        _take_in_file(cli, model, source, private_key=private_key, public_key=public_key, no_wait=no_wait)
        return
    target = values.machine_placement(args[0] if args else "")
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
    opened = making.open_or_make_model(cli, model)
    if target is not None and target.kind is PlacementKind.SSH:
        host = enlist.GivenHost(target=str(target), identities=_identities(private_key))
        (found,) = _enlist(cli, opened, [host], values.public_keys(public_key))
        if isinstance(found, PushjujuError):
            raise found
        cli.console.info(f"created machine {found}")
        made = [found]
    else:
        inside = target if target is not None and target.kind is PlacementKind.CONTAINER else None
        placement = "" if target is None or inside else str(target)
        options = request.AddMachinesOptions(
            base=chosen, constraints=wanted, placement=placement, container=inside, disks=volumes, count=n
        )
        made = request.add_machines(
            opened.ctx, opened.uuid, options, notices=cli.console, precheck=precheck.precheck
        )
        for machine_id in made:
            cli.console.info(f"created {'container' if '/' in machine_id else 'machine'} {machine_id}")
    drive.settle(cli, opened.ctx, opened.uuid, touched=made, no_wait=no_wait)


def _take_in_file(
    cli: Cli, model: str, source: str, *, private_key: str, public_key: str, no_wait: bool
) -> None:
    """Add the hosts of a file; a host that cannot be added does not stop the others."""
    path = Path(source).expanduser()
    if path.is_dir():
        raise NotValid(f"{source} is a directory", hint="name the inventory file in that directory")
    try:
        text = values.read_file(source, cli.console.stdin).decode()
        folder, name = (None, "standard input") if source == "-" else (path.parent, source)
        listed = inventories.read(text, name, folder, cli.console.info)
    except UnicodeDecodeError:
        raise NotValid(f"{source} is no text") from None
    keys = values.public_keys(public_key)
    opened = making.open_or_make_model(cli, model)
    known = request.hosts(opened.ctx, opened.uuid)
    new = [item for item in listed if (item.host, item.port) not in known]
    if len(new) < len(listed):
        cli.console.info(f"{len(listed) - len(new)} of {len(listed)} hosts are machines of the model already")
    hosts = [
        enlist.GivenHost(
            target=item.target, identities=_identities(private_key, item.identity), jump=item.jump
        )
        for item in new
    ]
    found = _enlist(cli, opened, hosts, keys)
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


def _enlist(
    cli: Cli, opened: sessions.Session, hosts: Sequence[enlist.GivenHost], public_keys: Sequence[str]
) -> list[str | PushjujuError]:
    """Return for each host the id of its machine, or the error."""

    with progress(cli.console) as report:
        return enlist.take_in(opened.ctx, opened.uuid, hosts, public_keys, tell=report, warn=cli.console.warn)


def _identities(*paths: str) -> list[Path]:
    return [Path(path).expanduser() for path in paths if path]
