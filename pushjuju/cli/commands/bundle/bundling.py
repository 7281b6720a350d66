"""What commands for bundles share: flags, and the list of changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.storage import Directive

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.bundles.plan.changes import Change

OVERLAY = flags.many("overlay", "Bundles to overlay on the primary bundle, applied in order")
NOT_THERE = "not in the bundle"  # key in `Cli.extra`, for `plan`


def storage(words: Iterable[str]) -> dict[str, dict[str, Directive]]:
    """Parse `APP:NAME=directive` words."""
    found: dict[str, dict[str, Directive]] = {}
    for word in words:
        name, _, text = word.partition("=")
        application, colon, store = name.partition(":")
        if not colon or not application or not store:
            raise UsageError(f'expected "application:name=constraints" for a bundle, got "{word}"')
        try:
            found.setdefault(application, {})[store] = Directive.parse(text)
        except NotValid as error:
            text = f'cannot parse constraints for storage "{store}": {error.message}'
            raise UsageError(text) from None
    return found


def tell_changes(cli: Cli, title: str, changes: Iterable[Change]) -> None:
    """Print changes on stdout, where scripts read them."""
    lines = (f"- {line}" for change in changes for line in change.lines)
    cli.output.text("".join(f"{line}\n" for line in (title, *lines)))
