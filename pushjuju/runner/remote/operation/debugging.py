"""Runs hooks in a terminal of the user: debug-hooks and debug-code.

A process of the user's session holds a lock for as long as the terminal lives (``debugsession`` on the
controller's side). A matching hook gets a window with its whole environment in that user's tmux; the exit of
the shell in the window ends the hook. When the terminal has ended, the window is killed like any killed hook:
what the hook wrote does not count, and the hook runs again.

Mirrors: juju worker/uniter/runner/debug (3.6)
"""

from __future__ import annotations

import fcntl
import os

from pushjuju.runner.remote.base import layout, signals
from pushjuju.runner.remote.disk.trees import remove_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Mapping

FOLDER = "/debug"
LIMIT = 64 * 1024  # bytes of the file ``wanted``, which names the hooks to debug
_LEFT_TO_TMUX = ("TERM", "PWD", "OLDPWD", "SHLVL", "_", "LS_COLORS", "LESSOPEN", "LESSCLOSE")

# The script opens the window and waits for its shell. When ``flock`` gets the lock, the terminal has ended.
_SERVER = r"""#!/bin/bash
exec >"$JUJU_DEBUG/debug.log" 2>&1
session=$1 socket=$2 title=$3 lock=$4
gone() {
    if [ ! -e "${lock%/*}/wanted" ] || flock -n "$lock" true; then
        [ -s "$JUJU_DEBUG/pid" ] && kill -9 -- "-$(cat "$JUJU_DEBUG/pid")"
        kill -9 $$
    fi
}
# tmux may never reap a shell that has ended: such a zombie still accepts signals.
runs() {
    read -r _ _ state _ <"/proc/$pid/stat" && [ "$state" != Z ]
}
tmux -L "$socket" new-window -t "$session:" -n "$title" "exec bash '$JUJU_DEBUG/hook.sh'" || { gone; exit 1; }
until [ -s "$JUJU_DEBUG/pid" ]; do sleep 0.1; gone; done
pid=$(cat "$JUJU_DEBUG/pid")
while runs; do sleep 0.1; gone; done
if [ ! -s "$JUJU_DEBUG/exit" ] || [ "$(cat "$JUJU_DEBUG/exit")" -gt 128 ]; then
        sleep 1 # a signal ended the shell, or the whole session: in a second `gone` knows
    gone
fi
exit "$(cat "$JUJU_DEBUG/exit" || echo 1)"
"""

# tmux has the umask of the user who opened the session; all users may read the files of a hook.
_BEGIN = r"""#!/bin/bash
umask 022
. "$JUJU_DEBUG/env.sh"
cd "$JUJU_CHARM_DIR" || exit 1
echo $$ >"$JUJU_DEBUG/pid.new"
mv "$JUJU_DEBUG/pid.new" "$JUJU_DEBUG/pid"
"""

_SHELL = r"""exec /bin/bash --noprofile --init-file "$JUJU_DEBUG/init.sh" -i
"""

_RUN = r"""%s
echo $? >"$JUJU_DEBUG/exit"
"""

# A shell whose window was closed has failed, whatever the exit status of its last command.
_INIT = r"""trap 'echo $? >"$JUJU_DEBUG/exit"' EXIT
trap 'trap - EXIT; echo 129 >"$JUJU_DEBUG/exit"; exit 129' HUP TERM
PS1="$JUJU_UNIT_NAME:%s %% "
cat <<'END'
This is the %s "%s" of %s in its full environment: hook tools work here.
Start its program with
    %s
and leave with `exit`: with 0 the %s has succeeded, with any other status it has failed.
END
"""


class Session:
    """A debug session of a user, and the hooks and actions for which the session waits."""

    def __init__(self, folder: str, words: list[str]) -> None:
        self.folder = folder
        self.runs = words[0] == "code"  # True when hooks start by themselves in their windows (debug-code)
        self.at = words[1]  # value of JUJU_DEBUG_AT, or ""
        self.session = words[2]
        self.socket = words[3]
        self.names = words[4:]

    def wants(self, name: str) -> bool:
        """Return True when the session waits for a hook or action; a session without names waits for all."""
        return not self.names or name in self.names


def find(paths: layout.Layout, unit: str, name: str) -> Session | None:
    """Return the debug session that waits for a hook or action of a unit, or None."""
    folder = paths.base + FOLDER + "/" + layout.unit_tag(unit)
    try:
        fd = os.open(folder + "/lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None  # no process holds the lock
    except OSError:
        pass
    finally:
        os.close(fd)
    words = layout.read_text(folder + "/wanted")[:LIMIT].splitlines()
    if len(words) < 4:
        return None
    found = Session(folder, words)
    return found if found.wants(name) else None


class Window:
    """A window of a debug session's tmux, for one hook or action."""

    def __init__(self, session: Session, noun: str, name: str, path: str, env: Mapping[str, str]) -> None:
        self._session = session
        self.folder = "%s/run-%d" % (session.folder, os.getpid())
        self.env = dict(env, JUJU_DEBUG=self.folder)
        if session.at:
            self.env["JUJU_DEBUG_AT"] = session.at
        self.argv = ["/bin/bash", self.folder + "/server.sh", session.session, session.socket, name]
        self.argv.append(session.folder + "/lock")
        self._write(noun, name, path)

    def _write(self, noun: str, name: str, path: str) -> None:
        os.mkdir(self.folder, 0o700)
        command = "./" + os.path.relpath(path, self.env["JUJU_CHARM_DIR"])
        texts = {
            "server.sh": _SERVER,
            "env.sh": _exports(self.env),
            "hook.sh": _exports({"JUJU_DEBUG": self.folder}, "#!/bin/bash\n") + _BEGIN,
            "init.sh": _INIT % (name, noun, name, self.env.get("JUJU_UNIT_NAME", ""), command, noun),
        }
        texts["hook.sh"] += _RUN % quote(command) if self._session.runs else _SHELL
        for file, text in texts.items():
            with open(self.folder + "/" + file, "w", encoding="utf-8", errors="surrogateescape") as stream:
                stream.write(text)

    def close(self) -> None:
        """End the processes that are left of the window, and delete its files."""
        pid = layout.read_text(self.folder + "/pid").strip()
        if pid.isdigit() and int(pid) > 1 and self._is_ours(pid):
            try:
                os.killpg(int(pid), signals.KILL)
            except OSError:
                pass
        try:
            remove_tree(self.folder)
        except OSError:
            pass

    def _is_ours(self, pid: str) -> bool:
        """Return True when a process is the window's shell, not a later process with the same pid."""
        known = ("/proc/%s/cmdline", "/proc/%s/environ")
        return any(self.folder in layout.read_text(path % pid) for path in known)


def _exports(env: Mapping[str, str], head: str = "") -> str:
    lines = ["export %s=%s\n" % (key, quote(env[key])) for key in env if _is_name(key)]
    return head + "".join(lines)


def _is_name(key: str) -> bool:
    return key.isidentifier() and key.isascii() and key not in _LEFT_TO_TMUX


def quote(text: str) -> str:
    """Return a text as one word of a shell."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def remove(paths: layout.Layout, unit: str) -> None:
    """Delete the files that debug sessions of a unit left."""
    try:
        remove_tree(paths.base + FOLDER + "/" + layout.unit_tag(unit))
    except OSError:
        pass
