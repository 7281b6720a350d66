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
from pushjuju.core.errors import IsRemote

if TYPE_CHECKING:
    import click

    from pushjuju.cli.syntax.command import Cli, Command

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
_RECORDS = "the API does not carry what the command reads"
_NOT_YET = "the command is not there from afar yet"
_SHELL = "pushjuju ssh UNIT"
_REASONS: dict[str, tuple[str, str]] = {
    "apply": ("the bundle's files are compared and sent on the host", "pushjuju deploy CHARM"),
    "audit": ("the log holds the changes of all users of the host", ""),
    "controller": ("the command is the process that does the work", ""),
    "create-backup": ("the backup holds the keys of the host", ""),
    "credentials": (_NOT_YET, ""),
    "dashboard": ("the dashboard is served from there", "pushjuju status --watch 5s"),
    "debug-code": ("the process that runs the hooks opens the session", _SHELL),
    "debug-hooks": ("the process that runs the hooks opens the session", _SHELL),
    "destroy-controller": ("its files, keys and processes are there", "pushjuju unregister CONTROLLER"),
    "diff-bundle": ("the bundle's files are compared on the host", "pushjuju export-bundle"),
    "download-backup": ("archives are files of the host", "scp HOST:ARCHIVE ."),
    "explain": (_RECORDS, "pushjuju show-status-log UNIT"),
    "firewall-rules": ("Juju's API has no firewall rules", "pushjuju model-config ssh-allow"),
    "hooks": (_RECORDS, "pushjuju debug-log --replay --no-tail --include UNIT"),
    "kill-controller": ("its files, keys and processes are there", "pushjuju unregister CONTROLLER"),
    "metrics": ("the metrics are counted in the store of the host", ""),
    "model-defaults": (_NOT_YET, "pushjuju model-config"),
    "notify": ("the targets of events, and their secrets, are kept there", ""),
    "plan": ("the model is copied, and the command runs on the copy", "pushjuju deploy CHARM --dry-run"),
    "replay": (_RECORDS, "pushjuju debug-log --replay --no-tail --include UNIT"),
    "set-firewall-rule": ("Juju's API has no firewall rules", "pushjuju model-config ssh-allow=CIDR"),
    "show-cloud": (_NOT_YET, "pushjuju show-model"),
    "show-controller": (_NOT_YET, "pushjuju controllers"),
    "show-credential": (_NOT_YET, ""),
    "sync-agent-binary": ("there are no agents, and nothing to copy", ""),
    "timeline": (_RECORDS, "pushjuju show-status-log UNIT"),
    "update-status": ("the process that serves the API works what is due", "pushjuju status"),
    "upgrade-controller": ("a newer pushjuju is installed there", ""),
    "upgrade-machine": ("the session on the machine is the host's", _SHELL),
    "wait-for": (_NOT_YET, "pushjuju status --watch 5s"),
}
"""Command -> why, and what to type on another computer instead, or an empty text."""


_ASKED = "Interrupted. The controller may have recorded what was asked for: '{program} status' shows it."


def form_of(word: str) -> Callable[[Call], None] | None:
    """Return the function of a command, or None when it works only on the host of the controller."""
    if module := FORMS.get(word):
        return cast("Callable[[Call], None]", getattr(module, word.replace("-", "_")))
    if word in table.REQUESTS:
        return table.run
    return reading.read if word in web_commands.READING else None


def run(command: Command, context: click.Context, cli: Cli, remote: IsRemote) -> None:
    """Run the remote form of a command."""
    function = form_of(command.name or "")
    if function is None or cli.rehearsal:
        raise explained(remote, command.name or "")
    found = target.Target.find(session.data_dir(cli), remote.name, remote.model)

    def call(args: tuple[str, ...], *options: Any, **flags: Any) -> None:
        cli.on_interrupt = cli.on_interrupt or _ASKED.format(program=cli.program)
        given = options[0] if options else SimpleNamespace(**flags)
        function(Call(cli=cli, command=command, values=context.params, target=found, args=args, flags=given))

    command.call(context, call)


def explained(error: IsRemote, command: str) -> IsRemote:
    """Return the error of a command that works only on the host, with the reason and the next command."""
    why, instead = _REASONS.get(command, ("", ""))
    found = IsRemote(
        f"{error.message}: {why}" if why else error.message,
        name=error.name,
        hint=f"{error.hint}\nfrom here: {instead}" if instead else error.hint,
        subject=error.subject,
    )
    found.model = error.model
    return found
