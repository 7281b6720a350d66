"""Charm URLs: `ch:amd64/jammy/postgresql-345`, `local:web-2`. Mirrors: juju/charm url.go."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from pushjuju.charms.format.manifest import normalise_arch
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote

_REVISION = regex(r"(.*)-([0-9]{1,9})")
_SERIES = regex(r"[a-z]+(?:[a-z0-9]+)?")
_ARCH = regex(r"[a-z]+(?:[a-z0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmURL:
    """A parsed URL; a `revision` of -1 means that the text has no revision."""

    schema: str
    name: str
    revision: int = -1
    architecture: str = ""
    series: str = ""

    def __str__(self) -> str:
        revision = f"-{self.revision}" if self.revision >= 0 else ""
        parts = (self.architecture, self.series, self.name + revision)
        return f"{self.schema}:" + "/".join(part for part in parts if part)


def parse_url(text: str) -> CharmURL:
    """Read `[ch:|local:][arch/][series/]name[-REV]`.

    Raises:
        NotValid: The text is not a charm URL; the message is Juju's.
    """
    schema, colon, rest = text.partition(":")
    if not colon:
        schema, rest = "ch", text
    if schema not in ("ch", "local"):
        raise NotValid(f"cannot parse URL {quote(text)}: schema {quote(schema)} not valid")
    parts = rest.split("/")
    if parts[0].startswith("~"):
        raise NotValid(_user_text(schema, text))
    if len(parts) > (3 if schema == "ch" else 2):
        raise NotValid(f"charm or bundle URL {quote(text)} malformed")
    if not parts[-1]:
        raise NotValid(f"URL without charm or bundle name: {quote(text)}")
    name, revision = _name(parts[-1], text)
    architecture, series = _where(schema, parts[:-1], text)
    return CharmURL(schema=schema, name=name, revision=revision, architecture=architecture, series=series)


def _user_text(schema: str, text: str) -> str:
    if schema == "local":
        return f"local charm or bundle URL with user name: {quote(text)}"
    return f"charmhub charm or bundle URL with user name: {quote(text)} not valid"


def _name(text: str, url: str) -> tuple[str, int]:
    match = _REVISION.fullmatch(text)
    name, revision = (match[1], int(match[2])) if match else (text, -1)
    if not is_application(name):
        problem = f"name {quote(name)} not valid"
        raise NotValid(f"cannot parse name and/or revision in URL {quote(url)}: {problem}")
    return name, revision


def _where(schema: str, parts: list[str], url: str) -> tuple[str, str]:
    """Return the architecture and the series in front of the name."""
    if schema == "ch" and len(parts) == 1 and normalise_arch(parts[0]) == parts[0]:
        parts = [parts[0], ""]
    architecture, series = parts if len(parts) == 2 else ["", *parts] if parts else ["", ""]
    if architecture and not _ARCH.fullmatch(architecture):
        raise NotValid(f"in URL {quote(url)}: architecture name {quote(architecture)} not valid")
    if series and not _SERIES.fullmatch(series):
        raise NotValid(f"in URL {quote(url)}: series name {quote(series)} not valid")
    return architecture, series


def name_in(url: str) -> str:
    """Return the charm's name in a charm URL: `ch:amd64/noble/web-3` and `local:web-3` give `web`.

    The name in a store may differ from the name in the charm's metadata.
    """
    return url.rpartition("-")[0].rpartition("/")[2].rpartition(":")[2]


class ArgumentKind(StrEnum):
    """The kind of place that a charm comes from."""

    LOCAL = "local"
    UPLOADED = "uploaded"
    CHARMHUB = "charmhub"


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmArgument:
    """A charm argument, read: a path for `local`, else a URL."""

    kind: ArgumentKind
    path: str = ""
    url: CharmURL | None = None


def classify_argument(argument: str, exists: Callable[[str], bool]) -> CharmArgument:
    """Return what an argument refers to; only an argument that starts with `.` or `/` is a path.

    Args:
        exists: Returns True when a path exists.
    """
    if not argument:
        raise NotValid("empty charm path")
    if is_path(argument):
        if not exists(argument):
            raise NotFound(f"no charm was found at {quote(argument)}")
        return CharmArgument(kind=ArgumentKind.LOCAL, path=argument)
    if ":" not in argument and exists(argument):
        raise NotValid(
            f"The charm or bundle {quote(argument)} is ambiguous.\n"
            f"To deploy a local charm or bundle, run `pushjuju deploy ./{argument}`.\n"
            f"To deploy a charm or bundle from CharmHub, run `pushjuju deploy ch:{argument}`."
        )
    url = parse_url(argument)
    kind = ArgumentKind.UPLOADED if url.schema == "local" else ArgumentKind.CHARMHUB
    return CharmArgument(kind=kind, url=url)


def is_path(argument: str) -> bool:
    """Return True when an argument is a path; a relative path without `./` is not."""
    return argument.startswith((".", "/"))
