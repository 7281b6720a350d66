"""The script of `debug-hooks` on the machine: a tmux session, and a lock until its terminal ends.

Pure. `runner.remote.operation.debugging` opens the windows of the hooks on the machine.
Mirrors: juju worker/uniter/runner/debug/client.go (3.6)
"""

from __future__ import annotations

import base64
import shlex
import zlib
from collections.abc import Sequence

from pushjuju.core.names import unit_tag

BASE = "/var/lib/juju/pushjuju"
# Juju's machines have tmux from their first boot; here the first session installs tmux. Descriptor 8
# holds the lock: a process that outlives the terminal must not inherit the descriptor. A background process
# waits for the lock and cleans up, however the session ends.
_SCRIPT = r"""
missing() { ! command -v tmux >/dev/null; }
has() { command -v "$1" >/dev/null; }
install() {
    export DEBIAN_FRONTEND=noninteractive
    if has apt-get; then
        apt="apt-get -q -y -o DPkg::Lock::Timeout=120" tmux="--no-install-recommends tmux"
        $apt install $tmux || { $apt update && $apt install $tmux; }
    elif has dnf; then dnf -q -y install tmux
    elif has yum; then yum -q -y install tmux
    elif has zypper; then zypper -q -n install tmux
    else echo "no package manager that is known here"; fi
}
if missing; then
    echo "Installing tmux on machine $machine" >&2
    said=$(install 2>&1 </dev/null)
    missing && {
        echo "ERROR tmux is not installed on machine $machine, and cannot be: ${said##*$'\n'}" >&2
        echo "$program ssh $machine    goes there, to install it by hand" >&2
        exit 1
    }
fi
umask 077
export LANG=C.UTF-8
tput -T "${TERM:-dumb}" longname >/dev/null 2>&1 || export TERM=xterm
mkdir -p "$folder" && exec 8>"$folder/lock" || exit 1
flock -w 2 8 || {
    echo "ERROR Failed to acquire $folder/lock: unit is already being debugged" >&2
    exit 1
}
printf '%s\n' "$@" >"$folder/wanted.new" && mv "$folder/wanted.new" "$folder/wanted"
setsid flock "$folder/lock" bash -c 'rm -f "$1/wanted" "$1/init.sh"; tmux -L "$2" kill-server' \
    clear "$folder" "$socket" </dev/null >/dev/null 2>&1 8>&- &
cat >"$folder/init.sh" <<'END'
PS1="$unit debugging % "
cat <<'TEXT'
Hooks and actions of %s open windows here as they come: %s.
Ctrl-b n goes to the next window. Ctrl-b d leaves: what waits in a window then runs by itself.
TEXT
END
tmux -L "$socket" new-session -d -s "$unit" -n waiting \
    "unit='$unit' exec bash --noprofile --init-file '$folder/init.sh' -i" 8>&- || exit 1
tmux -L "$socket" attach-session -t "$unit" 8>&-
exit 0
"""


def script(
    unit: str,
    names: Sequence[str],
    *,
    kind: str,
    at: str,
    machine: str,
    program: str = "pushjuju",
    base: str = BASE,
) -> str:
    """Return the script of a debug session.

    Args:
        unit: The unit whose hooks are debugged.
        names: Hooks and actions to wait for; empty for all.
        kind: `hooks`: a shell instead of each hook; `code`: hooks run in a window that the user watches.
        at: The value of JUJU_DEBUG_AT; empty for none.
        machine: The id of the machine, for messages.
        program: The name under which the user called pushjuju.
        base: pushjuju's directory on the machine.
    """
    folder = f"{base}/debug/{unit_tag(unit)}"
    socket = f"pushjuju-{zlib.crc32(folder.encode()):08x}"
    variables = {"unit": unit, "folder": folder, "socket": socket, "machine": machine, "program": program}
    lines = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    lines.append("set -- " + shlex.join((kind, at, unit, socket, *names)))
    shown = ", ".join(names) or "all of them"
    body = _SCRIPT.replace("of %s open", f"of {unit} open").replace("come: %s.", f"come: {shown}.")
    return "\n".join(lines) + body


def command(text: str) -> str:
    """Return a command line that runs a script as root, for any login user."""
    packed = base64.b64encode(text.encode()).decode("ascii")
    inner = shlex.quote(f'eval "$(echo {packed} | base64 -d)"')
    return f'if [ "$(id -u)" = 0 ]; then exec bash -c {inner}; else exec sudo bash -c {inner}; fi'
