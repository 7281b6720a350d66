"""Which commands `plan` accepts, and why it refuses the others. Data only.

Every command that can change a model or the controller can be planned. A test checks that each command is in
exactly one of the tables.
"""

from __future__ import annotations

_TAKEN = """
    add-machine add-model add-secret add-secret-backend add-space add-ssh-key add-storage add-unit add-user
    application-storage apply attach-resource attach-storage bind bootstrap cancel-task config consume
    controller-config create-storage-pool deploy destroy-controller destroy-model detach-storage
    disable-command disable-user enable-command enable-destroy-controller enable-user exec expose grant
    grant-cloud grant-secret import-filesystem import-ssh-key integrate kill-controller model-config
    model-defaults move-to-space offer refresh reload-spaces remove-application remove-machine remove-offer
    remove-relation remove-saas remove-secret remove-secret-backend remove-space remove-ssh-key
    remove-storage remove-storage-pool remove-unit remove-user rename-space resolved resume-relation
    retry-provisioning revoke revoke-cloud revoke-secret run set-application-base set-constraints
    set-firewall-rule
    set-credential set-model-constraints suspend-relation trust unexpose update-secret
    update-secret-backend update-status update-storage-pool upgrade-machine
"""
PLANNED = frozenset(_TAKEN.split())
_READS = "it changes nothing that a plan could show"
_CLIENT = "it changes files of this client, and no model"
_FILES = "it writes a file, and changes no model"
_PERSON = "what the user does there is unknown, and it changes no model"
_NOT_HERE = "pushjuju does not do it"
_GROUPS = {
    _READS: """
    actions agreements audit branch charm-resources clouds commits constraints controllers credentials
    debug-log diff diff-bundle disabled-commands doctor documentation explain find find-offers
    firewall-rules help help-action-commands help-hook-commands help-tool hooks info machines man
    metrics model-constraints models offers operations payloads plugins regions replay resources
    schema secret-backends secrets show-action show-application show-cloud show-commit
    show-controller show-credential show-machine show-model show-offer show-operation show-relation
    show-secret show-secret-backend show-space show-status-log show-storage show-task show-unit
    show-user spaces ssh-keys status storage storage-pools subnets timeline upgrade-controller
    upgrade-model users version wait-for whoami
    """,
    _CLIENT: """
    add-cloud add-credential autoload-credentials default-credential default-region login logout register
    remove-cloud remove-credential switch unregister update-cloud update-credential update-public-clouds
    """,
    _FILES: "completion create-backup download download-backup export-bundle mirror pack",
    _PERSON: "debug-code debug-hooks scp ssh",
    _NOT_HERE: """
    abort add-branch add-k8s agree commit dump-db dump-model enable-ha migrate
    remove-k8s scale-application sync-agent-binary track update-k8s
    """,
}
NOT_PLANNED = {
    **{word: why for why, words in _GROUPS.items() for word in words.split()},
    "api": "it serves until it is stopped",
    "dashboard": "it serves until it is stopped",
    "change-user-password": "a password is not shown, and it changes no model",
    "controller": "it works what is due, which `plan -- update-status` shows",
    "notify": "it changes no model",
    "plan": "a plan changes nothing",
    "restore-backup": "it replaces the whole store, which a plan cannot show",
}
