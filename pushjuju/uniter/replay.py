"""Repeats a recorded decision; shows each sub-resolver's answer, and the differences to the record. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.jsontext import compact
from pushjuju.uniter.decide.decision import Decision, Effect
from pushjuju.uniter.decide.loop import RESOLVERS
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import LocalState
from pushjuju.uniter.decide.wire import from_wire, replay, to_wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one sub-resolver answered."""

    resolver: str
    text: str  # the decision; or `goes on`, with effects if any, when the next sub-resolver is asked
    decides: bool = False  # True when the answer is a decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A recorded decision and today's decision."""

    kept: Decision
    now: Decision
    differences: tuple[str, ...]  # a line for each value that differs; empty when the decisions are equal
    said: tuple[Said, ...]  # today's answers of the sub-resolvers, in their order, up to the one that decides
    # the effects that would precede the decision; empty for recorded decisions
    reconcile: tuple[str, ...] = ()


def replayed(record: Mapping[str, Any]) -> Replayed:
    """Repeat the decision of a record; raise NotValid when the document is no such record."""
    try:
        now = replay(record)
        kept = from_wire(Decision, record.get("decision"))
        local, remote = from_wire(LocalState, record["local"]), from_wire(RemoteState, record["remote"])
    except (KeyError, TypeError, RecursionError) as error:
        raise NotValid(f"the document is no record of a decision: {error!r}") from error
    return Replayed(
        kept=kept,
        now=now,
        differences=tuple(_differences("", to_wire(kept), to_wire(now))),
        said=_trace(local, remote),
        reconcile=tuple(effect_text(effect) for effect in reconcile_effects(local, remote)),
    )


def _trace(local: LocalState, remote: RemoteState) -> tuple[Said, ...]:
    said: list[Said] = []
    for name, resolver in RESOLVERS:
        verdict = resolver(local, remote)
        if isinstance(verdict, Decision):
            return (*said, Said(resolver=name, text=decision_text(verdict), decides=True))
        effects = ", ".join(effect_text(effect) for effect in verdict)
        said.append(Said(resolver=name, text=f"goes on, with {effects}" if effects else "goes on"))
    raise AssertionError("the last sub-resolver always decides")


def decision_text(decision: Decision) -> str:
    """Return a decision as one line: `run config-changed hook`, `idle`."""
    return decision.operation.text if decision.operation else decision.answer.value


def effect_text(effect: Effect) -> str:
    """Return an effect as one line: its kind, and what it concerns."""
    about = [str(effect.relation_id) if effect.relation_id is not None else "", effect.storage_id]
    about += [effect.secret_uri, effect.message]
    return " ".join((effect.kind.value, *(word for word in about if word)))


def _differences(where: str, kept: Any, now: Any) -> list[str]:
    """Return a line for each value that differs."""
    if isinstance(kept, dict) and isinstance(now, dict):
        found = []
        for key in sorted(kept.keys() | now.keys()):
            path = f"{where}.{key}" if where else str(key)
            found += _differences(path, kept.get(key), now.get(key))
        return found
    return [] if kept == now else [f"{where}: {_shown(kept)} -> {_shown(now)}"]


def _shown(value: Any) -> str:
    return "nothing" if value is None else value if isinstance(value, str) else compact(value)
