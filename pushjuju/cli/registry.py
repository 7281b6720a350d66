"""Which module holds which command: the one table that lets a word be found without importing anything.

Data only. A module that is not there (yet) takes its words out of the program: adding a group of
commands means adding its file under `commands/`. Juju's own names of the groups are in the help only.
"""

from __future__ import annotations

from pathlib import Path

MODULES: dict[str, str] = {
    "basics": "version help documentation help-tool help-hook-commands help-action-commands plugins",
    "status": "status",
    "watching": "show-status-log debug-log",
    "driving": "update-status controller doctor explain",
    "inspecting": "show-relation hooks replay",
    "planning": "plan",
    "completion": "completion",
    "publishing": "schema man",
    "bootstrap": "bootstrap",
    "controllers": "controllers show-controller switch unregister",
    "controllerconfig": "controller-config",
    "controllerwords": "register enable-ha dashboard sync-agent-binary",
    "users": "users show-user add-user enable-user disable-user remove-user change-user-password",
    "logins": "login logout whoami",
    "granting": "grant revoke grant-cloud revoke-cloud",
    "models": "add-model models show-model",
    "destroying": "destroy-model destroy-controller kill-controller enable-destroy-controller",
    "modelwords": "set-credential migrate upgrade-model upgrade-controller dump-model dump-db",
    "constraining": "constraints set-constraints model-constraints set-model-constraints",
    "modelconfig": "model-config",
    "modeldefaults": "model-defaults",
    "backups": "create-backup restore-backup",
    "downloads": "download-backup",
    "branches": "add-branch branch track commit abort diff commits show-commit",
    "machines": "add-machine remove-machine machines show-machine retry-provisioning",
    "upgrading": "upgrade-machine",
    "ssh": "ssh scp debug-hooks debug-code",
    "sshkeys": "add-ssh-key remove-ssh-key import-ssh-key ssh-keys",
    "deploying": "deploy refresh add-unit",
    "removing": "remove-unit remove-application",
    "applications": "config trust resolved set-application-base bind",
    "exposing": "expose unexpose",
    "showing": "show-application show-unit",
    "relating": "integrate remove-relation suspend-relation resume-relation",
    "bundles": "export-bundle diff-bundle apply",
    "resources": "attach-resource resources charm-resources",
    "actions": "actions show-action run exec operations show-operation show-task cancel-task",
    "waitfor": "wait-for",
    "storage": "storage show-storage add-storage attach-storage detach-storage remove-storage"
    " import-filesystem create-storage-pool update-storage-pool remove-storage-pool storage-pools"
    " application-storage",
    "secrets": "add-secret update-secret remove-secret show-secret secrets grant-secret revoke-secret",
    "secretbackends": "add-secret-backend update-secret-backend remove-secret-backend show-secret-backend"
    " secret-backends",
    "crossmodel": "offer offers find-offers show-offer remove-offer consume remove-saas",
    "spaces": "spaces show-space add-space remove-space rename-space move-to-space reload-spaces subnets",
    "firewalling": "firewall-rules set-firewall-rule",
    "clouds": "clouds show-cloud add-cloud update-cloud remove-cloud update-public-clouds regions"
    " default-region",
    "kubernetes": "add-k8s update-k8s remove-k8s scale-application",
    "credentials": "credentials show-credential add-credential autoload-credentials default-credential",
    "credentialupdates": "update-credential remove-credential",
    "blocks": "disable-command enable-command disabled-commands",
    "packing": "pack",
    "mirroring": "mirror",
    "charmhub": "find info download",
    "terms": "agree agreements",
    "payloads": "payloads",
}

_LISTED = (
    "actions agreements charm-resources clouds commits controllers credentials disabled-commands"
    " firewall-rules machines models offers operations payloads regions resources secret-backends secrets"
    " spaces ssh-keys storage storage-pools subnets users"
)

ALIASES: dict[str, str] = {
    "debug-hook": "debug-hooks",
    "model-default": "model-defaults",
    "relate": "integrate",
    "resolve": "resolved",
    "set-default-credentials": "default-credential",
    "set-default-region": "default-region",
    "show-credentials": "show-credential",
    "update-credentials": "update-credential",
    **{f"list-{word}": word for word in _LISTED.split()},
}


def words() -> dict[str, str]:
    """Return every command that is there -> the module that holds it."""
    folder = Path(__file__).parent / "commands"
    present = {path.stem for path in folder.iterdir() if path.suffix == ".py"}
    return {
        word: module for module, listed in MODULES.items() if module in present for word in listed.split()
    }


def known() -> set[str]:
    """Return every command of Juju and of ours, there or not."""
    return {word for listed in MODULES.values() for word in listed.split()}
