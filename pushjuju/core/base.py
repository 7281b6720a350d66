"""Bases, the operating system and release a charm runs on, and channels of charms.

Mirrors: juju core/base (3.6), juju/charm channel.go
"""

from __future__ import annotations

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex

OS_NAMES = ("ubuntu", "debian", "centos", "windows", "osx", "opensuse", "genericlinux", "kubernetes")
RISKS = ("stable", "candidate", "beta", "edge")

SERIES = {
    "trusty": ("ubuntu", "14.04"),
    "xenial": ("ubuntu", "16.04"),
    "bionic": ("ubuntu", "18.04"),
    "focal": ("ubuntu", "20.04"),
    "jammy": ("ubuntu", "22.04"),
    "noble": ("ubuntu", "24.04"),
    "resolute": ("ubuntu", "26.04"),
    "bookworm": ("debian", "12"),
    "trixie": ("debian", "13"),
    "centos7": ("centos", "7"),
    "centos9": ("centos", "9"),
}
LATEST = "latest"
DEFAULT_RISK = "stable"
_PART = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._+~-]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Base:
    """An operating system and its release: `ubuntu@24.04/stable`."""

    os: str
    track: str
    risk: str = "stable"

    @classmethod
    def parse(cls, text: str) -> Base:
        """Read `os@track[/risk]`.

        Raises:
            NotValid: The text is not a base; the message is Juju's.
        """
        os, at, channel = text.partition("@")
        if not at or "@" in channel:
            raise NotValid(f'base string must contain exactly one @. "{text}" not valid')
        track, slash, risk = channel.partition("/")
        if not os or not track:
            raise NotValid(f'invalid base string "{text}": channel not valid')
        if slash and risk not in RISKS:
            raise NotValid(
                f'malformed channel in base string "{text}": risk in channel "{channel}" not valid'
            )
        return cls(os.lower(), track, risk or "stable")

    @classmethod
    def from_series(cls, series: str) -> Base:
        """Return the base that an old series name means."""
        if series not in SERIES:
            raise NotValid(f'unknown series "{series}"')
        return cls(*SERIES[series])

    @property
    def series(self) -> str:
        """The old series name of this base; empty when the base has no series name."""
        return next((name for name, pair in SERIES.items() if pair == (self.os, self.track)), "")

    @property
    def display(self) -> str:
        """The short text: `/stable` is not shown."""
        return f"{self.os}@{self.channel}"

    @property
    def channel(self) -> str:
        """The channel as status shows it: the track, with the risk unless stable."""
        return self.track if self.risk == "stable" else f"{self.track}/{self.risk}"

    def matches(self, other: Base) -> bool:
        """Return True when both bases are the same release; the risk does not count."""
        return (self.os, self.track) == (other.os, other.track)

    def __str__(self) -> str:
        return f"{self.os}@{self.track}/{self.risk}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A channel, `[track/]risk[/branch]`. Without a track, it means the charm's default track."""

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
