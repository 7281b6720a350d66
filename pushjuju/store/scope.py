"""What a writing transaction may read and write: the models whose locks it holds, or the whole store.

On an engine with a lock for each model, transactions of different models run beside each other. So a
transaction with the locks of some models must read and write nothing of other models, and write nothing that
belongs to no model. `Tx` refuses such statements there (`Engine.locks_models`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pushjuju.core.errors import StoreError

# Statements that write what belongs to no model, or rows of all models.
OF_WHOLE_STORE = frozenset(
    [
        "access_delete",
        "access_forget_person",
        "access_set",
        "alarm_delete_all",
        "audit_prune",
        "block_delete_all",
        "clock_alarms_now",
        "clock_expiries_again",
        "clock_leases_end",
        "clock_links_end",
        "clock_mounts_now",
        "clock_notices_now",
        "clock_retries_now",
        "clock_silence_from_now",
        "clock_storage_now",
        "clock_targets_now",
        "clock_update_status_anew",
        "clock_work_due_now",
        "encryption_key_drop_old",
        "encryption_key_retire",
        "lost_ask",
        "lost_look",
        "notice_delete_target",
        "notify_target_delete",
        "notify_target_seal",
        "notify_target_state",
        "person_delete",
        "process_drain",
        "process_enlist",
        "process_forget",
        "secret_backend_delete",
        "secret_backend_set_config",
        "secret_backend_set_status",
        "secret_trash_delete_backend",
        "token_delete",
        "token_delete_more",
        "token_delete_of",
        "token_delete_old",
        "token_delete_person",
        "token_use",
        "user_login_connected",
        "user_login_delete",
        "user_login_end",
        "user_login_set_password",
        "work_free_all",
        "person_set_disabled",
    ]
)

# The table whose rows connect models. An engine trusts that only transactions of the whole store add to it.
CONNECTS = "remote_application"

# Numbers of no model that each claim raises. A transaction takes them after the locks of its models, in the
# same order, so two transactions wait for each other but never both ways.
OF_CLAIMS = frozenset(["lease", "clock"])


class Scope:
    """The models of a writing transaction: one model, and the models that offers connect with it.

    Args:
        connected: Returns the models that offers connect with the model, directly or through others. It is
            called for the first statement about another model: most transactions have no such statement.
    """

    __slots__ = ("_connected", "_models", "model")

    def __init__(self, model: str, connected: Callable[[], Iterable[str]]) -> None:
        self.model = model
        self._models = {model}
        self._connected: Callable[[], Iterable[str]] | None = connected

    def check(self, model: str, what: str) -> None:
        """Check that a model belongs to the scope.

        Args:
            what: The statement or table, for the error.

        Raises:
            StoreError: A caller opened the transaction for too few models.
        """
        if model in self._models:
            return
        if self._connected is not None:
            self._models.update(self._connected())
            self._connected = None
        if model not in self._models:
            raise StoreError(f"{what}: model {model} is outside of this transaction of model {self.model}")

    def check_row(self, model: str, table: str) -> None:
        """Check that a new row belongs to the scope, and connects no models.

        Raises:
            StoreError: The row needs a transaction of more models, or of the whole store.
        """
        self.check(model, f"a row of {table}")
        if table == CONNECTS:
            raise StoreError(f"a row of {table}: a transaction of one model cannot connect models")

    def check_sequence(self, model: str, name: str, what: str) -> None:
        """Check that a sequence belongs to the scope, or to claims."""
        if model or name not in OF_CLAIMS:
            self.check(model, what)

    def check_whole(self, query: str) -> None:
        """Check that a statement does not write what belongs to no model.

        Raises:
            StoreError: The statement needs a transaction of the whole store.
        """
        if query in OF_WHOLE_STORE:
            raise StoreError(f"{query}: a transaction of one model cannot write the whole store")
