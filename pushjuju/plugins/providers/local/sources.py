"""Finds the source of the root file system of a base.

Reads the user's `[clouds.local.bases."ubuntu@24.04"]` tables, and knows the archives of Debian and Ubuntu.
The only I/O is reading this host's release and apt sources.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pushjuju.core.base import SERIES, Base
from pushjuju.core.errors import NotValid

UBUNTU_ARCHIVE = "http://archive.ubuntu.com/ubuntu"
UBUNTU_SECURITY = "http://security.ubuntu.com/ubuntu"
UBUNTU_PORTS = "http://ports.ubuntu.com/ubuntu-ports"
DEBIAN_ARCHIVE = "http://deb.debian.org/debian"
DEBIAN_SECURITY = "http://deb.debian.org/debian-security"
KEYRINGS = {
    "ubuntu": Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg"),
    "debian": Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
}
_SUITES = {base: name for name, base in SERIES.items() if base[0] in ("ubuntu", "debian")} | {
    ("debian", "11"): "bullseye"
}
_COMPONENTS = {"ubuntu": ("main", "restricted", "universe", "multiverse"), "debian": ("main",)}

# Packages that charms expect from the images of Juju's clouds, without those that a container cannot use.
PACKAGES = (
    "systemd", "systemd-sysv", "dbus", "openssh-server", "sudo", "python3", "python3-yaml", "perl-base",
    "iproute2", "ca-certificates", "lsb-release", "netbase", "curl", "kmod", "iputils-ping", "less", "gpg",
    "locales", "procps", "adduser", "e2fsprogs", "apt-utils", "tzdata", "nftables",
    "cron", "rsyslog", "logrotate", "python3-setuptools",
)  # fmt: skip
# More packages of Ubuntu's cloud images that hooks use.
# The documentation lists the packages that are left out.
UBUNTU_PACKAGES = (
    "bind9-dnsutils", "cpio", "dirmngr", "ethtool", "file", "git", "gnupg", "iptables", "iputils-tracepath",
    "libpam-systemd", "lsof", "netcat-openbsd", "openssl", "parted", "patch", "psmisc", "rsync",
    "software-properties-common", "time", "ufw", "uuid-runtime", "wget", "xfsprogs", "xz-utils",
    "python3-apt", "python3-configobj", "python3-cryptography", "python3-distro", "python3-jinja2",
    "python3-jsonschema", "python3-netifaces", "python3-requests", "python3-six",
)  # fmt: skip
RECIPE_VERSION = 4
"""A version to raise when the preparation of bases changes, so that cached bases are built again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One way to make a root: `mmdebstrap`, `tarball` or `directory`."""

    kind: str
    suite: str = ""
    mirror: str = ""
    suites: tuple[str, ...] = ()  # lines for apt's sources (mmdebstrap); the bootstrap uses the first
    keyring: str = ""  # the file with the archive's keys; empty for the usual keyring of the distribution
    packages: tuple[str, ...] = ()
    location: str = ""  # the path or URL of a tarball, or the path of a directory
    sha256: str = ""
    configured: bool = False  # True when the user configured the source; then no other base may replace it

    def digest(self) -> str:
        """Return a short text that differs for sources whose roots differ."""
        words = (RECIPE_VERSION, self.kind, self.suites, self.packages, self.location, self.sha256)
        return hashlib.sha256(repr(words).encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class BasesConfig:
    """The configuration of bases in the local cloud."""

    # base as text -> its table in the configuration
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stand_in: bool = True  # True when the host's own release may replace a base that is not available
    packages: tuple[str, ...] = ()  # packages to add to every base that is built

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> BasesConfig:
        """Return the configuration in the cloud's table."""
        config = _plain(config)
        tables = config.get("bases", {})
        if not isinstance(tables, Mapping):
            raise NotValid("`bases` of the local cloud must be a table")
        for name, table in tables.items():
            Base.parse(str(name))
            _check_table(str(name), table)
        stand_in = config.get("stand-in", True)
        if not isinstance(stand_in, bool):
            raise NotValid("`stand-in` of the local cloud must be true or false")
        packages = tuple(str(item) for item in config.get("packages", ()))
        return cls(tables=tables, stand_in=stand_in, packages=packages)

    def source(self, base: Base, arch: str) -> Source | None:
        """Return the source of a base, or None for an unknown base."""
        table = next((item for name, item in self.tables.items() if Base.parse(name).matches(base)), None)
        if table is None:
            return _archive(base, arch, {}, self.packages)
        ((kind, value),) = table.items()
        if kind == "mmdebstrap":
            source = _archive(base, arch, value, self.packages)
            if source is None:
                raise NotValid(f"`mmdebstrap` of {base.display} needs `suite` and `mirror`")
            return source
        if kind == "directory":
            return Source(kind=kind, location=str(value), configured=True)
        location = str(value.get("path") or value.get("url"))
        return Source(kind=kind, location=location, sha256=str(value.get("sha256", "")), configured=True)


