"""The command update-credential. Mirrors: juju cmd/juju/cloud/updatecredential.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from pushjuju.cli.commands.credential.add_credential import FILE, REGION, read_given
from pushjuju.cli.commands.credential.trial import credential_trial
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, scope, session
from pushjuju.core.errors import Silent, UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import update_credentials as request


@command(
    "update-credential",
    usage="[<cloud name> [<credential name>]]",
    summary="Updates a controller credential for a cloud.",
    aliases=("update-credentials",),
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        FILE,
        REGION,
        flags.switch("force", "Force update controller side credential, ignore validation errors"),
    ),
    details="Models that wait for a valid credential go on.",
    examples="    pushjuju update-credential aws mysecrets -f mine.yaml\n",
    see_also=("add-credential", "credentials"),
)
def update_credential(
    cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, file: str, region: str, force: bool
) -> None:
    if len(args) > 2:
        raise UsageError("only a cloud name and / or credential name need to be provided")
    if not file and not args:
        raise UsageError("Usage: pushjuju update-credential [options] [<cloud-name> [<credential-name>]]")
    where = scope.for_writing(cli, client=client, controller=controller)
    source = f"file {file}" if file else "local client cache"
    stored = read_given(cli, file) if file else where.files.all_credentials()
    options = request.UpdateCredentialsOptions(
        credentials=request.chosen(stored, source, args), region=region, force=force, new=bool(file)
    )
    try:
        report = request.update(
            where, options, partial(session.open_controller, cli), credential_trial(cli, where.host)
        )
    except request.NoneOnClient as error:
        cli.console.warn(error.message)
        cli.console.info("Use `pushjuju add-credential` to add credentials to the client.")
        raise Silent from None
    _tell(cli, where, report, force=force)
    for ctx in report.woken:
        drive.background(cli, ctx)
    if report.is_refused:
        raise Silent


def _tell(cli: Cli, where: sides.Sides, report: request.UpdateReport, *, force: bool) -> None:
    what = "Whether a credential of its models changes cannot be told."
    session.warn_of_controllers(cli, report.unread, what)
    for result in report.results:
        _tell_tried(cli, where, result, force=force)
    for cloud, name in ((each.cloud, each.name) for each in report.results if not each.refused):
        if where.ctx:
            cli.console.info(
                f"Controller credential {quote(name)} for user {quote(where.ctx.user)} on cloud "
                f"{quote(cloud)} updated.\n"
                f"For more information, see ‘pushjuju show-credential {cloud} {name}’."
            )
    if where.client and not report.is_refused:
        cli.console.info("Local client was updated successfully with provided credential information.")


def _tell_tried(cli: Cli, where: sides.Sides, result: request.Updated, *, force: bool) -> None:
    """Print for which models a credential is valid."""
    good = [model for model, problems in result.models.items() if not problems]
    bad = {model: problems for model, problems in sorted(result.models.items()) if problems}
    for line in (["Credential valid for:"] if good else []) + [f"  {model}" for model in good]:
        cli.console.info(line)
    for line in _bad_lines(bad, force=force):
        cli.console.info(line)
    if result.refused:
        whose = (
            f"Controller credential {quote(result.name)} for user {quote(where.ctx.user)} for cloud "
            f"{quote(result.cloud)} on controller {quote(where.ctx.controller.name)}"
            if where.ctx
            else f"Credential {quote(result.name)} for cloud {quote(result.cloud)}"
        )
        cli.console.warn(f"{whose} not updated: some models are no longer visible.")


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
