"""Finds revisions of charms in a store, and fetches their archives.

`resolve` looks up any number of charms with one request. `fetch` downloads an archive into the cache, which
all controllers of the user share, and packs the charm. This module does not write to the controller's store.

Mirrors: juju apiserver/facades/client/application/deployrepository.go, core/charm/repository (3.6)
"""

from __future__ import annotations

import contextlib
import difflib
import json
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.charms.archive.pack import PackedCharm, pack
from pushjuju.charms.archive.reader import load
from pushjuju.charms.format.url import parse_url
from pushjuju.charms.values.charm_bases import BaseRequest, choose_base
from pushjuju.charms.values.model import Charm, ResourceMeta
from pushjuju.core.base import Base, Channel
from pushjuju.core.charmstore import (
    BUNDLE,
    CHARM,
    DEFAULT_ARCH,
    Ask,
    Download,
    Held,
    HubError,
    Platform,
    StoreCharm,
    StoreResource,
)
from pushjuju.core.errors import InvalidCharm, NotFound, NotValid, PushjujuError
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.sources import CharmStore as CharmStore  # noqa: PLC0414 - commands ask stores
from pushjuju.plugins.api.sources import SourceServices, no_tell
from pushjuju.plugins.manager import PluginHost
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import model_config
from pushjuju.services.supply import download_cache
from pushjuju.services.supply.origins import StoreOrigin
from pushjuju.store.rows.origin_records import ApplicationOrigin
from pushjuju.store.rows.records import Application, Machine

if TYPE_CHECKING:
    from pushjuju.core.clock import Clock
    from pushjuju.plugins.api.sources import Tell
    from pushjuju.services.entities.basis.callbacks import Notices

URL_KEY = "charmhub-url"
DEFAULT_URL = "https://api.charmhub.io"
_PROXY_KEYS = (
    "http-proxy", "https-proxy", "no-proxy", "juju-http-proxy", "juju-https-proxy", "juju-no-proxy",
)  # fmt: skip
_NOT_THERE = ("name-not-found", "not-found", "id-not-found")


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmRequest:
    """A charm or bundle of a store, as a user or a bundle names it."""

    url: str  # the charm's name, or `ch:` and the name
    channel: str = ""  # the channel as the user wrote it; empty for the charm's default channel
    revision: int = -1  # a revision, or -1 for the newest of the channel
    base: Base | None = None  # the wanted base, or None to choose a base of the charm
    arch: str = DEFAULT_ARCH  # the architecture of the machines
    kind: str = CHARM  # `charm` or `bundle`, or empty for either
    held: Held | None = None  # the charm that the application has at present, for a refresh, or None
    force: bool = False  # True to accept a base that the charm does not name
    # True to skip the check of the base, because existing units have decided about it
    keep_base: bool = False
    resources: Mapping[str, int] = field(default_factory=dict)  # resource name -> revision


class OtherKind(HubError):
    """The name is that of a bundle where a charm is wanted, or of a charm where a bundle is wanted."""


# --- the store --------------------------------------------------------------------------------------------


def open_store(ctx: Context, model: str, *, patient: bool = True) -> CharmStore:
    """Return the store of a model, at the model's `charmhub-url` and through its proxies.

    Args:
        patient: True to retry while a store is busy, False to try once.

    Raises:
        NotFound: No plugin can open the store.
    """
    with ctx.read(model) as tx:
        config = model_config.several(tx, (URL_KEY, *_PROXY_KEYS))
    address = str(config[URL_KEY] or DEFAULT_URL)
    services = SourceServices(
        config=config, environ=ctx.environ, clock=ctx.clock, random=ctx.random, patient=patient
    )
    return PluginHost(environ=ctx.environ).open_charm_store(address, services)


def store_at(address: str, environ: Mapping[str, str], clock: Clock, notices: Notices) -> CharmStore:
    """Return the store at a URL, for a command that works without a model."""
    services = SourceServices(environ=environ, clock=clock)
    return PluginHost(environ=environ, warn=notices.warn).open_charm_store(address, services)


# --- revisions --------------------------------------------------------------------------------------------


