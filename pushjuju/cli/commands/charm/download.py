"""download: locates and then downloads a CharmHub charm. Mirrors: juju cmd/juju/charmhub (3.6)"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from pushjuju.charms.values import charm_bases
from pushjuju.cli.commands.charm import store_names
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.base import Base, Channel
from pushjuju.core.charmstore import DEFAULT_ARCH, Ask, HubError, Platform, StoreCharm
from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.core.values import dataclass
from pushjuju.services.supply import store_charms


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadFlags:
    arch: str = flags.text(
        "arch", f"Specify an arch <{'|'.join(store_names.STORE_ARCHES)}>", default=store_names.EVERY
    )
    series: str = flags.text("series", "Specify a series (deprecated)", default=store_names.EVERY)
    base: str = flags.text("base", "Specify a base")
    channel: str = flags.text("channel", "Specify a channel to use instead of the default release")
    revision: int = flags.number("revision", "Specify a revision of the charm to download", default=-1)
    filepath: str = flags.text("filepath", "File path to download to, - for stdout")
    no_progress: bool = flags.switch("no-progress", "Disable the progress bar")
    resources: bool = flags.switch("resources", "Download its resources too")
    charmhub_url: str


@command(
    "download",
    usage="<charm>",
    summary="Locates and then downloads a CharmHub charm.",
    at_least=(1, "expected a charm or bundle name"),
    flags=(*flags.CHARMHUB,),
    details="A charm that was downloaded before is copied from the cache. With a hyphen behind the name the\n"
    "charm is written to the standard output.",
    examples="    pushjuju download postgresql --channel 14/stable\n"
    "    pushjuju download postgresql - > pg.charm\n",
    into=DownloadFlags,
    see_also=("info", "find"),
)
def download(cli: Cli, args: tuple[str, ...], flags: DownloadFlags) -> None:
    to_stdout = _download_flags(cli, args, flags)
    name = store_names.store_name(args[0], what="Charmhub")
    store = store_names.open_store(cli, flags.charmhub_url)
    charm = _located(cli, store, _ask(cli, name, flags), base_given=bool(flags.base))
    cli.console.info(_fetching(charm, by_revision=flags.revision >= 0))
    suffix = charm.kind if charm.kind == "bundle" else "charm"
    target = Path(flags.filepath or f"{charm.name}_r{charm.revision}.{suffix}")
    try:
        with cli.console.downloading(charm.name) as tell:
            what = f'{charm.kind} "{charm.name}"'
            shown = None if flags.no_progress else tell
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
    hints = _resources(cli, store, charm, target.parent) if flags.resources else []
    shown_path = str(target) if target.is_absolute() else f"./{target}"
    cli.console.info(
        f'Install the "{charm.name}" {charm.kind} with:\n    pushjuju deploy {" ".join([shown_path, *hints])}'
    )


def _download_flags(cli: Cli, args: tuple[str, ...], flags: DownloadFlags) -> bool:
    """Check the flags of `download`; return True when the archive is written to stdout."""
    if len(args) > 2 or (len(args) == 2 and args[1] != "-"):
        raise UsageError("expected a charm or bundle name, followed by hyphen to pipe to stdout")
    if flags.revision >= 0 and cli.given & {"arch", "base", "channel", "series"}:
        raise UsageError("--revision cannot be specified together with --arch, --base, --channel or --series")
    store_names.check_arch(flags.arch)
    to_stdout = len(args) == 2 or flags.filepath == "-"
    if to_stdout and flags.resources:
        raise UsageError("--resources cannot be used when the charm goes to stdout")
    return to_stdout


def _ask(cli: Cli, name: str, flags: DownloadFlags) -> Ask:
    base = values.base(flags.base, "" if flags.series == store_names.EVERY else flags.series, cli.console)
    arch = DEFAULT_ARCH if flags.arch == store_names.EVERY else flags.arch
    return Ask(
        name=name,
        channel=Channel.parse(flags.channel or "latest/stable"),
        revision=flags.revision,
        platform=Platform.of(base or charm_bases.DEFAULT_LTS, arch),
    )


def _located(cli: Cli, store: store_charms.CharmStore, ask: Ask, *, base_given: bool) -> StoreCharm:
    """Return the revision to download; a charm without the default base is found by its own base."""
    (found,) = store.resolve([ask])
    if not isinstance(found, HubError):
        return found
    if ask.revision >= 0:
        raise HubError(f"unable to locate {ask.name} revison {ask.revision}: {found.why}")
    if found.reason != "revision-not-found":
        hint = store_names.alike_hint(store, ask.name) if found.reason in store_names.NOT_THERE else ""
        raise HubError(f"unable to locate {ask.name}: {found.why}", detail=found.detail, hint=hint)
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
        raise HubError(f"unable to locate {ask.name}: {again.why}")
    return again


def _of_own_track(cli: Cli, store: store_charms.CharmStore, ask: Ask, base_given: bool) -> StoreCharm | None:
    """Return the revision in the default track of a charm that has no `latest`, for any of its bases."""
    asks = [replace(ask, channel=None)]
    if not base_given:
        asks.append(replace(asks[0], platform=replace(ask.platform, os="", track="")))
    for own in asks:
        (found,) = store.resolve([own])
        if not isinstance(found, HubError):
            cli.console.info(
                f'"{ask.name}" has no releases in channel "{_short(store_names.parsed_channel("stable"))}", '
                f'trying channel "{found.channel}"'
            )
            return found
    return None


def _same_channel(error: HubError, channel: Channel, arch: str) -> list[Base]:
    return [
        platform.base
        for release, platform in error.releases
        if release.full() == channel.full()
        and platform.arch in (arch, "", store_names.EVERY)
        and platform.base
    ]


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
    """Copy a file: the target appears whole, or not at all."""
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pushjuju-") as folder:
            shutil.copyfile(path, Path(folder) / "new").replace(target)
    except OSError as error:
        raise NotFound(f"cannot write {target}: {error.strerror}") from None


def _resources(cli: Cli, store: store_charms.CharmStore, charm: StoreCharm, folder: Path) -> list[str]:
    """Download the resources of a charm; return the flags that deploy it with them."""
    hints = []
    for item in charm.resources:
        if item.download.url:
            path = store_charms.cached(cli.env, store, item.download, f'resource "{item.name}"')
            target = folder / f"resource_{item.name}_r{item.revision}_{item.filename}"
            _copy(path, target)
            shown = str(target) if target.is_absolute() else f"./{target}"
            hints.append(f"--resource {item.name}={shown}")
    return hints
