"""The file of a bundle that a command names, and what is in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.check import stored_charms
from pushjuju.services.bundles.read import load as reader
from pushjuju.services.bundles.read.source import is_bundle

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.cli.work.session import Session
    from pushjuju.core.base import Base
    from pushjuju.services.bundles.read.load import Loaded


def of_store(
    cli: Cli,
    opened: Session,
    name: str,
    *,
    channel: str,
    revision: int = -1,
    base: Base | None = None,
    arch: str = "",
) -> tuple[Path, str]:
    """Bring a bundle of the model's store; return its file and its URL.

    Raises:
        HubError: The store has no such bundle, or cannot be reached; the messages are Juju's.
    """
    path, found, number = stored_charms.bring_bundle(
        opened.ctx, opened.uuid, name, channel=channel, revision=revision, base=base, arch=arch
    )
    cli.console.info(f'Located bundle "{found}" in charm-hub, revision {number}')
    return path, f"ch:bundle/{found}-{number}"


def find(cli: Cli, opened: Session, argument: str, **options: Any) -> tuple[str, str]:
    """Return the path of a bundle, and its URL when it came from the model's store.

    A word that names a file or directory means that; another is a name of the store.

    Args:
        cli: The call.
        opened: The model.
        argument: The word.
        options: Facts that only a store can answer, by name; the arguments of `of_store`.

    Raises:
        NotFound: The path does not exist.
        NotValid: The path is not a bundle.
        UsageError: A file, and flags for a store.
    """
    path = Path(argument).expanduser()
    if is_bundle(path):
        given = [f"--{key}" for key, value in options.items() if value not in ("", -1, None)]
        if given:
            raise UsageError(f"{', '.join(given)} is for bundles of a store; this one is a file")
        return argument, ""
    if path.exists():
        raise NotValid(f"couldn't interpret {quote(argument)} as a local bundle")
    if not is_application(argument.removeprefix("ch:")):
        raise NotFound(
            f"{quote(argument)} not found",
            hint="name the file or directory of a bundle, or a bundle of the store",
        )
    found, url = of_store(cli, opened, argument, **options)
    return str(found), url


def load(cli: Cli, argument: str, overlays: Iterable[str], *, dry_run: bool) -> Loaded:
    """Read a bundle; on a dry run print which of its keys are ignored.

    Raises:
        NotFound, NotValid: The bundle is not there, or cannot be read; broken rules are listed together.
    """
    loaded = reader.examine(Path(argument).expanduser(), list(overlays))
    if dry_run and loaded.ignored:
        lines = "\n".join(f" {line}" for line in loaded.ignored)
        cli.console.warn(f"These fields\n{lines}\nwill be ignored during deployment")
    return loaded
