"""The commands that work on a controller of another computer, and their functions.

A command whose controller turns out to be remote (`IsRemote`) ends without an effect, and `run` calls its
function from this table. Commands that are one request are in `table`. A command that only reads a model, and
is in no table, runs in the process of the controller. All other commands work only on the host of the
controller.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from pushjuju.cli.commands.program import web_commands
from pushjuju.cli.remote import (
    access,
    applications,
    changes,
    controllers,
    host_only,
    log,
    models,
    offers,
    reading,
    refreshes,
    running,
    show_secret,
    spaces,
    ssh,
    status,
    table,
)
from pushjuju.cli.remote.call import Call
from pushjuju.cli.work import session
from pushjuju.client import target

if TYPE_CHECKING:
    import click

    from pushjuju.cli.syntax.command import Cli, Command
    from pushjuju.core.errors import IsRemote

FORMS = {
    name: module
    for module, names in (
        (running, "run exec cancel-task"),
        (
            access,
            (
                "grant revoke add-user enable-user disable-user remove-user users show-user"
                " change-user-password"
            ),
        ),
        (applications, "deploy config model-config attach-resource"),
        (
            changes,
            (
                "add-unit remove-unit add-machine remove-machine remove-application"
                " integrate remove-relation expose unexpose resolved"
            ),
        ),
        (controllers, "controller-config secret-backends show-secret-backend"),
        (log, "debug-log"),
        (offers, "offer remove-offer find-offers show-offer"),
        (refreshes, "refresh"),
        (models, "models add-model destroy-model set-credential upgrade-model"),
        (show_secret, "show-secret"),
        (spaces, "remove-space move-to-space"),
        (ssh, "ssh scp add-ssh-key remove-ssh-key import-ssh-key"),
        (status, "status"),
    )
    for name in names.split()
}
"""Command -> the module with its function, which has the command's name."""


def form_of(word: str) -> Callable[[Call], None] | None:
    """Return the function of a command, or None when it works only on the host of the controller."""
    if module := FORMS.get(word):
        return cast("Callable[[Call], None]", getattr(module, word.replace("-", "_")))
    if word in table.REQUESTS:
        return table.run
    return reading.read if word in web_commands.READING else None


def run(command: Command, context: click.Context, cli: Cli, remote: IsRemote) -> None:
    """Run the remote form of a command.

    Raises:
        IsRemote: The command has no remote form, or `plan` runs it.
    """
    function = form_of(command.name or "")
    if function is None or cli.rehearsal:
        raise host_only.explained(remote, command.name or "")
    found = target.Target.find(session.data_dir(cli), remote.name, remote.model)

    def call(args: tuple[str, ...], *options: Any, **flags: Any) -> None:
        given = options[0] if options else SimpleNamespace(**flags)
        function(Call(cli=cli, command=command, values=context.params, target=found, args=args, flags=given))

    command.call(context, call)
