"""The flags with which deploy and refresh name a charm."""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.core.values import dataclass

CONFIG = flags.many(
    "config", "Configuration, key=value or a YAML file; repeatable", kind=Kind.KEY_VALUE_OR_FILE, default=""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployFlags:
    model: str
    to: str
    attach_storage: tuple[str, ...]
    num_units: int = flags.number(
        "num-units", "Number of application units to deploy for principal charms", default=1, short="n"
    )
    channel: str = flags.text("channel", "Channel to use when deploying a charm or bundle from Charmhub")
    config: tuple[str, ...]
    trust: bool = flags.switch("trust", "Allows charm to run hooks that require access credentials")
    overlay: tuple[str, ...]
    constraints: tuple[str, ...] = flags.many(
        "constraints", "Set application constraints", kind=Kind.CONSTRAINTS, default=""
    )
    series: str = flags.text("series", "The series on which to deploy (deprecated)")
    base: str = flags.text("base", "The base on which to deploy")
    revision: int = flags.number("revision", "The revision to deploy", default=-1)
    dry_run: bool = flags.switch("dry-run", "Just show what the deploy would do")
    force: bool = flags.switch("force", "Allow a charm to be deployed on a base that the charm does not name")
    storage: tuple[str, ...]
    device: dict[str, str] = flags.many("device", "For Kubernetes only", kind=Kind.KEY_VALUE, default="")
    resource: dict[str, str] = flags.many(
        "resource", "Resource to be uploaded to the controller", kind=Kind.KEY_VALUE, default=""
    )
    bind: str = flags.text("bind", "Configure application endpoint bindings to spaces")
    allow_build_scripts: bool
    map_machines: str = flags.text(
        "map-machines", "Specify the existing machines to use for bundle deployments"
    )
    no_wait: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshFlags:
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
