"""retry-provisioning: retries provisioning for failed machines. Mirrors: juju cmd/juju/machine (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import UsageError
from pushjuju.services.requests.machine import provisioning


@command(
    "retry-provisioning",
    usage="<machine> [...]",
    summary="Retries provisioning for failed machines.",
    flags=(*flags.MODEL, flags.switch("all", "Retry provisioning all failed machines", dest="every")),
    examples="    pushjuju retry-provisioning 0\n    pushjuju retry-provisioning --all\n",
)
def retry_provisioning(cli: Cli, args: tuple[str, ...], *, model: str, every: bool) -> None:
    if bool(args) == every:
        raise UsageError("specify machines or --all" if every else "no machine specified")
    opened = session.open_model(cli, model)
    names = provisioning.retry_provisioning(opened.ctx, opened.uuid, args)
    drive.settle(cli, opened.ctx, opened.uuid, touched=names)
