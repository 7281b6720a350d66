"""Channels of charms: `[track/]risk[/branch]`. Mirrors: juju/charm channel.go."""

from __future__ import annotations

from pushjuju.core.base import RISKS
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex

LATEST = "latest"
DEFAULT_RISK = "stable"
_PART = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._+~-]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A channel. An empty track means the charm's default track; an empty risk, that no risk was given."""

    track: str = ""
    risk: str = ""
    branch: str = ""

    @classmethod
    def parse(cls, text: str) -> Channel:
        """Read a channel as users write it; nothing is filled in.

        Raises:
            NotValid: The text is not a channel; the message is Juju's.
        """
        if not text:
            raise NotValid("empty channel not valid")
        parts = text.split("/")
        if len(parts) > 3:
            raise NotValid(f'channel is malformed and has too many components "{text}"')
        if len(parts) == 1:
            found = cls(risk=text) if text in RISKS else cls(track=text)
        elif len(parts) == 2:
            first, second = parts
            if first in RISKS:
                found = cls(risk=first, branch=second)
                return _checked(found, text, branch=True)
            found = cls(track=first, risk=second)
        else:
            found = cls(track=parts[0], risk=parts[1], branch=parts[2])
            return _checked(found, text, track=True, branch=True)
        return _checked(found, text, track=len(parts) == 2)

    def normal(self) -> Channel:
        """Return the channel with a risk: `stable` when no risk was given. The track stays as it is."""
        return Channel(track=self.track, risk=self.risk or DEFAULT_RISK, branch=self.branch)

    def full(self) -> Channel:
        """Return the channel with risk and track, as status shows channels."""
        return Channel(track=self.track or LATEST, risk=self.risk or DEFAULT_RISK, branch=self.branch)

    def following(self, current: Channel) -> Channel:
        """Return the channel that a refresh to this channel means: a risk alone keeps the present track."""
        return Channel(track=self.track or current.track, risk=self.risk, branch=self.branch).normal()

    def __str__(self) -> str:
        return "/".join(part for part in (self.track, self.risk, self.branch) if part)


def _checked(found: Channel, text: str, *, track: bool = False, branch: bool = False) -> Channel:
    if (track or found.track) and not _PART.fullmatch(found.track):
        raise NotValid(f'track in channel "{text}" not valid')
    if (found.risk or track) and found.risk not in RISKS:
        raise NotValid(f'risk in channel "{text}" not valid')
    if branch and not _PART.fullmatch(found.branch):
        raise NotValid(f'branch in channel "{text}" not valid')
    return found
