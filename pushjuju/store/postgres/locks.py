"""The locks of writing transactions; the module `engine` says which transaction needs which locks.

Offers connect few models with others. A process that knows this locks a model alone, without asking for its
offers, and forgets what it knows when any process has connected two models. Only
transactions of the whole store connect models (`scope.CONNECTS`), so nobody connects a locked model.
"""

from __future__ import annotations

from collections.abc import Iterable

from pushjuju.store import scope
from pushjuju.store.postgres import address
from pushjuju.store.postgres.pipeline import Answer, Pipeline
from pushjuju.store.statements import queries

# Locks a model and those that offers connect with it, in one order: no two writers wait for each other in a
# circle. OFFSET keeps PostgreSQL from taking the locks before it has sorted the models.
_MODELS = """SELECT pg_advisory_xact_lock(('x' || encode(
  substr(sha256(convert_to(:schema || '/' || wanted.model, 'UTF8')), 1, 8), 'hex'
))::bit(64)::bigint)::text FROM (
  SELECT model FROM ({connected}) AS connected UNION SELECT (:model)::text ORDER BY 1 OFFSET 0
) AS wanted"""
_SHARED = "SELECT pg_advisory_xact_lock_shared(:store)::text"
_WHOLE = "SELECT pg_advisory_xact_lock(:store)::text"
_ALONE = f"{_SHARED}, pg_advisory_xact_lock(:alone)::text"
_ALONE_LATER = f"{_ALONE}, set_config('synchronous_commit', 'off', true)"


class Locks:
    """Takes locks, and knows which models are alone."""

    def __init__(self, connection: Pipeline) -> None:
        self._run = connection.execute
        self._alone: set[str] = set()  # models that no offer connects with others, as of the last look

    def is_alone(self, model: str) -> bool:
        """Return True when no offer connects a model with others, as far as this process knows."""
        return model in self._alone

    def take(self, model: str, *, later: bool) -> Answer | None:
        """Take the locks of a writing transaction, without waiting for the answers.

        Args:
            model: The model, or "" for the whole store.
            later: True when the commit may become durable later.

        Returns:
            An answer with a row for each locked model, when offers may connect the model with others.
        """
        key = {"store": address.LOCK}
        if model in self._alone:
            self._run(_ALONE_LATER if later else _ALONE, {**key, "alone": address.lock_of(model)})
            return None
        if later:
            self._run("SET LOCAL synchronous_commit = off")
        if not model:
            self._run(_WHOLE, key)
            return None
        self._run(_SHARED, key)
        models = _MODELS.format(connected=queries()["models_connected"].rstrip().rstrip(";"))
        return self._run(models, {"schema": address.SCHEMA, "model": model})

    def learn(self, model: str, locked: Answer) -> None:
        """Note whether a model is alone, from the answer of `take`; the lock keeps that from changing."""
        if locked.result().ntuples == 1:
            self._alone.add(model)

    def hear(self, written: Iterable[str | None]) -> None:
        """Forget which models are alone when notes may tell of a connection; None for unknown writes."""
        if any(what is None or scope.CONNECTS in what for what in written):
            self.forget()

    def forget(self) -> None:
        """Forget which models are alone."""
        self._alone.clear()