def _plain(value: Any) -> Any:
    """Return TOML data as plain dicts, lists and texts, which can be sent to the helper as JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


_TABLE_KEYS = {
    "mmdebstrap": {"suite", "mirror", "components", "keyring", "packages"},
    "tarball": {"path", "url", "sha256"},
}


def _check_table(name: str, table: Any) -> None:
    where = f'`bases."{name}"` of the local cloud'
    if not isinstance(table, Mapping) or len(table) != 1:
        raise NotValid(f"{where} needs exactly one of: mmdebstrap, tarball, directory")
    ((kind, value),) = table.items()
    if kind == "directory":
        if not isinstance(value, str) or not value.startswith("/"):
            raise NotValid(f"{where}: directory must be an absolute path")
        return
    if kind not in _TABLE_KEYS or not isinstance(value, Mapping):
        raise NotValid(f"{where} needs exactly one of: mmdebstrap, tarball, directory")
    unknown = set(value) - _TABLE_KEYS[kind]
    if unknown:
        raise NotValid(f"{where}: unknown key {', '.join(sorted(unknown))}")
    if kind == "tarball":
        if ("path" in value) == ("url" in value):
            raise NotValid(f"{where}: tarball needs either path or url")
        if "url" in value and "sha256" not in value:
            raise NotValid(f"{where}: a tarball from a url needs its sha256")


def _archive(base: Base, arch: str, table: Mapping[str, Any], packages: tuple[str, ...]) -> Source | None:
    suite = str(table.get("suite") or _SUITES.get((base.os, base.track), ""))
    mirror = str(table.get("mirror", ""))
    if not suite or (base.os not in _COMPONENTS and not mirror):
        return None
    components = table.get("components") or _COMPONENTS.get(base.os, ("main",))
    words = components.split(",") if isinstance(components, str) else [str(item) for item in components]
    lines = _lines(base.os, suite, mirror, arch, " ".join(words))
    more: tuple[str, ...] = UBUNTU_PACKAGES if base.os == "ubuntu" else ()
    if suite == "bionic":
        more = ("python3.8", "dnsutils", *more[1:])  # the runner's Python; the first package had another name
    return Source(
        kind="mmdebstrap",
        suite=suite,
        mirror=lines[0].split(" ")[1],
        suites=lines,
        keyring=str(table.get("keyring", "")),
        packages=(*PACKAGES, *more, *packages, *(str(item) for item in table.get("packages", ()))),
        configured=bool(table),
    )


def _lines(os_name: str, suite: str, mirror: str, arch: str, components: str) -> tuple[str, ...]:
    places: tuple[tuple[str, str], ...]
    if os_name == "ubuntu":
        main = mirror or (UBUNTU_ARCHIVE if arch == "amd64" else UBUNTU_PORTS)
        security = mirror or (UBUNTU_SECURITY if arch == "amd64" else UBUNTU_PORTS)
        places = ((main, suite), (main, f"{suite}-updates"), (security, f"{suite}-security"))
    elif os_name == "debian" and not mirror:
        places = (
            (DEBIAN_ARCHIVE, suite),
            (DEBIAN_ARCHIVE, f"{suite}-updates"),
            (DEBIAN_SECURITY, f"{suite}-security"),
        )
    else:
        places = ((mirror, suite),)
    return tuple(f"deb {place} {name} {components}" for place, name in places)


def host_base(os_release: str | None = None) -> Base | None:
    """Return the base that the text of /etc/os-release (by default this host's) names, or None."""
    if os_release is None:
        try:
            os_release = Path("/etc/os-release").read_text(encoding="utf-8")
        except OSError:
            return None
    found = dict(re.findall(r'^(ID|VERSION_ID)="?([^"\n]*)"?$', os_release, re.MULTILINE))
    return Base(found["ID"], found["VERSION_ID"]) if found.keys() >= {"ID", "VERSION_ID"} else None
