"""Which module holds which command: the one table that lets a word be found without importing anything.

Data only. Modules are named as they stand in `commands/`.
"""

from __future__ import annotations

MODULES: dict[str, str] = {
    "program.basics": "version help documentation help-tool help-hook-commands help-action-commands plugins",
    "status.whole": "status",
    "status.watching": "show-status-log debug-log",
    "program.driving": "update-status controller doctor explain",
    "hook.inspecting": "show-relation hooks replay",
    "plan.planning": "plan",
    "program.shells": "completion",
    "program.publishing": "schema man",
    "controller.bootstrap": "bootstrap",
    "controller.controllers": "controllers show-controller switch unregister",
    "config.controllerconfig": "controller-config",
    "controller.controllerwords": "register enable-ha dashboard sync-agent-binary",
    "user.users": "users show-user add-user enable-user disable-user remove-user change-user-password",
    "user.logins": "login logout whoami",
    "user.granting": "grant revoke grant-cloud revoke-cloud",
    "model.models": "add-model models show-model",
    "model.destroying": "destroy-model destroy-controller kill-controller enable-destroy-controller",
    "model.modelwords": "set-credential migrate upgrade-model upgrade-controller dump-model dump-db",
    "config.constraining": "constraints set-constraints model-constraints set-model-constraints",
    "config.modelconfig": "model-config",
    "config.modeldefaults": "model-defaults",
    "backup.backups": "create-backup restore-backup",
    "backup.downloads": "download-backup",
    "branch.branches": "add-branch branch track commit abort diff commits show-commit",
    "machine.machines": "add-machine remove-machine machines show-machine retry-provisioning",
    "machine.upgrading": "upgrade-machine",
    "ssh.sessions": "ssh scp debug-hooks debug-code",
    "ssh.sshkeys": "add-ssh-key remove-ssh-key import-ssh-key ssh-keys",
    "application.deploying": "deploy refresh add-unit",
    "application.removing": "remove-unit remove-application",
    "application.applications": "config trust resolved set-application-base bind",
    "application.exposing": "expose unexpose",
    "application.showing": "show-application show-unit",
    "relation.relating": "integrate remove-relation suspend-relation resume-relation",
    "bundle.bundles": "export-bundle diff-bundle apply",
    "resource.resources": "attach-resource resources charm-resources",
    "action.actions": "actions show-action run exec operations show-operation show-task cancel-task",
    "wait.waitfor": "wait-for",
    "storage.stored": "storage show-storage add-storage attach-storage detach-storage remove-storage"
    " import-filesystem create-storage-pool update-storage-pool remove-storage-pool"
    " storage-pools application-storage",
    "secret.secrets": "add-secret update-secret remove-secret show-secret secrets grant-secret revoke-secret",
    "secret.secretbackends": "add-secret-backend update-secret-backend remove-secret-backend"
    " show-secret-backend secret-backends",
    "offer.crossmodel": "offer offers find-offers show-offer remove-offer consume remove-saas",
    "space.spaces": "spaces show-space add-space remove-space rename-space move-to-space reload-spaces"
    " subnets",
    "firewall.firewalling": "firewall-rules set-firewall-rule",
    "cloud.clouds": "clouds show-cloud add-cloud update-cloud remove-cloud update-public-clouds regions"
    " default-region",
    "cloud.kubernetes": "add-k8s update-k8s remove-k8s scale-application",
    "credential.credentials": "credentials show-credential add-credential autoload-credentials"
    " default-credential",
    "credential.credentialupdates": "update-credential remove-credential",
    "block.blocks": "disable-command enable-command disabled-commands",
    "charm.packing": "pack",
    "charm.mirroring": "mirror",
    "charm.charmhub": "find info download",
    "charm.terms": "agree agreements",
    "resource.payloads": "payloads",
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
    """Return every command -> the module that holds it."""
    return {word: module for module, listed in MODULES.items() for word in listed.split()}


def known() -> set[str]:
    """Return every command of Juju and of ours."""
    return set(words())