def resolve(
    ctx: Context, model: str, requests: Sequence[CharmRequest], *, store: CharmStore | None = None
) -> list[StoreOrigin | PushjujuError]:
    """Return the revision or the error for each request, in the order of the requests.

    The store gets one request for all charms, and at most two more for charms whose base has to be chosen.
    Names, channels and bases are checked before anything is sent.

    Args:
        store: An open store, or None for the model's store.
    """
    found: dict[int, StoreOrigin | PushjujuError] = {}
    asks: dict[int, tuple[CharmRequest, Ask, BaseRequest]] = {}
    with ctx.read(model) as tx:
        of_model = charms.base_request(ctx.datadir, tx)
    for number, request in enumerate(requests):
        try:
            asks[number] = (request, *_ask(request, of_model))
        except PushjujuError as error:
            found[number] = error
    opened = store or (open_store(ctx, model) if asks else None)
    again: dict[int, tuple[CharmRequest, Ask, BaseRequest]] = {}
    for number, answer in _answers(opened, asks).items():
        request, ask, rules = asks[number]
        outcome = _judge(request, ask, rules, answer)
        if isinstance(outcome, Ask):
            again[number] = (request, outcome, replace(rules, requested=outcome.platform.base))
        else:
            found[number] = outcome
    for number, answer in _answers(opened, again).items():
        request, ask, rules = again[number]
        last = _judge(request, ask, rules, answer)
        found[number] = last if not isinstance(last, Ask) else HubError(f"no base fits {request.url}")
    if opened is not None:
        for number, known in found.items():
            if isinstance(known, HubError):
                suggested(opened, requests[number].url.removeprefix("ch:"), known)
    return [found[number] for number in range(len(requests))]


def resolve_one(
    ctx: Context, model: str, request: CharmRequest, *, store: CharmStore | None = None
) -> StoreOrigin:
    """Return the revision for a request, or raise its error; the arguments are those of `resolve`."""
    (found,) = resolve(ctx, model, [request], store=store)
    if isinstance(found, PushjujuError):
        raise found
    return found


def placed_platform(
    ctx: Context, model: str, placements: Sequence[Placement], requested: Base | None
) -> Platform | None:
    """Return base and architecture of the machines in placements, or None when no machine is named."""
    named = {str(item.parent or item.value) for item in placements if item.kind is PlacementKind.MACHINE}
    with ctx.read(model) as tx:
        rows = [tx.find(Machine, "machine_get", id=name) for name in sorted(named)]
    found = {
        Platform.of(Base.parse(row.base), str(row.hardware.get("arch") or DEFAULT_ARCH))
        for row in rows
        if row is not None
    }
    if not found:
        return None
    if len(found) > 1:
        raise NotValid("bases of existing placement machines do not match each other")
    (platform,) = found
    if requested is not None and platform.base is not None and not platform.base.matches(requested):
        raise NotValid(
            f"base from placements, {quote(str(platform.base))}, does not match requested base "
            f"{quote(str(requested))}"
        )
    return platform


def _ask(request: CharmRequest, of_model: BaseRequest) -> tuple[Ask, BaseRequest]:
    """Return the question to the store for a request, and the rules for choosing the base."""
    url = parse_url(request.url)
    if url.schema != "ch":
        raise NotValid(f"{quote(request.url)} is not a Charmhub charm")
    if url.revision >= 0:
        raise NotValid("cannot specify revision in a charm or bundle name. Please use --revision.")
    rules = replace(of_model, requested=request.base, force=request.force)
    wanted = request.base or of_model.model_default
    if wanted and request.kind != BUNDLE and not request.keep_base:
        choose_base(url.name, [wanted], rules)  # raises for an unknown base, before anything is sent
    channel = Channel.parse(request.channel) if request.channel else None
    ask = Ask(
        name=url.name,
        channel=channel,
        revision=request.revision,
        platform=Platform.of(None if request.force else wanted, url.architecture or request.arch),
        held=request.held,
        resources=request.resources,
    )
    return ask, rules


def _answers(
    store: CharmStore | None, asks: Mapping[int, tuple[CharmRequest, Ask, BaseRequest]]
) -> dict[int, StoreCharm | HubError]:
    if store is None or not asks:
        return {}
    return dict(zip(asks, store.resolve([ask for _, ask, _ in asks.values()]), strict=True))


def _judge(
    request: CharmRequest, ask: Ask, rules: BaseRequest, answer: StoreCharm | HubError
) -> StoreOrigin | PushjujuError | Ask:
    """Check the store's answer: return its revision, an error, or a new question for another base."""
    if isinstance(answer, HubError):
        return answer
    if request.kind and (answer.kind == BUNDLE) != (request.kind == BUNDLE):
        return OtherKind(f"expected {request.kind}, got {answer.kind} {quote(answer.name)}")
    if answer.kind == BUNDLE:
        return _origin(request, ask, answer, Base("ubuntu", "24.04"))
    if request.keep_base and request.base is not None:
        return _origin(request, ask, answer, request.base)
    try:
        base = choose_base(answer.name, answer.bases, rules)
    except NotValid as error:
        return error
    sent = answer.platform.base
    by_base = request.revision < 0 and not request.force
    if by_base and sent is not None and not sent.matches(base):
        return replace(ask, platform=Platform.of(base, ask.platform.arch))
    return _origin(request, ask, answer, base)


