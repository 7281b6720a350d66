"""The command remove-saas. Mirrors: juju cmd/juju/application/removesaas.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import removals, session
from pushjuju.core.errors import NotValid, PushjujuError, Silent, UsageError
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.requests.relation import cross_model as crossmodel


@command(
    "remove-saas",
    usage="<saas-application-name> [<saas-application-name>...]",
    summary="Remove consumed applications (SAAS) from the model.",
    at_least=(1, "no SAAS application names specified"),
    flags=(
        *flags.IN_MODEL,
        flags.switch("force", "Completely remove an application and all its dependencies"),
        flags.switch("no-wait", "Rush through the removal without waiting for each step; only with --force"),
    ),
    details="The relations of the application end first: units in both models run the hooks for that.",
    examples="    pushjuju remove-saas hosted-mysql\n    pushjuju remove-saas -m test-model hosted-mariadb\n",
    see_also=("consume", "offer"),
)
def remove_saas(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    for arg in args:
        if not is_application(arg):
            raise UsageError(f"invalid SAAS application name {quote(arg)}")
    if no_wait and not force:
        raise NotValid("--no-wait requires --force")

    opened = session.open_model(cli, model)
    forced, touched, failures = removals.force(force=force, no_wait=no_wait), set(), []
    for arg in args:
        try:
            touched |= {arg, *crossmodel.remove_saas(opened.ctx, opened.uuid, arg, forced)}
        except PushjujuError as error:
            failures.append(f"removing SAAS application {arg} failed: {error.message}")
    for text in failures:
        cli.console.info(text)
    if touched:
        removals.settle(cli, opened, touched=sorted(touched))
    if failures:
        raise Silent(failures[0])
