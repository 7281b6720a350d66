"""Keeps the firewall of one machine as the model needs it.

The complete rules are computed from the model, and their digest is compared with that of the rules in force.
When they differ, the machine gets all rules, while its hooks go on. The result is recorded afterwards: a
controller that dies in between sends the rules again, which does no harm.

Mirrors: juju worker/firewaller (3.6)
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pushjuju.core.errors import Overtaken, RemoteFailed
from pushjuju.core.firewall import MachineRules
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.firewalls import Firewall, GuardedMachine
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.runner.session import MachineSession
from pushjuju.runner.trust import intake
from pushjuju.services.entities.basis import logs
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import credential_validity
from pushjuju.services.entities.model import firewall as service
from pushjuju.services.entities.model import models
from pushjuju.store.rows.records import Machine, MachineFirewall
from pushjuju.store.tx import ModelTx
from pushjuju.workers.events import Event
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.runtime import Runtime

AGAIN_S = 3600.0  # seconds after which rules are sent again: a user may have deleted them
TIMEOUT_S = 60.0  # seconds that a machine may take to load the rules
LOGGER = "juju.worker.firewaller"
WAKE_EACH_S = 0.005  # delay of the wake, for each machine with a firewall
WAKE_MOST_S = 5.0


async def wake(runtime: Runtime, model: str, application: str, reason: str) -> Outcome:
    """Wake the machines whose rules may have changed, after a delay in which more changes share the wake.

    The delay grows with the number of machines, so that many machines do not make a change more expensive.
    """
    ctx = runtime.ctx
    with ctx.read(model) as tx:
        count = service.guarded(tx)
    await asyncio.sleep(min(count * WAKE_EACH_S, WAKE_MOST_S))
    with ctx.write(model) as tx:
        service.wake(tx, application, reason)
    return Outcome()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """The rules that a machine should have, and the record of the rules that it has."""

    known: MachineFirewall
    rules: MachineRules

    @property
    def in_force(self) -> bool:
        return self.known.applied == self.rules.digest()


class Firewaller:
    """The firewall of one machine, for the worker that has claimed the machine."""

    def __init__(self, runtime: Runtime, machine: Machine, firewall: Firewall) -> None:
        self._runtime = runtime
        self._ctx: Context = runtime.ctx
        self._machine = machine
        self._firewall = firewall
        self.problem: RemoteFailed | None = None  # why the rules could not be set; None before a failure
        self._busy = asyncio.Lock()
        self._gone = False

    @classmethod
    def of(cls, runtime: Runtime, machine: Machine) -> Firewaller | None:
        """Return a machine's firewaller, or None when the machine has no firewall."""
        firewall = runtime.firewall(machine)
        return cls(runtime, machine, firewall) if firewall is not None else None

    # --- whether rules must be sent -----------------------------------------------------------------------

    def wants_contact(self) -> bool:
        """Return True when the machine needs other rules; record changes that do not change the rules."""
        with self._ctx.read(self._machine.model) as tx:
            known = service.state(tx, self._machine.id)
            if known is None:
                return bool(self._machine.last_seen)  # the first contact sends rules in any case
            if known.changes == known.seen and not known.problem:
                return False
            wanted = self._wanted(tx, known)
        if not wanted.in_force or known.problem:
            return True
        with self._ctx.store.write(self._machine.model) as tx:
            tx.run("firewall_seen", **self._key, seen=known.changes)
        return False

    def is_stale(self, session: MachineSession) -> bool:
        """Return True when the rules may not be in force: after changes or a boot, or when they are old."""
        if self._gone or self.problem is not None or not session.hello:
            return False  # removed, or failed at this contact, or no connection
        with self._ctx.read(self._machine.model) as tx:
            known = service.state(tx, self._machine.id)
        if known is None or known.changes != known.seen or known.problem or known.applied_at is None:
            return True
        age = self._ctx.clock.now() - known.applied_at
        return known.boot_id != session.hello["boot_id"] or age > timedelta(seconds=AGAIN_S)

    @property
    def _key(self) -> dict[str, str]:
        return {"model": self._machine.model, "machine": self._machine.id}

    def _wanted(self, tx: ModelTx, known: MachineFirewall) -> _Wanted:
        rules = service.rules(tx, self._machine.id, known)
        return _Wanted(known=known, rules=rules)

    # --- sending rules ------------------------------------------------------------------------------------

    async def work(self, session: MachineSession) -> None:
        """Send the rules to the machine; a failure is recorded and stops no other work."""
        async with self._busy:
            if not self._gone:
                await self._apply(session)

    async def _apply(self, session: MachineSession) -> None:
        wanted = self._look(session)
        try:
            self._require_credential()
            await self._firewall.apply(self._guarded(session), wanted.rules)
        except Overtaken:
            raise
        except RemoteFailed as error:
            self._note_problem(error)
            return
        self._runtime.checkpoint("firewall-applied")
        with self._ctx.store.write(self._machine.model) as tx:
            tx.run(
                "firewall_applied",
                **self._key,
                seen=wanted.known.changes,
                applied=wanted.rules.digest(),
                boot_id=str(session.hello.get("boot_id", "")),  # the connection may be lost
                now=self._ctx.clock.now(),
            )
        if not wanted.in_force and self._machine.last_seen:  # no news for a new machine
            told = Event(entity=f"machine {self._machine.id}", text="firewall rules in force", state="done")
            self._runtime.tell(told)

    def _require_credential(self) -> None:
        """Refuse to call a cloud that refused the model's credential; some firewalls need no cloud.

        Raises:
            RemoteFailed: The cloud has refused the credential before.
        """
        if "firewall" not in self._runtime.features(self._machine.provider):
            return
        with self._ctx.read(self._machine.model) as tx:
            if credential_validity.reason(tx, models.get(tx)):
                raise RemoteFailed(
                    f"machine {self._machine.id} keeps its firewall", detail=credential_validity.MESSAGE
                )

    def _look(self, session: MachineSession) -> _Wanted:
        """Return the rules for now, with a rule that admits this controller's SSH connection."""
        peer, said = intake.ssh_reached(str(session.hello.get("ssh", "")))
        with self._ctx.write(self._machine.model) as tx:
            tx.run("firewall_add", **self._key)
            known = service.state(tx, self._machine.id)
            assert known is not None
            port = said or int(self._machine.ssh.get("port") or service.DEFAULT_SSH_PORT)
            known = service.reached(tx, known, peer, port) or known
            return self._wanted(tx, known)

    def _note_problem(self, error: RemoteFailed) -> None:
        text = error.full_text
        with self._ctx.write(self._machine.model, whole=True) as tx:
            before = service.state(tx, self._machine.id)
            tx.run("firewall_problem", **self._key, problem=text)
            credential_validity.note(tx, error)
            if before is None or before.problem != text:
                entity, now = f"machine-{self._machine.id}", self._ctx.clock.now()
                logs.append(tx, entity, "ERROR", LOGGER, text, now=now)
        self.problem = error
        self._runtime.tell(Event(entity=f"machine {self._machine.id}", text=text, state="failed"))

    async def clear(self, session: MachineSession) -> None:
        """Remove the firewall from a machine that leaves the model, if it has one."""
        async with self._busy:
            self._gone = True
            with self._ctx.read(self._machine.model) as tx:
                if service.state(tx, self._machine.id) is None:
                    return
            await self._firewall.clear(self._guarded(session))
            self._runtime.checkpoint("firewall-cleared")
            with self._ctx.store.write(self._machine.model) as tx:
                tx.run("firewall_delete", **self._key)

    def _guarded(self, session: MachineSession) -> GuardedMachine:
        async def run(script: str) -> ScriptResult:
            done = await session.exec(script=script, timeout=TIMEOUT_S)
            if done.cut_short:  # by a reboot, mostly: a script puts the whole firewall in place
                done = await session.exec(script=script, timeout=TIMEOUT_S)
            rc = done.exit if done.exit is not None else 128 + (done.signal or 0)
            return ScriptResult(rc=rc, stdout=done.stdout, stderr=done.stderr)

        return GuardedMachine(machine_id=self._machine.id, instance_id=self._machine.instance_id, run=run)