def _origin(request: CharmRequest, ask: Ask, answer: StoreCharm, base: Base) -> StoreOrigin:
    followed = answer.channel or ask.channel or (request.held.channel if request.held else Channel())
    return StoreOrigin(charm=answer, channel=followed.full(), base=base, arch=ask.platform.arch)


def suggested(store: CharmStore, name: str, error: HubError) -> HubError:
    """Return an error with the charm's name added and, when the store has no such charm, similar names."""
    if error.reason in _NOT_THERE and not error.hint:
        if names := alike(store, name):
            error.hint = f"did you mean: {', '.join(names)}"
        error.message = f"{error.message}: {quote(name)}"
    elif error.reason == "revision-not-found" and not error.releases and not error.hint:
        error.message = f"{error.message.rstrip('.')}: {quote(name)}"
        error.hint = f"pushjuju info {name}"
    return error


def alike(store: CharmStore, name: str) -> list[str]:
    """Return up to three names in the store that are similar to a name."""
    listed: dict[str, None] = {}
    for query in dict.fromkeys((name, name.partition("-")[0], name[:4], name[-4:], name[:2])):
        with contextlib.suppress(PushjujuError):
            for item in store.find(query, {}):
                if isinstance(item.get("name"), str):
                    listed[item["name"]] = None
        if close := difflib.get_close_matches(name, listed, n=3, cutoff=0.6):
            return close
    return []


# --- the archive ------------------------------------------------------------------------------------------


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the download cache: in `PUSHJUJU_CACHE`, or in the user's cache directory."""
    if folder := environ.get("PUSHJUJU_CACHE"):
        return Path(folder) / "charms"
    base = environ.get("XDG_CACHE_HOME") or f"{environ.get('HOME') or Path.home()}/.cache"
    return Path(base) / "pushjuju" / "charms"


def cached(
    environ: Mapping[str, str], store: CharmStore, wanted: Download, what: str, tell: Tell | None = None
) -> Path:
    """Return a file of a store, from the cache when it was fetched before.

    Raises:
        HubError: The download failed, or its hash is not the store's.
    """
    target = cache_folder(environ) / (wanted.sha256 or wanted.sha384)
    if target.exists():
        download_cache.used(target)
        return target
    most = download_cache.limit(environ)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    store.fetch(wanted, target, what, tell or no_tell)
    download_cache.used(target)
    download_cache.prune_files(target.parent, most)
    return target


def fetch(
    ctx: Context,
    store: CharmStore,
    origin: StoreOrigin,
    folder: Path,
    tell: Tell | None = None,
    *,
    model: str = "",
) -> PackedCharm:
    """Return a packed charm of the store, which was read and checked.

    Args:
        folder: The folder for the packed charm; the caller keeps it until the charm is recorded.
        model: A model that may already have the charm; when it has, nothing is fetched.
    """
    target = folder / f"{origin.charm.name}.charm"
    if known := _stored(ctx, model, origin, target):
        return known
    archive = cached(ctx.environ, store, origin.charm.download, f'charm "{origin.charm.name}"', tell)
    packed = pack(archive, target, origin="")
    return replace(packed, charm=replace(packed.charm, revision=origin.charm.revision))


def _stored(ctx: Context, model: str, origin: StoreOrigin, target: Path) -> PackedCharm | None:
    """Copy the charm of an application that was deployed from the same archive, or return None.

    The model keeps charms packed anew, with another hash; the hash of the store's archive is kept with the
    application.
    """
    wanted = origin.charm.download.sha256 or origin.charm.download.sha384
    if not model or not wanted:
        return None
    with ctx.read(model) as tx:
        rows = tx.list(ApplicationOrigin, "origin_list")
        name = next((row.application for row in rows if row.hash == wanted), "")
        application = tx.find(Application, "application_get", name=name) if name else None
        if application is None:
            return None
        url = application.charm_url
        record, charm = charms.record(tx, url), charms.get(tx, url)
    charm = replace(charm, revision=origin.charm.revision)
    try:
        shutil.copyfile(ctx.controller.blobs.path(record.sha256), target)
    except OSError:  # the file was deleted, or the disk is full: the download will report the reason
        return None
    return PackedCharm(path=target, sha256=record.sha256, size=record.size, members=(), charm=charm)


