"""secrets: lists secrets available in the model. Mirrors: juju cmd/juju/secrets (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret import secret_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import NotValid
from pushjuju.core.model.secrets import OwnerKind
from pushjuju.portable.names import is_application, is_unit
from pushjuju.services.entities.secret import secrets as owners
from pushjuju.services.views.listings import user_secrets as view


@command(
    "secrets",
    summary="Lists secrets available in the model.",
    aliases=("list-secrets",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, flags.text("owner", "Include secrets for the specified owner")),
    details="Only show-secret shows the content of a secret.",
    examples="    pushjuju secrets\n    pushjuju secrets --owner application-mysql --format yaml\n",
    see_also=("add-secret", "remove-secret", "show-secret", "update-secret"),
)
def secrets(cli: Cli, _args: tuple[str, ...], *, model: str, owner: str) -> None:
    chosen = _owner(owner) if owner else None
    opened = session.open_model(cli, model)
    document = view.documents(opened.ctx, opened.uuid, chosen)
    if cli.output.form == "tabular":
        return cli.output.text(formatters.table(document, cli.clock.now()))
    return cli.output.text(formatters.secrets(cli.output.form, document))


def _owner(text: str) -> owners.Owner:
    """Parse the tag of an owner: `application-web`, `unit-web-0`, `model-UUID`."""
    kind, _, name = text.partition("-")
    unit = "/".join(name.rsplit("-", 1))
    if kind == "application" and is_application(name):
        return owners.Owner(kind=OwnerKind.APPLICATION, name=name)
    if kind == "unit" and is_unit(unit):
        return owners.Owner(kind=OwnerKind.UNIT, name=unit)
    if kind == "model" and name:
        return owners.MODEL
    raise NotValid(f'invalid owner "{text}"')
