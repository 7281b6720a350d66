"""The steps of `apply --prune`, which remove entities that a bundle does not have.

Each step does what the command of the same name does: units run their hooks before they end, and storage
stays unless the user asked to destroy it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.status import Life
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import annotations as notes
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.relation import remote_applications
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.application import expose
from pushjuju.services.requests.relation import integrate
from pushjuju.store.rows.records import Offer
from pushjuju.store.tx import ModelTx


def unset_annotations(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Remove annotations from an entity."""
    kind = notes.Kind(args["entity-type"])
    notes.put(tx, kind, args["id"], dict.fromkeys(args["keys"]))


def unexpose(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """End the exposure of an application's endpoints."""
    expose.forget(tx, applications.get(tx, args["application"]), args["endpoints"])


def remove_relation(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Remove a relation, unless the removal of its application already ended the relation."""
    relation = integrate.find(tx, [args["endpoint1"], args["endpoint2"]])
    if relation.life == Life.ALIVE:
        removal.destroy_relation(tx, relation)


def remove_unit(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Remove a unit, with its storage if the user asked to destroy it."""
    removal.destroy_unit(tx, units.get(tx, args["unit"]), destroy_storage=bool(args.get("destroy-storage")))


def remove_application(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Remove an application, with its storage if the user asked to destroy it."""
    application = applications.get(tx, args["application"])
    removal.destroy_application(tx, application, destroy_storage=bool(args.get("destroy-storage")))


def remove_machine(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Remove a machine that hosts no unit, with its storage if the user asked to destroy it."""
    machine = machines.get(tx, args["machine"])
    if machine.life == Life.ALIVE and not machines.units_on(tx, machine.id):
        if args.get("destroy-storage"):
            storage_instances.doom_on(tx, machine.id)
        removal.destroy_machine(tx, machine)


def remove_offer(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Remove an offer that has no relations."""
    found = tx.get(Offer, "offer_get", f'offer "{args["offer"]}" not found', name=args["offer"])
    removal.remove_offer(tx, found)


def revoke(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Revoke a user's access to an offer."""
    found = tx.get(Offer, "offer_get", f'offer "{args["offer"]}" not found', name=args["offer"])
    users.revoke(tx, args["user"], args["access"], users.Kind.OFFER, found.uuid)


def remove_saas(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Remove an offer that the model consumes, after its relations."""
    found = remote_applications.find(tx, args["name"])
    if found is not None:
        remote_applications.destroy(tx, found, lambda item: removal.destroy_relation(tx, item))
