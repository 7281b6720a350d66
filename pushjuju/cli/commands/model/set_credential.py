"""The command set-credential. Mirrors: juju cmd/juju/model/modelcredential.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.credential.trial import credential_trial
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, scope, session
from pushjuju.services.requests.cloud import credentials


@command(
    "set-credential",
    usage="<cloud name> <credential name>",
    summary="Relates a remote credential to a model.",
    at_least=(2, "Usage: pushjuju set-credential [options] <cloud name> <credential name>"),
    at_most=2,
    flags=flags.IN_MODEL,
    details="The model uses the new credential for all its machines from now on.",
    examples="    pushjuju set-credential lab kim\n",
    see_also=("credentials", "show-credential", "update-credential"),
)
def set_credential(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    cloud, name = args
    opened = session.open_model(cli, model)
    trial = credential_trial(cli, scope.host(cli))
    woken = credentials.set_credential(opened.ctx, opened.model, cloud, name, trial)
    cli.console.info(
        f"Changed cloud credential on model {opened.model.qualified!r} to {name!r}.".replace("'", '"')
    )
    if woken:
        drive.background(cli, opened.ctx, opened.uuid)
