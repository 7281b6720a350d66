"""find, info, download. Mirrors: juju cmd/juju/charmhub (3.6)"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.charm import charm_sources
from pushjuju.cli.commands.charm import charm_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.errors import HubError, NotFound, NotValid, UsageError

if TYPE_CHECKING:
    from pushjuju.core.base import Base
    from pushjuju.core.channel import Channel
    from pushjuju.core.charmstore import Ask, StoreCharm
    from pushjuju.plugins.charmtypes import CharmStore

_ARCHES = ("all", "amd64", "arm64", "ppc64el", "riscv64", "s390x")
_ALL = "all"
_NOT_THERE = ("not-found", "name-not-found")


def open_store(cli: Cli, url: str) -> CharmStore:
    """Return the store at `--charmhub-url`, else at `CHARMHUB_URL`, else Charmhub.

    Raises:
        NotFound: No plugin knows such a store.
        UsageError: It is no address; the message is Juju's.
    """
    from pushjuju.plugins.charmtypes import SourceServices
    from pushjuju.plugins.manager import PluginHost
    from pushjuju.services.supply.store_charms import DEFAULT_URL

    given = url if "charmhub_url" in cli.given else ""
    address = given or cli.env.get("CHARMHUB_URL") or url or DEFAULT_URL
    if "://" not in address:
        raise UsageError(f'invalid charmhub-url: parse "{address}": invalid URI for request')
    services = SourceServices(environ=cli.env, clock=cli.clock)
    return PluginHost(environ=cli.env, warn=cli.console.warn).open_charm_store(address, services)


def _name(text: str, *, what: str) -> str:
    """Return the name of a charm of a store.

    Raises:
        NotValid: It is none; the message is Juju's.
    """
    from pushjuju.charms.format.url import parse_url

    try:
        url = parse_url(text)
    except NotValid:
        raise NotValid(f'charm or bundle name, "{text}", is not valid') from None
    if url.schema != "ch":
        raise NotValid(f'"{text}" is not a {what} charm')
    return url.name


# --- find -------------------------------------------------------------------------------------------------


@command(
    "find",
    usage="[<query>]",
    summary="Queries the CharmHub store for available charms or bundles.",
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(
        flags.text("category", "Filter by category name"),
        flags.text("channel", "Filter by channel"),
        flags.text("type", "Search by type <charm|bundle>"),
        flags.text("publisher", "Search by publisher"),
        flags.text("columns", "Columns of the table: n b v p s a o S", default="nbvps"),
        *flags.CHARMHUB,
    ),
    examples="    pushjuju find wordpress\n    pushjuju find --type bundle kubernetes\n",
    see_also=("info", "download"),
)
def find(cli: Cli, args: tuple[str, ...], *, charmhub_url: str, columns: str, **asked: str) -> None:
    """Search the store."""
    from pushjuju.charms.hub import catalogue
    from pushjuju.portable.gotypes import Struct

    if asked["type"] not in ("", "charm", "bundle"):
        raise UsageError("expected type to be charm or bundle")
    formatters.check_columns(columns)
    query = args[0] if args else ""
    try:
        results = open_store(cli, charmhub_url).find(query, asked)
    except HubError as error:
        if error.reason in _NOT_THERE:
            raise HubError(f'Nothing found for query "{query}".', reason=error.reason) from None
        raise
    found = [catalogue.found_entry(item) for item in results]
    if cli.output.form == "tabular" and not found:
        kind = f"{asked['type']}s" if asked["type"] else "charms or bundles"
        cli.console.info(f"No matching {kind}")
        return
    empty = not query and not any(asked.values())

    def table(_document: Any) -> str:
        text = formatters.found_table(found, columns)
        if not empty:
            return text
        return (
            f"No search term specified. Here are some interesting charms:\n\n{text}"
            "Provide a search term for more specific results.\n"
        )

    cli.output.write([Struct(entry.items()) for entry in found], {"tabular": table})


# --- info -------------------------------------------------------------------------------------------------


@command(
    "info",
    usage="<charm>",
    summary="Displays detailed information about CharmHub charms.",
    at_least=(1, "expected a charm or bundle name"),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(
        flags.text("arch", f"Specify an arch <{'|'.join(_ARCHES)}>", default=_ALL),
        flags.text("series", "Specify a series (deprecated)", default=_ALL),
        flags.text("base", "Specify a base"),
        flags.text("channel", "Specify a channel to use instead of the default release"),
        flags.switch("config", "Display config for this charm"),
        flags.text("unicode", "Display output using unicode <auto|never|always>", default="auto"),
        flags.number("revision", "Show one revision", default=-1),
        flags.text("track", "Show one track"),
        *flags.CHARMHUB,
    ),
    details="Channels of a track are listed from the safest to the newest. An arrow: the channel gives what\n"
    "the one above it gives; a dash: nothing was released there.",
    examples="    pushjuju info postgresql\n    pushjuju info --config postgresql --channel 14/stable\n",
    see_also=("find", "download"),
)
def info(cli: Cli, args: tuple[str, ...], *, charmhub_url: str, config: bool, **asked: Any) -> None:
    """Show a charm or bundle."""
    from pushjuju.charms.hub import catalogue
    from pushjuju.portable.gotypes import Struct

    base = _info_flags(cli, asked)
    name = _name(args[0], what="Charm Hub")
    if asked["channel"]:
        _parsed(asked["channel"])
    try:
        store = open_store(cli, charmhub_url)
        document = store.info(name, asked["channel"])
    except HubError as error:
        if error.reason in _NOT_THERE:
            what = f'No information found for charm or bundle with the name "{name}"'
            raise HubError(what, reason=error.reason, hint=_alike(store, name)) from None
        raise
    entry = catalogue.info_document(document)
    arch = "" if asked["arch"] == _ALL else asked["arch"]
    entry = _narrowed(entry, asked, arch=arch, base=base)
    unicode = asked["unicode"] == "always" or (asked["unicode"] == "auto" and _speaks_unicode(cli))

    def text(_document: Any) -> str:
        if not config:  # documents have the options always
            entry.get("charm", {}).pop("config", None)
        return formatters.info_text(entry, arch=arch, base=base.display if base else "", unicode=unicode)

    cli.output.write(Struct(entry.items()), {"tabular": text})


def _info_flags(cli: Cli, asked: Mapping[str, Any]) -> Base | None:
    """Check the flags of `info`; return the base that was asked for.

    Raises:
        UsageError: They exclude each other, or have no such value.
    """
    if asked["unicode"] not in ("auto", "never", "always"):
        raise UsageError(f'unexpected unicode flag value "{asked["unicode"]}", expected <auto|never|always>')
    _check_arch(asked["arch"])
    if cli.given & {"revision", "track"} and cli.given & {"arch", "base", "channel", "series"}:
        raise UsageError(
            "--revision and --track cannot be specified together with --arch, --base or --channel"
        )
    return values.base(asked["base"], "" if asked["series"] == _ALL else asked["series"], cli.console)


def _check_arch(arch: str) -> None:
    if arch not in _ARCHES:
        known = "|".join(_ARCHES)
        raise UsageError(f'unexpected architecture flag value "{arch}", expected <{known}>')


def _speaks_unicode(cli: Cli) -> bool:
    env = cli.env
    return "utf" in (env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "").lower()


def _narrowed(
    entry: dict[str, Any], asked: Mapping[str, Any], *, arch: str, base: Base | None
) -> dict[str, Any]:
    """Return an entry with what was asked for of its channels."""
    wanted = {"name": base.os, "channel": base.track} if base else None

    def keeps(track: str, item: Mapping[str, Any]) -> bool:
        return (
            (not arch or arch in item["architectures"] or _ALL in item["architectures"])
            and (wanted is None or wanted in item["bases"])
            and (asked["revision"] < 0 or item["revision"] == asked["revision"])
            and (not asked["track"] or track == asked["track"])
        )

    listed = {
        track: {
            risk: [item for item in items if keeps(track, item)]
            for risk, items in risks.items()
            if any(keeps(track, item) for item in items)
        }
        for track, risks in entry["channels"].items()
    }
    tracks = [track for track in entry["tracks"] if listed[track] or not (asked["track"] or arch or base)]
    return {**entry, "channels": {track: listed[track] for track in tracks}, "tracks": tracks}


# --- download ---------------------------------------------------------------------------------------------


@command(
    "download",
    usage="<charm>",
    summary="Locates and then downloads a CharmHub charm.",
    at_least=(1, "expected a charm or bundle name"),
    flags=(
        flags.text("arch", f"Specify an arch <{'|'.join(_ARCHES)}>", default=_ALL),
        flags.text("series", "Specify a series (deprecated)", default=_ALL),
        flags.text("base", "Specify a base"),
        flags.text("channel", "Specify a channel to use instead of the default release"),
        flags.number("revision", "Specify a revision of the charm to download", default=-1),
        flags.text("filepath", "File path to download to, - for stdout"),
        flags.switch("no-progress", "Disable the progress bar"),
        flags.switch("resources", "Download its resources too"),
        *flags.CHARMHUB,
    ),
    details="A charm that was downloaded before comes out of the cache. A hyphen behind the name writes it\n"
    "to the standard output.",
    examples="    pushjuju download postgresql --channel 14/stable\n"
    "    pushjuju download postgresql - > pg.charm\n",
    see_also=("info", "find"),
)
def download(cli: Cli, args: tuple[str, ...], *, charmhub_url: str, **asked: Any) -> None:
    """Write a charm or bundle into a file."""
    from pushjuju.services.supply import store_charms

    to_stdout = _download_flags(cli, args, asked)
    name = _name(args[0], what="Charmhub")
    store = open_store(cli, charmhub_url)
    charm = _located(cli, store, _ask(cli, name, asked), base_given=bool(asked["base"]))
    cli.console.info(_fetching(charm, by_revision=asked["revision"] >= 0))
    suffix = charm.kind if charm.kind == "bundle" else "charm"
    target = Path(asked["filepath"] or f"{charm.name}_r{charm.revision}.{suffix}")
    try:
        with charm_sources.downloading(cli, charm.name) as tell:
            what = f'{charm.kind} "{charm.name}"'
            shown = None if asked["no_progress"] else tell
            path = store_charms.cached(cli.env, store, charm.download, what, shown)
    except HubError as error:
        if error.reason == "checksum":
            raise HubError(f'Checksum of download failed for "{charm.name}":', detail=error.detail) from None
        raise
    if to_stdout:
        _to_stdout(cli, path)
        cli.console.info(f"Downloading of {charm.kind} complete")
        return
    _copy(path, target)
    hints = _resources(cli, store, charm, target.parent) if asked["resources"] else []
    shown_path = str(target) if target.is_absolute() else f"./{target}"
    cli.console.info(
        f'Install the "{charm.name}" {charm.kind} with:\n    pushjuju deploy {" ".join([shown_path, *hints])}'
    )


def _download_flags(cli: Cli, args: tuple[str, ...], asked: Mapping[str, Any]) -> bool:
    """Check the flags of `download`; return whether the archive goes to stdout.

    Raises:
        UsageError: They exclude each other, or make no sense; the messages are Juju's.
    """
    if len(args) > 2 or (len(args) == 2 and args[1] != "-"):
        raise UsageError("expected a charm or bundle name, followed by hyphen to pipe to stdout")
    if asked["revision"] >= 0 and cli.given & {"arch", "base", "channel", "series"}:
        raise UsageError("--revision cannot be specified together with --arch, --base, --channel or --series")
    _check_arch(asked["arch"])
    to_stdout = len(args) == 2 or asked["filepath"] == "-"
    if to_stdout and asked["resources"]:
        raise UsageError("--resources cannot be used when the charm goes to stdout")
    return to_stdout


def _ask(cli: Cli, name: str, asked: Mapping[str, Any]) -> Ask:
    from pushjuju.charms.values.charm_bases import DEFAULT_LTS
    from pushjuju.core.channel import Channel
    from pushjuju.core.charmstore import DEFAULT_ARCH, Ask, Platform

    base = values.base(asked["base"], "" if asked["series"] == _ALL else asked["series"], cli.console)
    arch = DEFAULT_ARCH if asked["arch"] == _ALL else asked["arch"]
    return Ask(
        name=name,
        channel=Channel.parse(asked["channel"] or "latest/stable"),
        revision=asked["revision"],
        platform=Platform.of(base or DEFAULT_LTS, arch),
    )


def _located(cli: Cli, store: CharmStore, ask: Ask, *, base_given: bool) -> StoreCharm:
    """Return the revision to download; a charm that is not for the default base is asked for its own.

    Raises:
        HubError: There is none; the message is Juju's.
    """
    (found,) = store.resolve([ask])
    if not isinstance(found, HubError):
        return found
    if ask.revision >= 0:
        raise HubError(f"unable to locate {ask.name} revison {ask.revision}: {_bare(found)}")
    if found.reason != "revision-not-found":
        hint = _alike(store, ask.name) if found.reason in _NOT_THERE else ""
        raise HubError(f"unable to locate {ask.name}: {_bare(found)}", detail=found.detail, hint=hint)
    assert ask.channel is not None, "a download without a revision has a channel"
    usable = list(dict.fromkeys(_same_channel(found, ask.channel, ask.platform.arch)))
    shown = _short(ask.channel)
    if not usable and "channel" not in cli.given and (own := _of_own_track(cli, store, ask, base_given)):
        return own
    if not usable:
        text = f'"{ask.name}" has no releases in channel "{shown}". Type\n    pushjuju info {ask.name}'
        raise HubError(f"{text}\nfor a list of supported channels.")
    wanted = ask.platform.base.display if ask.platform.base else ""
    names = ", ".join(base.display for base in usable)
    if base_given:
        raise HubError(
            f'"{ask.name}" does not support base "{wanted}" in channel "{shown}". '
            f"Supported bases are: {names}."
        )
    cli.console.info(
        f'Base "{wanted}" is not supported for charm "{ask.name}", trying base "{usable[0].display}"'
    )
    other = replace(ask.platform, os=usable[0].os, track=usable[0].track)
    (again,) = store.resolve([replace(ask, platform=other)])
    if isinstance(again, HubError):
        raise HubError(f"unable to locate {ask.name}: {_bare(again)}")
    return again


def _of_own_track(cli: Cli, store: CharmStore, ask: Ask, base_given: bool) -> StoreCharm | None:
    """Return what the default track of a charm without `latest` has, for another base if need be."""
    asks = [replace(ask, channel=None)]
    if not base_given:
        asks.append(replace(asks[0], platform=replace(ask.platform, os="", track="")))
    for own in asks:
        (found,) = store.resolve([own])
        if not isinstance(found, HubError):
            cli.console.info(
                f'"{ask.name}" has no releases in channel "{_short(_parsed("stable"))}", trying channel '
                f'"{found.channel}"'
            )
            return found
    return None


def _alike(store: CharmStore, name: str) -> str:
    """Return a hint with names that look like one that is not there; empty: there are none."""
    from pushjuju.services.supply import store_charms

    names = store_charms.alike(store, name)
    return f"did you mean: {', '.join(names)}" if names else ""


def _same_channel(error: HubError, channel: Channel, arch: str) -> list[Base]:
    return [
        platform.base
        for release, platform in error.releases
        if release.full() == channel.full() and platform.arch in (arch, "", _ALL) and platform.base
    ]


def _bare(error: HubError) -> str:
    return error.message.removeprefix("resolving error: ")


def _parsed(text: str) -> Channel:
    """Return a channel.

    Raises:
        NotValid: It is none; the message is Juju's.
    """
    from pushjuju.core.channel import Channel

    return Channel.parse(text).normal()


def _short(channel: Channel) -> str:
    return str(channel.normal()).removeprefix("latest/")


def _fetching(charm: StoreCharm, *, by_revision: bool) -> str:
    text = f'Fetching {charm.kind} "{charm.name}" revision {charm.revision}'
    if by_revision or charm.channel is None:
        return text
    return f'{text} using "{_short(charm.channel)}" channel and base "{charm.platform}"'


def _to_stdout(cli: Cli, path: Path) -> None:
    raw = getattr(cli.console.stdout, "buffer", None)
    if raw is None:
        raise NotValid("the standard output takes no bytes here")
    with path.open("rb") as stream:
        shutil.copyfileobj(stream, raw)
    raw.flush()


def _copy(path: Path, target: Path) -> None:
    """Write a file whole or not at all.

    Raises:
        NotFound: It cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pushjuju-") as folder:
            shutil.copyfile(path, Path(folder) / "new").replace(target)
    except OSError as error:
        raise NotFound(f"cannot write {target}: {error.strerror}") from None


def _resources(cli: Cli, store: CharmStore, charm: StoreCharm, folder: Path) -> list[str]:
    """Download the resources of a charm; return the flags that deploy it with them."""
    from pushjuju.services.supply import store_charms

    hints = []
    for item in charm.resources:
        if item.download.url:
            path = store_charms.cached(cli.env, store, item.download, f'resource "{item.name}"')
            target = folder / f"resource_{item.name}_r{item.revision}_{item.filename}"
            _copy(path, target)
            shown = str(target) if target.is_absolute() else f"./{target}"
            hints.append(f"--resource {item.name}={shown}")
    return hints
