"""What `apply --prune` removes.

Each step does what the command of its name does: hooks end the units, and storage stays unless the user asked
to destroy it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.model.life import Life
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
    """Take annotations away."""
    kind = notes.Kind(args["entity-type"])
    notes.put(tx, kind, args["id"], dict.fromkeys(args["keys"]))


def unexpose(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Let endpoints be reached no more."""
    expose.forget(tx, applications.get(tx, args["application"]), args["endpoints"])


def remove_relation(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """End a relation, unless that of its application ended it."""
    relation = integrate.find(tx, [args["endpoint1"], args["endpoint2"]])
    if relation.life == Life.ALIVE:
        removal.destroy_relation(tx, relation)


def remove_unit(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Make a unit go."""
    removal.destroy_unit(tx, units.get(tx, args["unit"]), destroy_storage=bool(args.get("destroy-storage")))


def remove_application(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Make an application go."""
    application = applications.get(tx, args["application"])
    removal.destroy_application(tx, application, destroy_storage=bool(args.get("destroy-storage")))


def remove_machine(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Remove a machine that hosts nothing, with its storage if the user asked for that."""
    machine = machines.get(tx, args["machine"])
    if machine.life == Life.ALIVE and not machines.units_on(tx, machine.id):
        if args.get("destroy-storage"):
            storage_instances.doom_on(tx, machine.id)
        removal.destroy_machine(tx, machine)


def remove_offer(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Remove an offer without relations."""
    found = tx.get(Offer, "offer_get", f'offer "{args["offer"]}" not found', name=args["offer"])
    removal.remove_offer(tx, found)


def revoke(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Take access to an offer from a user."""
    found = tx.get(Offer, "offer_get", f'offer "{args["offer"]}" not found', name=args["offer"])
    users.revoke(tx, args["user"], args["access"], users.Kind.OFFER, found.uuid)


def remove_saas(tx: ModelTx, args: Mapping[str, Any]) -> None:
    """Let the model consume an offer no more; its relations end first."""
    found = remote_applications.find(tx, args["name"])
    if found is not None:
        remote_applications.destroy(tx, found, lambda item: removal.destroy_relation(tx, item))
