"""Root file systems of bases: finds them in the cache, or builds them there.

A build works under a lock in a hidden folder, which is renamed when the root is complete, so that an
incomplete root is never used. A cached root never changes: another recipe gets another name.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pushjuju.core import children
from pushjuju.core.base import Base
from pushjuju.core.constraints import juju_arch
from pushjuju.core.errors import NotFound, NotValid, ProviderError
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.providers import Progress
from pushjuju.plugins.providers.local import unsynced
from pushjuju.plugins.providers.local.prepare import prepare_root
from pushjuju.plugins.providers.local.sources import KEYRINGS, BasesConfig, Source, host_base
from pushjuju.plugins.providers.local.system import locked, open_folder, remove_tree, run

_PROBE_S = 5
# This file comes from the release pocket of Ubuntu 24.04, over any connection: its hash is checked.
_UBUNTU_KEYRING = "pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb"
_UBUNTU_KEYRING_SHA256 = "36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8"


def host_arch() -> str:
    """Return Juju's name of this host's architecture."""
    return juju_arch(platform.machine())


def cache_dir(environ: Mapping[str, str]) -> Path:
    """Return the cache folder for bases: `$PUSHJUJU_CACHE`, else the folder for all users."""
    return Path(environ.get("PUSHJUJU_CACHE") or "/var/cache/pushjuju")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseRoot:
    """A root file system on which machines can run."""

    base: str  # the base of this root; the host's own base when that replaces the wanted base
    root: str
    prepared: bool  # True when `prepare_root` has been applied to the root
    warning: str = ""  # a warning for the user; empty without one


def find_cached(config: BasesConfig, base: Base, cache: Path) -> BaseRoot | None:
    """Return the root of a base when it exists, else None. Needs no root rights and takes no time."""
    source = config.source(base, host_arch())
    if source is None:
        return None
    if source.kind == "directory":
        return _directory(base, source)
    root = _folder(cache, base, source) / "root"
    return BaseRoot(base=str(base), root=str(root), prepared=True) if root.is_dir() else None


def ensure_base(config: BasesConfig, base: Base, cache: Path, progress: Progress) -> BaseRoot:
    """Return the root of a base in the folder of built bases; build it when it does not exist."""
    found = find_cached(config, base, cache)
    if found:
        return found
    source = config.source(base, host_arch())
    problem = _why_not(source)
    if source and not problem:
        return _build(base, source, cache, progress)
    own = host_base()
    hint = f'set [clouds.local.bases."{base.display}"] in clouds.toml'
    if not config.stand_in or (source and source.configured) or own is None or own.matches(base):
        raise NotFound(f"no root file system for base {base.display}: {problem}", hint=hint)
    instead = ensure_base(BasesConfig(tables=config.tables, stand_in=False), own, cache, progress)
    warning = (
        f"{base.display} is not available ({problem}); local machines use {own.display} of this host instead"
    )
    return BaseRoot(base=instead.base, root=instead.root, prepared=instead.prepared, warning=warning)


def _directory(base: Base, source: Source) -> BaseRoot:
    if not Path(source.location, "etc").is_dir():
        raise NotValid(f"directory {source.location} of base {base.display} holds no root file system")
    return BaseRoot(base=str(base), root=source.location, prepared=False)


def _folder(cache: Path, base: Base, source: Source) -> Path:
    return cache / "bases" / f"{base.os}@{base.track}-{host_arch()}-{source.digest()}"


def _why_not(source: Source | None) -> str:
    """Return why a source cannot be used now; empty when it can be used."""
    if source is None:
        return "its archive is not known"
    if source.kind == "tarball":
        return ""
    url = f"{source.mirror.rstrip('/')}/dists/{source.suite}/InRelease"
    return "" if _reachable(url) else f"no answer from {source.mirror}"


def _reachable(url: str) -> bool:
    if not url.startswith(("http:", "https:")):
        return True

    # apt's own downloader uses the proxies of this host.
    options = (
        "-o",
        f"Acquire::http::Timeout={_PROBE_S}",
        "-o",
        "Acquire::Retries=0",
        "-o",
        "APT::Sandbox::User=root",
    )
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
        target = Path(folder, "InRelease")
        run(["/usr/lib/apt/apt-helper", *options, "download-file", url, str(target)], check=False)
        return target.exists() and target.stat().st_size > 0


def _build(base: Base, source: Source, cache: Path, progress: Progress) -> BaseRoot:
    folder = _folder(cache, base, source)
    done = BaseRoot(base=str(base), root=str(folder / "root"), prepared=True)
    progress(InstanceStatus.ALLOCATING, f"building base {base.display}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name(f".{folder.name}.lock")):
        if folder.is_dir():
            return done
        for left in folder.parent.glob(f".{folder.name}.*.part"):
            with suppress(
                OSError
            ):  # a process of a killed build may still write there; a later build deletes the folder
                remove_tree(left)
        part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
        open_folder(part)
        try:
            _fill(part / "root", base, source, progress)
            prepare_root(part / "root")
            remove_tree(part / "keyring")
            info = {"base": str(base), "source": source.kind, "from": source.suites or source.location}
            (part / "base.json").write_text(json.dumps(info), encoding="utf-8")
            # Otherwise, a power failure could leave a base with its final name but without some files.
            run(["sync", "--file-system", str(part)])
            part.rename(folder)
        except BaseException:
            remove_tree(part)
            raise
    return done


def _fill(root: Path, base: Base, source: Source, progress: Progress) -> None:
    def say(text: str) -> None:
        progress(InstanceStatus.ALLOCATING, f"building base {base.display}: {text}")

    if source.kind == "tarball":
        _unpack(root, source)
        return
    keyring = _keyring(root.with_name("keyring"), base, source)
    argv = [
        "mmdebstrap",
        "--variant=minbase",
        "--mode=root",
        "--format=directory",
        "--skip=cleanup/apt/lists",
        "--dpkgopt=force-unsafe-io",
    ]
    argv += [f"--include={','.join(source.packages)}", f"--keyring={keyring}"]
    argv += [f"--aptopt={option}" for option in ('APT::Sandbox::User "root"', *host_apt_options())]
    _run_told([*argv, source.suite, str(root), *source.suites], say)
    options = 'Acquire::Languages "none";\n'
    (root / "etc/apt/apt.conf.d/90pushjuju").write_text(options, encoding="utf-8")


def _keyring(folder: Path, base: Base, source: Source) -> Path:
    wanted = Path(source.keyring) if source.keyring else KEYRINGS.get(base.os)
    if wanted and wanted.exists():
        return wanted
    if source.keyring or base.os != "ubuntu":
        raise NotFound(
            f"the keyring for base {base.display} is not there: {wanted}",
            hint=f"apt install {base.os}-archive-keyring",
        )
    folder.mkdir()
    package = folder / "keyring.deb"
    _download(f"http://archive.ubuntu.com/ubuntu/{_UBUNTU_KEYRING}", package, _UBUNTU_KEYRING_SHA256)
    run(["dpkg-deb", "--extract", str(package), str(folder)])
    return folder / "usr/share/keyrings/ubuntu-archive-keyring.gpg"


def _download(url: str, target: Path, sha256: str) -> None:
    run(
        [
            "/usr/lib/apt/apt-helper",
            "-o",
            "APT::Sandbox::User=root",
            "download-file",
            url,
            str(target),
            f"SHA256:{sha256}",
        ]
    )
    _check_hash(target, sha256)


def _check_hash(path: Path, sha256: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256.lower():
        raise ProviderError(f"{path.name} has the hash {found}, not {sha256}", retryable=False)


def _unpack(root: Path, source: Source) -> None:
    archive = Path(source.location)
    if "://" in source.location:
        archive = root.with_name("archive")
        _download(source.location, archive, source.sha256)
    elif source.sha256:
        _check_hash(archive, source.sha256)
    open_folder(root)
    run(["tar", "--extract", "--file", str(archive), "--directory", str(root), "--numeric-owner", "--xattrs",
         "--exclude=./dev/*", "--exclude=dev/*"])  # fmt: skip
    root.with_name("archive").unlink(missing_ok=True)


def host_apt_options() -> list[str]:
    """Return the options with which apt on this host reaches its archives: proxies, relaxed date checks."""
    wanted = (
        "Acquire::http::Proxy",
        "Acquire::https::Proxy",
        "Acquire::Check-Valid-Until",
        "Acquire::Check-Date",
    )
    lines = run(["apt-config", "dump"], check=False).splitlines()
    found = [line.rstrip(";") for line in lines if line.startswith(wanted) and not line.endswith('"";')]
    return [line for line in found if "Auto-Detect" not in line and "AutoDetect" not in line]


def _run_told(argv: Sequence[str], tell: Callable[[str], None]) -> None:
    process = children.start(unsynced.words(argv), environ=children.SYSTEM, stderr=children.PIPE, umask=0o022)
    tail: list[str] = []
    try:
        assert process.stderr is not None
        for line in process.stderr:
            tail = [*tail[-40:], line.rstrip()]
            if line.startswith("I: "):
                tell(line[3:].strip().rstrip("."))
    finally:
        process.wait()
        if process.stderr:
            process.stderr.close()
    if process.returncode != 0:
        raise ProviderError(
            f"{Path(argv[0]).name} failed with exit code {process.returncode}", detail="\n".join(tail)
        )
