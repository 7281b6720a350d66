"""model-config: displays or sets configuration values on a model.

Mirrors: juju cmd/juju/model/config.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pushjuju.cli.commands.config import config_arguments, provider_keys
from pushjuju.cli.commands.config import config_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import render
from pushjuju.cli.work import drive, session, subjects
from pushjuju.core.errors import NotFound
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.machine import spaces
from pushjuju.services.entities.model import (
    firewall,
    jump_hosts,
    model_config,
    model_defaults,
    new_models,
)
from pushjuju.services.entities.secret import secret_backends
from pushjuju.services.requests import consume

# Keys whose change is worked at once.
_WORKED = {firewall.SSH_ALLOW, firewall.SAAS_ALLOW, secret_backends.KEY, jump_hosts.KEY}


@command(
    "model-config",
    usage="[<model-key>[=<value>] ...]",
    summary="Displays or sets configuration values on a model.",
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        *flags.CONFIG,
        flags.switch("ignore-read-only-fields", "Ignore read only fields that might cause errors"),
    ),
    examples="    pushjuju model-config\n    pushjuju model-config update-status-hook-interval=10m\n"
    "    pushjuju model-config --reset mode\n",
    see_also=("models", "model-constraints"),
)
def model_config_command(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    file: str,
    reset: tuple[str, ...],
    ignore_read_only_fields: bool,
) -> None:
    """Get, set or reset the configuration of a model."""
    options = config_arguments.parse(args, file=file, reset=reset)
    opened = session.open_model(cli, model)
    if options.change:
        session.require_change(opened)
        settings = opened.ctx.controller.settings()
        changes = _changes(cli, options, skip_read_only=ignore_read_only_fields)
        _check_keys(cli, opened, changes, options.reset)
        with opened.ctx.store.write() as tx:
            spaces.check_default(tx, opened.uuid, changes)
            model_config.change(
                tx,
                opened.uuid,
                changes,
                options.reset,
                inherited={
                    **(
                        new_models.provider_config(opened.ctx, opened.model.cloud_type)
                        if options.reset
                        else {}
                    ),
                    **model_defaults.inherited(settings, opened.model.cloud, opened.model.region),
                },
            )
            if secret_backends.KEY in {*changes, *options.reset}:
                secret_backends.follow(tx, opened.uuid, cli.clock.now())
            wake.all_units(tx, opened.uuid, cli.clock.now(), "model config changed")
            firewall.changed_everywhere(tx, opened.uuid, cli.clock.now(), "model config changed")
            consume.config_changed(tx, opened.uuid, cli.clock.now())
            if jump_hosts.KEY in {*changes, *options.reset}:
                jump_hosts.changed(tx, opened.uuid, cli.clock.now())
        if not drive.waits(cli):
            drive.background(cli, opened.ctx)
        elif _WORKED & {*changes, *options.reset}:
            drive.settle(cli, opened.ctx, opened.uuid, touched=subjects.EVERY_MACHINE)
        return
    with opened.ctx.store.read() as tx:
        document = model_config.effective(tx, opened.uuid, _inherited(opened))
    _show(cli, document, options.key, opened.model.name)


def _inherited(opened: session.Session) -> dict[str, dict[str, Any]]:
    """Return what the model may have from above, the nearest last."""
    settings, model = opened.ctx.controller.settings(), opened.model
    return {
        "controller": model_defaults.of_cloud(settings, model.cloud),
        "region": model_defaults.of_region(settings, model.cloud, model.region),
    }


def _check_keys(cli: Cli, opened: session.Session, changes: dict[str, Any], reset: Iterable[str]) -> None:
    """Warn of unknown keys; like Juju, set them all the same.

    Raises:
        NotValid: The cloud's provider knows a key, and not this value of it.
    """
    names = (*changes, *reset)
    theirs = provider_keys.of(cli, names, opened.model.cloud_type)
    provider_keys.check(theirs, changes)
    with opened.ctx.store.read() as tx:
        present = model_config.effective(tx, opened.uuid)
    for key in provider_keys.unknown(names, theirs, present):
        cli.console.warn(
            f'key "{key}" is not defined in the current model configuration: possible misspelling'
        )


def _changes(cli: Cli, options: config_arguments.ConfigArgs, *, skip_read_only: bool) -> dict[str, Any]:
    """Return the new values: the file's first, then those of the command line."""
    merged: dict[str, Any] = {}
    if options.file:
        for key, entry in values.yaml_map(
            values.read_file(options.file, cli.console.stdin), options.file
        ).items():
            # The form that `model-config --format yaml` prints is taken back.
            merged[key] = entry["value"] if isinstance(entry, dict) and "value" in entry else entry
    merged.update(options.values)
    if skip_read_only:
        merged = {key: value for key, value in merged.items() if key not in model_config.READ_ONLY}
    return merged


def _show(cli: Cli, document: dict[str, dict[str, Any]], key: str, model: str) -> None:
    if not key:
        return cli.output.write(document, formatters.model_formatters(colour=cli.output.colour))
    if key not in document:
        raise NotFound(f'key "{key}" not found in "{model}" model.')
    if cli.output.form == "tabular":
        return cli.output.text(render("smart", document[key]["value"]) or "\n")
    return cli.output.write({key: document[key]}, formatters.model_formatters())
