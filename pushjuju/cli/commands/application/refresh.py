"""refresh: refresh an application's charm.

Mirrors: juju cmd/juju/application deploy.go, refresh.go (3.6)
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushjuju.cli.commands.application import refreshing
from pushjuju.cli.commands.application.charm_flags import CONFIG, bindings_of, warn_all
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import session
from pushjuju.core.base import Base
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application
from pushjuju.services.requests import refresh as service


@command(
    "refresh",
    usage="<application>",
    summary="Refresh an application's charm.",
    at_least=(1, "no application specified"),
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("force", "Allow a charm to be refreshed past checks of safety"),
        flags.switch("force-units", "Refresh all units immediately, even if in error state"),
        flags.switch(
            "force-base", "Refresh even if the base of the application is not supported by the charm",
            aliases=("force-series",),
        ),
        flags.text("base", "Select a different base than what is currently running"),
        flags.text("channel", "Channel to use when getting the charm from Charmhub"),
        flags.text("switch", "Crossgrade to a different charm"),
        flags.text("path", "Refresh to a charm located at path"),
        flags.BUILD_SCRIPTS,
        flags.number("revision", "Explicit revision of current charm", default=-1),
        flags.many("resource", "Resource to be uploaded to the controller", kind=Kind.KEY_VALUE, default=""),
        flags.STORAGE,
        CONFIG,
        flags.text("bind", "Configure application endpoint bindings to spaces"),
        FlagSpec(
            name="trust", kind=Kind.OPTIONAL_BOOL, default="unset",
            help="Allows charm to run hooks that require access credentials",
        ),
        *flags.NO_WAIT,
    ),
    details="A charm of a store goes to the newest revision of its channel, or of the one that --channel\n"
    "names. A local charm needs --path or --switch. Only what the new charm changes is sent to the\n"
    "machines. With --base future units run on another base; those that are there stay as they are.",
    examples="    pushjuju refresh postgresql --channel 16/stable\n    pushjuju refresh web --path ./web\n"
    "    pushjuju refresh web --switch ./other\n",
    see_also=("deploy",),
)  # fmt: skip
def refresh(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool, **options: Any) -> None:
    """Put an application on another revision of its charm."""
    name = args[0]
    _check_refresh(name, options)
    given = values.settings(options["config"])
    if len(given.files) > 1:
        raise UsageError("only one config file can be given to refresh")
    opened = session.open_model(cli, model)

    known = refreshing.look(opened, name)
    refreshing.check_switch(known, options)
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
        found = refreshing.get_charm(cli, opened, known, options, Path(folder))
        request = service.RefreshRequest(
            application=name,
            packed=found.packed,
            switch=bool(options["switch"]),
            force_units=options["force_units"],
            force=options["force"],
            force_base=options["force_base"],
            values=given.values,
            file=given.files[0] if given.files else None,
            trust=options["trust"],
            resources=found.files,
            storage=values.storage(options["storage"]),
            bind=bindings_of(options["bind"]),
            origin=found.origin,
            store_resources=found.resources,
            asked_resources=tuple(found.options),
            base=Base.parse(options["base"]) if options["base"] else None,
        )
        if refreshing.stays(known, found):
            if not refreshing.stay(cli, opened, request, found, by_revision="revision" in cli.given):
                return
        else:
            revision, warnings = service.refresh(opened.ctx, opened.uuid, request)
            warn_all(cli, (*found.packed.charm.warnings, *warnings))
            refreshing.tell_added(cli, found, revision)
    refreshing.settle(cli, opened, name, options, no_wait=no_wait)


def _check_refresh(name: str, options: Mapping[str, Any]) -> None:
    if not is_application(name):
        raise UsageError(f'invalid application name "{name}"')
    pairs = (("switch", "revision"), ("path", "revision"), ("switch", "path"))
    given = {key: options[key] not in ("", -1) for key in ("switch", "path", "revision")}
    for left, right in pairs:
        if given[left] and given[right]:
            raise UsageError(f"--{left} and --{right} are mutually exclusive")
