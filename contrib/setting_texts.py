"""What the keys of `model_config` and `controller_config` do, for the reference.

A key without a text is one of Juju's that is kept and shown, and changes nothing in pushjuju.
"""

from __future__ import annotations

from collections.abc import Mapping

KEPT = "kept and shown, without effect"

MODEL: Mapping[str, str] = {
    "apt-ftp-proxy": "proxy of apt on new machines for FTP; else `juju-ftp-proxy`, else `ftp-proxy`",
    "apt-http-proxy": "proxy of apt on new machines for HTTP; else `juju-http-proxy`, else `http-proxy`",
    "apt-https-proxy": "proxy of apt on new machines for HTTPS; else `juju-https-proxy`, else `https-proxy`",
    "apt-mirror": "mirror of the archive for apt on new machines",
    "apt-no-proxy": "hosts that apt reaches without a proxy",
    "authorized-keys": "SSH keys on all machines; `add-ssh-key` and `remove-ssh-key` change them",
    "automatically-retry-hooks": "try a failed hook again after a pause",
    "charmhub-url": "the charm store",
    "cloudinit-userdata": "cloud-init data of new machines, as YAML",
    "container-image-stream": "with `daily`, containers start from images of the day",
    "container-inherit-properties": "keys of the host's cloud-init data that its new containers get, too",
    "controller-pool": "the pool of controller processes that alone work on the model",
    "default-base": "base of a new application whose charm supports several, and of new machines",
    "default-space": "space of endpoints without a binding",
    "egress-subnets": "source addresses of the units' connections, as other models see them",
    "enable-os-refresh-update": "update the list of packages on a new machine",
    "enable-os-upgrade": "upgrade the packages of a new machine",
    "firewall-mode": "rules for each machine, equal rules for all machines, or no firewall",
    "ftp-proxy": "proxy for FTP on new machines, and for hooks",
    "http-proxy": "proxy for HTTP on new machines, for hooks, and for the charm store",
    "https-proxy": "proxy for HTTPS on new machines, for hooks, and for the charm store",
    "image-stream": "with `daily`, LXD takes images of the day, and `deploy` any base that it is given",
    "juju-ftp-proxy": "proxy for FTP, for apt and for hooks",
    "juju-http-proxy": "proxy for HTTP, for apt, for hooks and for the charm store",
    "juju-https-proxy": "proxy for HTTPS, for apt, for hooks and for the charm store",
    "juju-no-proxy": "hosts that are reached without the `juju-` proxies",
    "logging-config": "the lowest level of log lines that are kept, by module",
    "lxd-snap-channel": "channel of the snap lxd on a machine that gets containers",
    "max-operation-age": "how long runs of hooks are kept, besides failed runs and the newest 50 of a unit",
    "max-status-history-age": "how long log lines, earlier statuses, runs of hooks and tasks are kept",
    "max-status-history-size": "how much space the log of the model may take",
    "mode": "`requires-prompts`: removals ask first",
    "no-proxy": "hosts that are reached without a proxy",
    "num-container-provision-workers": "how many containers are started at the same time",
    "num-provision-workers": "how many machines are started at the same time",
    "provisioner-harvest-mode": "which instances are stopped: those of removed machines, unknown ones, all",
    "proxy-ssh": "`ssh` and `scp` require a jump host",
    "resource-tags": "tags of instances and volumes in the cloud, as KEY=VALUE",
    "saas-ingress-allow": "sources from which other models may reach offered applications",
    "secret-backend": "where contents of new secrets are kept",
    "snap-http-proxy": "proxy of snaps on new machines for HTTP",
    "snap-https-proxy": "proxy of snaps on new machines for HTTPS",
    "snap-store-assertions": "assertions of the proxy of the snap store",
    "snap-store-proxy": "id of the proxy of the snap store",
    "snap-store-proxy-url": "address of the proxy of the snap store, which has the assertions",
    "ssh-allow": "sources from which machines accept SSH",
    "ssh-jump-host": "hosts through which SSH reaches the machines, the first hop first",
    "storage-default-block-source": "pool of block storage when no pool is named",
    "storage-default-filesystem-source": "pool of filesystems when no pool is named",
    "update-status-hook-interval": "time between two update-status hooks of a unit",
}
CONTROLLER: Mapping[str, str] = {
    "api-allowed-origins": "origins of web pages that may open connections to the API",
    "audit-log-capture-args": "lines of the API's log file have arguments, without secrets",
    "audit-log-exclude-methods": "methods of the API without lines in its log file",
    "audit-log-max-age": "how long lines of `audit` are kept",
    "audit-log-max-backups": "how many old log files of the API are kept",
    "audit-log-max-size": "size at which the API begins a new log file",
    "auditing-enabled": "write the audit log",
    "blob-cache-size": "how much of charms and resources each host keeps with a store in PostgreSQL",
    "blobs": "directory of all hosts for charms and resources: file:///DIRECTORY; set at `bootstrap`",
    "controller-name": "the name of the controller",
    "controller-uuid": "the UUID of the controller",
    "max-agent-state-size": "bytes of what pushjuju keeps of a unit; a hook that needs more fails",
    "max-charm-state-size": "bytes of what a charm keeps with state-set; a hook that needs more fails",
}
