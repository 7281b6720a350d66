"""Applications of other models: those that a model consumes, and proxies for the consumers of its offers.

`status` shows a consumed application as SAAS. When the status of the offered application changes, it is
copied to every model that consumes the offer.

Mirrors: juju state/remoteapplication.go, apiserver/facades/client/application Consume (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pushjuju.charms.values.endpoints import Side
from pushjuju.charms.values.model import Endpoint, Role, Scope
from pushjuju.core.errors import AlreadyExists
from pushjuju.core.status import (
    OFFER_REMOVED,
    Agent,
    Life,
    StatusInfo,
    StatusKind,
    Workload,
    derive_application_status,
    is_of_removed_offer,
)
from pushjuju.portable.jsontext import compact
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.relation import relations
from pushjuju.store.rows.records import Application, Offer, Relation, RemoteApplication, Status
from pushjuju.store.tx import ModelTx

PROXY = "remote-"
End = Callable[[Relation], None]
"""Ends a relation, either through the hooks of its units or by force."""


def find(tx: ModelTx, name: str) -> RemoteApplication | None:
    """Return the consumed application of a name, or None; proxies are not found."""
    found = relations.remote(tx, name)
    return found if found is not None and found.url else None


def consumed(tx: ModelTx) -> list[RemoteApplication]:
    """Return the applications that a model consumes, in the order of their names."""
    return [item for item in every(tx) if item.url]


def every(tx: ModelTx) -> list[RemoteApplication]:
    """Return all remote applications of a model: consumed applications and proxies."""
    return tx.list(RemoteApplication, "remote_application_list")


def consumers(tx: ModelTx, application: str) -> list[RemoteApplication]:
    """Return the consumed applications, in any model, that an application of this model is offered as."""
    found = tx.list(RemoteApplication, "remote_application_of", source=tx.model, application=application)
    return [item for item in found if item.url]


def side(remote: RemoteApplication) -> Side:
    """Return a remote application as a side of a relation."""
    ends = {name: _endpoint(name, item) for name, item in remote.endpoints.items()}
    return Side(
        application=remote.name,
        provides={name: end for name, end in ends.items() if end.role is Role.PROVIDER},
        requires={name: end for name, end in ends.items() if end.role is Role.REQUIRER},
        remote=True,
        alive=remote.life == Life.ALIVE,
    )


def _endpoint(name: str, item: Mapping[str, Any]) -> Endpoint:
    return Endpoint(name=name, role=Role(item["role"]), interface=item["interface"], scope=Scope.GLOBAL)


def described(endpoints: Iterable[tuple[str, Endpoint]]) -> dict[str, dict[str, object]]:
    """Return endpoints in the form that remote applications keep: name -> {interface, role}."""
    return {name: {"interface": item.interface, "role": str(item.role)} for name, item in endpoints}


# --- consuming --------------------------------------------------------------------------------------------


def add(tx: ModelTx, name: str, offer: Offer, url: str, endpoints: Mapping[str, Any]) -> RemoteApplication:
    """Record that a model consumes an offer under a name; a repetition only updates the endpoints.

    Raises:
        AlreadyExists: The name is taken; the message is Juju's.
    """
    if tx.find(Application, "application_get", name=name):
        what = f"cannot add saas application {quote(name)}"
        raise AlreadyExists(f"{what}: local application with same name already exists")
    present = relations.remote(tx, name)
    if present is not None and not _is_over(tx, present):
        _require_same(present, offer)
        tx.run("remote_application_set_endpoints", name=name, endpoints=compact(dict(endpoints)))
        return present
    if present is not None:
        forget(tx, present)
    made = RemoteApplication(
        model=tx.model, name=name, url=url, offer=offer.uuid, source=offer.model,
        application=offer.application, life=Life.ALIVE, endpoints=endpoints, created=tx.now,
    )  # fmt: skip
    tx.insert("remote_application", made)
    _set_status(tx, made, application_status(tx.beside(offer.model), offer.application))
    return made


def _is_over(tx: ModelTx, remote: RemoteApplication) -> bool:
    """Return True when the offer was removed and no relation is left to end."""
    return is_terminated(tx, remote) and not relations.of_application(tx.beside(remote.model), remote.name)


def is_terminated(tx: ModelTx, remote: RemoteApplication) -> bool:
    """Return True when the consumed offer was removed."""
    status = statuses.get_status(tx.beside(remote.model), StatusKind.APPLICATION, remote.name)
    return status is not None and is_of_removed_offer(status)


def _require_same(present: RemoteApplication, offer: Offer) -> None:
    name = quote(present.name)
    if present.source != offer.model:
        raise AlreadyExists(f"saas application called {name} from a different model already exists")
    if present.life != Life.ALIVE:
        raise AlreadyExists(f"saas application called {name} exists but is terminating")
    if present.offer != offer.uuid:
        raise AlreadyExists(f"saas application called {name} from a different offer already exists")


def retarget(tx: ModelTx, offer: Offer, application: str, endpoints: Mapping[str, Any]) -> None:
    """Update the consumed applications of an offer that has other endpoints or another application."""
    for remote in tx.list(RemoteApplication, "remote_application_by_offer", offer=offer.uuid):
        if remote.url:
            tx.run(
                "remote_application_retarget", model=remote.model, name=remote.name, application=application,
                endpoints=compact(dict(endpoints)),
            )  # fmt: skip
    tell_consumers(tx.beside(offer.model), application)


# --- removing ---------------------------------------------------------------------------------------------


def destroy(tx: ModelTx, remote: RemoteApplication, end: End) -> None:
    """Remove a consumed application: end its relations, and delete it after the last of them.

    Mirrors: juju state/remoteapplication.go DestroyOperation (3.6)
    """
    here = tx.beside(remote.model)
    here.run("remote_application_set_life", name=remote.name, life=Life.DYING)
    for relation in relations.of_application(here, remote.name):
        end(relation)
    finish(here)
    wake.cleaner(here, tx.now, f"SAAS {remote.name} is removed")


def finish(tx: ModelTx) -> None:
    """Delete dying consumed applications and proxies that have no relation left."""
    for remote in every(tx):
        goes = not remote.url or remote.life != Life.ALIVE
        if goes and not relations.of_application(tx, remote.name):
            forget(tx, remote)


def forget(tx: ModelTx, remote: RemoteApplication) -> None:
    """Delete an application of another model, with the secrets that its units may read in this model."""
    statuses.forget(tx.beside(remote.model), remote.name, [StatusKind.APPLICATION])
    tx.run("secret_consumer_forget_application", model=remote.model, application=remote.name)
    tx.run("secret_grant_forget", model=remote.model, target=remote.name)
    tx.run("remote_application_delete", model=remote.model, name=remote.name)


# --- status -----------------------------------------------------------------------------------------------


def application_status(tx: ModelTx, application: str) -> StatusInfo:
    """Return an application's status as `status` shows it: as the leader set it, or the worst of its units.

    Mirrors: juju apiserver/common/crossmodel GetOfferStatusChange (3.6)
    """
    own = statuses.get_status(tx, StatusKind.APPLICATION, application)
    if own is not None and own.status != Workload.UNSET:
        return own
    shown = statuses.workloads(tx, application)
    for item in tx.list(Status, "agent_errors_of_application", application=application):
        error = statuses.info(item)
        shown[item.entity] = StatusInfo(status=Agent.ERROR, message=error.message, since=error.since)
    return derive_application_status(shown[name] for name in sorted(shown))


def tell_consumers(tx: ModelTx, application: str) -> None:
    """Copy an application's present status to the models that consume it."""
    found = consumers(tx, application)
    status = application_status(tx, application) if found else None
    for remote in found:
        if status is not None and not is_terminated(tx, remote):
            _set_status(tx, remote, status)


def terminate(tx: ModelTx, offer: Offer) -> None:
    """Set the consumed applications of an offer that is removed to the status `terminated`."""
    status = StatusInfo(status=Workload.TERMINATED, message=OFFER_REMOVED)
    for remote in tx.list(RemoteApplication, "remote_application_by_offer", offer=offer.uuid):
        if remote.url:
            _set_status(tx, remote, status)


def _set_status(tx: ModelTx, remote: RemoteApplication, status: StatusInfo) -> None:
    told = StatusInfo(status=status.status, message=status.message)
    statuses.set_once(
        tx.beside(remote.model), StatusKind.APPLICATION, remote.name, told, now=status.since or tx.now
    )
