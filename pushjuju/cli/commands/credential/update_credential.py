"""The command update-credential. Mirrors: juju cmd/juju/cloud/updatecredential.go (3.6)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pushjuju.cli.commands.credential.add_credential import (
    FILE,
    REGION,
    read_given,
    require_region,
)
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, scope, session
from pushjuju.core.clouds import (
    CloudCredentials,
    StoredCredential,
)
from pushjuju.core.errors import NotFound, NotValid, PushjujuError, Silent, UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import context, plugin_host
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import credentials
from pushjuju.workers.machine import credentials as trial


@command(
    "update-credential",
    usage="[<cloud name> [<credential name>]]",
    summary="Updates a controller credential for a cloud.",
    aliases=("update-credentials",),
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        *flags.LOGIN,
        FILE,
        REGION,
        flags.switch("force", "Force update controller side credential, ignore validation errors"),
    ),
    details="Models whose machines waited for a good credential go on.",
    examples="    pushjuju update-credential aws mysecrets -f mine.yaml\n",
    see_also=("add-credential", "credentials"),
)
def update_credential(
    cli: Cli,
    args: tuple[str, ...],
    *,
    client: bool,
    controller: str,
    file: str,
    region: str,
    force: bool,
) -> None:
    """Replace credentials that are there."""
    if len(args) > 2:
        raise UsageError("only a cloud name and / or credential name need to be provided")
    if not file and not args:
        raise UsageError("Usage: pushjuju update-credential [options] [<cloud-name> [<credential-name>]]")
    where = scope.for_writing(cli, client=client, controller=controller)
    found = _wanted(cli, where, args, file)
    ready: list[tuple[str, str, StoredCredential, plugin_host.ProviderType]] = []
    for cloud, entry in found.items():
        known, kind = credentials.known_cloud(where, cloud)
        if region and not force:
            require_region(known, region)
        if where.client and not where.files.credentials(cloud).credentials:
            cli.console.warn(f"Could not find client credentials for cloud {cloud}.")
            cli.console.info("Use `pushjuju add-credential` to add credentials to the client.")
            raise Silent
        for name, item in entry.credentials.items():
            if item.auth_type not in kind.credential_schemas:
                raise NotValid(f"credential {quote(name)} contains invalid auth type {quote(item.auth_type)}")
            ready.append(
                (
                    cloud,
                    name,
                    credentials.exchanged(where, known, credentials.finished(cloud, name, item, kind)),
                    kind,
                )
            )
    refused = _tried(cli, where, ready, force=force)
    for cloud, name, item, kind in ready:
        if (cloud, name) in refused:
            continue
        if where.client and file:
            credentials.keep(where.files, cloud, name, item, kind)
        if where.ctx:
            credentials.keep(where.ctx.controller.cloud_files, cloud, name, item, kind)
            cli.console.info(
                f"Controller credential {quote(name)} for user {quote(where.ctx.user)} on cloud "
                f"{quote(cloud)} updated.\n"
                f"For more information, see ‘pushjuju show-credential {cloud} {name}’."
            )
    if where.client and not refused:
        cli.console.info("Local client was updated successfully with provided credential information.")
    _wake(cli, where, {(cloud, name) for cloud, name, _, _ in ready} - refused)
    if refused:
        raise Silent


def _tried(
    cli: Cli,
    where: sides.Sides,
    ready: Sequence[tuple[str, str, StoredCredential, plugin_host.ProviderType]],
    *,
    force: bool,
) -> set[tuple[str, str]]:
    """Try credentials on the models that they are for; return those that may not be kept."""
    refused: set[tuple[str, str]] = set()
    for cloud, name, item, _ in ready:
        found = _problems(cli, where, cloud, name, item)
        good = [model for model, problems in found.items() if not problems]
        bad = {model: problems for model, problems in sorted(found.items()) if problems}
        for line in (["Credential valid for:"] if good else []) + [f"  {model}" for model in good]:
            cli.console.info(line)
        for line in _bad_lines(bad, force=force):
            cli.console.info(line)
        if bad and not force:
            refused.add((cloud, name))
            whose = (
                f"Controller credential {quote(name)} for user {quote(where.ctx.user)} for cloud "
                f"{quote(cloud)} on controller {quote(where.ctx.controller.name)}"
                if where.ctx
                else f"Credential {quote(name)} for cloud {quote(cloud)}"
            )
            cli.console.warn(f"{whose} not updated: some models are no longer visible.")
    return refused


def _bad_lines(bad: Mapping[str, Sequence[str]], *, force: bool) -> list[str]:
    if not bad:
        return []
    when = "." if force else " before repeating this update."
    return [
        "Credential invalid for:",
        *(line for model, found in bad.items() for line in (f"  {model}:", *(f"    {one}" for one in found))),
        "Failed models may require a different credential.",
        f"Use ‘pushjuju set-credential’ to change credential for these models{when}",
    ]


def _meant(cli: Cli, where: sides.Sides) -> Iterator[context.Context]:
    """Open the controllers whose models may use what changes; a warning names one that cannot be read."""
    if where.ctx:
        yield where.ctx
        return
    for name in where.folder.controllers():
        try:
            yield session.open_controller(cli, name)
        except PushjujuError as error:
            what = "Whether a credential of its models changes cannot be told."
            session.warn_of_controller(cli, name, error, what)


def _problems(
    cli: Cli, where: sides.Sides, cloud: str, name: str, item: StoredCredential
) -> dict[str, list[str]]:
    """Return model -> what is wrong with a credential for it, for all models that will use it."""
    found: dict[str, list[str]] = {}
    for ctx in _meant(cli, where):
        if not where.ctx and name in ctx.controller.cloud_files.credentials(cloud).credentials:
            continue  # it has one of its own
        for model in credentials.models_using(ctx, cloud, name):
            found[model.name] = trial.problems(ctx, where.host, model, name, item, warn=cli.console.warn)
    return found


def _wake(cli: Cli, where: sides.Sides, changed: set[tuple[str, str]]) -> None:
    """Let machines be tried anew that the cloud refused because of a credential that changed."""
    for ctx in _meant(cli, where):
        if credentials.renew_models(ctx, changed):
            drive.background(cli, ctx)


def _wanted(cli: Cli, where: sides.Sides, args: tuple[str, ...], file: str) -> dict[str, CloudCredentials]:
    """Return the credentials that a file, or the client, has for the names."""
    source = f"file {file}" if file else "local client cache"
    stored = read_given(cli, file) if file else where.files.all_credentials()
    if args:
        if args[0] not in stored:
            raise NotFound(f"credentials for cloud {quote(args[0])} in {source} not found")
        stored = {args[0]: stored[args[0]]}
    if len(args) < 2:
        return stored
    item = stored[args[0]].credentials.get(args[1])
    if item is None:
        raise NotFound(f"credential {quote(args[1])} for cloud {quote(args[0])} in {source} not found")
    return {args[0]: CloudCredentials(credentials={args[1]: item})}
