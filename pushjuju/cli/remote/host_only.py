"""Commands that work only on the host of a controller: why, and what to type instead on another computer."""

from __future__ import annotations

from pushjuju.core.errors import IsRemote

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
