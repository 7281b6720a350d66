"""mirror: writes charms and their resources into a directory, or serves it."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pushjuju.charms.archive import bundles
from pushjuju.charms.format import url
from pushjuju.cli.commands.charm.store_names import open_store
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.base import Channel
from pushjuju.core.charmstore import DEFAULT_ARCH, Platform
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.services.bundles import mirroring


@command(
    "mirror",
    usage="<directory> [<charm>[@<channel>] | <bundle file> ...]",
    summary="Writes charms and their resources into a directory, or serves it.",
    at_least=(1, "expected a directory"),
    flags=(
        flags.text("channel", "The channel of the charms that are given without a channel"),
        flags.many("base", "A base to mirror for; repeatable. By default the first base that a charm names"),
        flags.text("arch", "The architecture to mirror for", default=DEFAULT_ARCH),
        flags.text("serve", "Serve the directory at HOST:PORT until it is interrupted"),
        *flags.CHARMHUB,
    ),
    details="A model gets its charms from a mirror when the model is made with\n"
    "    --config charmhub-url=file:///srv/charms            a directory on this computer\n"
    "    --config charmhub-url=mirror+http://HOST/charms     the same behind any web server\n"
    "The file of a bundle stands for all store charms in the bundle. Charms in the directory stay there\n"
    "and are not fetched again.",
    examples="    pushjuju mirror /srv/charms postgresql@14/stable grafana-agent --base ubuntu@22.04\n"
    "    pushjuju mirror /srv/charms --serve 0.0.0.0:8080\n",
    see_also=("deploy", "download"),
)
def mirror(
    cli: Cli,
    args: tuple[str, ...],
    *,
    channel: str,
    base: tuple[str, ...],
    arch: str,
    serve: str,
    charmhub_url: str,
) -> None:
    folder = Path(args[0]).expanduser()
    if not args[1:] and not serve:
        raise UsageError("expected the names of charms, or --serve")
    address = _address(serve) if serve else None
    bases = [values.base(text, "", cli.console) for text in base]
    platforms = tuple(Platform.of(item, arch) for item in bases) or (Platform(arch=arch),)
    wanted = [item for text in args[1:] for item in _wanted(text, channel, platforms)]
    if wanted:
        store = open_store(cli, charmhub_url)
        with cli.console.downloading("mirror") as tell:
            done = mirroring.mirror(store, wanted, folder, environ=cli.env, tell=tell)
        for item in done:
            what = f'"{item.charm.name}" revision {item.charm.revision} in channel {item.charm.channel}'
            more = f" with {len(item.resources)} resources" if item.resources else ""
            cli.console.info(f"{'Mirrored' if item.new else 'Already there:'} {what}{more}")
    if address is not None:
        _serve(cli, folder, address)


def _wanted(text: str, channel: str, platforms: tuple[Platform, ...]) -> list[mirroring.Wanted]:
    """Return the charms that an argument names: a charm, or all charms of a bundle's file."""
    if text.startswith((".", "/", "~")) or Path(text).suffix in (".yaml", ".yml", ".zip"):
        if not bundles.is_bundle(Path(text).expanduser()):
            raise NotFound(f'no bundle was found at "{text}"', hint="charms are named as in the store")
        return mirroring.of_bundle(Path(text).expanduser(), platforms[0].arch)

    name, _, own = text.partition("@")
    chosen = own or channel
    if chosen:
        Channel.parse(chosen)
    return [mirroring.Wanted(name=url.parse_url(name).name, channel=chosen, platforms=platforms)]


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f'expected HOST:PORT for --serve, got "{text}"')
    return host.strip("[]"), int(port)


def _serve(cli: Cli, folder: Path, address: tuple[str, int]) -> None:
    """Serve a mirror until Ctrl-C."""
    server = make_server(folder, address)
    host, port = server.server_address[:2]
    cli.console.info(
        f"Serving {folder} for models with the setting charmhub-url=mirror+http://{host!s}:{port}"
    )
    cli.on_interrupt = ""
    with server:
        server.serve_forever()


def make_server(folder: Path, address: tuple[str, int]) -> ThreadingHTTPServer:
    """Return a server for the files of a mirror."""
    mirroring.require(folder)

    class Handler(SimpleHTTPRequestHandler):
        """Serves the files of a mirror: no folder listings, no links out of the mirror, no log."""

        extensions_map = {"": "application/octet-stream", ".json": "application/json"}  # noqa: RUF012

        def log_message(self, *_words: object) -> None:
            """Write no log."""

        def translate_path(self, path: str) -> str:
            found = Path(super().translate_path(path))
            inside = found.resolve().is_relative_to(folder.resolve()) and found.is_file()
            return str(found) if inside else str(folder / "none")

    try:
        return ThreadingHTTPServer(address, partial(Handler, directory=str(folder)))
    except OSError as error:
        raise NotFound(f"cannot serve at {address[0]}:{address[1]}: {error.strerror}") from None
