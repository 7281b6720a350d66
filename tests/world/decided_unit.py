"""A unit without machine and store, for tests of the resolver: the test decides how operations end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Answer, Decision, Effect, EffectKind, Operation, OperationName
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.naming import hook_name
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.decide.remote import RemoteRelation, RemoteState
from pushjuju.uniter.decide.state import HookInfo, LocalState, ResolvedMode, initial_state
from pushjuju.uniter.state.effects import apply_effects, commit_effects, restarted
from pushjuju.uniter.state.operation import Outcome, committed, executed, is_success, prepare, skip_reason

CHARM = "local:web-0"
DEPLOYED = RemoteState(
    unit="web/0",
    charm_url=CHARM,
    config_hash="config-1",
    trust_hash="trust-1",
    addresses_hash="addresses-1",
    boot_id="boot-1",
)


def decided_text(local: LocalState, remote: RemoteState) -> str:
    """Return the operation that a unit decides on, or the answer when there is none."""
    decision = decide(local, remote)
    return decision.operation.text if decision.operation else decision.answer.value


class Crash(Exception):
    """The controller process was killed."""


@dataclass
class DecidedUnit:
    """A unit with its model and its machine.

    Attributes:
        hooks: Full names of the hooks that ran, in order, also those that failed.
        operations: Texts of the operations that began.
        outcomes: Full hook name or operation text -> outcomes of the next runs; later runs succeed.
        crash: The number of written steps after which the controller process is killed; None for never.
        started: The operation that is prepared and has no result yet.
        journal: The machine's record of this operation; empty when it never began there.
        half: Whether an operation ran and is not committed; the next step commits it.
        fail_next: The outcome of the next hook, whatever its name.
        infos: Hooks that were committed (run, or skipped), each with the local state before the commit.
    """

    remote: RemoteState = DEPLOYED
    local: LocalState = field(default_factory=lambda: initial_state(CHARM))
    hooks: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    scopes: set[int] = field(default_factory=set)
    crash: int | None = None
    writes: int = 0
    started: Operation | None = None
    journal: Outcome | None = None
    half: bool = False
    fail_next: Outcome | None = None
    infos: list[tuple[HookInfo, LocalState]] = field(default_factory=list)

    def model(self, **changes: Any) -> None:
        """Change the state that the model wants."""
        self.remote = replace(self.remote, **changes)

    def relate(self, relation_id: int, endpoint: str = "db", **parts: Any) -> None:
        """Add or change a relation."""
        parts.setdefault("remote_application", "pg")
        old = self.remote.relations.get(relation_id)
        relation = replace(old, **parts) if old else RemoteRelation(endpoint=endpoint, **parts)
        self.model(relations={**self.remote.relations, relation_id: relation})

    def unrelate(self, relation_id: int) -> None:
        """Remove a relation from the model."""
        self.model(relations={key: item for key, item in self.remote.relations.items() if key != relation_id})

    def fail(self, name: str, times: int = 1, outcome: Outcome = Outcome.FAILED) -> None:
        """Make the next runs of a hook or operation fail."""
        self.outcomes.setdefault(name, []).extend([outcome] * times)

    def retry_due(self) -> None:
        """Make the retry of a failed hook due."""
        self.model(retry_hook_version=self.remote.retry_hook_version + 1)

    def decide(self) -> Decision:
        """Update the remote state, then decide."""
        for _ in range(5):
            effects = reconcile_effects(self.local, self.remote)
            if not effects:
                break
            self._perform(effects)
        return decide(self.local, self.remote)

    def step(self) -> Decision:
        """Decide once, and run the operation."""
        decision = self.decide()
        self._perform(decision.effects)
        if decision.answer is Answer.RESTART:
            self._write(restarted(self.local))
        if decision.operation is not None:
            self._run(decision.operation)
        return decision

    def settle(self, limit: int = 80) -> Decision:
        """Decide and run operations until there is nothing to do; return the last decision."""
        for _ in range(limit):
            decision = self.step()
            if decision.answer not in (Answer.RUN, Answer.RESTART):
                return decision
        raise AssertionError(f"never at rest: {self.operations[-10:]}")

    def new_hooks(self) -> list[str]:
        """Settle, and return the hooks that ran."""
        before = len(self.hooks)
        self.settle()
        return self.hooks[before:]

    def recover(self) -> None:
        """Start a new controller process, which first commits what the machine's journal has."""
        self.crash = None
        if self.started is not None:
            self._finish(self.started, self.journal or Outcome.NOT_STARTED)

    def _run(self, operation: Operation) -> None:
        self.operations.append(operation.text)
        pointless = bool(skip_reason(self.local, operation, self.remote))
        if operation.name is OperationName.SKIP_HOOK or pointless:
            self._commit(operation, pointless=pointless and operation.name is OperationName.RUN_HOOK)
            return
        self.started = operation
        self._write(prepare(self.local, operation, self.remote))
        self.journal = self._on_machine(operation)
        self._write(self.local)
        self._finish(operation, self.journal)

    def _on_machine(self, operation: Operation) -> Outcome:
        name = operation.text
        if operation.hook is not None:
            name = hook_name(operation.hook, operation.endpoint)
            self.hooks.append(name)
            if self.fail_next is not None:
                outcome, self.fail_next = self.fail_next, None
                return outcome
        kept = self.outcomes.get(name)
        return kept.pop(0) if kept else Outcome.OK

    def _finish(self, operation: Operation, outcome: Outcome) -> None:
        self.started = self.journal = None
        action = operation.name in (OperationName.RUN_ACTION, OperationName.FAIL_ACTION)
        self.half = is_success(outcome) or (action and outcome is Outcome.FAILED)
        self._write(executed(self.local, operation, outcome))
        if self.half:
            self._commit(operation)

    def _commit(self, operation: Operation, *, pointless: bool = False) -> None:
        if operation.hook is not None and not pointless:
            self.infos.append((operation.hook, self.local))
        self._perform(commit_effects(operation, pointless=pointless))
        self.model(
            charm_present=self.remote.charm_present or bool(operation.charm_url),
            actions=tuple(item for item in self.remote.actions if item.id != operation.action_id),
            commands=tuple(item for item in self.remote.commands if item != operation.command),
        )
        self.half = False
        self._write(committed(self.local, operation))

    def _write(self, local: LocalState) -> None:
        self.local = local
        self.writes += 1
        if self.crash is not None and self.writes >= self.crash:
            raise Crash

    def _perform(self, effects: tuple[Effect, ...]) -> None:
        self.effects.extend(effects)
        for effect in effects:
            self._perform_on_model(effect)
        self.local = apply_effects(self.local, effects)

    def _perform_on_model(self, effect: Effect) -> None:
        remote = self.remote
        match effect.kind:
            case EffectKind.CLEAR_RESOLVED:
                self.model(resolved=ResolvedMode.NONE)
            case EffectKind.DESTROY_SUBORDINATES:
                self.model(subordinates=dict.fromkeys(remote.subordinates, Life.DYING))
            case EffectKind.DESTROY_UNIT:
                self.model(life=Life.DYING)
            case EffectKind.ENTER_SCOPE if effect.relation_id is not None:
                self.scopes.add(effect.relation_id)
            case EffectKind.LEAVE_SCOPE if effect.relation_id is not None:
                self.scopes.discard(effect.relation_id)
                if remote.relations[effect.relation_id].life is not Life.ALIVE:
                    self.unrelate(effect.relation_id)
            case EffectKind.DESTROY_STORAGE_ATTACHMENTS:
                dying = {key: replace(item, life=Life.DYING) for key, item in remote.storage.items()}
                self.model(storage=dying)
            case EffectKind.REMOVE_STORAGE_ATTACHMENT:
                kept = {key: item for key, item in remote.storage.items() if key != effect.storage_id}
                self.model(storage=kept)
            case EffectKind.SECRET_ROTATED:
                self.model(secrets_rotate=tuple(u for u in remote.secrets_rotate if u != effect.secret_uri))
            case EffectKind.SECRET_EXPIRY_SEEN:
                left = (item for item in remote.secrets_expired if item.uri != effect.secret_uri)
                self.model(secrets_expired=tuple(left))
            case EffectKind.SERIES_STATUS:
                self.model(series=SeriesStatus(effect.message))
            case _:
                pass
