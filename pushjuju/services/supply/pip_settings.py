"""Hands the user's settings of pip to a build machine: indexes, proxies and certificates.

Passwords reach the machine through the standard input of a command, and are written to files that only root
reads. The SSH connection leads to sources that only this computer can reach: folders of packages by
`local_packages`, servers on the loopback address by a forwarded port.
"""

from __future__ import annotations

import re
import shlex
import ssl
import zipfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from pushjuju.core import limits
from pushjuju.core.errors import NotFound
from pushjuju.core.values import dataclass
from pushjuju.services.supply import runpip

FOLDER = "/root/.build-settings"
ENVIRONMENT = f"{FOLDER}/environment"
_CERTIFICATES = f"{FOLDER}/certificates.pem"
_PLACES = ("index-url", "extra-index-url", "find-links")
_FILES = ("cert", "client-cert", "constraint")
_PLAIN = ("no-index", "trusted-host", "timeout", "default-timeout", "retries")
_UV = ("UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INSECURE_HOST", "UV_NO_INDEX")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_LOOPBACK = ("localhost", "127.0.0.1")
_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO")
_SHORTEST = 6  # characters; shorter passwords are not looked for, because they occur in any text


@dataclass(frozen=True, slots=True, kw_only=True)
class PipSettings:
    """The settings of pip and uv on this computer."""

    # the options of pip, as `pip config list` shows them
    options: Mapping[str, str] = field(default_factory=dict)
    # the environment variables that uv and other programs read
    environ: Mapping[str, str] = field(default_factory=dict)
    bundles: tuple[bytes, ...] = ()  # the contents of certificate files

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders and files on this computer that packages come from."""
        return tuple(path for path in map(_path, self._words()) if path)

    @property
    def loopback(self) -> frozenset[tuple[str, int]]:
        """(host, port) of the servers on this computer's loopback address."""
        return frozenset(place for place in map(_loopback, self._words()) if place)

    @property
    def secrets(self) -> frozenset[str]:
        """The passwords in URLs, both with URL quoting and without, and those in variables."""
        urls = (urlsplit(word) for word in self._words() if "@" in word)
        written = {text for url in urls for text in [url.password or url.username or ""]}
        written |= {text for name, text in self.environ.items() if name.endswith("_PASSWORD")}
        return frozenset(text for text in written | set(map(unquote, written)) if len(text) >= _SHORTEST)

    def _words(self) -> list[str]:
        texts = [self.options.get(name, "") for name in (*_PLACES, "proxy")]
        return [word for text in (*texts, *self.environ.values()) for word in text.split()]

    def files(self, port: int) -> dict[str, bytes]:
        """Return path -> content of the files for the machine.

        Args:
            port: The port on the machine's loopback address that serves this computer's folders.
        """
        found = {_CERTIFICATES: b"\n".join(self.bundles)} if self.bundles else {}
        lines = ["[global]"]
        for name in filter(self.options.get, (*_PLACES, *_FILES, *_PLAIN)):
            words = self.options[name].split()
            if name in _FILES:
                kept = {f"{FOLDER}/{name}-{number}": Path(word) for number, word in enumerate(words)}
                kept = {path: source for path, source in kept.items() if source.is_file()}
                found |= {path: source.read_bytes() for path, source in kept.items()}
                words = list(kept)
            if name in _PLACES:
                words = [_reachable(word, port) for word in words]
            lines += [f"{name} = {' '.join(words)}"] if words else []
        found["/etc/pip.conf"] = "".join(f"{line}\n" for line in lines).encode()
        found[ENVIRONMENT] = self._environment(port).encode()
        return found

    def _environment(self, port: int) -> str:
        proxies = {name: self.options["proxy"] for name in _PROXIES[:2] if self.options.get("proxy")}
        values = {**proxies, **self.environ}
        values["no_proxy"] = ",".join(filter(None, [values.get("no_proxy"), *_LOOPBACK]))
        for name in (*_PROXIES, "no_proxy"):
            values |= {name.upper(): values[name]} if name in values else {}
        for name in [name for name in values if name.startswith("UV_")]:
            values[name] = " ".join(_reachable(word, port) for word in values[name].split())
        if self.bundles:
            values |= dict.fromkeys(_BUNDLES, _CERTIFICATES)
        return "".join(f"export {name}={shlex.quote(text)}\n" for name, text in values.items())


def read(environ: Mapping[str, str]) -> PipSettings:
    """Return the settings of the user of an environment."""
    try:
        options = runpip.settings()
    except NotFound:
        options = {}
    kept = {name: text for name, text in environ.items() if name in _UV or name.startswith("UV_INDEX")}
    for name in (*_PROXIES, "no_proxy"):
        text = environ.get(name) or environ.get(name.upper())
        kept |= {name: text} if text else {}
    own = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
    named = (Path(environ[name]) for name in _BUNDLES if environ.get(name))
    bundles = dict.fromkeys(path.read_bytes() for path in (*named, Path(own)) if path.is_file())
    return PipSettings(options=options, environ=kept, bundles=tuple(bundles))


def hidden(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text with its passwords masked: the known secrets, and those in URLs."""
    for secret in secrets:
        text = text.replace(secret, "****")
    return re.sub(r"://(?!git@)[^/\s@'\"]+@", "://****@", text)


def betrayed(archive: Path, secrets: Collection[str]) -> str:
    """Return the name of a file in a zip archive that contains a secret, or an empty text."""
    if not secrets:
        return ""
    wanted = [secret.encode() for secret in secrets]
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if info.file_size <= limits.BUILT and any(map(opened.read(info).__contains__, wanted)):
                return info.filename
    return ""


def _path(word: str) -> Path | None:
    """Return the path on this computer that a word names, or None for any other word."""
    if word.startswith("file:"):
        return Path(unquote(urlsplit(word).path))
    path = Path(word).expanduser()
    return path if "://" not in word and path.is_absolute() and path.exists() else None


def _loopback(word: str) -> tuple[str, int] | None:
    """Return host and port of a URL on the loopback address, or None for any other word."""
    match = re.match(r"https?://(?:[^/@\s]*@)?(localhost|127\.0\.0\.1)(?::(\d{1,5}))?(?![^/])", word)
    if match is None:
        return None
    return match[1], int(match[2] or (443 if word.startswith("https:") else 80))


def _reachable(word: str, port: int) -> str:
    """Return a word with a path on this computer replaced by the URL under which the machine reaches it."""
    path = _path(word)
    return word if path is None else f"http://localhost:{port}{quote(str(path))}{'/' * path.is_dir()}"
