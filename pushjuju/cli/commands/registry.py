"""The table of all commands and their files: finds a command's file without an import of commands.

Data only: each folder of `commands/` with its commands. The file of a command has its name; commands that
list, such as `machines`, are in `list_machines.py` and similar.
"""

from __future__ import annotations

NOUNS: dict[str, str] = {
    "action": "actions show-action run exec operations show-operation show-task cancel-task",
    "application": "deploy refresh remove-application expose unexpose bind trust set-application-base"
    " show-application",
    "backup": "create-backup restore-backup download-backup",
    "block": "disable-command enable-command disabled-commands",
    "bundle": "export-bundle diff-bundle apply",
    "charm": "find info download pack mirror agree agreements",
    "cloud": "clouds show-cloud add-cloud update-cloud remove-cloud update-public-clouds regions"
    " default-region",
    "config": "config model-config model-defaults controller-config constraints set-constraints"
    " model-constraints set-model-constraints",
    "controller": "bootstrap controllers show-controller switch unregister destroy-controller"
    " kill-controller enable-destroy-controller sync-agent-binary upgrade-controller audit notify",
    "credential": "credentials show-credential add-credential update-credential remove-credential"
    " autoload-credentials default-credential",
    "firewall": "firewall-rules set-firewall-rule",
    "hook": "hooks replay",
    "machine": "machines show-machine add-machine remove-machine retry-provisioning upgrade-machine",
    "model": "models show-model add-model destroy-model set-credential upgrade-model",
    "offer": "offer offers find-offers show-offer remove-offer consume remove-saas",
    "plan": "plan",
    "program": "version help documentation help-tool help-hook-commands help-action-commands plugins"
    " completion schema man controller api dashboard doctor",
    "relation": "integrate remove-relation suspend-relation resume-relation show-relation",
    "resource": "attach-resource resources charm-resources payloads",
    "secret": "add-secret update-secret remove-secret show-secret secrets grant-secret revoke-secret"
    " secret-backends show-secret-backend add-secret-backend update-secret-backend"
    " remove-secret-backend",
    "space": "spaces show-space add-space remove-space rename-space move-to-space reload-spaces subnets",
    "ssh": "ssh scp debug-hooks debug-code ssh-keys add-ssh-key remove-ssh-key import-ssh-key",
    "status": "status show-status-log debug-log explain timeline metrics update-status",
    "storage": "storage show-storage add-storage attach-storage detach-storage remove-storage"
    " import-filesystem create-storage-pool update-storage-pool remove-storage-pool"
    " storage-pools application-storage",
    "unit": "add-unit remove-unit show-unit resolved",
    "user": "users show-user add-user enable-user disable-user remove-user change-user-password login"
    " logout register whoami grant revoke grant-cloud revoke-cloud",
    "wait": "wait-for",
}

REFUSED = (
    "add-branch branch track commit abort diff commits show-commit add-k8s update-k8s remove-k8s"
    " scale-application enable-ha dump-model dump-db migrate"
)
"""Juju's commands that pushjuju refuses; all are in `refused.py`."""

_LISTED = frozenset(
    [
        "actions", "agreements", "charm-resources", "clouds", "commits", "controllers", "credentials",
        "disabled-commands", "firewall-rules", "machines", "models", "offers", "operations", "payloads",
        "regions", "resources", "secret-backends", "secrets", "spaces", "ssh-keys", "storage",
        "storage-pools", "subnets", "users",
    ]
)  # fmt: skip

ALIASES: dict[str, str] = {
    "debug-hook": "debug-hooks",
    "model-default": "model-defaults",
    "relate": "integrate",
    "resolve": "resolved",
    "set-default-credentials": "default-credential",
    "set-default-region": "default-region",
    "show-credentials": "show-credential",
    "update-credentials": "update-credential",
    **{f"list-{word}": word for word in sorted(_LISTED)},
}


def words() -> dict[str, str]:
    """Return command -> module in `commands/`."""
    named = {word: f"{noun}.{_file(word)}" for noun, listed in NOUNS.items() for word in listed.split()}
    return {**named, **dict.fromkeys(REFUSED.split(), "refused")}


def _file(word: str) -> str:
    """Return the name of a command's file: `add_unit`, or `list_machines` for a command that lists."""
    return f"{'list_' if word in _LISTED else ''}{word.replace('-', '_')}"


def known() -> set[str]:
    """Return all commands, Juju's and pushjuju's own."""
    return set(words())
