"""The requests of expose and unexpose: which networks may reach the open ports of an application.

Mirrors: juju apiserver/facades/client/application Expose, state/application.go MergeExposeSettings (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

from pushjuju.core.errors import NotFound, NotValid, not_found
from pushjuju.core.firewall import ALL_ENDPOINTS, EVERYWHERE, Exposure, parse_cidr
from pushjuju.core.status import Life
from pushjuju.core.values import dataclass
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import firewall, models
from pushjuju.store.rows.records import Application, ExposedEndpoint
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposeOptions:
    """The networks that may reach the open ports of an application."""

    application: str
    endpoints: Sequence[str] = ()  # names of endpoints; empty for all endpoints without settings of their own
    spaces: Sequence[str] = ()  # names of spaces whose subnets may reach the ports
    # subnets that may reach the ports. Without spaces and CIDRs, all addresses may.
    cidrs: Sequence[str] = ()


def expose(ctx: Context, model: str, options: ExposeOptions) -> None:
    """Expose an application's open ports; the settings of an endpoint replace its earlier settings."""
    wanted = _wanted(options.endpoints, options.spaces, options.cidrs)
    with ctx.change(model) as tx:
        models.get(tx)
        record(tx, applications.get(tx, options.application), wanted)


def record(tx: ModelTx, application: Application, wanted: Sequence[Exposure]) -> None:
    """Record the exposures of an application's endpoints."""
    for exposure in wanted:
        _check(tx, application, exposure)
    _require_alive(application, exposed=True)
    for exposure in wanted:
        tx.run(
            "exposure_set", application=application.name, endpoint=exposure.endpoint,
            spaces=json.dumps(exposure.spaces), cidrs=json.dumps(exposure.cidrs)
        )  # fmt: skip
    _finish(tx, application, exposed=True)


def _wanted(endpoints: Sequence[str], spaces: Sequence[str], cidrs: Sequence[str]) -> list[Exposure]:
    """Return the exposures; 0.0.0.0/0 or ::/0 alone means both, as in Juju's client."""
    everywhere = not (endpoints or spaces) and set(cidrs) <= set(EVERYWHERE)
    sources = EVERYWHERE if everywhere or not (spaces or cidrs) else tuple(sorted(set(cidrs)))
    return [
        Exposure(endpoint=endpoint, spaces=tuple(sorted(set(spaces))), cidrs=sources)
        for endpoint in dict.fromkeys(endpoints or [ALL_ENDPOINTS])
    ]


def _check(tx: ModelTx, application: Application, exposure: Exposure) -> None:
    _require_spaces(tx, exposure.spaces)
    _require_endpoints(tx, application, [exposure.endpoint])
    for cidr in exposure.cidrs:
        try:
            parse_cidr(cidr)
        except NotValid as error:
            raise NotValid(f'unable to parse "{cidr}" as a CIDR: {error.message}') from None


def _require_spaces(tx: ModelTx, names: Collection[str]) -> None:
    known = firewall.space_subnets(tx) if names else {}
    for name in names:
        if name not in known:
            raise not_found("space", name)


def _require_endpoints(tx: ModelTx, application: Application, names: Iterable[str]) -> None:
    charm = applications.current_charm(tx, application)
    known = {ALL_ENDPOINTS, *(item.name for item in charm.meta.endpoints()), *charm.meta.extra_bindings}
    for name in names:
        if name not in known:
            raise NotFound(f'endpoint "{name}" not found')


def _require_alive(application: Application, *, exposed: bool) -> None:
    if application.life != Life.ALIVE:
        what = f'cannot set exposed flag for application "{application.name}" to {str(exposed).lower()}'
        raise NotValid(f"{what}: application is not found or not alive")


def unexpose(ctx: Context, model: str, name: str, endpoints: Sequence[str] = ()) -> None:
    """Remove exposure settings of endpoints, or of all; an application without settings is not exposed."""
    with ctx.change(model) as tx:
        models.get(tx)
        forget(tx, applications.get(tx, name), endpoints)


def forget(tx: ModelTx, application: Application, endpoints: Sequence[str]) -> None:
    """Remove exposure settings inside a transaction, as `unexpose` does."""
    name = application.name
    present = [item.endpoint for item in exposures(tx, name)]
    for endpoint in endpoints:
        _require_endpoints(tx, application, [endpoint])
        if endpoint not in present:
            raise NotValid(f'endpoint "{endpoint}" is not exposed')
    gone = set(endpoints or present)
    _require_alive(application, exposed=bool(set(present) - gone))
    for endpoint in gone:
        tx.run("exposure_delete", application=name, endpoint=endpoint)
    _finish(tx, application, exposed=bool(set(present) - gone))


def _finish(tx: ModelTx, application: Application, *, exposed: bool) -> None:
    tx.run("application_set_exposed", name=application.name, exposed=exposed)
    reason = "application exposed" if exposed else "application no longer exposed"
    firewall.changed_of(tx, application.name, reason)


def exposures(tx: ModelTx, name: str) -> list[Exposure]:
    """Return the exposures of an application, by endpoint."""
    rows = tx.list(ExposedEndpoint, "exposure_list", application=name)
    return [firewall.exposure(row) for row in rows]