# --- resources --------------------------------------------------------------------------------------------


def told_charm(charm: StoreCharm) -> Charm | None:
    """Return a charm as its store describes it, for checks before the charm is fetched.

    Returns:
        Metadata, options and bases, or None when the description is incomplete or wrong.
    """
    texts = {"metadata.yaml": charm.metadata, "config.yaml": charm.config.replace("{}\n", "")}
    files = {name: text.encode() for name, text in texts.items() if text.strip()}
    bases = [{"name": base.os, "channel": base.track} for base in charm.bases]
    for more in ({"manifest.yaml": json.dumps({"bases": bases}).encode()}, {}):
        with contextlib.suppress(InvalidCharm):
            return load({**files, **more}.get)
    return None


def newest_resources(ctx: Context, model: str, origin: StoreOrigin) -> Sequence[StoreResource]:
    """Return the resources of a charm's channel, or the newest of each that the channel does not have."""
    charm = told_charm(origin.charm)
    declared = charm.meta.resources if charm else {}
    if declared.keys() <= {item.name for item in origin.charm.resources}:
        return origin.charm.resources
    return list(pick_resources(open_store(ctx, model), origin, {}, declared).values())


def pick_resources(
    store: CharmStore,
    origin: StoreOrigin,
    asked: Mapping[str, int],
    declared: Mapping[str, ResourceMeta],
    *,
    keep: Collection[str] = (),
) -> dict[str, StoreResource]:
    """Return name -> resource for the resources that a charm declares.

    Args:
        asked: Name -> revision that the user wants; others have the revision of the channel, or the newest.
        keep: Names to leave out when the store's answer does not have them.
    """
    said = {item.name: item for item in origin.charm.resources}
    found: dict[str, StoreResource] = {}
    kept = {name for name in keep if name not in said and name not in asked}
    if not declared.keys() <= {
        *said,
        *asked,
        *kept,
    }:  # answers for a revision have no resources, only those for a channel
        said = _of_channel(store, origin) | said
    for name, meta in declared.items():
        known = said.get(name)
        if name in kept:
            continue
        if known is None or (name in asked and known.revision != asked[name]):
            known = _revision(store, origin.charm.name, name, asked.get(name))
        if known is not None:
            found[name] = _declared_as(known, meta)
    return found


def _of_channel(store: CharmStore, origin: StoreOrigin) -> dict[str, StoreResource]:
    """Return the resources of the newest charm in the channel; empty when the channel is closed."""
    platform = Platform.of(origin.base, origin.arch)
    (newest,) = store.resolve([Ask(name=origin.charm.name, channel=origin.channel, platform=platform)])
    return {} if isinstance(newest, HubError) else {item.name: item for item in newest.resources}


def named_resources(
    store: CharmStore, charm: str, asked: Mapping[str, int], declared: Mapping[str, ResourceMeta]
) -> dict[str, StoreResource]:
    """Return name -> resource for the given revisions of a charm's resources."""
    found = {name: _revision(store, charm, name, number) for name, number in asked.items()}
    return {name: _declared_as(item, declared[name]) for name, item in found.items() if item}


def _declared_as(known: StoreResource, meta: ResourceMeta) -> StoreResource:
    if not known.download.sha384:
        raise HubError(f"the charm store has no SHA-384 of resource {known.name}: it cannot be checked")
    return replace(
        known, type=meta.type, filename=meta.filename, description=meta.description or known.description
    )


def _revision(store: CharmStore, charm: str, name: str, wanted: int | None) -> StoreResource | None:
    """Return a revision of a resource, by default the newest, or None when the resource has no revision."""
    try:
        listed = _revisions(store, charm, name)
    except HubError as error:
        if wanted is None and error.reason == "not-found":
            return None
        raise
    if wanted is None:
        return max(listed, key=lambda item: item.revision, default=None)
    for item in listed:
        if item.revision == wanted:
            return item
    raise HubError(f"charm resource {quote(name)} at revision {wanted} not found")


def _revisions(store: CharmStore, charm: str, name: str) -> Sequence[StoreResource]:
    try:
        return store.resources(charm, name)
    except NotFound as error:
        raise HubError(error.message) from None
