"""Operations on the machine itself: delete a unit's files, reboot.

Mirrors: juju worker/deployer, cmd/jujud/reboot (3.6).
"""

from __future__ import annotations

import os

from pushjuju.runner.remote.base import layout
from pushjuju.runner.remote.base.results import Refused, describe, plain_result
from pushjuju.runner.remote.disk import holder, requests
from pushjuju.runner.remote.disk.trees import remove_tree
from pushjuju.runner.remote.operation import debugging
from pushjuju.runner.remote.operation.host import Host
from pushjuju.runner.remote.operation.process import Child
from pushjuju.runner.remote.tools import execinstall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pushjuju.portable import frames

_REBOOT = (
    ("/usr/bin/systemctl", "reboot"),
    ("/bin/systemctl", "reboot"),
    ("/sbin/shutdown", "-r", "now"),
    ("/sbin/reboot",),
)


def run(host: Host) -> frames.Result:
    """Run an operation of this module."""
    if host.op["kind"] == "remove-unit":
        return _remove_unit(host)
    return _reboot(host)


def _remove_unit(host: Host) -> frames.Result:
    unit = str(host.op["unit"])
    if unit:  # without a unit, only the files that belong to no unit are removed
        remove_tree(host.paths.agent(unit))
        remove_tree(host.paths.unit_tools(unit))
        requests.refuse_unit(host.paths.base, unit)
        debugging.remove(host.paths, unit)
        try:
            os.unlink(host.paths.socket(unit))
        except OSError:
            pass
    for path in host.op.get("paths") or ():
        _remove_own(host, str(path))
    if host.op.get("last"):
        with open(host.paths.base + "/purge", "w") as file:  # the server reads it after the acknowledgement
            file.write("release" if host.op.get("release") else "")
    return plain_result()


def _remove_own(host: Host, path: str) -> None:
    """Remove a file that pushjuju made; refuse paths outside of Juju's own directories."""
    clean = os.path.normpath(path)
    allowed = ("/var/lib/juju/", "/var/log/juju/", "/etc/profile.d/juju")
    if not clean.startswith(allowed):
        raise Refused('"%s" is not below a directory of Juju' % path)
    full = host.paths.root + clean
    if os.path.isdir(full) and not os.path.islink(full):
        remove_tree(full)
    elif os.path.lexists(full):
        os.unlink(full)


def purge(paths: layout.Layout) -> None:
    """Remove everything that pushjuju put on the machine; the server does so before it ends.

    The mark of the holder is deleted only when the model releases the machine, not with its last unit.
    """
    released = layout.read_text(paths.base + "/purge") == "release"
    execinstall.remove(paths)
    try:
        names = os.listdir(paths.tools)
    except OSError:
        names = []
    for name in names:
        if os.path.exists(paths.agents + "/" + name):
            continue  # files of a Juju agent that was installed later
        if name.startswith(("machine-", "pushjuju-")):
            _try_remove(paths.tools + "/" + name)
    _try_remove(paths.base)
    for path in (paths.agents, paths.tools, paths.juju + "/locks", paths.juju + "/storage", paths.juju):
        _try_rmdir(path)
    _try_rmdir(paths.root + "/var/log/juju")
    if released:
        holder.release(paths.root)


def _try_remove(path: str) -> None:
    try:
        remove_tree(path)
    except OSError:
        pass


def _try_rmdir(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        pass  # files of other programs are in it


def _reboot(host: Host) -> frames.Result:
    """Reboot the machine after the result is on disk and sent."""
    command = host.options.get("reboot_command")
    if command is None and host.paths.root:
        raise Refused("a machine below another root is not rebooted")
    choices = [tuple(command)] if command else [words for words in _REBOOT if os.access(words[0], os.X_OK)]
    if not choices:
        raise Refused("no program to reboot this machine")
    host.finish(plain_result())
    child = Child(host, (lambda _: None, lambda _: None))
    try:
        child.start(list(choices[0]), {"PATH": layout.AGENT_PATH}, "/")
        child.wait(60)
    except OSError as error:
        host.log("ERROR", "cannot reboot: " + describe(error))
    raise SystemExit(0)
