"""firewall-rules: prints the firewall rules. Mirrors: juju cmd/juju/firewall (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.work import session
from pushjuju.portable.gotypes import Struct
from pushjuju.services.requests.model import model_config

DEPRECATED = 'Firewall rules have been moved to model-config settings "ssh-allow" and\n"saas-ingress-allow".'


def _table(rules: list[dict[str, Any]]) -> str:
    table = TabWriter("Service", "Allowlist subnets")
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
    details="Shows who may reach well known services of a model. Deprecated: model-config shows this too.",
    see_also=("set-firewall-rule", "expose"),
)
def firewall_rules(cli: Cli, args: tuple[str, ...], *, model: str) -> None:  # noqa: ARG001
    cli.console.warn(DEPRECATED)

    opened = session.open_model(cli, model)
    rules = []
    for service, allowed in reversed(model_config.firewall_rules(opened.ctx, opened.uuid).items()):
        told = {"allowlist-subnets": allowed} if allowed else {}
        rules.append(Struct({"known-service": service, **told}))
    cli.output.write(rules, {"tabular": _table})
