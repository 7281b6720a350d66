"""What the arguments and flags of each command are, for shell completion. Data only.

Each TAB imports this module, so it imports nothing that takes time.
"""

from __future__ import annotations

from collections.abc import Mapping

# Command -> the kind of each argument, by position. `*` behind the last kind: it repeats; `|`: either kind;
# `,` behind a kind: a list with commas.
ARGUMENTS: Mapping[str, str] = {
    "actions": "application", "add-cloud": "none file", "add-credential": "cloud", "add-machine": "none",
    "add-model": "none place", "add-secret": "none", "add-secret-backend": "none backendtype",
    "add-space": "none subnet*", "add-ssh-key": "none", "add-storage": "unit store",
    "add-unit": "application",
    "add-user": "none", "agree": "none", "application-storage": "application storekey*",
    "api": "none file", "apply": "file",
    "audit": "none",
    "attach-resource": "application resource", "attach-storage": "unit storage*",
    "autoload-credentials": "none", "bind": "application binding*", "bootstrap": "place",
    "cancel-task": "opentask*", "change-user-password": "user", "charm-resources": "file",
    "completion": "shell", "config": "application config*", "constraints": "application",
    "consume": "offerurl", "controller": "driver", "controller-config": "controllerkey*",
    "create-backup": "none", "create-storage-pool": "none storagetype", "credentials": "cloud",
    "debug-code": "unit|leader hook*", "debug-hooks": "unit|leader hook*",
    "default-credential": "cloud credential", "default-region": "cloud region", "deploy": "file",
    "destroy-controller": "controller", "destroy-model": "model", "detach-storage": "storage*",
    "diff-bundle": "file", "disable-command": "commands", "disable-user": "user", "doctor": "cloud*",
    "documentation": "none", "download": "charm", "download-backup": "file", "enable-command": "commands",
    "enable-user": "user", "exec": "none", "explain": "unit|application|machine|storage*",
    "expose": "application", "find": "charm", "find-offers": "model|offerurl",
    "grant": "user access model|offerurl*", "grant-cloud": "user cloudlevel cloud*",
    "grant-secret": "secret application,", "help": "word|topic", "help-action-commands": "hooktool",
    "help-hook-commands": "hooktool", "help-tool": "hooktool", "hooks": "unit*",
    "import-filesystem": "storagetype|pool none", "import-ssh-key": "none", "info": "charm",
    "integrate": "endpoint|saas|offerurl endpoint|saas|offerurl", "kill-controller": "controller",
    "login": "controller", "migrate": "model controller", "mirror": "file*", "model-config": "modelkey*",
    "model-constraints": "none", "model-defaults": "modelkey*", "move-to-space": "space subnet*",
    "metrics": "metricsword none",
    "notify": "notifyword target",
    "offer": "endpoint", "offers": "offer", "pack": "file", "payloads": "none", "plan": "word",
    "refresh": "application", "regions": "cloud", "register": "none", "remove-application": "application*",
    "remove-cloud": "owncloud", "remove-credential": "cloud credential", "remove-machine": "machine*",
    "remove-offer": "offer|offerurl*", "remove-relation": "relation|endpoint endpoint",
    "remove-saas": "saas*", "remove-secret": "secret", "remove-secret-backend": "backend",
    "remove-space": "space", "remove-ssh-key": "sshkey*", "remove-storage": "storage*",
    "remove-storage-pool": "pool", "remove-unit": "unit*", "remove-user": "user",
    "rename-space": "space", "replay": "unit|decided", "resolved": "unit*", "resources": "application|unit",
    "restore-backup": "file", "resume-relation": "relation*", "retry-provisioning": "machine*",
    "revoke": "user access model|offerurl*", "revoke-cloud": "user cloudlevel cloud*",
    "revoke-secret": "secret application,", "run": "unit* action", "scale-application": "application",
    "schema": "ours", "scp": "unit|leader|machine|localfile*", "set-application-base": "application base",
    "set-constraints": "application constraint*", "set-credential": "cloud credential",
    "set-firewall-rule": "service", "set-model-constraints": "constraint*",
    "show-action": "application action", "show-application": "application*", "show-cloud": "cloud",
    "show-controller": "controller*", "show-credential": "cloud credential", "show-machine": "machine*",
    "show-model": "model", "show-offer": "offer|offerurl", "show-operation": "operation",
    "show-relation": "relation|endpoint endpoint", "show-secret": "secret",
    "show-secret-backend": "backend", "show-space": "space",
    "show-status-log": "unit|machine|application|saas", "show-storage": "storage*", "show-task": "task",
    "show-unit": "unit*", "show-user": "user", "ssh": "unit|leader|machine", "status":
    "application|unit|machine*", "storage": "none", "suspend-relation": "relation*",
    "switch": "model|controller", "timeline": "unit*", "trust": "application", "unexpose": "application",
    "unregister": "controller", "update-cloud": "owncloud", "update-credential": "cloud credential",
    "update-secret": "secret", "update-secret-backend": "backend", "update-status": "unit*",
    "update-storage-pool": "pool", "upgrade-machine": "machine step base", "users": "model",
    "wait-for": "waited waitedname",
}  # fmt: skip
# Flag -> the kind of its value; a flag that is not here offers the choices that its command declares.
VALUES: Mapping[str, str] = {
    "-m": "model", "--model": "model", "-c": "controller", "--controller": "controller", "-o": "file",
    "--output": "file", "--file": "file", "-f": "file", "--path": "file", "--config": "file",
    "--params": "file", "--overlay": "file", "--log-file": "file", "--resource": "file", "--to": "machine",
    "-u": "unit|leader,", "--unit": "unit|leader,", "--units": "unit,", "-a": "application,",
    "--application": "application,", "--app": "application,", "--applications": "application,",
    "--apps": "application,", "--machine": "machine,", "--machines": "machine,",
    "-i": "unit|machine", "--include": "unit|machine", "-x": "unit|machine", "--exclude": "unit|machine",
    "--attach-storage": "storage", "--hook": "hook", "--private-key": "file", "--public-key": "file",
    "--filename": "file", "--filepath": "file", "--plan": "file", "--save-plan": "file", "--from": "file",
    "--out": "file", "--destination": "file", "-d": "file", "--local-dir": "file",
    "--metadata-source": "file", "--source": "file", "--controller-charm-path": "file",
    "--credential": "credential", "--region": "region", "--cloud": "cloud",
    "--target-controller": "controller", "--user": "user", "--owner": "user", "--connected-user": "user",
    "--allowed-consumer": "user", "--related-unit": "unit", "--endpoints": "appendpoint,",
    "--endpoint": "appendpoint", "--to-spaces": "space,", "--space": "space", "--bind": "space",
    "--channel": "channel", "--base": "base", "--bootstrap-base": "base", "--series": "series",
    "--bootstrap-series": "series", "--constraints": "constraint", "--bootstrap-constraints": "constraint",
    "--provider": "storagetype", "--status": "taskstatus,", "--actions": "anyaction,",
    "--model-default": "modelkey", "--name": "none", "--scope": "trustscope",
    "--url": "offerurl", "--offer": "offer", "--import-id": "none", "--switch": "none",
    "-n": "none", "--num-units": "none", "--limit": "none", "--since": "none", "--timeout": "none",
    "--revision": "none", "--logging-config": "none", "--message": "none",
    "--format": "format", "--level": "level", "-l": "level",
}  # fmt: skip
# `command flag` -> the kind of the value, where a command differs from the table above.
OF_COMMAND: Mapping[str, str] = {
    "config --reset": "configname,", "model-config --reset": "modelname,",
    "model-defaults --reset": "modelname,", "storage-pools --name": "pool", "secrets --owner": "none",
    "documentation --url": "none", "show-status-log --type": "statustype",
}  # fmt: skip
# Command -> flags that take no value there, although the same flag of other commands does.
BARE: Mapping[str, tuple[str, ...]] = {
    "info": ("--config",), "show-unit": ("--app",), "status": ("--machines",),
}  # fmt: skip
SWITCHES = frozenset((
    "--debug", "-v", "--verbose", "-q", "--quiet", "--show-log", "-h", "--help", "--utc", "--color",
    "--no-color", "--force", "--no-wait", "--no-prompt", "--dry-run", "--trust", "--follow", "--failed",
    "--all", "--background", "--relations", "--replay", "--no-tail", "--tail", "--no-alias",
    "--description", "--version",
))  # fmt: skip
FIXED: Mapping[str, str] = {
    "shell": "bash zsh fish", "driver": "run processes drain move key join renew-key",
    "metricsword": "token", "access": "read write admin consume login superuser",
    "notifyword": "add list events test remove",
    "waited": "application machine model unit",
    "level": "TRACE DEBUG INFO WARNING ERROR", "none": "", "commands": "all destroy-model remove-object",
    "backendtype": "vault", "storagetype": "rootfs tmpfs loop local", "cloudlevel": "add-model admin",
    "service": "ssh juju-application-offer", "step": "prepare complete", "trustscope": "cluster",
    "base": "ubuntu@20.04 ubuntu@22.04 ubuntu@24.04", "series": "focal jammy noble",
    "hooktool": "action-fail action-get action-log action-set add-metric application-version-set "
    "close-port config-get credential-get goal-state is-leader juju-log juju-reboot "
    "k8s-raw-get k8s-raw-set k8s-spec-get k8s-spec-set leader-get leader-set "
    "network-get open-port opened-ports payload-register payload-status-set "
    "payload-unregister pod-spec-get pod-spec-set relation-get relation-ids "
    "relation-list relation-model-get relation-set resource-get secret-add secret-get "
    "secret-grant secret-ids secret-info-get secret-remove secret-revoke secret-set "
    "state-delete state-get state-set status-get status-set storage-add storage-get "
    "storage-list unit-get",
    "taskstatus": "pending running completed failed cancelled aborting aborted error",
    "statustype": "application container juju-container juju-machine juju-unit machine model saas unit "
    "workload",
    "topic": "basics commands global-options topics",
    "constraint": "arch= container= cores= cpu-power= instance-role= instance-type= mem= root-disk= "
    "root-disk-source= tags= spaces= virt-type= zones= allocate-public-ip= image-id=",
}  # fmt: skip
QUERIES: Mapping[str, str] = {
    "model": "complete_model", "application": "complete_application", "unit": "complete_unit",
    "leader": "complete_leader", "machine": "complete_machine", "relation": "complete_relation",
    "storage": "complete_storage", "pool": "complete_pool", "secret": "complete_secret",
    "backend": "complete_backend", "space": "complete_space", "subnet": "complete_subnet",
    "target": "complete_target",
    "user": "complete_user", "operation": "complete_operation", "task": "complete_task",
    "opentask": "complete_open_task", "decided": "complete_decided", "offer": "complete_offer",
    "offerurl": "complete_offer_url", "saas": "complete_saas", "charm": "complete_store_charm",
}  # fmt: skip
OF_CONTROLLER = (
    "complete_model", "complete_backend", "complete_target", "complete_user", "complete_offer_url",
)  # fmt: skip
