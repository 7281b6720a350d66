"""Mirrors charms and resources of a store into a folder, for sites without access to the internet.

A charm source of type `mirror` reads the folder: from the disk, or through any web server.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from pushjuju.core.base import Base, Channel
from pushjuju.core.charmstore import Ask, HubError, Platform, StoreCharm, StoreResource
from pushjuju.core.errors import NotFound
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.sources import CharmStore, Tell
from pushjuju.plugins.sources import mirror as form
from pushjuju.services.bundles.read.load import load
from pushjuju.services.bundles.read.values import application_base
from pushjuju.services.supply.store_charms import cached, suggested


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A charm to mirror; `resources` (name -> revision) are mirrored too, besides the charm's own."""

    name: str
    channel: str = ""
    revision: int = -1
    platforms: tuple[Platform, ...] = (Platform(),)
    resources: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """What was written for one charm."""

    charm: StoreCharm
    resources: tuple[StoreResource, ...]
    new: int  # the number of files that the mirror did not have before


def mirror(
    store: CharmStore,
    wanted: Sequence[Wanted],
    folder: Path,
    *,
    environ: Mapping[str, str],
    tell: Tell | None = None,
) -> list[Mirrored]:
    """Write charms with their resources into a folder, and return what was written for each charm.

    Files that the folder already has are not fetched again. One request looks up all charms; nothing is
    written when the store lacks one of these charms. The index is written last, after all files.
    """
    found = _resolved(store, wanted)
    asked = {item.name: item.resources for item in wanted if item.resources}
    more = {name: [_revision(store, name, *one) for one in items.items()] for name, items in asked.items()}
    entries = {_key(item): item for item in form.read_index(folder)}
    done: list[Mirrored] = []
    try:
        (folder / form.FILES).mkdir(parents=True, exist_ok=True)
        (folder / form.INFO).mkdir(exist_ok=True)
        for charm, default in found:
            listed = [item for item in charm.resources if item.download.url]
            whole = replace(charm, resources=tuple(listed))
            new = [
                _put(folder / form.FILES / form.file_name(item), store, item, what, environ, tell)
                for item, what in (
                    (charm.download, f'charm "{charm.name}"'),
                    *(
                        (one.download, f'resource "{one.name}"')
                        for one in (*listed, *more.get(charm.name, ()))
                    ),
                )
            ]
            _info(store, charm.name, folder / form.INFO / f"{charm.name}.json")
            entry = form.entry_document(whole, default=default, more=more.get(charm.name, ()))
            entries[_key(entry)] = _joined(entries.get(_key(entry)), entry)
            done.append(Mirrored(charm=charm, resources=tuple(listed), new=sum(new)))
        form.write_index(folder, list(entries.values()))
    except OSError as error:
        raise NotFound(f"cannot write {folder}: {error.strerror or error}") from None
    return done


def require(folder: Path) -> None:
    """Raise NotFound when a folder is not a mirror."""
    if not (folder / form.INDEX).is_file():
        raise NotFound(f"{folder} is not a mirror of charms: {form.INDEX} is missing")


def _resolved(store: CharmStore, wanted: Sequence[Wanted]) -> list[tuple[StoreCharm, bool]]:
    """Return the charms to mirror, each revision once; the flag is True for a charm's default channel.

    A second request asks by revision, because only its answer lists all platforms of a revision.
    """
    asks = [
        Ask(
            name=item.name,
            channel=Channel.parse(item.channel) if item.channel else None,
            revision=item.revision,
            platform=platform,
        )
        for item in wanted
        for platform in item.platforms
    ]
    found: dict[tuple[str, int, str], tuple[StoreCharm, bool]] = {}
    for ask, answer in zip(asks, _answers(store, asks), strict=True):
        key = (answer.name, answer.revision, str(answer.channel))
        default = ask.channel is None and ask.revision < 0
        found[key] = (answer, default or (key in found and found[key][1]))
    exact = [
        Ask(name=item.name, revision=item.revision, platform=item.platform) for item, _ in found.values()
    ]
    return [
        (replace(item, platforms=same.platforms or (item.platform,)), default)
        for (item, default), same in zip(found.values(), _answers(store, exact), strict=True)
    ]


def _answers(store: CharmStore, asks: Sequence[Ask]) -> list[StoreCharm]:
    """Return the store's charm for each request, or raise the store's error with the name of the charm."""
    found = []
    for ask, answer in zip(asks, store.resolve(asks), strict=True):
        if isinstance(answer, HubError):
            error = suggested(store, ask.name, answer)
            raise HubError(f"{ask.name}: {error.message}", hint=error.hint, detail=error.detail)
        found.append(answer)
    return found


def _revision(store: CharmStore, charm: str, name: str, revision: int) -> StoreResource:
    """Return a revision of a charm's resource, or raise HubError when the store lacks the revision."""
    for item in store.resources(charm, name):
        if item.revision == revision:
            return item
    raise HubError(f'charm resource "{name}" at revision {revision} not found')


def of_bundle(path: Path, arch: str) -> list[Wanted]:
    """Return the charms of a store that a bundle names, with channel, revision, base and resources."""
    bundle = load(path, []).bundle
    found = []
    for app in bundle.applications.values():
        if app.is_local:
            continue
        text = application_base(bundle, app)
        revision = -1 if app.revision is None else app.revision
        numbers = {name: item for name, item in app.resources.items() if isinstance(item, int)}
        found.append(
            Wanted(
                name=app.charm_name,
                channel=app.channel,
                revision=revision,
                platforms=(Platform.of(Base.parse(text) if text else None, arch),),
                resources=numbers,
            )
        )
    return found


def _key(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return (entry.get("name"), entry.get("revision"), entry.get("channel"))


def _joined(old: Mapping[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Return the new index entry of a revision, with platforms and resources of the old entry added."""
    if old is None:
        return new
    platforms = [item for item in old.get("platforms", ()) if item not in new["platforms"]]
    return {
        **new,
        "platforms": [*new["platforms"], *platforms],
        "more": new["more"] + [item for item in old.get("more", ()) if item not in new["more"]],
        "default": new["default"] or bool(old.get("default")),
    }


def _put(
    target: Path, store: CharmStore, item: Any, what: str, environ: Mapping[str, str], tell: Tell | None
) -> bool:
    """Copy a file through the cache into the mirror; return True when the mirror did not have the file."""
    if target.exists():
        return False
    source = cached(environ, store, item, what, tell)
    part = target.with_name(f".{target.name}.part")
    shutil.copyfile(source, part)
    os.replace(part, target)  # noqa: PTH105 - pathlib's does the same
    return True


def _info(store: CharmStore, name: str, target: Path) -> None:
    """Store the description of a charm in the mirror."""
    document = store.info(name)
    target.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
