"""show-secret: shows details for a specific secret. Mirrors: juju cmd/juju/secrets (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret import secret_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.quote import quote_list
from pushjuju.services.views.listings import user_secrets as view


@command(
    "show-secret",
    usage="<ID>|<name>",
    summary="Shows details for a specific secret.",
    formats=("yaml", "json"),
    flags=(
        *flags.MODEL,
        flags.switch("reveal", "Reveal secret values, applicable to yaml or json formats only"),
        flags.switch("revisions", "Show the secret revisions metadata"),
        flags.number("revision", "Show the secret of this revision", short="r"),
    ),
    examples="    pushjuju show-secret my-secret\n    pushjuju show-secret my-secret --revision 2 --reveal\n",
    see_also=("secrets", "update-secret"),
)
def show_secret(
    cli: Cli, args: tuple[str, ...], *, model: str, reveal: bool, revisions: bool, revision: int
) -> None:
    if len(args) != 1:
        raise UsageError(
            "secret ID is required" if not args else f"unrecognized args: {quote_list(args[1:])}"
        )
    if reveal and revisions:
        raise UsageError("specify either --revisions or --reveal but not both")
    if revision and revisions:
        raise UsageError("specify either --revisions or --revision but not both")
    if "revision" in cli.given and revision <= 0:
        raise UsageError("revision must be a positive integer")
    opened = session.open_model(cli, model)
    document = view.show(opened.ctx, opened.uuid, args[0], reveal=reveal, every=revisions, number=revision)
    cli.output.text(formatters.secrets(cli.output.form, document))
