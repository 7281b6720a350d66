"""Which commands `disable-command` forbids.

pushjuju refuses a command of these tables as soon as it knows the model, before the command changes anything.
The commands of `MIXED` change a model only with some flags, and then call `session.require_change`.
"""

from __future__ import annotations

from pushjuju.core.errors import UsageError
from pushjuju.services.entities.basis import blocks, context
from pushjuju.services.entities.model import models, sessions

VALID = ", ".join(blocks.SETS)
DESTROYS = frozenset(("destroy-model", "destroy-controller"))
REMOVES = frozenset(
    (
        "detach-storage", "remove-application", "remove-machine", "remove-relation", "remove-saas",
        "remove-storage", "remove-unit",
    )
)  # fmt: skip
CHANGES = frozenset(
    (
        "add-machine", "add-ssh-key", "add-secret", "add-space", "add-storage", "add-unit", "apply",
        "attach-resource", "attach-storage", "bind", "consume", "create-storage-pool", "deploy", "exec",
        "expose",
        "grant-secret", "import-filesystem", "import-ssh-key", "integrate", "move-to-space", "refresh",
        "reload-spaces", "remove-secret", "remove-space", "remove-ssh-key", "remove-storage-pool",
        "rename-space", "resolved", "resume-relation", "retry-provisioning", "revoke-secret", "run",
        "set-application-base", "set-constraints", "set-credential", "set-firewall-rule",
        "set-model-constraints", "suspend-relation", "trust", "unexpose",
        "update-secret", "update-storage-pool", "upgrade-machine", "upgrade-model",
    )
)  # fmt: skip
_MAKES_MACHINES = frozenset(("add-machine", "apply", "consume", "deploy"))
MIXED = frozenset(("application-storage", "config", "model-config"))


def act_of(command: str) -> str:
    """Return what a command does to its model, as a name of `blocks.SETS`; empty when it changes nothing."""
    if command in REMOVES:
        return blocks.REMOVE
    if command in DESTROYS:
        return blocks.DESTROY
    return blocks.CHANGE if command in CHANGES else ""


def require(ctx: context.Context, model: sessions.Model, command: str) -> None:
    """Refuse a command that a disabled set forbids for the model.

    Raises:
        NotValid: The command makes machines, and the model is the controller's own, which has no machines.
    """
    if command in _MAKES_MACHINES:
        models.require_machines(model)
    act = act_of(command)
    if act and command not in DESTROYS:  # these commands raise an error that says more
        sessions.require(ctx, model.uuid, act)


def listing(name: str) -> str:
    """Return the commands that a set disables, one a line, for the help."""
    found = {
        blocks.DESTROY: DESTROYS,
        blocks.REMOVE: DESTROYS | REMOVES,
        blocks.CHANGE: DESTROYS | REMOVES | CHANGES | MIXED,
    }[name]
    return "\n".join(f"    {word}" for word in sorted(found))


def set_block(args: tuple[str, ...]) -> str:
    """Return the set of commands that the argument names."""
    if args[0] not in blocks.SETS:
        raise UsageError(f"bad command set, valid options: {VALID}")
    return args[0]
