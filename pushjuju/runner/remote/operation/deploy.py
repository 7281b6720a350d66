"""Unpacks the charm of a unit, or replaces the charm by another revision.

A charm directory keeps what the charm wrote: an upgrade deletes only files of the old revision that the new
revision lacks. The archive is unpacked beside the directory first, so a bad archive or a full disk changes
nothing; ``.juju-deploying`` marks the move of the files into place, which is repeated after a cut.

Mirrors: juju worker/uniter/charm/manifest_deployer.go (3.6).
"""

from __future__ import annotations

import os

from pushjuju.portable.jsontext import dumps, loads
from pushjuju.runner.remote.base import layout
from pushjuju.runner.remote.base.results import Refused, describe, error_result, plain_result
from pushjuju.runner.remote.disk import blobs, unzip
from pushjuju.runner.remote.disk.trees import remove_tree
from pushjuju.runner.remote.operation.host import RUNNER_LOGGER, Host
from pushjuju.runner.remote.tools import execinstall, toolclient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.portable import frames

CONFLICT = "conflict"  # code of an upgrade that a user has to resolve
_HOOKS = frozenset(
    "install start config-changed upgrade-charm stop remove leader-elected leader-deposed "
    "leader-settings-changed update-status pre-series-upgrade post-series-upgrade collect-metrics "
    "meter-status-changed secret-changed secret-expired secret-remove secret-rotate".split()
)
_HOOK_ENDINGS = tuple(
    "-relation-created -relation-joined -relation-changed -relation-departed -relation-broken "
    "-storage-attached -storage-detaching".split()
)
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")


def run(host: Host) -> frames.Result:
    """Deploy or upgrade the charm of a unit.

    A failed upgrade is a conflict, as in Juju: the user has to resolve the cause. A failed installation, or
    an upgrade with a damaged archive, is tried again.
    """
    url, digest = str(host.op["url"]), str(host.op["sha256"])
    blob = host.paths.blobs + "/" + digest
    if not blobs.is_digest(digest) or not os.path.exists(blob):
        raise Refused('charm archive of "%s" is not on the machine' % url)
    upgrade = os.path.exists(host.paths.charm(str(host.op["unit"])) + "/.juju-charm")
    try:
        return _deploy(host, blob)
    except (OSError, Refused) as error:
        if not upgrade or not os.path.exists(blob):
            raise
        if isinstance(error, OSError):
            return {**error_result(describe(error), error.errno), "code": CONFLICT}
        return {**error_result(str(error)), "code": CONFLICT}


def _deploy(host: Host, blob: str) -> frames.Result:
    unit, url, digest = str(host.op["unit"]), str(host.op["url"]), str(host.op["sha256"])
    agent = host.paths.agent(unit)
    charm = agent + "/charm"
    state = agent + "/state/deployer"
    staging = state + "/staging"
    os.makedirs(state + "/manifests", 0o755, exist_ok=True)
    remove_tree(staging)
    try:
        members = _unpack(blob, digest, staging)
    except unzip.BadArchive as error:
        remove_tree(staging)
        raise Refused(str(error)) from None
    except OSError:
        remove_tree(staging)
        raise
    _revision_file(staging, url)
    _fix_hooks(staging)
    new = sorted(_with_parents([member.name for member in members] + ["revision"]))
    upgrade = os.path.lexists(charm)
    old = _old_members(host, charm, state) if upgrade else set()
    _write_file(_manifest_path(state, url), dumps(new))
    if upgrade:
        _write_file(charm + "/.juju-deploying", url + "\n")
        _remove_obsolete(charm, old - set(new))
        _move_in(staging, charm)
        remove_tree(staging)
    else:
        _write_file(staging + "/.juju-deploying", url + "\n")
        os.rename(staging, charm)
    _write_file(charm + "/.juju-charm", url + "\n")
    os.unlink(charm + "/.juju-deploying")
    _forget_manifests(state, url)
    os.utime(blob)
    toolclient.ensure_tools(host.paths, unit, host.op.get("tools") or (), str(host.options.get("client", "")))
    if problem := execinstall.install(host.paths):
        host.log("WARNING", "juju-exec cannot be installed on this machine: %s" % problem, RUNNER_LOGGER)
    host.log("DEBUG", "deployed charm %s: %d members" % (url, len(members)))
    return {**plain_result(), "upgraded": upgrade}


def _unpack(blob: str, digest: str, target: str) -> list[unzip.Member]:
    with open(blob, "rb") as file:
        whole = blobs.sha256()
        while True:
            data = file.read(1 << 20)
            if not data:
                break
            whole.update(data)
        if whole.hexdigest() != digest:
            os.unlink(blob)
            raise unzip.BadArchive("the cached charm archive is damaged; it was removed")
        members = unzip.read_members(file)
        os.makedirs(target, 0o755)
        made = {""}
        for member in members:
            _make_parents(target, member.name, made)
            _extract(file, member, target, made)
    for member in members:
        if member.kind == "dir":
            os.chmod(target + "/" + member.name, member.mode | 0o700)
    return members


