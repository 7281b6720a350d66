"""Makes requests to a store, and checks the store's answers. Pure.

A store is not trusted: the type and form of each part of an answer are checked before use.
Mirrors: juju charmhub/refreshconfig.go, transport/refresh.go (3.6)
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pushjuju.core.base import Channel
from pushjuju.core.charmstore import CHARM, Ask, Download, HubError, Platform, StoreCharm, StoreResource
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.names import is_application

FIELDS = (
    "bases", "config-yaml", "download", "id", "license", "metadata-yaml", "name", "publisher", "resources",
    "revision", "summary", "type", "version",
)  # fmt: skip
NOT_KNOWN = "NA"
ALL = "all"
INSTALL, REFRESH = "install", "refresh"

INVALID_BASE = ("invalid-charm-base", "invalid-charm-platform")
NO_REVISION = "revision-not-found"
_TEXTS = {
    "not-found": "charm or bundle not found",
    "name-not-found": "charm or bundle name not found",
    "resource-not-found": "charm resource not found",
    "api-error": "unexpected api error attempting to query charm or bundle from the charmhub store",
    "bad-argument": "query argument",
}
_HEX = regex("[0-9a-f]*")
_FILE = regex(r"[^/\x00-\x1f]{1,255}")
_MOST_REVISION = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The reason why a store did not return a charm or resource."""

    code: str
    message: str  # the text for users: Juju's text, if Juju has a text for this fault
    original: str = ""  # the store's own text
    # the (channel, platform) pairs that the store offers instead
    releases: tuple[tuple[Channel, Platform], ...] = ()
    bases: tuple[Platform, ...] = ()  # platforms that the store supports for the query

    def error(self, prefix: str = "") -> HubError:
        detail = self.original if self.original != self.message else ""
        return HubError(prefix + self.message, reason=self.code, detail=detail)


# --- requests ---------------------------------------------------------------------------------------------


def request(asks: Sequence[tuple[str, Ask]]) -> dict[str, object]:
    """Return the body of a refresh request for pairs of (instance key, query)."""
    context, actions = [], []
    for key, ask in asks:
        _check(ask)
        if ask.held is not None and ask.revision < 0:
            context.append(
                {
                    "instance-key": key,
                    "id": ask.held.id,
                    "revision": ask.held.revision,
                    "base": _base(ask.platform),
                    "tracking-channel": str((ask.channel or ask.held.channel).normal()),
                }
            )
            actions.append({"action": REFRESH, "instance-key": key, "id": ask.held.id})
        else:
            actions.append(_install(key, ask))
    return {"context": context, "actions": actions, "fields": list(FIELDS)}


def _install(key: str, ask: Ask) -> dict[str, Any]:
    found: dict[str, object] = {"action": INSTALL, "instance-key": key, "name": ask.name}
    if ask.revision >= 0:
        found |= {"revision": ask.revision, "base": None}
    else:
        found |= {"channel": str((ask.channel or Channel()).normal()), "base": _base(ask.platform)}
    if ask.resources:
        found["resource-revisions"] = [
            {"name": name, "revision": revision} for name, revision in sorted(ask.resources.items())
        ]
    return found


def _check(ask: Ask) -> None:
    if not ask.name and ask.held is None:
        raise NotValid("empty name not valid")
    if not ask.platform.arch:
        raise NotValid("refresh arch not valid")
    if ask.platform.arch == ALL:
        raise NotValid('Architecture "all" not valid')


def _base(platform: Platform) -> dict[str, str]:
    return {
        "architecture": platform.arch,
        "name": platform.os.lower() or NOT_KNOWN,
        "channel": platform.track.partition("/")[0] or NOT_KNOWN,
    }


def instance_key(application: str, model: str) -> str:
    """Return the stable key of a deployed application, which reveals nothing about the application."""
    raw = hashlib.pbkdf2_hmac("sha512", application.encode(), model.encode(), 8192, 32)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


# --- answers ----------------------------------------------------------------------------------------------


def check_errors(document: Any) -> Mapping[str, Any]:
    """Return the answer's map, when the answer reports no failure as a whole.

    Raises:
        HubError: The answer reports a failure, or is not a map.
    """
    if not isinstance(document, dict):
        raise HubError("the charm store's answer is not a map")
    errors = document.get("error-list")
    if isinstance(errors, list) and errors:
        raise fault(errors[0], errors).error()
    return document


def answers(document: Any, asks: Sequence[tuple[str, Ask]], *, secure: bool) -> list[StoreCharm | Fault]:
    """Return the results of a refresh request, in the order of the queries.

    Args:
        document: The answer, decoded from JSON.
        asks: The queries that were sent.
        secure: True when the store was reached by https; then its downloads must use https, too.
    """
    results = check_errors(document).get("results")
    by_key: dict[str, Mapping[str, Any]] = {}
    for item in results if isinstance(results, list) else ():
        if isinstance(item, dict) and isinstance(item.get("instance-key"), str):
            by_key[item["instance-key"]] = item
    found: list[StoreCharm | Fault] = []
    for key, ask in asks:
        if key not in by_key:
            raise HubError(f"{REFRESH if ask.held else INSTALL} action key not valid")
        found.append(_answer(by_key[key], ask, secure=secure))
    return found


