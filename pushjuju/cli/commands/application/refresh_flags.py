"""The flags of refresh."""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshFlags:
    """The flags of refresh on the command line."""

    model: str
    force: bool = flags.switch("force", "Allow a charm to be refreshed past checks of safety")
    force_units: bool = flags.switch("force-units", "Refresh all units immediately, even if in error state")
    force_base: bool = flags.switch(
        "force-base",
        "Refresh even if the base of the application is not supported by the charm",
        aliases=("force-series",),
    )
    base: str = flags.text("base", "Select a different base than what is currently running")
    channel: str = flags.text("channel", "Channel to use when getting the charm from Charmhub")
    switch: str = flags.text("switch", "Crossgrade to a different charm")
    path: str = flags.text("path", "Refresh to a charm located at path")
    allow_build_scripts: bool
    revision: int = flags.number("revision", "Explicit revision of current charm", default=-1)
    resource: dict[str, str] = flags.many(
        "resource", "Resource to be uploaded to the controller", kind=Kind.KEY_VALUE, default=""
    )
    storage: tuple[str, ...]
    config: tuple[str, ...]
    bind: str = flags.text("bind", "Configure application endpoint bindings to spaces")
    trust: bool | None
    no_wait: bool
