"""Run a plain command; what commands, actions and hooks share.

A plain command needs no hook tools, so this module imports none of what they need.
"""

from __future__ import annotations

import os
import pwd

from pushjuju.runner.remote.base import layout, output, signals
from pushjuju.runner.remote.base.results import Refused, plain_result
from pushjuju.runner.remote.disk.trees import remove_tree
from pushjuju.runner.remote.operation.host import Host
from pushjuju.runner.remote.operation.process import Child, Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.portable import frames


def run(host: Host) -> frames.Result:
    """Run a command without unit context: as root in ``/``, or in the home of a user, as this user.

    On a machine without the user, root runs the command in the home of root.
    """
    captures = [output.Capture(), output.Capture()]
    user = _account(str(host.op.get("user", "")))
    env = _environment(user)
    env.update({str(key): str(value) for key, value in (host.op.get("env") or {}).items()})
    child = Child(host, (captures[0].feed, captures[1].feed))
    path = ""
    if host.op.get("argv"):
        argv = [str(word) for word in host.op["argv"]]
        argv[0] = which(argv[0], env["PATH"])
    elif host.op.get("user"):
        argv = [shell(), "-c", str(host.op.get("script", ""))]
    else:
        path = script(host, str(host.op.get("script", "")))
        argv = [shell(), path]
    try:
        child.start(argv, env, _folder(host), _stdin(host), user)
        ended = child.wait(timeout(host))
    finally:
        child.close()
        if path:
            remove_script(path)
    outcome, message = judge(ended, host.cancelled)
    result = plain_result(outcome, message=message)
    result.update({"exit": ended.exit, "signal": ended.signal})
    return captured(result, captures)


def _account(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name) if name else None
    except KeyError:
        return None


def _environment(user: pwd.struct_passwd | None) -> dict[str, str]:
    env = {"PATH": layout.AGENT_PATH, "LANG": "C.UTF-8", "HOME": "/root"}
    if user is not None:
        env.update({"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name})
    return env


def _folder(host: Host) -> str:
    """Return the folder in which root runs the command; a user goes home from there."""
    home = "/root" if host.op.get("user") and os.path.isdir("/root") else "/"
    return str(host.op.get("cwd") or home)


def _stdin(host: Host) -> int:
    text = host.op.get("stdin")
    if text is None:
        return -1
    fd = os.open(host.paths.base, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    data = memoryview(str(text).encode("utf-8", "surrogateescape"))
    while data:
        data = data[os.write(fd, data) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def which(name: str, search: str) -> str:
    """Return the path of a program."""
    if "/" in name:
        return name
    for directory in search.split(":"):
        path = directory + "/" + name
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise Refused('exec: "%s": executable file not found in $PATH' % name)


def judge(ended: Ended, cancelled: int) -> tuple[str, str]:
    """Return the outcome of an ended process and its message, in Juju's words."""
    if ended.timed_out:
        return "interrupted", "command cancelled"
    if cancelled and (ended.signal is not None or ended.exit != 0):
        return "interrupted", "terminated"
    if ended.exit == 0:
        return "ok", ""
    if ended.signal is None:
        return "failed", "exit status %d" % (ended.exit or 0)
    message = "signal: " + signals.text(ended.signal)
    if ended.signal in (signals.TERM, signals.KILL):
        return "terminated", message
    return "failed", message


def captured(result: frames.Result, captures: list[output.Capture]) -> frames.Result:
    """Return a result with the captured output."""
    said: Any = {}
    for number, name in enumerate(("stdout", "stderr")):
        text, encoding = output.as_text(captures[number].value())
        said[name] = text
        if encoding:
            said[name + "-encoding"] = encoding
    result.update(said)
    return result


def script(host: Host, text: str) -> str:
    """Write commands to a file in a directory of its own, which the caller deletes."""
    for name in os.listdir(host.paths.base):
        if name.startswith("run-") and not os.path.exists("/proc/" + name[4:]):
            _remove(host.paths.base + "/" + name)  # its process was killed
    directory = "%s/run-%d" % (host.paths.base, os.getpid())
    _remove(directory)  # of a process before a reboot
    os.mkdir(directory, 0o700)
    with open(directory + "/script.sh", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return directory + "/script.sh"


def remove_script(path: str) -> None:
    """Delete a script and its directory, or what the script left of them."""
    _remove(os.path.dirname(path))


def _remove(directory: str) -> None:
    try:
        remove_tree(directory)
    except OSError:  # a process that the script left behind writes there
        pass


def shell() -> str:
    """Return the shell that runs scripts."""
    return "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"


def timeout(host: Host) -> float | None:
    """Return how many seconds the commands may take, or None."""
    value = host.op.get("timeout")
    return float(value) if value else None
