"""Opens charm stores, and parses names, channels and architectures of their charms."""

from __future__ import annotations

from pushjuju.charms.format import url as charm_url
from pushjuju.cli.syntax.command import Cli
from pushjuju.core.base import Channel
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.services.supply import store_charms

STORE_ARCHES = ("all", "amd64", "arm64", "ppc64el", "riscv64", "s390x")

EVERY = "all"

NOT_THERE = ("not-found", "name-not-found")


def open_store(cli: Cli, url: str) -> store_charms.CharmStore:
    """Return the store at `--charmhub-url`, else at `CHARMHUB_URL`, else Charmhub."""
    given = url if "charmhub_url" in cli.given else ""
    address = given or cli.env.get("CHARMHUB_URL") or url or store_charms.DEFAULT_URL
    if "://" not in address:
        raise UsageError(f'invalid charmhub-url: parse "{address}": invalid URI for request')
    return store_charms.store_at(address, cli.env, cli.clock, cli.console)


def store_name(text: str, *, what: str) -> str:
    """Return the name of a charm in a store; refuse any other text."""
    try:
        url = charm_url.parse_url(text)
    except NotValid:
        raise NotValid(f'charm or bundle name, "{text}", is not valid') from None
    if url.schema != "ch":
        raise NotValid(f'"{text}" is not a {what} charm')
    return url.name


def check_arch(arch: str) -> None:
    if arch not in STORE_ARCHES:
        known = "|".join(STORE_ARCHES)
        raise UsageError(f'unexpected architecture flag value "{arch}", expected <{known}>')


def alike_hint(store: store_charms.CharmStore, name: str) -> str:
    """Return a hint with names that resemble an unknown name; empty when there are no such names."""
    names = store_charms.alike(store, name)
    return f"did you mean: {', '.join(names)}" if names else ""


def parsed_channel(text: str) -> Channel:
    """Return a channel; refuse a text that is not a channel."""
    return Channel.parse(text).normal()
