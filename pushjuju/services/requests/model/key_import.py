"""Fetches public SSH keys that users have published on GitHub or Launchpad.

Only HTTPS with checked certificates is used, and the answer is limited in size and parsed like any other key.
`PUSHJUJU_GITHUB_URL` and `PUSHJUJU_LAUNCHPAD_URL` name another server; a server on this computer needs no
TLS.

Mirrors: juju/utils ssh import, ssh-import-id
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from pushjuju.core.errors import NotFound, TransportError, UsageError
from pushjuju.core.values import dataclass, regex

TIMEOUT_S = 20.0
_MOST = 1024 * 1024  # bytes that an answer may have
_NAME = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,98}[A-Za-z0-9])?")
_PLACES = {
    "gh": ("PUSHJUJU_GITHUB_URL", "https://github.com", "/{name}.keys", "GitHub"),
    "lp": ("PUSHJUJU_LAUNCHPAD_URL", "https://launchpad.net", "/~{name}/+sshkeys", "Launchpad"),
}
_LOCAL = ("http://127.0.0.1:", "http://localhost:", "http://[::1]:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A user of GitHub or Launchpad; `text` is the form that users type: `gh:kim`."""

    text: str
    place: str
    name: str


def source(text: str) -> Source:
    """Return the user that `gh:NAME` or `lp:NAME` names."""
    place, colon, name = text.partition(":")
    if not colon or place not in _PLACES or not _NAME.fullmatch(name):
        raise UsageError(f'key id "{text}" not valid: expected gh:<user> or lp:<user>')
    return Source(text=text, place=place, name=name)


def fetch(wanted: Source, env: Mapping[str, str]) -> list[str]:
    """Return the public keys of a user, with their source added to the comments."""
    variable, home, path, title = _PLACES[wanted.place]
    base = env.get(variable) or home
    if not base.startswith("https://") and not base.startswith(_LOCAL):
        raise TransportError(
            f"{variable} must be an https:// URL, or a URL of this computer", retryable=False
        )
    text = _get(base.rstrip("/") + path.format(name=wanted.name), wanted, title)
    kept = [line.strip() for line in text.splitlines() if line.strip()]
    return [f"{line} # ssh-import-id {wanted.text}" for line in kept]


def _get(url: str, wanted: Source, title: str) -> str:
    class Straight(urllib.request.HTTPRedirectHandler):
        """Follows redirects only to HTTPS, because the fetched keys allow logins."""

        def redirect_request(self, *words: Any) -> urllib.request.Request | None:
            target = str(words[-1])
            if not target.startswith("https://"):
                raise urllib.error.URLError(f"the server redirects to {target}, which is not HTTPS")
            return super().redirect_request(*words)

    request = urllib.request.Request(url, headers={"User-Agent": "pushjuju"})  # noqa: S310 - checked before
    try:
        with urllib.request.build_opener(Straight).open(request, timeout=TIMEOUT_S) as answer:
            content: bytes = answer.read(_MOST + 1)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 404:
            text = f'cannot import key id "{wanted.text}": {title} knows no user "{wanted.name}"'
            raise NotFound(text) from None
        raise _unreachable(wanted, title, f"the server answers {error.code}") from None
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise _unreachable(wanted, title, str(getattr(error, "reason", error))) from None
    if len(content) > _MOST:
        raise _unreachable(wanted, title, "the answer is too long")
    try:
        return content.decode("ascii")
    except UnicodeDecodeError:
        raise _unreachable(wanted, title, "the answer is not a list of keys") from None


def _unreachable(wanted: Source, title: str, why: str) -> TransportError:
    return TransportError(f'cannot import key id "{wanted.text}": cannot read keys from {title}: {why}')
