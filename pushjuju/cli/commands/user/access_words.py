"""What grant and revoke share."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, Command, Function, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.services.entities.basis import users
from pushjuju.services.requests.user import users as user_requests

_NOTE = (
    "Access levels count for clients of the API (`pushjuju api`). On this computer, a user who can read the\n"
    "data directory is admin."
)

_MEANT = (
    'You have specified a {is_} access permission "{level}".\n'
    "If you intended to change {other} access, {how}.\nSee 'pushjuju help {word}'."
)


def word_of(args: Sequence[str]) -> tuple[str, str, Sequence[str]]:
    """Return user, level and targets of the arguments."""
    if not args:
        raise UsageError("no user specified")
    if len(args) < 2:
        raise UsageError("no permission level specified")
    return args[0], args[1].lower(), args[2:]


def kind_of(word: str, level: str, targets: Sequence[str]) -> users.Kind:
    """Return the kind of the targets: model, controller, offer."""
    # the name of a model's owner may contain a dot: bob@example.com/shop
    offers = [target for target in targets if "." in target.rpartition("/")[2]]
    if offers and len(offers) < len(targets):
        raise UsageError("either specify model names or offer URLs but not both")
    kind = users.Kind.OFFER if offers else users.Kind.MODEL if targets else users.Kind.CONTROLLER
    if level in users.LEVELS[kind]:
        return kind
    if kind is users.Kind.MODEL and level in users.LEVELS[users.Kind.CONTROLLER]:
        how = "do not specify any model names"
        raise UsageError(_MEANT.format(is_="controller", level=level, other="controller", how=how, word=word))
    if kind is users.Kind.CONTROLLER and level in users.LEVELS[users.Kind.MODEL]:
        how = "you need to specify one or more model names"
        raise UsageError(_MEANT.format(is_="model", level=level, other="model", how=how, word=word))
    raise UsageError(
        f'"{level}" {kind} access not valid', hint=f"known levels: {', '.join(users.LEVELS[kind])}"
    )


def _change(cli: Cli, controller: str, word: str, options: user_requests.AccessOptions) -> None:
    """Grant or revoke access, as the command's word says."""
    change = user_requests.revoke if word.startswith("revoke") else user_requests.grant
    change(session.open_controller(cli, controller), options)


def access_command(name: str, summary: str, examples: str) -> Command:
    def run(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
        user, level, targets = word_of(args)
        kind = kind_of(name, level, targets)
        options = user_requests.AccessOptions(user=user, level=level, kind=kind, names=targets)
        _change(cli, controller, name, options)

    function: Function = run
    run.__doc__ = summary
    return command(
        name,
        usage="<user name> <permission> [<model name> ... | <offer url> ...]",
        summary=summary,
        flags=flags.AT_CONTROLLER,
        details=f"Permissions: login, superuser (controller); read, write, admin (model); read, consume,\n"
        "admin (offer). A user of another identity provider is user@domain and need not be added;\n"
        f"everyone@external stands for all such users.\n\n{_NOTE}",
        examples=examples,
        see_also=("users", "add-user", *({"grant", "revoke"} - {name})),
    )(function)


def clouds_of(args: Sequence[str]) -> tuple[str, str, tuple[str, ...]]:
    """Return user, level and clouds of a command line."""
    user, level, names = word_of(args)
    if not names:
        raise UsageError("no cloud specified")
    if level not in users.LEVELS[users.Kind.CLOUD]:
        raise UsageError(
            f'"{level}" cloud access not valid',
            hint=f"known levels: {', '.join(users.LEVELS[users.Kind.CLOUD])}",
        )
    return user, level, tuple(names)


def cloud_access_command(name: str, summary: str) -> Command:
    def run(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
        user, level, names = clouds_of(args)
        options = user_requests.AccessOptions(user=user, level=level, kind=users.Kind.CLOUD, names=names)
        _change(cli, controller, name, options)

    function: Function = run
    run.__doc__ = summary
    return command(
        name,
        usage="<user name> <permission> <cloud name> ...",
        summary=summary,
        flags=flags.AT_CONTROLLER,
        details=f"Permissions: add-model, admin.\n\n{_NOTE}",
        see_also=("users", "clouds", *({"grant-cloud", "revoke-cloud"} - {name})),
    )(function)
