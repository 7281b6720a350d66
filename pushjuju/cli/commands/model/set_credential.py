"""The command set-credential. Mirrors: juju cmd/juju/model/modelcredential.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, scope, session
from pushjuju.core.clouds import StoredCredential
from pushjuju.core.errors import NotValid
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.cloud import opened as opened_clouds
from pushjuju.services.requests.cloud import credentials
from pushjuju.workers.machine import credentials as trial


@command(
    "set-credential",
    usage="<cloud name> <credential name>",
    summary="Relates a remote credential to a model.",
    at_least=(2, "Usage: pushjuju set-credential [options] <cloud name> <credential name>"),
    at_most=2,
    flags=(*flags.MODEL, *flags.LOGIN),
    details="Machines that are there are worked with the new credential from now on.",
    examples="    pushjuju set-credential lab kim\n",
    see_also=("credentials", "show-credential", "update-credential"),
)
def set_credential(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Use another credential for a model."""
    cloud, name = args
    opened = session.open_model(cli, model)
    if cloud != opened.model.cloud:
        raise NotValid(f'cloud "{cloud}" does not match the cloud "{opened.model.cloud}" of the model')
    places = clouds.folders(opened.ctx.datadir, opened.ctx.controller)
    found = opened_clouds.open_credential(places, cloud, name)
    host = scope.host(cli)
    stored = StoredCredential(auth_type=found.auth_type, attributes=dict(found.attributes))
    if problems := trial.problems(opened.ctx, host, opened.model, name, stored, warn=cli.console.warn):
        raise NotValid(f'credential "{name}" cannot be used for model {opened.model.name}: {problems[0]}')
    woken = credentials.set_credential(opened.ctx, opened.uuid, name)
    cli.console.info(
        f"Changed cloud credential on model {opened.model.qualified!r} to {name!r}.".replace("'", '"')
    )
    if woken:
        drive.background(cli, opened.ctx)
