"""Suspends models whose credential the cloud has refused, and resumes them.

While a model is suspended, no worker calls its cloud; an update of the credential resumes the model.
Mirrors: juju state/modelcredential.go, ModelStatusInvalidCredential (3.6)
"""

from __future__ import annotations

from pushjuju.core.errors import CredentialInvalid, PushjujuError
from pushjuju.core.status import MODEL_SUSPENDED, Life, StatusKind
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.cloud.clouds import parts_of
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.storage import storage_work
from pushjuju.store.rows.records import Model
from pushjuju.store.tx import ModelTx, Tx

MESSAGE = "suspended since cloud credential is not valid"
VALID, INVALID = "valid", "invalid"


def reason(tx: ModelTx, model: Model) -> str:
    """Return why the cloud refused a model's credential; empty while the model is not suspended."""
    found = statuses.get_status(tx, StatusKind.MODEL, model.name)
    if found is None or found.status != MODEL_SUSPENDED:
        return ""
    return str(found.data.get("reason") or MESSAGE)


def require(tx: ModelTx) -> None:
    """Raise CredentialInvalid when the model is suspended, so that its cloud is not called."""
    model = models.get(tx)
    if why := reason(tx, model):
        hint = f"pushjuju update-credential {model.cloud} {parts_of(model.credential)[1]}"
        raise CredentialInvalid(detail=why, hint=hint)


def note(tx: ModelTx, error: PushjujuError) -> list[str]:
    """Suspend all models with the model's credential after the cloud refused it; return their UUIDs.

    The transaction must be one of the whole store.

    Models without a credential are not suspended: users could not replace the credential, and the
    error names the next step.
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
    """Return the error or the first of its causes that is a refusal of the credential, or None."""
    while error is not None and not isinstance(error, CredentialInvalid):
        error = error.__cause__
    return error


def using(tx: Tx, cloud: str, credential: str) -> list[Model]:
    """Return the models that use a credential, by name, without the controller's own model."""
    every = [model for model in tx.list(Model, "model_list") if not models.is_controller(model)]
    return [model for model in every if (model.cloud, model.credential) == (cloud, credential)]


def renew(tx: ModelTx, model: Model) -> list[str]:
    """Resume a model after its credential has been replaced or updated.

    Returns:
        The machines whose refused start is tried again.
    """
    if reason(tx, model):
        statuses.set_status(tx, StatusKind.MODEL, model.name, "available")
        wake.poller(tx, tx.now, "the credential was renewed")
        storage_work.try_again(tx, "the credential was renewed")
        wake.unsettled(tx, "the credential was renewed")
    return machines.retry_refused(tx)
