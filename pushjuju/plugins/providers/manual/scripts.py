"""The shell scripts for manual machines.

They need only a POSIX shell and the tools of a minimal system; values are inserted with `shlex.quote`.
Mirrors: juju environs/manual/sshprovisioner (3.6).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pushjuju.core.holding import FOLDER, HELD, MARKER, claim_script

USER = "ubuntu"
_KEYS = f"{FOLDER}/added-keys"

PROVISIONED = HELD
NOT_OURS = 91


def make_user(owner: str, authorized_keys: Sequence[str]) -> str:
    """Return a script for root that marks the machine, makes the user `ubuntu` and adds the model's keys.

    The script exits with PROVISIONED, and changes nothing, when the machine belongs to a controller.
    """
    return f"""set -e
umask 022
{claim_script(owner)}
if ! id {USER} >/dev/null 2>&1; then
  getent group {USER} >/dev/null || groupadd {USER}
  useradd --create-home --shell /bin/bash --gid {USER} {USER}
fi
rule=/etc/sudoers.d/90-juju-{USER}
if [ ! -e "$rule" ]; then
  mkdir -p /etc/sudoers.d
  echo '{USER} ALL=(ALL) NOPASSWD:ALL' > "$rule.new"
  chmod 0440 "$rule.new"
  mv "$rule.new" "$rule"
fi
{_add_keys(authorized_keys)}"""


def add_keys(owner: str, authorized_keys: Sequence[str]) -> str:
    """Return a script for root that marks the machine and adds the model's keys to the user `ubuntu`.

    The user must exist, as on cloud images.

    The script exits with PROVISIONED, and changes nothing, when the machine belongs to a controller.
    """
    return f"""set -e
umask 022
{claim_script(owner)}
{_add_keys(authorized_keys)}"""


def _add_keys(authorized_keys: Sequence[str]) -> str:
    """Return lines that add keys and record them, so that `release` can remove them again."""
    keys = " ".join(shlex.quote(key.strip()) for key in authorized_keys)
    return f"""home=$(getent passwd {USER} | cut -d: -f6)
group=$(id -gn {USER})
mkdir -p "$home/.ssh" {FOLDER}
chmod 0700 "$home/.ssh" {FOLDER}
keys="$home/.ssh/authorized_keys"
touch "$keys"
[ -z "$(tail -c 1 "$keys")" ] || echo >> "$keys"
for key in {keys}; do
  if ! grep -qxF -e "$key" "$keys"; then
    printf '%s\\n' "$key" >> "$keys"
    printf '%s\\n' "$key" >> {_KEYS}
  fi
done
chmod 0600 "$keys"
chown -R {USER}:"$group" "$home/.ssh"
"""


def enlist(owner: str) -> str:
    """Return a script for root that prints the facts of the machine.

    The script exits with PROVISIONED when the machine belongs to a controller.

    Args:
        owner: One line that names controller, model and machine.
    """
    return f"""set -e
umask 077
{claim_script(owner)}
{DETECT}"""


DETECT = r"""release=/etc/os-release
[ -e "$release" ] || release=/usr/lib/os-release
printf 'id=%s\n' "$(. "$release"; echo "$ID")"
printf 'version=%s\n' "$(. "$release"; echo "$VERSION_ID")"
printf 'arch=%s\n' "$(uname -m)"
printf 'mem_kib=%s\n' "$(awk '/^MemTotal:/ { print $2 }' /proc/meminfo)"
printf 'cores=%s\n' "$(awk -F': *' '
  /^processor/ { processors++ }
  /^physical id/ { package = $2 }
  /^cpu cores/ { cores[package] = $2 }
  END { for (package in cores) sum += cores[package]; print sum ? sum : processors }
' /proc/cpuinfo)"
"""


def release(owner: str) -> str:
    """Return a script for root that removes pushjuju's traces.

    When the marker names another owner, the script exits with NOT_OURS and changes nothing.

    The controller's key is removed last: after a broken connection, the machine can still be reached.
    """
    return f"""set -e
[ -e {MARKER} ] || exit 0
[ "$(cat {MARKER})" = {shlex.quote(owner)} ] || exit {NOT_OURS}
rm -f {MARKER} {MARKER}.*
if [ -s {_KEYS} ]; then
  home=$(getent passwd {USER} | cut -d: -f6)
  keys="$home/.ssh/authorized_keys"
  grep -vxF -f {_KEYS} "$keys" > "$keys.new" || true
  rm -f {_KEYS}
  rmdir {FOLDER} 2>/dev/null || true
  cat "$keys.new" > "$keys"
  rm -f "$keys.new"
fi
rmdir {FOLDER} 2>/dev/null || true
"""
