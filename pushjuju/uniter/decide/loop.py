"""Decides by asking the sub-resolvers in Juju's order: the first decision counts. Pure.

Mirrors: juju worker/uniter/resolver.go NextOp, worker/uniter/resolver/loop.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pushjuju.core.values import changed
from pushjuju.uniter.decide.decision import Answer, Decision, Effect, EffectKind, Verdict
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.resolvers.actions import actions, commands
from pushjuju.uniter.decide.resolvers.hooks import hooks, retry_timer
from pushjuju.uniter.decide.resolvers.leadership import leadership
from pushjuju.uniter.decide.resolvers.mainloop import core, restart, unit_dead
from pushjuju.uniter.decide.resolvers.reboot import reboot
from pushjuju.uniter.decide.resolvers.relations import relation_created
from pushjuju.uniter.decide.resolvers.secrets import secrets
from pushjuju.uniter.decide.resolvers.series import series_upgrade
from pushjuju.uniter.decide.resolvers.storage import storage
from pushjuju.uniter.decide.resolvers.upgrade import charm_vanished, install_charm, upgrade
from pushjuju.uniter.decide.state import LocalState, OperationKind

RESOLVERS: Final[tuple[tuple[str, Callable[[LocalState, RemoteState], Verdict]], ...]] = (
    ("unit-dead", unit_dead),
    ("install", install_charm),
    ("charm-directory", charm_vanished),
    ("series-upgrade", series_upgrade),
    ("reboot", reboot),
    ("upgrade", upgrade),
    ("restart", restart),
    ("retry-timer", retry_timer),
    ("relation-created", relation_created),
    ("leadership", leadership),
    ("secrets", secrets),
    ("actions", actions),
    ("commands", commands),
    ("storage", storage),
    ("hooks", hooks),
    ("core", core),
)


def decide(local: LocalState, remote: RemoteState) -> Decision:
    """Decide what a unit does next.

    Pure: the same states give the same decision, and neither is changed. The caller first performs
    `reconcile_effects`, then reads both states again, then calls this function.
    """
    effects: tuple[Effect, ...] = ()
    for badge, resolver in RESOLVERS:
        verdict = resolver(local, remote)
        if isinstance(verdict, Decision):
            effects += verdict.effects
            told = any(effect.kind is EffectKind.REPORT_WAITING for effect in effects)
            if verdict.answer is Answer.IDLE and local.kind is OperationKind.CONTINUE and not told:
                effects += (Effect(kind=EffectKind.REPORT_IDLE),)
            return changed(verdict, effects=effects, badge=badge)
        effects += verdict
    raise AssertionError("the last sub-resolver always decides")
