"""integrate, remove-relation, suspend-relation, resume-relation.

Mirrors: juju cmd/juju/application/{integrate,removerelation}.go, cmd/juju/crossmodel (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network

from pushjuju.charms.values.endpoints import parse_endpoint
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, removals, session
from pushjuju.core.errors import AlreadyExists, NotValid, UsageError
from pushjuju.core.offerurl import OfferUrl, parse
from pushjuju.portable.quote import quote
from pushjuju.services.requests import integrate as service

_EVERYWHERE = ("0.0.0.0/0", "::/0")


@command(
    "integrate",
    usage="<application>[:<endpoint>] <application>[:<endpoint>]",
    summary="Integrates two applications.",
    aliases=("relate",),
    flags=(
        *flags.MODEL,
        flags.text("via", "For cross-model relations: the subnets that traffic comes from"),
        *flags.NO_WAIT,
    ),
    details="An endpoint must be named where more than one pair of endpoints fits. One side may be an offer\n"
    "of another model: [<controller>:][<owner>/]<model>.<offer>[:<endpoint>]; it is consumed first.",
    examples="    pushjuju integrate wordpress mysql\n    pushjuju integrate wordpress:db mysql:server\n"
    "    pushjuju integrate wordpress admin/prod.mysql --via 192.168.0.0/16\n",
    see_also=("consume", "find-offers", "remove-relation", "suspend-relation"),
)
def integrate(cli: Cli, args: tuple[str, ...], *, model: str, via: str, no_wait: bool) -> None:
    """Relate two applications."""
    if len(args) != 2:
        raise UsageError("an integration must involve two applications")
    names, offer = _ends(args)
    touched, subnets = _applications(names), _subnets(via)
    opened = session.open_model(cli, model)
    try:
        service.integrate(opened.ctx, opened.uuid, *names, via=subnets, offer=offer)
    except AlreadyExists as error:
        raise _in_parts(error) from None
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)


def _ends(args: Sequence[str]) -> tuple[list[str], OfferUrl | None]:
    """Return both ends as `APP[:ENDPOINT]`, and the offer that one of them is.

    Raises:
        UsageError: Both are offers.
    """
    names, found = [], []
    for arg in args:
        try:
            url = parse(arg)
        except NotValid:
            names.append(arg)  # an application of this model, or nothing at all
            continue
        found.append(url)
        names.append(f"{url.offer}:{url.endpoint}" if url.endpoint else url.offer)
    if len(found) > 1:
        raise UsageError("providing more than one remote endpoints not supported")
    return names, found[0] if found else None


def _applications(args: Sequence[str]) -> list[str]:
    """Return the applications of `APP[:ENDPOINT]` words."""
    try:
        return [parse_endpoint(arg)[0] for arg in args]
    except NotValid as error:
        raise UsageError(error.message) from None


def _subnets(via: str) -> list[str]:
    """Read the value of `--via`."""
    subnets = [part.strip() for part in via.split(",") if part.strip()]
    for subnet in subnets:
        if subnet in _EVERYWHERE:
            raise UsageError(f"CIDR {quote(subnet)} not allowed")
        try:
            ip_network(subnet, strict=False)
        except ValueError:
            raise UsageError(f"invalid CIDR address: {subnet}") from None
    return subnets


def _in_parts(error: AlreadyExists) -> AlreadyExists:
    """Lay the error out as Juju does: what failed, why, what to look at."""
    what, _, why = error.message.partition(": ")
    return AlreadyExists(what, detail=f"{why} (already exists):\n\n", hint=error.hint)


@command(
    "remove-relation",
    usage="<application>[:<endpoint>] <application>[:<endpoint>] | <relation id>",
    summary="Removes an existing relation between two applications.",
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("force", "Put units that do not leave in time out of the relation, without hooks"),
        flags.switch("no-wait", "Put them out at once; only with --force"),
    ),
    details="`status --relations` and `show-unit` tell the ids of relations.",
    examples="    pushjuju remove-relation wordpress mysql\n    pushjuju remove-relation 4\n",
    see_also=("integrate", "status"),
)
def remove_relation(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    """End a relation."""
    forced = removals.force(force=force, no_wait=no_wait)
    if len(args) == 1:
        _check_id(args[0])
    elif len(args) == 2:
        _applications(args)
    else:
        raise UsageError("a relation must involve two applications")
    opened = session.open_model(cli, model)
    touched = service.remove_relation(opened.ctx, opened.uuid, args, forced)
    removals.settle(cli, opened, touched=touched)


def _check_id(text: str) -> None:
    if not service.is_id(text):
        raise UsageError(f"relation ID {quote(text)} not valid")


@command(
    "suspend-relation",
    usage="<relation id>[ <relation id>...]",
    summary="Suspends relations: their units leave them, until they are resumed.",
    at_least=(1, "no relation ids specified"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.text("message", "Why; shown in the status of the relation"),
        *flags.NO_WAIT,
    ),
    examples='    pushjuju suspend-relation 4 --message "maintenance"\n    pushjuju suspend-relation 4,5\n',
    see_also=("resume-relation", "integrate"),
)
def suspend_relation(cli: Cli, args: tuple[str, ...], *, model: str, message: str, no_wait: bool) -> None:
    """Suspend relations."""
    _set_suspended(cli, args, model, suspended=True, message=message, no_wait=no_wait)


@command(
    "resume-relation",
    usage="<relation id>[,<relation id>]",
    summary="Resumes suspended relations.",
    at_least=(1, "no relation ids specified"),
    flags=(*flags.MODEL, *flags.LOGIN, *flags.NO_WAIT),
    examples="    pushjuju resume-relation 4\n    pushjuju resume-relation 4 5\n",
    see_also=("suspend-relation",),
)
def resume_relation(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Let suspended relations go on."""
    _set_suspended(cli, args, model, suspended=False, message="", no_wait=no_wait)


def _set_suspended(
    cli: Cli, args: Sequence[str], model: str, *, suspended: bool, message: str, no_wait: bool
) -> None:
    ids = [part.strip() for arg in args for part in arg.split(",")]
    for text in ids:
        _check_id(text)
    opened = session.open_model(cli, model)
    touched = service.set_suspended(opened.ctx, opened.uuid, ids, suspended=suspended, reason=message)
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)
