"""users, show-user, add-user and what becomes of users. Mirrors: juju cmd/juju/user (3.6)

There is no server to log in to; what is recorded here says who shall have access once there is one.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pushjuju.cli.commands.user import user_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.refusing import refusal
from pushjuju.cli.terminal.times import friendly, rfc3339
from pushjuju.cli.work import session
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.services.entities.basis import users as people
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.views import documents

_EXACT = flags.switch("exact-time", "Use full timestamp for connection times")
_NEVER = "never connected"
_REMOVAL = """\
WARNING! This command will permanently archive the user {user} on the {controller}
controller. This action is irreversible. If you wish to temporarily disable the
user please use the "pushjuju disable-user" command. See
"pushjuju help disable-user" for more details.

"""
_NO_USE = "There is no server to register with yet: {name} works this controller where its data directory is."
_NO_SERVER = "there is no server that asks for a password: who may read the data directory is admin"


def _shown(cli: Cli, entry: dict[str, Any], *, exact: bool) -> dict[str, Any]:
    """Return a user's document with its moments as texts."""
    now = cli.clock.now()

    def text(moment: datetime | None) -> str:
        if moment is None:
            return _NEVER
        return rfc3339(moment) if exact else friendly(moment, now)

    times = ("date-created", "last-connection")  # nothing is known of those of external users
    return {key: text(value) if key in times else value for key, value in entry.items()}


@command(
    "users",
    usage="[model-name]",
    summary="Lists Juju users allowed to connect to a controller or model.",
    aliases=("list-users",),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.CONTROLLER,
        flags.switch("all", "Include disabled users", dest="every"),
        _EXACT,
    ),
    examples="    pushjuju users\n    pushjuju users mymodel\n    pushjuju users --all\n",
    see_also=("add-user", "show-user", "disable-user", "grant"),
)
def users(cli: Cli, args: tuple[str, ...], *, controller: str, every: bool, exact_time: bool) -> None:
    """List users of a controller, or of one model."""
    if args:
        return _model_users(cli, args[0], controller, exact=exact_time)
    ctx = session.open_controller(cli, controller)
    listed = [_shown(cli, entry, exact=exact_time) for entry in people.documents(ctx, disabled=every)]
    forms = formatters.formatters(controller=ctx.controller.name, user=ctx.user, colour=cli.output.colour)
    return cli.output.write(listed, forms)


def _model_users(cli: Cli, name: str, controller: str, *, exact: bool) -> None:
    opened = session.open_model(cli, f"{controller}:{name}" if controller and ":" not in name else name)
    shown = {
        user: _shown(cli, entry, exact=exact)
        for user, entry in documents.model_users(opened.ctx, opened.model).items()
    }
    forms = formatters.model_formatters(user=opened.ctx.user, colour=cli.output.colour)
    cli.output.write(shown, forms)


@command(
    "show-user",
    usage="[<user name>]",
    summary="Show information about a user.",
    at_most=1,
    formats=("yaml", "json"),
    flags=(*flags.CONTROLLER, _EXACT),
    examples="    pushjuju show-user\n    pushjuju show-user bob --exact-time\n",
    see_also=("add-user", "users"),
)
def show_user(cli: Cli, args: tuple[str, ...], *, controller: str, exact_time: bool) -> None:
    """Show a user."""
    ctx = session.open_controller(cli, controller)
    entry = people.document(ctx, args[0] if args else ctx.user)
    cli.output.text(formatters.one(cli.output.form, _shown(cli, entry, exact=exact_time)))


