"""The command autoload-credentials. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.commands.credential.credential_entries import upload
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.core.errors import NotFound, PushjujuError
from pushjuju.portable.natural import natural_key
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import plugin_host
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import credentials, definitions


@command(
    "autoload-credentials",
    usage="[<cloud-type>]",
    summary="Attempts to automatically detect and add credentials for a cloud.",
    at_most=1,
    flags=flags.CLIENT_OR_CONTROLLER,
    details="Reads the files and environment variables of the clouds' own tools: AWS, OpenStack, Google\n"
    "Cloud, Azure, DigitalOcean, and those of plugins. Secret values are never shown.",
    examples="    pushjuju autoload-credentials\n    pushjuju autoload-credentials ec2\n",
    see_also=("add-credential", "credentials", "default-credential", "remove-credential"),
)
def autoload_credentials(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str) -> None:
    where = scope.for_writing(cli, client=client, controller=controller)
    wanted = _type_meant(where, args[0].lower()) if args else ""
    cli.console.info("\nLooking for cloud and credential information on local client...")
    if where.ctx:
        name = quote(where.ctx.controller.name)
        cli.console.info(f"\nLooking for cloud information on controller {name}...")
    found = [
        (kind, item)
        for kind in sorted(where.host.provider_types(), key=lambda kind: kind.name)
        if wanted in ("", kind.name)
        for item in sorted(
            where.host.detect_credentials(kind.name, cli.env), key=lambda item: natural_key(item.name)
        )
    ]
    if not found:
        return cli.console.info("No cloud credentials found.")
    return _offer(cli, where, found)


def _type_meant(where: sides.Sides, word: str) -> str:
    """Return a cloud type; a cloud's name stands for the type of the cloud."""
    kinds = sorted(kind.name for kind in where.host.provider_types())
    if word in kinds:
        return word
    named = definitions.client_clouds(where.host, where.files).get(word)
    if named is None:
        raise NotFound(f"cloud type {quote(word)} not found", hint=f"known types: {', '.join(kinds)}")
    return named[1].type


def _offer(
    cli: Cli,
    where: sides.Sides,
    found: Sequence[tuple[plugin_host.ProviderType, plugin_host.DetectedCredential]],
) -> None:
    while True:
        lines = [
            f"{number}. {item.label} ({'new' if _is_new(where, kind, item) else 'existing, will overwrite'})"
            for number, (kind, item) in enumerate(found, 1)
        ]
        cli.console.info("\n" + "\n".join(lines))
        answer = _answer(cli, "Select a credential to save by number, or type Q to quit: ")
        if answer.lower() == "q":
            return
        if not answer:
            continue
        if not answer.isdecimal() or not 1 <= int(answer) <= len(found):
            cli.console.info(f"Invalid choice, enter a number between 1 and {len(found)}")
            continue
        kind, item = found[int(answer) - 1]
        default = next(iter(_clouds_of(where, kind)), "")
        name = _answer(cli, f"Select the cloud it belongs to, or type Q to quit [{default}]: ") or default
        if name.lower() == "q":
            return
        _save(cli, where, name, kind, item)


def _answer(cli: Cli, question: str) -> str:
    cli.console.stderr.write(question)
    cli.console.stderr.flush()
    line = cli.console.stdin.readline()
    cli.console.stderr.write("\n")
    return line.strip() if line else "q"


def _clouds_of(where: sides.Sides, kind: plugin_host.ProviderType) -> list[str]:
    listed = definitions.client_clouds(where.host, where.files).items()
    return sorted(name for name, (_, cloud) in listed if cloud.type == kind.name)


def _is_new(where: sides.Sides, kind: plugin_host.ProviderType, item: plugin_host.DetectedCredential) -> bool:
    clouds = _clouds_of(where, kind)
    return not any(item.name in where.files.credentials(cloud).credentials for cloud in clouds)


def _save(
    cli: Cli,
    where: sides.Sides,
    name: str,
    kind: plugin_host.ProviderType,
    item: plugin_host.DetectedCredential,
) -> None:
    if not name:
        return cli.console.info("No cloud name entered.")
    try:
        cloud, real = credentials.known_cloud(where, name)
    except PushjujuError as error:
        return cli.console.warn(error.message)
    if real.name != kind.name:
        return cli.console.warn(f"chosen credential not compatible with {quote(cloud.type)} cloud")
    stored = credentials.save_detected(where, cloud, kind, item)
    if where.client:
        cli.console.info(f"Saved {item.label} to cloud {name} locally")
    if where.ctx:
        upload(cli, where, cloud, kind, {item.name: stored}, "loaded")
    return None
