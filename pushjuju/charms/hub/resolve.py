"""Chooses the revision of a charm from a store's answer, and the next request when nothing fits. Pure.

Mirrors: juju core/charm/repository/charmhub.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pushjuju.charms.hub.wire import INVALID_BASE, NO_REVISION, Fault
from pushjuju.charms.values.charm_bases import DEFAULT_LTS
from pushjuju.core.base import LATEST, RISKS, Channel
from pushjuju.core.charmstore import Ask, HubError, Platform, StoreCharm

Send = Callable[[Sequence[Ask]], Sequence[StoreCharm | Fault]]
"""Sends queries in one request and returns the answers in the same order."""


def resolve(asks: Sequence[Ask], send: Send) -> list[StoreCharm | HubError]:
    """Return the revision for each query, or the error that says why no revision fits.

    A query without a base is sent a second time, with the first base that the store names. All second queries
    go into one request, so two requests are enough for any number of charms.
    """
    found: list[StoreCharm | HubError | None] = [None] * len(asks)
    again: dict[int, tuple[Ask, tuple[Platform, ...]]] = {}
    for number, (ask, answer) in enumerate(zip(asks, send(asks), strict=True)):
        if isinstance(answer, StoreCharm):
            found[number] = answer
        elif answer.code in INVALID_BASE:
            try:
                bases = _next_bases(ask, answer)
            except HubError as error:
                found[number] = error
                continue
            again[number] = (replace(ask, platform=bases[0]), bases)
        else:
            found[number] = _failure(ask, answer)
    if again:
        answers = send([ask for ask, _ in again.values()])
        for (number, (_, bases)), answer in zip(again.items(), answers, strict=True):
            found[number] = _second(answer, bases)
    return [item for item in found if item is not None]


def _second(answer: StoreCharm | Fault, bases: tuple[Platform, ...]) -> StoreCharm | HubError:
    if isinstance(answer, Fault):
        return answer.error("resolving retry error: ")
    return replace(answer, platforms=tuple(dict.fromkeys((*bases, *answer.platforms))))


def _next_bases(ask: Ask, fault: Fault) -> tuple[Platform, ...]:
    if not fault.bases and fault.releases:
        raise HubError(_no_revision(ask, fault), reason=NO_REVISION, releases=fault.releases)
    if not fault.bases:
        raise HubError("resolving with preferred channel: no bases available", reason=fault.code)
    arch = ask.platform.arch
    usable = tuple(_sent(replace(item, arch=arch)) for item in fault.bases if item.arch in (arch, ""))
    if not usable:
        raise HubError(
            f'selecting next bases: bases matching architecture "{arch}" not found',
            reason=fault.code,
            detail=f"available are: {', '.join(map(str, fault.bases))}",
        )
    return usable


def _sent(platform: Platform) -> Platform:
    """Return the platform to send: a platform without a base, as bundles have, gets the default base."""
    return platform if platform.base else Platform.of(DEFAULT_LTS, platform.arch)


def _failure(ask: Ask, fault: Fault) -> HubError:
    if fault.code != NO_REVISION or ask.revision >= 0:
        return fault.error().prefixed("resolving error")
    return HubError(_no_revision(ask, fault), reason=fault.code, releases=fault.releases)


def _no_revision(ask: Ask, fault: Fault) -> str:
    """Return the error text for a channel without a release for a base; it lists the releases there are."""
    channel = ask.channel.normal() if ask.channel else None
    if channel and channel.branch:
        return (
            "selecting releases: ambiguous arch and series with channel "
            f'"{channel}", specify both arch and series along with channel'
        )
    wanted = f'channel "{channel}"' if channel else ""
    base = f'base "{ask.platform}"'
    if wanted:
        text = f"selecting releases: charm or bundle not found for {wanted}, {base}"
    else:
        text = f"selecting releases: charm or bundle not found in the charm's default channel, {base}"
    lines = list(release_lines(fault.releases, ask.platform.arch))
    return "\n".join([text, *(["available releases are:", *lines] if lines else [])])


def release_lines(releases: Iterable[tuple[Channel, Platform]], arch: str) -> Iterable[str]:
    """Yield a line for each channel that has releases for an architecture, sorted by track and risk."""
    found: dict[Channel, list[str]] = {}
    for channel, platform in releases:
        if platform.arch in (arch, "") and platform.base:
            shown = Channel(track=channel.track or LATEST, risk=channel.risk, branch=channel.branch).normal()
            found.setdefault(shown, []).append(platform.base.display)
    order = sorted(found, key=lambda item: (item.track, RISKS.index(item.risk), item.branch))
    for channel in order:
        bases = ", ".join(sorted(set(found[channel]), reverse=True))
        yield f'  channel "{channel}": available bases are: {bases}'
