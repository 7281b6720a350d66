"""firewall-rules, set-firewall-rule: old names for two keys of the model's configuration.

Mirrors: juju cmd/juju/firewall (3.6)
"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.table import heads
from pushjuju.cli.terminal.tabwriter import TabWriter
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.firewall import parse_cidr
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import firewall, model_config
from pushjuju.services.requests import consume

_KEYS = {"juju-application-offer": "saas-ingress-allow", "ssh": "ssh-allow"}
_DEPRECATED = 'Firewall rules have been moved to model-config settings "ssh-allow" and\n"saas-ingress-allow".'


def _table(rules: list[dict[str, Any]]) -> str:
    table = TabWriter()
    table.row(*heads("Service", "Allowlist subnets"))
    for rule in sorted(rules, key=lambda rule: str(rule["known-service"])):
        table.row(rule["known-service"], ",".join(rule.get("allowlist-subnets", ())))
    return table.text()


@command(
    "firewall-rules",
    usage="",
    summary="Prints the firewall rules.",
    aliases=("list-firewall-rules",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=flags.MODEL,
    details="Who may reach well known services within a model. Deprecated: model-config tells it too.",
    see_also=("set-firewall-rule", "expose"),
)
def firewall_rules(cli: Cli, args: tuple[str, ...], *, model: str) -> None:  # noqa: ARG001
    """Show who may reach the well-known services."""
    cli.console.warn(_DEPRECATED)
    from pushjuju.portable.gotypes import Struct

    opened = session.open_model(cli, model)
    rules = []
    with opened.ctx.store.read() as tx:
        for service, key in reversed(_KEYS.items()):
            allowed = firewall.split(str(model_config.get(tx, opened.uuid, key)))
            told = {"allowlist-subnets": allowed} if allowed else {}
            rules.append(Struct({"known-service": service, **told}))
    cli.output.write(rules, {"tabular": _table})


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
    """Set who may reach a well-known service."""
    if allowlist and whitelist:
        raise UsageError("cannot specify both allowlist and whitelist")
    cidrs = _cidrs(allowlist or whitelist)
    if args[0] not in _KEYS:
        raise NotValid(
            f"service {quote(args[0])} not supported", hint=f"services: {', '.join(sorted(_KEYS))}"
        )
    cli.console.warn(_DEPRECATED)
    opened = session.open_model(cli, model)
    with opened.ctx.store.write() as tx:
        model_config.change(tx, opened.uuid, {_KEYS[args[0]]: ",".join(cidrs)})
        firewall.changed_everywhere(tx, opened.uuid, cli.clock.now(), "model config changed")
        consume.config_changed(tx, opened.uuid, cli.clock.now())
    drive.settle(cli, opened.ctx, opened.uuid, touched=drive.EVERY_MACHINE, no_wait=no_wait)


def _cidrs(text: str) -> list[str]:
    found = [part.strip() for part in text.split(",")] if text else []
    for cidr in found:
        try:
            parse_cidr(cidr)
        except NotValid as error:
            raise UsageError(f"invalid allow-list subnet: {error.message}") from None
    return found