@command(
    "add-user",
    usage="<user name> [<display name>]",
    summary="Adds a Juju user to a controller.",
    at_least=(1, "no username supplied"),
    at_most=2,
    flags=(*flags.CONTROLLER, *flags.LOGIN),
    details="The user is recorded, and the line is printed with which Juju's users register. There is no\n"
    "server to register with yet, so that nobody can make use of it. What the user shall have access to is\n"
    "recorded with `grant` all the same.",
    examples="    pushjuju add-user bob\n    pushjuju add-user bob 'Bob Brown'\n",
    see_also=("users", "show-user", "grant", "disable-user", "remove-user"),
)
def add_user(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
    """Record a user."""
    ctx = session.open_controller(cli, controller)
    name, display = args[0], args[1] if len(args) > 1 else ""
    people.add(ctx, name, display)
    shown = f"{display} ({name})" if display else name
    cli.output.text(
        f'User "{shown}" added\n'
        f"Please send this command to {name}:\n"
        f"    {cli.program} register {_registration(ctx, name)}\n\n"
        f'"{shown}" has not been granted access to any models. '
        'You can use "pushjuju grant" to grant access.\n'
    )
    cli.console.info(_NO_USE.format(name=name))


def _registration(ctx: Context, name: str) -> str:
    """Return a registration string as Juju writes it: DER of user, addresses, key and controller, in base64.

    Mirrors: juju jujuclient/proxy RegistrationInfo, cmd/juju/user/add.go (3.6)
    """
    import secrets
    from base64 import urlsafe_b64encode

    parts = [
        _der(0x0C, name.encode()),
        _der(0x30, b""),
        _der(0x04, secrets.token_bytes(32)),
        _der(0x0C, ctx.controller.name.encode()),
    ]
    data = _der(0x30, b"".join(parts))
    # Padded with zeros, which a reader of DER leaves alone, so that base64 needs no "=".
    return urlsafe_b64encode(data + bytes(-len(data) % 3)).decode()


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = bytes([size]) if size < 128 else _long(size)
    return bytes([tag]) + length + content


def _long(size: int) -> bytes:
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits


@command(
    "enable-user",
    usage="<user name>",
    summary="Re-enables a previously disabled Juju user.",
    at_least=(1, "no username supplied"),
    at_most=1,
    flags=(*flags.CONTROLLER, *flags.LOGIN),
    examples="    pushjuju enable-user bob\n",
    see_also=("users", "disable-user", "login"),
)
def enable_user(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
    """Let a user in again."""
    people.set_enabled(session.open_controller(cli, controller), args[0], enabled=True)
    cli.console.info(f'User "{args[0]}" enabled')


@command(
    "disable-user",
    usage="<user name>",
    summary="Disables a Juju user.",
    at_least=(1, "no username supplied"),
    at_most=1,
    flags=(*flags.CONTROLLER, *flags.LOGIN),
    examples="    pushjuju disable-user bob\n",
    see_also=("users", "enable-user", "remove-user"),
)
def disable_user(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
    """Let a user in no more."""
    people.set_enabled(session.open_controller(cli, controller), args[0], enabled=False)
    cli.console.info(f'User "{args[0]}" disabled')


@command(
    "remove-user",
    usage="<user name>",
    summary="Deletes a Juju user from a controller.",
    at_least=(1, "no username supplied"),
    at_most=1,
    flags=(*flags.CONTROLLER, *flags.LOGIN, flags.switch("yes", "Confirm deletion of the user", short="y")),
    examples="    pushjuju remove-user bob\n    pushjuju remove-user bob --yes\n",
    see_also=("users", "disable-user", "enable-user"),
)
def remove_user(cli: Cli, args: tuple[str, ...], *, controller: str, yes: bool) -> None:
    """Remove a user."""
    ctx, name = session.open_controller(cli, controller), args[0]
    with ctx.store.read() as tx:
        people.require(tx, name)
    if not yes:
        cli.output.text(_REMOVAL.format(user=f'"{name}"', controller=f'"{ctx.controller.name}"'))
        cli.console.confirm("Continue [y/N]? ", what="user removal")
    people.remove(ctx, name)
    cli.output.text(f'User "{name}" removed\n')


@command(
    "change-user-password",
    usage="[username]",
    summary="Changes the password for the current or specified Juju user.",
    at_most=1,
    flags=(
        *flags.CONTROLLER,
        flags.switch("reset", "Reset user password: makes a new registration string"),
        flags.switch("no-prompt", "There is no password to read: of no use", void=True),
    ),
    details="There is no server that asks for a password: only --reset has a meaning.",
    see_also=("add-user", "login"),
)
def change_user_password(cli: Cli, args: tuple[str, ...], *, controller: str, reset: bool) -> None:
    """Make a new registration string; a password cannot be set."""
    if not reset:
        raise refusal("change-user-password", _NO_SERVER)
    if not args:
        raise UsageError("no username supplied")
    ctx = session.open_controller(cli, controller)
    people.document(ctx, args[0])
    if args[0] == ctx.user:
        raise NotFound(f"{args[0]} works this controller and has no password")
    cli.console.info(f'Password for "{args[0]}" has been reset.')
    cli.console.info(f"Ask the user to run:\n    {cli.program} register {_registration(ctx, args[0])}")
    cli.console.info(_NO_USE.format(name=args[0]))
