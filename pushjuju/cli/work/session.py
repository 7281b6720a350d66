"""Opens the controller and the model that a command names.

Mirrors: juju cmd/modelcmd/modelcommand.go, controller.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pushjuju.cli.work import blocking
from pushjuju.core.errors import IsRemote, NotValid, PushjujuError
from pushjuju.services.entities.basis import blocks, context
from pushjuju.services.entities.basis.audit import Caller
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.controller import controllers

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli

_SWEPT = "swept"
_OF_CRON = ("update-status", "controller")
_FREE_TEXT = (
    "add-ssh-key", "change-user-password", "debug-code", "debug-hooks", "disable-command", "exec",
    "import-ssh-key", "login", "register", "remove-ssh-key", "scp", "ssh",
)  # fmt: skip
"""Commands whose arguments are texts of the user, which may be secret."""
_SECRET_ADDRESS = ("notify",)  # commands with addresses that are passwords, as those of chat services
_MASK, _LONGEST, _PLAIN = "***", 64, "._/:-"
_MAKER = "maker"  # beginning of keys in `Cli.extra`
_FIRST_CLAIM = "first claim"  # key in `Cli.extra` of the next claim's number when this call began


def data_dir(cli: Cli) -> sessions.DataDir:
    """Return the data directory, after the removal of controllers that dead processes left unfinished."""
    found = sessions.data_dir(cli.env)
    if _SWEPT not in cli.extra:
        cli.extra[_SWEPT] = True
        for name in controllers.sweep(found):
            cli.console.info(f'Controller "{name}" was removed: the command that made it was cut off')
    return found


def use(cli: Cli, ctx: context.Context) -> None:
    """Let a command use a controller that is open already, as the user of the context."""
    cli.extra[_SWEPT] = True
    cli.extra[_key(ctx.controller.name)] = ctx


def _key(controller: str) -> str:
    """Return the key of an open controller in `Cli.extra`."""
    return f"controller {controller}"


def open_controller(cli: Cli, name: str = "") -> context.Context:
    """Open a controller: the named one, else that of `JUJU_CONTROLLER`, else the current one."""
    folder = data_dir(cli)
    chosen = controllers.current(folder, name or None, cli.env)
    key = _key(chosen)
    if key not in cli.extra:
        cli.extra[key] = context.open_context(
            folder, chosen, clock=cli.clock, environ=cli.env, caller=_caller_of(cli, chosen), waits=True
        )
    found = cli.extra[key]
    assert isinstance(found, context.Context), "the key is ours alone"
    found.require()  # a command that reads the files repeatedly must see changes
    return found


def opened_by(cli: Cli, controller: str, made: Caller) -> None:
    """Name who made a controller: one line of the audit log then answers all lines of the command."""
    cli.extra[f"{_MAKER} {controller}"] = made


def _caller_of(cli: Cli, controller: str) -> Caller:
    made = cli.extra.pop(f"{_MAKER} {controller}", None)
    return made if isinstance(made, Caller) else caller(cli)


def caller(cli: Cli) -> Caller:
    """Return who asks, for the audit log: the command with its words, without values."""
    alone = cli.word in _OF_CRON and not cli.console.stdin.isatty()
    flags = [f"--{key.replace('_', '-')}" for key in sorted(cli.given)]
    return Caller(
        door="cron" if alone else "command",
        command=cli.word,
        arguments=(*(_without_value(word, cli.word) for word in cli.words), *flags),
        env=cli.env,
    )


def _without_value(word: str, command: str) -> str:
    """Return an argument as the audit log has it: names and keys stay, all else is `***`."""
    if command in _FREE_TEXT or (command in _SECRET_ADDRESS and ":" in word):
        return _MASK
    key, equals, _ = word.partition("=")
    if not (key.isascii() and len(key) <= _LONGEST and all(sign.isalnum() or sign in _PLAIN for sign in key)):
        return _MASK
    return f"{key}={_MASK}" if equals else key


def warn_of_controller(cli: Cli, name: str, error: PushjujuError, what: str = "") -> None:
    """Warn once in a call that a controller cannot be read.

    Args:
        error: Why the controller cannot be read.
        what: What follows from this, as a clause.
    """
    key = f"warned of {name}"
    if key not in cli.extra:
        cli.extra[key] = True
        lines = (f"controller {name}: {error.message}", error.detail, what, error.hint)
        cli.console.warn("\n".join(line for line in lines if line))


def warn_of_controllers(cli: Cli, unread: Mapping[str, PushjujuError], what: str) -> None:
    """Warn of each controller that a request could not read, as `warn_of_controller` does."""
    for name, error in unread.items():
        warn_of_controller(cli, name, error, what)


def split_model(text: str) -> tuple[str, str]:
    """Return (controller, model) of `[controller:]model`; either may be empty."""
    controller, colon, model = text.partition(":")
    return (controller, model) if colon else ("", text)


def open_model(cli: Cli, text: str = "") -> sessions.Session:
    """Open a model: that of `-m`, else that of `JUJU_MODEL`, else the current one.

    Args:
        text: `[controller:][owner/]model`, a UUID or the start of a UUID; empty without `-m`.

    Raises:
        NotFound: There is no such controller or model, or no current one.
    """
    controller, model = split_model(text or cli.env.get("JUJU_MODEL", ""))
    chosen = cli.env.get("JUJU_CONTROLLER", "")
    if not text and controller and chosen and controller != chosen:
        raise NotValid(
            f"controller name from JUJU_MODEL ({controller}) conflicts with value in "
            f"JUJU_CONTROLLER ({chosen})"
        )
    try:
        ctx = open_controller(cli, controller)
    except IsRemote as remote:
        remote.model = model
        raise
    opened = sessions.open_model(ctx, model or None)
    if _FIRST_CLAIM not in cli.extra:
        cli.extra[_FIRST_CLAIM] = sessions.next_claim(ctx)
    cli.extra["model"] = opened
    ctx.caller.course.model = opened.model.qualified, opened.uuid
    blocking.require(opened.ctx, opened.model, cli.word)
    return opened


def require_change(opened: sessions.Session) -> None:
    """Check that no disabled set of commands forbids changes to a model."""
    sessions.require(opened.ctx, opened.uuid, blocks.CHANGE)


def first_claim(cli: Cli) -> int | None:
    """Return the number of the first claim that may belong to this call's work, or None when unknown.

    The number is read before the call writes, because a background process may claim the work before the call
    does.
    """
    found = cli.extra.get(_FIRST_CLAIM)
    return found if isinstance(found, int) else None


def any_controller(cli: Cli, text: str = "") -> bool:
    """Return True when the user named a model or a controller, or when any controller exists."""
    named = text or cli.env.get("JUJU_MODEL") or cli.env.get("JUJU_CONTROLLER")
    folder = data_dir(cli)
    return bool(named or folder.controllers() or folder.current_controller())


@contextmanager
def moving(cli: Cli) -> Iterator[None]:
    """Keep the current model for `switch -`, when the block makes another model current."""
    before = position(cli)
    yield
    if before and before != position(cli):
        data_dir(cli).set_main("previous", before)


def position(cli: Cli) -> str:
    """Return the current model as `home:admin/web`; `home` without a model; empty without a controller."""
    return sessions.position(data_dir(cli))
