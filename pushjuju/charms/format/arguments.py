"""The kinds of arguments of `deploy` and `refresh` for a charm. Mirrors: juju deployer (3.6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from pushjuju.charms.format.url import CharmURL, parse_url
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.portable.quote import quote


class ArgumentKind(StrEnum):
    """Where the charm comes from."""

    LOCAL = "local"
    UPLOADED = "uploaded"
    CHARMHUB = "charmhub"


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmArgument:
    """A charm argument: a path for `local`, else a URL."""

    kind: ArgumentKind
    path: str = ""
    url: CharmURL | None = None


def classify_argument(argument: str, exists: Callable[[str], bool]) -> CharmArgument:
    """Return what an argument means: a path only when it starts with `.` or `/`.

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
    """Return True when an argument names a file; a plain relative name never does."""
    return argument.startswith((".", "/"))
