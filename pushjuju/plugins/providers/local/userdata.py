"""User data of local machines: a script that runs at the first boot, before sshd.

So a machine that answers SSH has run its user data, as Juju's agent starts after cloud-init.
"""

from __future__ import annotations

from pathlib import Path

from pushjuju.plugins.providers.local.system import put_file, put_link

_SCRIPT = "var/lib/juju/user-data.sh"
_UNIT = "etc/systemd/system/pushjuju-user-data.service"
_SERVICE = f"""[Unit]
Description=User data of this machine
After=network.target
Before=ssh.service
ConditionPathExists=/{_SCRIPT}

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'sh /{_SCRIPT} >>/var/log/cloud-init-output.log 2>&1; rm -f /{_SCRIPT}'
TimeoutStartSec=20min
Environment=DEBIAN_FRONTEND=noninteractive HOME=/root LANG=C.UTF-8

[Install]
WantedBy=multi-user.target
"""


def write_user_data(root: Path, script: str) -> None:
    """Write the script into a machine's root, with a service that runs it at the first boot."""
    put_file(root, _SCRIPT, script, mode=0o700)
    put_file(root, _UNIT, _SERVICE)
    put_link(root, f"etc/systemd/system/multi-user.target.wants/{Path(_UNIT).name}", f"/{_UNIT}")