def _answer(item: Mapping[str, Any], ask: Ask, *, secure: bool) -> StoreCharm | Fault:
    error = item.get("error")
    if isinstance(error, dict) and error:
        return fault(error)
    entity = _map(item, "charm")
    name = _text(entity, "name") or _text(item, "name")
    if not is_application(name):
        raise HubError(f'the charm store sent an invalid charm name: "{name[:80]}"')
    revision = entity.get("revision")
    if isinstance(revision, bool) or not isinstance(revision, int) or not 0 <= revision < _MOST_REVISION:
        raise HubError(f"the charm store sent no valid revision of {name}")
    platforms = tuple(_platforms(entity.get("bases"), ask.platform))
    return StoreCharm(
        id=_text(entity, "id") or _text(item, "id"),
        name=name,
        kind=_text(entity, "type") or CHARM,
        revision=revision,
        channel=_effective(item, ask),
        platform=ask.platform,
        platforms=platforms,
        download=download(_map(entity, "download"), name, secure=secure),
        resources=tuple(resources(entity.get("resources"), secure=secure)),
        version=_text(entity, "version"),
        metadata=_text(entity, "metadata-yaml"),
        config=_text(entity, "config-yaml"),
    )


def _effective(item: Mapping[str, Any], ask: Ask) -> Channel | None:
    text = _text(item, "effective-channel")
    if not text:
        return ask.channel.full() if ask.channel else None
    try:
        return Channel.parse(text).full()
    except NotValid:
        raise HubError(f'the charm store sent an invalid channel: "{text[:80]}"') from None


def _platforms(listed: Any, wanted: Platform) -> Iterable[Platform]:
    for item in listed if isinstance(listed, list) else ():
        if not isinstance(item, dict):
            continue
        arch, name, track = (_text(item, key) for key in ("architecture", "name", "channel"))
        yield Platform(
            arch=wanted.arch if arch == ALL else arch,
            os=wanted.os if name == ALL else name.lower(),
            track=(wanted.track if track == ALL else track).partition("/")[0],
        )


def download(item: Mapping[str, Any], what: str, *, secure: bool) -> Download:
    """Return a checked file that a store offers for download."""
    url, size = _text(item, "url"), item.get("size", 0)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or (secure and parts.scheme != "https"):
        raise HubError(f'the charm store sent an unsafe download URL for {what}: "{url[:200]}"')
    sha256, sha384 = _text(item, "hash-sha-256").lower(), _text(item, "hash-sha-384").lower()
    if len(sha256) not in (0, 64) or len(sha384) not in (0, 96) or not _HEX.fullmatch(sha256 + sha384):
        raise HubError(f"the charm store sent an invalid hash of {what}")
    if not (sha256 or sha384):
        raise HubError(f"the charm store sent no hash of {what}, so the file cannot be checked")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise HubError(f"the charm store sent an invalid size of {what}")
    return Download(url=url, sha256=sha256, sha384=sha384, size=size)


def resources(listed: Any, *, secure: bool) -> Iterable[StoreResource]:
    for item in listed if isinstance(listed, list) else ():
        if not isinstance(item, dict):
            continue
        name, filename, revision = _text(item, "name"), _text(item, "filename"), item.get("revision", 0)
        if not _FILE.fullmatch(name) or (filename and not _FILE.fullmatch(filename)):
            raise HubError(f'the charm store sent an invalid resource name: "{name[:80]}"')
        if isinstance(revision, bool) or not isinstance(revision, int) or not -1 <= revision < _MOST_REVISION:
            raise HubError(f"the charm store sent no valid revision of resource {name}")
        given = _map(item, "download")
        yield StoreResource(
            name=name,
            type=_text(item, "type") or "file",
            filename=filename,
            description=_text(item, "description"),
            revision=revision,
            download=download(given, f"resource {name}", secure=secure) if given else Download(url=""),
        )


def fault(item: Any, others: Sequence[Any] = ()) -> Fault:
    """Return the fault that an error object of a store describes."""
    known = item if isinstance(item, dict) else {}
    code = _text(known, "code")
    messages = [_text(each, "message") for each in (others or [known]) if isinstance(each, dict)]
    original = "\n".join(text for text in messages if text)
    extra = _map(known, "extra")
    releases = []
    listed = extra.get("releases")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict):
            releases += list(_release(each))
    bases = tuple(_platforms(extra.get("default-bases"), Platform(arch="")))
    return Fault(
        code=code,
        message=_TEXTS.get(code) or original or code or "the charm store gives no reason",
        original=original,
        releases=tuple(releases),
        bases=bases,
    )


def _release(item: Mapping[str, Any]) -> Iterable[tuple[Channel, Platform]]:
    try:
        channel = Channel.parse(_text(item, "channel"))
    except NotValid:
        return
    for platform in _platforms([item.get("base")], Platform(arch="")):
        yield channel, platform


def _text(item: Any, key: str) -> str:
    value = item.get(key) if isinstance(item, dict) else None
    # JSON can name half a character (a lone surrogate), which cannot be encoded in UTF-8.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _map(item: Any, key: str) -> Mapping[str, Any]:
    value = item.get(key) if isinstance(item, dict) else None
    return value if isinstance(value, dict) else {}
