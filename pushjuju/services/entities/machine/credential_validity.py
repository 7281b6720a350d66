"""Whether the cloud takes a model's credential: models whose credential was refused are suspended.

The cloud is not asked for their machines any more until the credential, or another one, is good.
Mirrors: juju state/modelcredential.go, ModelStatusInvalidCredential (3.6)
"""

from __future__ import annotations

from pushjuju.core.errors import CredentialInvalid, PushjujuError
from pushjuju.core.model.life import Life
from pushjuju.core.status import MODEL_SUSPENDED, StatusKind
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.storage import storage_work
from pushjuju.store.rows.records import Model
from pushjuju.store.tx import ModelTx, Tx

MESSAGE = "suspended since cloud credential is not valid"
VALID, INVALID = "valid", "invalid"


def reason(tx: ModelTx, model: Model) -> str:
    """Return why the cloud refuses the credential of a model; empty when no refusal is known."""
    found = statuses.get_status(tx, StatusKind.MODEL, model.name)
    if found is None or found.status != MODEL_SUSPENDED:
        return ""
    return str(found.data.get("reason") or MESSAGE)


def require(tx: ModelTx) -> None:
    """Refuse to ask a cloud that refused already."""
    model = models.get(tx)
    if why := reason(tx, model):
        hint = f"pushjuju update-credential {model.cloud} {model.credential}"
        raise CredentialInvalid(detail=why, hint=hint)


def note(tx: ModelTx, error: PushjujuError) -> list[str]:
    """Suspend all models that use the credential of one, if it is what an error is about; return their UUIDs.

    A model without a credential has no credential to replace: the error itself has the next step.
    """
    refusal = _refusal(error)
    if refusal is None:
        return []
    model = models.get(tx)
    if not model.credential:
        return []
    suspended = []
    for other in using(tx, model.cloud, model.credential):
        if other.life == Life.ALIVE and not reason(tx.beside(other.uuid), other):
            data = {"reason": refusal.detail or refusal.message}
            statuses.set_status(
                tx.beside(other.uuid), StatusKind.MODEL, other.name, MODEL_SUSPENDED, MESSAGE, data=data
            )
            suspended.append(other.uuid)
    return suspended


def _refusal(error: BaseException | None) -> CredentialInvalid | None:
    """Return the cloud's refusal that an error is, or that it comes from."""
    while error is not None and not isinstance(error, CredentialInvalid):
        error = error.__cause__
    return error


def using(tx: Tx, cloud: str, credential: str) -> list[Model]:
    """Return the models that are worked with a credential, by name; a controller's own asks no cloud."""
    every = [model for model in tx.list(Model, "model_list") if not models.is_controller(model)]
    return [model for model in every if (model.cloud, model.credential) == (cloud, credential)]


def renew(tx: ModelTx, model: Model) -> list[str]:
    """Ask the cloud again for a model whose credential, or its content, is another one now.

    Returns:
        The machines that are tried anew.
    """
    if reason(tx, model):
        statuses.set_status(tx, StatusKind.MODEL, model.name, "available")
        wake.poller(tx, tx.now, "the credential was renewed")
        storage_work.try_again(tx, "the credential was renewed")
        for machine in machines.list_machines(tx):
            wake.machine(tx, machine.id, "the credential was renewed")
    return machines.retry_refused(tx)
