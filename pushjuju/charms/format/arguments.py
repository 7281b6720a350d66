"""Tells what the charm argument of `deploy` and `refresh` refers to. Mirrors: juju deployer (3.6)."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from pushjuju.charms.format.url import CharmURL, parse_url
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote


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
