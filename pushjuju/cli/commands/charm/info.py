"""info: displays detailed information about CharmHub charms. Mirrors: juju cmd/juju/charmhub (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.charms.hub import catalogue
from pushjuju.cli.commands.charm import charm_table as formatters
from pushjuju.cli.commands.charm import store_names
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.base import Base
from pushjuju.core.charmstore import HubError
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.portable.gotypes import Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoFlags:
    arch: str = flags.text(
        "arch", f"Specify an arch <{'|'.join(store_names.STORE_ARCHES)}>", default=store_names.EVERY
    )
    series: str = flags.text("series", "Specify a series (deprecated)", default=store_names.EVERY)
    base: str = flags.text("base", "Specify a base")
    channel: str = flags.text("channel", "Specify a channel to use instead of the default release")
    config: bool = flags.switch("config", "Display config for this charm")
    unicode: str = flags.text("unicode", "Display output using unicode <auto|never|always>", default="auto")
    revision: int = flags.number("revision", "Show one revision", default=-1)
    track: str = flags.text("track", "Show one track")
    charmhub_url: str


@command(
    "info",
    usage="<charm>",
    summary="Displays detailed information about CharmHub charms.",
    at_least=(1, "expected a charm or bundle name"),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.CHARMHUB,),
    details="Channels of a track are listed from the safest to the newest. An arrow: the channel has the\n"
    "same revision as the channel above; a dash: the channel has no release.",
    examples="    pushjuju info postgresql\n    pushjuju info --config postgresql --channel 14/stable\n",
    into=InfoFlags,
    see_also=("find", "download"),
)
def info(cli: Cli, args: tuple[str, ...], flags: InfoFlags) -> None:
    base = _info_flags(cli, flags)
    name = store_names.store_name(args[0], what="Charm Hub")
    if flags.channel:
        store_names.parsed_channel(flags.channel)
    try:
        store = store_names.open_store(cli, flags.charmhub_url)
        document = store.info(name, flags.channel)
    except HubError as error:
        if error.reason in store_names.NOT_THERE:
            what = f'No information found for charm or bundle with the name "{name}"'
            raise HubError(what, reason=error.reason, hint=store_names.alike_hint(store, name)) from None
        raise
    entry = catalogue.info_document(document)
    arch = "" if flags.arch == store_names.EVERY else flags.arch
    entry = _narrowed(entry, flags, arch=arch, base=base)
    unicode = flags.unicode == "always" or (flags.unicode == "auto" and _speaks_unicode(cli))

    def text(_document: Any) -> str:
        if not flags.config:  # yaml and json have the options in any case
            entry.get("charm", {}).pop("config", None)
        return formatters.info_text(entry, arch=arch, base=base.display if base else "", unicode=unicode)

    cli.output.write(Struct(entry.items()), {"tabular": text})


def _info_flags(cli: Cli, flags: InfoFlags) -> Base | None:
    """Check the flags of `info`; return the base that they name."""
    if flags.unicode not in ("auto", "never", "always"):
        raise UsageError(f'unexpected unicode flag value "{flags.unicode}", expected <auto|never|always>')
    store_names.check_arch(flags.arch)
    if cli.given & {"revision", "track"} and cli.given & {"arch", "base", "channel", "series"}:
        raise UsageError(
            "--revision and --track cannot be specified together with --arch, --base or --channel"
        )
    return values.base(flags.base, "" if flags.series == store_names.EVERY else flags.series, cli.console)


def _speaks_unicode(cli: Cli) -> bool:
    env = cli.env
    return "utf" in (env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "").lower()


def _narrowed(entry: dict[str, Any], flags: InfoFlags, *, arch: str, base: Base | None) -> dict[str, Any]:
    """Return an entry with only the channels that the flags name."""
    wanted = {"name": base.os, "channel": base.track} if base else None

    def keeps(track: str, item: Mapping[str, Any]) -> bool:
        return (
            (not arch or arch in item["architectures"] or store_names.EVERY in item["architectures"])
            and (wanted is None or wanted in item["bases"])
            and (flags.revision < 0 or item["revision"] == flags.revision)
            and (not flags.track or track == flags.track)
        )

    listed = {
        track: {
            risk: [item for item in items if keeps(track, item)]
            for risk, items in risks.items()
            if any(keeps(track, item) for item in items)
        }
        for track, risks in entry["channels"].items()
    }
    tracks = [track for track in entry["tracks"] if listed[track] or not (flags.track or arch or base)]
    return {**entry, "channels": {track: listed[track] for track in tracks}, "tracks": tracks}
