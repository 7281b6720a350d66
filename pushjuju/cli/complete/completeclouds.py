"""Names of clouds, regions and credentials for shell completion, from files of client and controller.

Only completion of such names imports this module. It reads names alone and decrypts no credential.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Offer = tuple[str, str]
BUILT_IN = {"local": "machines on this computer", "manual": "machines that are given"}
_LXD: Mapping[str, Mapping[str, Any]] = {"localhost": {"regions": {"localhost": {}}}}
PUBLIC = (  # the public clouds of the built-in providers
    "aws",
    "aws-china",
    "aws-gov",
    "azure",
    "digitalocean",
    "google",
    "linode",
    "localhost",
    "ovh",
    "scaleway",
    "vultr",
)
_RESERVED = ("default-credential", "default-region")


class Place(NamedTuple):
    """Where to look for names."""

    root: str
    controller: str  # the controller that the command line names; empty for none
    words: tuple[str, ...]  # the arguments in front of the word to complete


def clouds(place: Place, _command: str, _current: str) -> Iterator[Offer]:
    """Yield the clouds: built in, defined by the user, public."""
    yield from BUILT_IN.items()
    yield from own_clouds(place, _command, _current)
    yield from ((name, "") for name in PUBLIC)


def own_clouds(place: Place, _command: str, _current: str) -> Iterator[Offer]:
    """Yield name and type of the clouds that the user defined."""
    for name, table in _defined(place).items():
        yield name, str(table.get("type", ""))


def places(place: Place, command: str, current: str) -> Iterator[Offer]:
    """Yield clouds; once a slash is typed, the regions of the cloud in front of the slash."""
    cloud, slash, _ = current.partition("/")
    if slash:
        yield from ((f"{cloud}/{name}", "") for name in _regions(place, cloud))
        return
    yield from clouds(place, command, current)
    if command == "add-model":
        yield from ((name, "region") for name in _regions(place, _own_cloud(place)))


def regions(place: Place, command: str, _current: str) -> Iterator[Offer]:
    """Yield the regions of the cloud that the command line names."""
    yield from ((name, "") for name in _regions(place, _cloud(place, command)))


def credentials(place: Place, command: str, _current: str) -> Iterator[Offer]:
    """Yield name and authentication type of the credentials of the cloud that the command line names."""
    cloud, seen = _cloud(place, command), set(place.words[1:])
    for folder in _folders(place):
        stored = _table(_toml(os.path.join(folder, "credentials.toml")).get("credentials")).get(cloud)  # noqa: PTH118
        for name, table in _table(stored).items():
            if name not in _RESERVED and name not in seen:
                seen.add(name)
                yield name, str(_table(table).get("auth-type", ""))


def _cloud(place: Place, command: str) -> str:
    """Return the cloud that the command line names, or else the cloud of its controller."""
    at = 1 if command == "add-model" else 0
    named = place.words[at].partition("/")[0] if len(place.words) > at else ""
    return named if named in {name for name, _ in clouds(place, command, "")} else _own_cloud(place)


def _own_cloud(place: Place) -> str:
    own = os.path.join(place.root, "controllers", place.controller, "controller.toml")  # noqa: PTH118
    return str(_toml(own).get("cloud", "")) if place.controller else ""


def _regions(place: Place, cloud: str) -> list[str]:
    table = _defined(place).get(cloud) or (_public()[cloud] if cloud in PUBLIC else {})
    found = table.get("regions") or {}
    names = list(found) if isinstance(found, Mapping | list | tuple) else []
    return [str(name) for name in names] or (["default"] if cloud in BUILT_IN else [])


def _defined(place: Place) -> dict[str, Mapping[str, Any]]:
    """Return the clouds that client and controller define; the client's definition wins."""
    found: dict[str, Mapping[str, Any]] = {}
    for folder in _folders(place):
        for name, table in _table(_toml(os.path.join(folder, "clouds.toml")).get("clouds")).items():  # noqa: PTH118
            found.setdefault(name, _table(table))
    return found


def _folders(place: Place) -> list[str]:
    own = os.path.join(place.root, "controllers", place.controller)  # noqa: PTH118
    return [place.root, own] if place.controller else [place.root]


def _toml(path: str) -> dict[str, object]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return tomllib.load(file)
    except (OSError, ValueError):
        return {}


def _table(value: Any) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {}


def _public() -> Mapping[str, Mapping[str, Any]]:
    """Return the public clouds of the built-in providers; asking all plugins would take too long."""
    # imported here: only the regions of public clouds need what the providers import
    from pushjuju.services.entities.cloud.shipped import public_tables

    return {**public_tables(), **_LXD}
