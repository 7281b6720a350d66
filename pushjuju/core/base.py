"""Bases: the operating system and release a charm runs on. Mirrors: juju core/base (3.6)."""

from __future__ import annotations

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass

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
