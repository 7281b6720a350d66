"""The shell scripts for manual machines.

They need only a POSIX shell and the tools of a minimal system; values are inserted with `shlex.quote`.
Mirrors: juju environs/manual/sshprovisioner (3.6).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pushjuju.core.holding import FOLDER, HELD, MARKER, check_script, claim_script

USER = "ubuntu"
_KEYS = f"{FOLDER}/added-keys"
_PROOF = f"{MARKER}.proof"

PROVISIONED = HELD
NOT_OURS = 91


def join(owner: str, authorized_keys: Sequence[str], *, user_exists: bool) -> str:
    """Return a script for root: mark the machine, add the model's keys to `ubuntu`, print the facts.

    The script exits with PROVISIONED, and changes nothing, when the machine belongs to a controller.

    Args:
        owner: One line that names controller, model and machine.
        user_exists: True when the script runs as the user `ubuntu`, as on cloud images, so that nothing has
            to be made; else the script makes the user, unless there is one.
    """
    return f"""set -e
umask 022
{claim_script(owner)}
{"" if user_exists else _MAKE_USER}{_add_keys(authorized_keys)}{DETECT}"""


def invite(owner: str, authorized_keys: Sequence[str], proof: str) -> str:
    """Return a script with which somebody who is root on a machine offers the machine to a controller.

    The script lets the keys log in as `ubuntu`, and leaves a proof, which only root can read. It exits with
    PROVISIONED, and changes nothing, when the machine belongs to a controller.
    """
    return f"""#!/bin/sh
set -e
umask 022
[ "$(id -u)" = 0 ] || {{ echo 'this script needs root' >&2; exit 1; }}
{check_script(owner)}{_MAKE_USER}{_add_keys(authorized_keys)}umask 077
printf '%s\\n' {shlex.quote(proof)} > {_PROOF}.new
mv -f {_PROOF}.new {_PROOF}
"""


READ_PROOF = f"head -c 200 {_PROOF} 2>/dev/null || true\n"
"""A script for root that prints the proof which `invite` has left, and changes nothing."""


_MAKE_USER = f"""if ! id {USER} >/dev/null 2>&1; then
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
"""


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
