"""The proxy settings of a model for a new machine: files, and commands for snaps. Pure.

Mirrors: juju environs/config/config.go AptProxySettings, cloudconfig/userdatacfg_unix.go,
cloudconfig/cloudinit/cloudinit_ubuntu.go updateProxySettings (3.6)
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

PROTOCOLS = ("http", "https", "ftp")
_PLAIN = (*(f"{name}-proxy" for name in PROTOCOLS), "no-proxy")
_SNAP = (
    "snap-http-proxy", "snap-https-proxy",
    "snap-store-assertions", "snap-store-proxy", "snap-store-proxy-url",
)  # fmt: skip
KEYS = (*_PLAIN, *(f"juju-{name}" for name in _PLAIN), *(f"apt-{name}" for name in _PLAIN), *_SNAP)
"""The model's keys that this module reads."""

_SYSTEMD_HEAD = (
    "# To have these settings for all services, link this file into",
    "# /etc/systemd/system.conf.d/ and /etc/systemd/user.conf.d/.",
    "[Manager]",
)
# Juju's controller fetches the assertions from the store's proxy; here, the machine fetches them itself.
_LOOK_UP = """\
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1].rstrip("/") + "/v2/auth/store/assertions", timeout=60) as answer:
    sys.stdout.write(answer.read(1000000).decode())
"""


def files(config: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the entries of `write_files` for the proxies; [] without proxies."""
    found = []
    if lines := _apt(config):
        found.append(_file("/etc/apt/apt.conf.d/95-juju-proxy-settings", lines))
    plain = {name.replace("-", "_"): str(config.get(name) or "") for name in _PLAIN}
    if not any(plain[f"{name}_proxy"] for name in PROTOCOLS):
        return found
    pairs = [(word, value) for name, value in plain.items() if value for word in (name, name.upper())]
    exports = [f"export {name}={shlex.quote(value)}" for name, value in pairs]
    found.append(_file("/etc/juju-proxy.conf", exports))
    source = "[ ! -f /etc/juju-proxy.conf ] || . /etc/juju-proxy.conf"
    found.append(_file("/etc/profile.d/juju-proxy.sh", [source]))
    words = " ".join(f'"{name}={_systemd(value)}"' for name, value in pairs)
    found.append(_file("/etc/juju-proxy-systemd.conf", [*_SYSTEMD_HEAD, f"DefaultEnvironment={words}"]))
    return found


def _apt(config: Mapping[str, Any]) -> list[str]:
    """Return apt's settings: from its own keys, else Juju's, else the general ones; add missing schemes."""
    wanted = {
        name: _with_scheme(name, _first(config, f"apt-{name}-proxy", f"juju-{name}-proxy", f"{name}-proxy"))
        for name in PROTOCOLS
    }
    if not any(wanted.values()):
        return []
    plain = any(config.get(f"{name}-proxy") for name in PROTOCOLS)
    direct = _first(config, "apt-no-proxy", "no-proxy" if plain else "juju-no-proxy")
    lines = [f"Acquire::{name}::Proxy {_apt_text(value)};" for name, value in wanted.items() if value]
    hosts = [host.strip() for host in direct.split(",") if host.strip()]
    return lines + [
        f'Acquire::{name}::Proxy::{_apt_text(host)} "DIRECT";' for host in hosts for name in PROTOCOLS
    ]


def snap_commands(config: Mapping[str, Any]) -> list[str]:
    """Return the commands that set snapd's proxies where snapd is installed; [] without such proxies."""
    steps = [
        f"snap set system proxy.{name}={shlex.quote(value)}"
        for name in ("http", "https")
        if (value := str(config.get(f"snap-{name}-proxy") or ""))
    ]
    steps += _store(config)
    if not steps:
        return []
    body = "\n".join(f"  {step}" for step in ["snap wait system seed.loaded", *steps])
    return [f"if command -v snap >/dev/null 2>&1; then\n{body}\nfi"]


def _store(config: Mapping[str, Any]) -> list[str]:
    """Return the steps that set a store proxy for snapd: a URL wins over assertions, as in Juju."""
    file = "/etc/snap.assertions"
    url, name = str(config.get("snap-store-proxy-url") or ""), str(config.get("snap-store-proxy") or "")
    assertions = str(config.get("snap-store-assertions") or "")
    if url:
        write = f"python3 -c {shlex.quote(_LOOK_UP)} {shlex.quote(url)} > {file}"
        name = f"\"$(awk '/^store:/ {{ print $2; exit }}' {file})\""
    elif assertions and name:
        write, name = f"printf '%s\\n' {shlex.quote(assertions)} > {file}", shlex.quote(name)
    else:
        return []
    return [f"{write} && snap ack {file} && snap set system proxy.store={name}", f"rm -f {file}"]


def _first(config: Mapping[str, Any], *names: str) -> str:
    return next((str(config[name]) for name in names if config.get(name)), "")


def _with_scheme(scheme: str, url: str) -> str:
    return f"{scheme}://{url}" if url and "://" not in url else url


def _apt_text(value: str) -> str:
    """Return a text quoted for apt's settings, which have no escape for quotes."""
    return '"' + value.replace('"', "%22") + '"'


def _systemd(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def _file(path: str, lines: list[str]) -> dict[str, str]:
    return {"path": path, "content": "\n".join(lines) + "\n", "permissions": "0644"}