def _make_parents(target: str, name: str, made: set[str]) -> None:
    parent = name.rpartition("/")[0]
    if parent not in made:
        _make_parents(target, parent, made)
        os.makedirs(target + "/" + parent, 0o755, exist_ok=True)
        made.add(parent)


def _extract(file: Any, member: unzip.Member, target: str, made: set[str]) -> None:
    path = target + "/" + member.name
    if member.kind == "dir":
        os.makedirs(path, 0o755, exist_ok=True)
        made.add(member.name)
    elif member.kind == "link":
        os.symlink(member.link, path)
    else:
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            for piece in unzip.content(file, member):
                view = memoryview(piece)
                while view:
                    view = view[os.write(fd, view) :]
            os.fchmod(fd, member.mode)
        finally:
            os.close(fd)


def _revision_file(charm: str, url: str) -> None:
    """Write the URL's number to the file ``revision``: charmhelpers reads it for charms of any origin."""
    number = url.rpartition("-")[2]
    path = charm + "/revision"
    if number.isdigit():
        if os.path.lexists(path):
            os.unlink(path)
        _write_file(path, number)
    elif not os.path.lexists(path):
        _write_file(path, "0")


def is_hook(name: str) -> bool:
    """Return True when a file in ``hooks/`` has a name that Juju may run."""
    return name in _HOOKS or name.endswith(_HOOK_ENDINGS)


def _fix_hooks(charm: str) -> None:
    """Give hooks and dispatch the owner's exec bit."""
    paths = [charm + "/dispatch"]
    try:
        paths += [charm + "/hooks/" + name for name in os.listdir(charm + "/hooks") if is_hook(name)]
    except OSError:
        pass
    for path in paths:
        if os.path.isfile(path) and not os.path.islink(path):
            mode = os.stat(path).st_mode & 0o777
            if not mode & 0o100:
                os.chmod(path, mode | 0o100)


def _manifest_path(state: str, url: str) -> str:
    name = "".join(c if c in _PLAIN else "".join("_%02x_" % b for b in c.encode("utf-8")) for c in url)
    return state + "/manifests/" + name


def _with_parents(names: list[str]) -> set[str]:
    found = set()
    for name in names:
        path = name
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]
    return found


def _old_members(host: Host, charm: str, state: str) -> set[str]:
    """Return the files of the present charm, and of a charm whose deploy was cut, by their manifests."""
    found: set[str] = set()
    for marker in (".juju-charm", ".juju-deploying"):
        url = layout.read_text(charm + "/" + marker).strip()
        if not url:
            continue
        try:
            with open(_manifest_path(state, url), encoding="utf-8") as file:
                names = loads(file.read())
            found.update(unzip.check_name(str(name)) for name in names)
        except (OSError, ValueError) as error:
            host.log("WARNING", "manifest of %s is not readable: %s; its files stay" % (url, error))
    return found


def _forget_manifests(state: str, url: str) -> None:
    keep = os.path.basename(_manifest_path(state, url))
    for name in os.listdir(state + "/manifests"):
        if name != keep:
            os.unlink(state + "/manifests/" + name)


def _remove_obsolete(charm: str, names: set[str]) -> None:
    """Remove files of the old revision, then directories that are empty now; never through a link."""
    for name in sorted(names, reverse=True):
        parent, _, base = name.rpartition("/")
        folder = charm + "/" + parent if parent else charm
        path = folder + "/" + base
        if os.path.realpath(folder) != os.path.realpath(charm) + ("/" + parent if parent else ""):
            continue  # a link of the charm leads to files that are not the charm's
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                os.rmdir(path)
            else:
                os.unlink(path)
                _remove_compiled(folder, base)
        except OSError:
            pass  # the file was deleted before, or the directory has files of the charm


def _remove_compiled(folder: str, base: str) -> None:
    if not base.endswith(".py"):
        return
    cache = folder + "/__pycache__"
    try:
        for name in os.listdir(cache):
            if name.startswith(base[:-2]) and name.endswith(".pyc"):
                os.unlink(cache + "/" + name)
        os.rmdir(cache)
    except OSError:
        pass


def _move_in(source: str, target: str) -> None:
    """Move a tree over another; each file is replaced in one step."""
    with os.scandir(source) as entries:
        items = list(entries)
    for item in items:
        path = target + "/" + item.name
        if item.is_dir(follow_symlinks=False):
            if os.path.islink(path) or (os.path.lexists(path) and not os.path.isdir(path)):
                os.unlink(path)
            if not os.path.isdir(path):
                os.mkdir(path, 0o755)
            os.chmod(path, item.stat(follow_symlinks=False).st_mode & 0o777)
            _move_in(item.path, path)
        else:
            if os.path.isdir(path) and not os.path.islink(path):
                remove_tree(path)
            os.rename(item.path, path)


def _write_file(path: str, text: str) -> None:
    temporary = path + ".juju-new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, path)
