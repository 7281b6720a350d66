"""Which commands `disable-command` forbids.

A command of these tables is refused as soon as its model is known, before it does anything. Those of `MIXED`
only read unless their flags ask for a change: they check that themselves, with `session.require_change`.
"""

from __future__ import annotations

from pushjuju.services.entities.basis import blocks, context
from pushjuju.services.entities.model import models, sessions

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
    """Return what a command does to its model: a name of `blocks.SETS`, or an empty text for nothing."""
    if command in REMOVES:
        return blocks.REMOVE
    if command in DESTROYS:
        return blocks.DESTROY
    return blocks.CHANGE if command in CHANGES else ""


def require(ctx: context.Context, model: sessions.Model, command: str) -> None:
    """Check that no disabled set forbids a command to change a model.

    Raises:
        NotValid: The model is the controller's own, and has no machines.
    """
    if command in _MAKES_MACHINES:
        models.require_machines(model)
    act = act_of(command)
    if act and command not in DESTROYS:  # these have more to say
        sessions.require(ctx, model.uuid, act)


def listing(name: str) -> str:
    """Return the commands that a set disables, one on a line, for the help."""
    found = {
        blocks.DESTROY: DESTROYS,
        blocks.REMOVE: DESTROYS | REMOVES,
        blocks.CHANGE: DESTROYS | REMOVES | CHANGES | MIXED,
    }[name]
    return "\n".join(f"    {word}" for word in sorted(found))
