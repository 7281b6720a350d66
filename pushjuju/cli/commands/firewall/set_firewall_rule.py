"""set-firewall-rule: sets a firewall rule. Mirrors: juju cmd/juju/firewall (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.firewall import list_firewall_rules
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, failures, session
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.firewall import parse_cidr
from pushjuju.portable.quote import quote
from pushjuju.services.requests.model import model_config


@command(
    "set-firewall-rule",
    usage="<service-name>",
    summary="Sets a firewall rule.",
    at_least=(1, "no well known service specified"),
    at_most=1,
    flags=(
        *flags.MODEL,
        flags.text("allowlist", "Networks that may reach the service, comma separated"),
        flags.text("whitelist", "The old name of --allowlist"),
        *flags.NO_WAIT,
    ),
    details="The services are ssh and juju-application-offer. Deprecated: set ssh-allow or\n"
    "saas-ingress-allow with model-config.",
    examples="    pushjuju set-firewall-rule ssh --allowlist 192.168.0.0/16\n",
    see_also=("firewall-rules", "model-config"),
)
def set_firewall_rule(
    cli: Cli, args: tuple[str, ...], *, model: str, allowlist: str, whitelist: str, no_wait: bool
) -> None:
    if allowlist and whitelist:
        raise UsageError("cannot specify both allowlist and whitelist")
    cidrs = _cidrs(allowlist or whitelist)
    if args[0] not in model_config.FIREWALL_KEYS:
        known = ", ".join(sorted(model_config.FIREWALL_KEYS))
        raise NotValid(f"service {quote(args[0])} not supported", hint=f"services: {known}")
    cli.console.warn(list_firewall_rules.DEPRECATED)
    opened = session.open_model(cli, model)
    model_config.set_firewall_rule(opened.ctx, opened.uuid, args[0], cidrs)
    drive.settle(cli, opened.ctx, opened.uuid, touched=failures.EVERY_MACHINE, no_wait=no_wait)


def _cidrs(text: str) -> list[str]:
    found = [part.strip() for part in text.split(",")] if text else []
    for cidr in found:
        try:
            parse_cidr(cidr)
        except NotValid as error:
            raise UsageError(f"invalid allow-list subnet: {error.message}") from None
    return found
