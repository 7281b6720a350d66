"""Public keys of users, as GitHub and Launchpad publish them.

Only HTTPS, checked certificates, a small answer; what comes is parsed like any key. `PUSHJUJU_GITHUB_URL` and
`PUSHJUJU_LAUNCHPAD_URL` name another server, which may be on this computer without TLS.

Mirrors: juju/utils ssh import, ssh-import-id
"""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pushjuju.core.errors import NotFound, TransportError, UsageError

TIMEOUT_S = 20.0
_MOST = 1024 * 1024  # bytes of an answer
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,98}[A-Za-z0-9])?")
_PLACES = {
    "gh": ("PUSHJUJU_GITHUB_URL", "https://github.com", "/{name}.keys", "GitHub"),
    "lp": ("PUSHJUJU_LAUNCHPAD_URL", "https://launchpad.net", "/~{name}/+sshkeys", "Launchpad"),
}
_LOCAL = ("http://127.0.0.1:", "http://localhost:", "http://[::1]:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The user whose keys to import: `text` is `gh:kim`."""

    text: str
    place: str
    name: str


def source(text: str) -> Source:
    """Read `gh:NAME` or `lp:NAME`.

    Raises:
        UsageError: It is neither.
    """
    place, colon, name = text.partition(":")
    if not colon or place not in _PLACES or not _NAME.fullmatch(name):
        raise UsageError(f'key id "{text}" not valid: expected gh:<user> or lp:<user>')
    return Source(text=text, place=place, name=name)


def fetch(wanted: Source, env: Mapping[str, str]) -> list[str]:
    """Return the keys of a user, each with where it comes from in its comment.

    Raises:
        NotFound: There is no such user.
        TransportError: The server does not answer, or says what is no list of keys.
    """
    variable, home, path, title = _PLACES[wanted.place]
    base = env.get(variable) or home
    if not base.startswith("https://") and not base.startswith(_LOCAL):
        raise TransportError(
            f"{variable} must be an https:// address, or one of this computer", retryable=False
        )
    text = _get(base.rstrip("/") + path.format(name=wanted.name), wanted, title)
    kept = [line.strip() for line in text.splitlines() if line.strip()]
    return [f"{line} # ssh-import-id {wanted.text}" for line in kept]


def _get(url: str, wanted: Source, title: str) -> str:
    class Straight(urllib.request.HTTPRedirectHandler):
        """Goes elsewhere only over TLS: what comes lets users in."""

        def redirect_request(self, *words: Any) -> urllib.request.Request | None:
            target = str(words[-1])
            if not target.startswith("https://"):
                raise urllib.error.URLError(f"it sends us to {target}")
            return super().redirect_request(*words)

    request = urllib.request.Request(url, headers={"User-Agent": "pushjuju"})  # noqa: S310 - checked before
    try:
        with urllib.request.build_opener(Straight).open(request, timeout=TIMEOUT_S) as answer:
            content: bytes = answer.read(_MOST + 1)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            text = f'cannot import key id "{wanted.text}": {title} knows no user "{wanted.name}"'
            raise NotFound(text) from None
        raise _unreachable(wanted, title, f"it answers {error.code}") from None
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise _unreachable(wanted, title, str(getattr(error, "reason", error))) from None
    if len(content) > _MOST:
        raise _unreachable(wanted, title, "its answer has no end")
    try:
        return content.decode("ascii")
    except UnicodeDecodeError:
        raise _unreachable(wanted, title, "its answer is no list of keys") from None


def _unreachable(wanted: Source, title: str, why: str) -> TransportError:
    return TransportError(f'cannot import key id "{wanted.text}": {title} cannot be asked: {why}')
