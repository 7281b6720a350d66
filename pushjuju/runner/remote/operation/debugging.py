"""Runs hooks in the hands of a user: debug-hooks and debug-code.

A process of the user's session holds a lock for as long as the terminal lives (``debugsession`` on the
controller's side). A matching hook gets a window in that user's tmux, with its whole environment; the exit of
the shell in the window is the end of the hook. When the terminal is gone the window is killed, as any killed
hook: nothing that it wrote counts, and the hook runs again.

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
LIMIT = 64 * 1024  # of the file that says what is asked for
_LEFT_TO_TMUX = ("TERM", "PWD", "OLDPWD", "SHLVL", "_", "LS_COLORS", "LESSOPEN", "LESSCLOSE")

# Opens the window and waits for its shell. Whoever can take the lock knows that the terminal is gone.
_SERVER = r"""#!/bin/bash
exec >"$JUJU_DEBUG/debug.log" 2>&1
session=$1 socket=$2 title=$3 lock=$4
gone() {
    if [ ! -e "${lock%/*}/wanted" ] || flock -n "$lock" true; then
        [ -s "$JUJU_DEBUG/pid" ] && kill -9 -- "-$(cat "$JUJU_DEBUG/pid")"
        kill -9 $$
    fi
}
# tmux may leave a shell that has ended unread for ever: such a process still takes signals.
runs() {
    read -r _ _ state _ <"/proc/$pid/stat" && [ "$state" != Z ]
}
tmux -L "$socket" new-window -t "$session:" -n "$title" "exec bash '$JUJU_DEBUG/hook.sh'" || { gone; exit 1; }
until [ -s "$JUJU_DEBUG/pid" ]; do sleep 0.1; gone; done
pid=$(cat "$JUJU_DEBUG/pid")
while runs; do sleep 0.1; gone; done
if [ ! -s "$JUJU_DEBUG/exit" ] || [ "$(cat "$JUJU_DEBUG/exit")" -gt 128 ]; then
    sleep 1 # killed: by a signal of its own, or with the whole session?
    gone
fi
exit "$(cat "$JUJU_DEBUG/exit" || echo 1)"
"""

# tmux has the mask of the user who opened the session; a hook's files are readable for all.
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

# A shell whose window goes has not succeeded, whatever its last command did.
_INIT = r"""trap 'echo $? >"$JUJU_DEBUG/exit"' EXIT
trap 'trap - EXIT; echo 129 >"$JUJU_DEBUG/exit"; exit 129' HUP TERM
PS1="$JUJU_UNIT_NAME:%s %% "
cat <<'END'
This is the %s "%s" of %s, with everything that it has: hook tools work here.
Run what it would run with
    %s
and leave with `exit`: with 0 the %s has succeeded, with anything else it has failed.
END
"""


class Session:
    """The hooks that a debugging user waits for.

    Attributes:
        at: Value of JUJU_DEBUG_AT; empty for none.
        runs: Whether hooks run by themselves in their windows (debug-code).
    """

    def __init__(self, folder: str, words: list[str]) -> None:
        self.folder = folder
        self.runs = words[0] == "code"
        self.at = words[1]
        self.session = words[2]
        self.socket = words[3]
        self.names = words[4:]

    def wants(self, name: str) -> bool:
        """Return True when a hook or action is asked for; without names all are."""
        return not self.names or name in self.names


def find(paths: layout.Layout, unit: str, name: str) -> Session | None:
    """Return the debug session that wants a hook or action of a unit, or None; usually costs one stat."""
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
    """One hook or action in a window of a debugging user."""

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
        """End what is left of it, and take its files away."""
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
        """Return True when a process is the window's shell, not one that got its number later."""
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
    """Take away what sessions of a unit left."""
    try:
        remove_tree(paths.base + FOLDER + "/" + layout.unit_tag(unit))
    except OSError:
        pass
