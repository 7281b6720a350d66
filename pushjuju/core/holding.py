"""Which controller holds a machine: one small file on the machine names it.

The file is created atomically: when two controllers want a machine at the same moment, one of them gets it.
The runner checks the file at each contact (`runner/remote/disk/holder.py`); the scripts of this module check
it on machines where the runner is not installed yet.
"""

from __future__ import annotations

import shlex

FOLDER = "/var/lib/pushjuju"
MARKER = f"{FOLDER}/machine"
HELD = 90
"""The exit status of `claim_script` when the machine is held already; the error output names the holder."""


def owner_line(controller: str, model: str, machine: str) -> str:
    """Return the line that names the holder of a machine: UUIDs of controller and model, and its number."""
    return f"controller={controller} model={model} machine={machine}"


def check_script(owner: str) -> str:
    """Return shell lines for root that exit with HELD when somebody else holds a machine, and change nothing.

    A machine is held when it has the mark of another owner, an agent of Juju, or files of units but no mark.
    """
    return f"""owner={shlex.quote(owner)}
held() {{ printf '%s\\n' "$1" >&2; exit {HELD}; }}
{_REFUSE_JUJU}
if [ ! -e {MARKER} ]; then
  for path in /var/lib/juju/agents/*; do
    [ ! -e "$path" ] || held "$path"
  done
else
  [ "$(cat {MARKER})" = "$owner" ] || held "$(cat {MARKER})"
fi
"""


def claim_script(owner: str) -> str:
    """Return shell lines for root that mark a machine as held, or exit with HELD as `check_script` does."""
    return f"""{check_script(owner)}if [ ! -e {MARKER} ]; then
  mkdir -p {FOLDER}
  chmod 0700 {FOLDER}
  printf '%s\\n' "$owner" > {MARKER}.$$
  ln {MARKER}.$$ {MARKER} 2>/dev/null || true
  rm -f {MARKER}.$$
fi
[ "$(cat {MARKER})" = "$owner" ] || held "$(cat {MARKER})"
"""


# The processes of containers show up among those of their host, so the process namespaces are compared.
_REFUSE_JUJU = """for path in /etc/systemd/system/jujud-* /lib/systemd/system/jujud-* \
/var/lib/juju/agents/machine-* /var/lib/juju/agents/*/agent.conf; do
  [ ! -e "$path" ] || held "$path"
done
for path in $(grep -lx jujud /proc/[0-9]*/comm 2>/dev/null); do
  path=${path%/comm}
  [ "$(readlink "$path/ns/pid")" != "$(readlink /proc/self/ns/pid)" ] || held "the process $path (jujud)"
done"""


def way_out(owner: str, host: str, port: int | None, user: str, controller: str) -> str:
    """Return the text that says what a user can do about a machine that another controller or model holds.

    Args:
        owner: The answer of the machine: the line of its holder, or the path of a trace of Juju.
        port: The port of the SSH login; None for OpenSSH's default.
        user: The user name for the SSH login; empty for OpenSSH's default.
        controller: The UUID of the user's own controller.
    """
    if not owner.startswith("controller="):
        if "/unit-" in owner and not owner.endswith("agent.conf"):
            return "files of units are there; remove those units first"
        return "an agent of Juju's runs there"
    where = "in that model" if owner.startswith(f"controller={controller} ") else "there"
    login = f"{user}@{host}" if user else host
    at_port = f"-p {port} " if port not in (None, 22) else ""
    lost = f"ssh {at_port}{login} sudo rm {MARKER}"
    return f"remove-machine {where} gives it back; if no controller has it any more: {lost}"
