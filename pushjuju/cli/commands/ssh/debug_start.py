"""Starts the sessions of debug-hooks and debug-code."""

from __future__ import annotations

import base64
import shlex
import zlib
from collections.abc import Sequence

from pushjuju.cli.commands.ssh.ssh_session import known_hosts_of, proxy_wanted, run_program, target_of
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import Conflict, NotFound, UsageError
from pushjuju.core.names import unit_tag
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import sessions
from pushjuju.services.views import ssh_targets

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


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugFlags:
    model: str
    proxy: bool
    no_host_key_checks: bool
    pty: bool | None


def start_debugging(cli: Cli, args: tuple[str, ...], flags: DebugFlags, *, kind: str, at: str) -> None:
    opened = session.open_model(cli, flags.model)
    name = _unit_of(opened, args[0])
    machine = ssh_targets.machine_of(opened.ctx, opened.uuid, name)
    _check_names(opened, name, args[1:])
    if "\n" in at:
        raise UsageError("the value of --at is one line")
    terminal = cli.console.stdin.isatty() and cli.console.stdout.isatty()
    if flags.pty is False or not (terminal or flags.pty):
        raise Conflict(f"debug-{kind} needs a terminal")
    target = target_of(cli, opened, name, "", proxy=proxy_wanted(cli, flags.proxy))
    script = debug_script(name, args[1:], kind=kind, at=at, machine=machine.id, program=cli.program)
    words = ["ssh", "-t", "-t", target.alias, debug_command(script)]
    # the user waits for hooks to debug, so a background process works on the model during the session
    with known_hosts_of(opened) as known_hosts:
        run_program(
            known_hosts, words, [target], check_host_keys=not flags.no_host_key_checks,
            meanwhile=lambda: drive.background(cli, opened.ctx, opened.uuid),
        )  # fmt: skip


def _unit_of(opened: sessions.Session, text: str) -> str:
    """Return the unit that the user named, by its name or as `application/leader`."""
    application, _, word = text.partition("/")
    if word == "leader":
        return ssh_targets.leader(opened.ctx, opened.uuid, application)
    if not is_unit(text):
        raise UsageError(f"{quote(text)} is not a valid unit name")
    return text


def _check_names(opened: sessions.Session, unit: str, names: Sequence[str]) -> None:
    """Refuse names that are neither hooks nor actions of the unit's charm."""
    hooks, tasks = ssh_targets.tasks_of(opened.ctx, opened.uuid, unit)
    for name in names:
        if name not in hooks and name not in tasks:
            raise NotFound(
                f"unit {quote(unit)} contains neither hook nor action {quote(name)}, valid actions are "
                f"[{' '.join(tasks)}] and valid hooks are [{' '.join(hooks)}]"
            )


def debug_script(
    unit: str,
    names: Sequence[str],
    *,
    kind: str,
    at: str,
    machine: str,
    program: str = "pushjuju",
    base: str = BASE,
) -> str:
    """Return the script of a debug session: a tmux session, and a lock until its terminal ends.

    `runner.remote.operation.debugging` opens the windows of the hooks on the machine.
    Mirrors: juju worker/uniter/runner/debug/client.go (3.6)

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


def debug_command(text: str) -> str:
    """Return a command line that runs a script as root, for any login user."""
    packed = base64.b64encode(text.encode()).decode("ascii")
    inner = shlex.quote(f'eval "$(echo {packed} | base64 -d)"')
    return f'if [ "$(id -u)" = 0 ]; then exec bash -c {inner}; else exec sudo bash -c {inner}; fi'
