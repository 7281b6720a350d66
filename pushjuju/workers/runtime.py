"""What all workers of a process share: plugins, providers, SSH connections."""

from __future__ import annotations

import asyncio
import copy
import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Self

from pushjuju.core.errors import NotFound, PushjujuError
from pushjuju.core.holding import owner_line
from pushjuju.core.names import application_of, parent_machine
from pushjuju.core.status import InstanceStatus
from pushjuju.core.values import changed, dataclass
from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.hook_tools import HookToolFamily
from pushjuju.plugins.api.providers import Provider, no_warning
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.manager import PluginHost
from pushjuju.runner.push.packer import Program, pack, tool_names
from pushjuju.runner.remote.toolkit import Tool
from pushjuju.runner.session import MachineSession, open_session
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from pushjuju.runner.trust.waste import Waste
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import lost_results, machines
from pushjuju.services.entities.model import firewall, model_config, models
from pushjuju.store.leases import LeasedStore
from pushjuju.store.processes import CAUSE
from pushjuju.store.queue import ROUTINE, Claim, model_of
from pushjuju.store.rows.records import Machine, Model
from pushjuju.store.tx import Questions, Tx
from pushjuju.workers import clouds, live
from pushjuju.workers.events import OBSERVER, Event, Tell, silent
from pushjuju.workers.hosts import HostLink
from pushjuju.workers.reach import ScriptRunner, key_alias, reach
from pushjuju.workers.timeouts import within

_OURS = "pushjuju."  # prefix of the modules that come with pushjuju
HANDSHAKES = 50  # SSH logins under way at once
STARTS = 16  # machines of a model that are made at once, when the model has no setting
DOWN_S = 10.0  # seconds for a cloud to answer whether an unreachable machine is stopped or gone
MANUAL = "manual"


def no_checkpoint(name: str) -> None:
    """Do nothing at a step; tests pass another function, which stops the process."""


@dataclass(slots=True)
class _Parts:
    """Parts that are created at their first use."""

    host: PluginHost | None = None
    program: Program | None = None
    answered: Mapping[str, Tool] | None = None


class Runtime:
    """What a process needs to work: opened for one command, or for the life of a controller process.

    Attributes:
        ctx: The context through which a worker reads and writes; refuses writes when the lease has ended.
        base_ctx: The context of the process, which depends on no lease.
        watched: True when a user watches: machines send the last line that a long hook printed.
        serves: True when the process works until somebody stops it.
        observer: Gets the contacts with machines and the operations on them, for traces.
        routine_until: Time after which due update-status hooks are left to other processes; None means that
            the next claim runs them.
    """

    def __init__(
        self,
        ctx: Context,
        tell: Tell = silent,
        warn: Callable[[str], None] | None = None,
        checkpoint: Callable[[str], None] = no_checkpoint,
        *,
        watched: bool = False,
    ) -> None:
        self.ctx = self.base_ctx = ctx
        self.watched = watched
        self.serves = False
        self.observer = OBSERVER.get().of(ctx)
        self.routine_until: datetime | None = None
        self._leases = (0, 0)
        self._claim: Claim | None = None
        self.tell = tell
        self.checkpoint = checkpoint
        self.warn = warn or (lambda text: tell(Event(entity="controller", text=text, state="waiting")))
        self.handshakes = asyncio.Semaphore(HANDSHAKES)
        # of machines at rest: when many fall silent at once, work on the others does not wait for them
        self.reconnects = asyncio.Semaphore(HANDSHAKES)
        self._starts: dict[tuple[str, str], asyncio.Semaphore] = {}
        self._parts = _Parts()
        self.connector = Connector()
        self._providers: dict[tuple[str, str], Provider] = {}
        self._firewalls: dict[tuple[str, str], Firewall | None] = {}
        self._sessions: dict[tuple[str, str], tuple[MachineSession, AsyncExitStack]] = {}
        self._waste: dict[tuple[str, str], Waste] = {}
        self._features: dict[str, frozenset[str]] = {}
        self._links: dict[tuple[str, str], HostLink] = {}
        self._loud: dict[tuple[str, str], set[str]] = {}
        self._containers: dict[tuple[str, str], Provider] = {}

    within = staticmethod(within)

    def loud_hooks(self, model: str, unit: str) -> set[str]:
        """Return the hooks of a unit's application that wrote something the last time that they ran."""
        return self._loud.setdefault((model, application_of(unit)), set())

    def starts(self, machine: Machine) -> asyncio.Semaphore:
        """Return the semaphore that limits the starts of machines in a model, or of containers on a host."""
        host = parent_machine(machine.id) or ""
        key = (machine.model, host)
        if key not in self._starts:
            name = "num-container-provision-workers" if host else "num-provision-workers"
            with self.base_ctx.read(machine.model) as tx:
                most = int(model_config.get(tx, name) or STARTS)
            self._starts[key] = asyncio.Semaphore(max(most, 1))
        return self._starts[key]

    def holding(self, claim: Claim) -> Self:
        """Return the runtime for the worker that holds a claim; writes after the end of its lease fail."""
        held = copy.copy(self)
        store = LeasedStore(self.base_ctx.store, claim)
        # A claim runs only what was due when it began: hooks that last longer than the update-status interval
        # would otherwise keep the key claimed for ever.
        until = self.routine_until or self.base_ctx.clock.now()
        held.ctx = changed(self.base_ctx, store=store, routine_until=until)
        held._claim = claim
        held._leases = (claim.lease, claim.previous)
        model = claim.key.partition("/")[0]
        held.tell = lambda event: self.tell(replace(event, model=model))
        return held

    @property
    def asked(self) -> bool:
        """Return True when the claim was made for a request, not only because of a due time."""
        return self._claim is None or self._claim.reason not in ("", ROUTINE)

    def questions(self) -> Questions:
        """Yield what the first steps of the work on a claimed key ask the store, for `Tx.ahead`."""
        if self._claim is not None:
            yield "work_holds", {"key": self._claim.key, "lease": self._claim.lease}
            yield "work_generation", {"key": self._claim.key}

    def generation(self, tx: Tx) -> int | None:
        """Return a number that changes when the claimed key wakes; None when only update-status is due.

        Without a claim, the number is 0.
        """
        if self._claim is None:
            return 0
        row = tx.row("work_generation", key=self._claim.key)
        if row is not None:  # a request that came meanwhile asks for what begins from now on
            CAUSE.set(max(row["cause"], CAUSE.get()))
        return None if row is None or row["reason"] == ROUTINE else int(row["generation"])

    def note_routine(self, generation: int) -> None:
        """Record that only update-status is due for the claimed key, unless the key woke meanwhile."""
        if self._claim is None:
            return
        asked = {"key": self._claim.key, "lease": self._claim.lease, "generation": generation}
        with self.ctx.store.write(model_of(self._claim.key), later=True) as tx:
            tx.run("work_only_routine", **asked, routine=ROUTINE)

    @property
    def host(self) -> PluginHost:
        """The plugins, loaded at the first use."""
        if self._parts.host is None:
            self._parts.host = PluginHost(environ=self.ctx.environ, warn=self.warn)
        return self._parts.host

    @property
    def program(self) -> Program:
        """The program for machines: the runner with all hook tools, packed once."""
        if self._parts.program is None:
            families = self.host.hook_tool_families()
            helps = {name: tool.help() for name, tool in self.answered.items()}
            # In the private data directory, because the kept code runs on machines. A process that serves
            # packs the program at once, and so can send the program after an upgrade of pushjuju, too.
            cache = None if self.serves else self.ctx.datadir.root / "cache" / "program.json"
            self._parts.program = pack(_sources(families, self.warn), helps, cache)
        return self._parts.program

    @property
    def answered(self) -> Mapping[str, Tool]:
        """The hook tools of plugins that the controller answers, by name."""
        if self._parts.answered is None:
            self._parts.answered = dict(_answered(self.host.hook_tool_families(), self.warn))
        return self._parts.answered

    def provider(self, model: str, cloud: str | None = None) -> Provider:
        """Return the provider of a model; `manual` for machines that users named."""
        key = (model, cloud or "")
        if key not in self._providers:
            with self.ctx.read(model) as tx:
                found: Model = models.get(tx)
            remote = ScriptRunner(self.base_ctx, self.connector, model)
            opened = clouds.open_provider(
                self.base_ctx, self.host, found, warn=self.warn, remote=remote, cloud=cloud
            )
            self._providers[key] = self.observer.calls(opened)
        return self._providers[key]

    def cloud_type(self, model: str) -> str:
        with self.ctx.read(model) as tx:
            return models.get(tx).cloud_type

    def kind_of(self, machine: Machine) -> str:
        """Return the type of a machine's provider: the type of the model's cloud, or of the containers."""
        host = parent_machine(machine.id)
        return machine.id.split("/")[-2] if host else self.cloud_type(machine.model)

    def features(self, kind: str) -> frozenset[str]:
        """Return the features of a type of provider; empty for a type that no plugin has."""
        if kind not in self._features:
            try:
                self._features[kind] = self.host.provider_type(kind).features
            except NotFound:
                self._features[kind] = frozenset()
        return self._features[kind]

    def provider_of(self, machine: Machine) -> Provider:
        """Return the provider of a machine; that of a container works on the container's host."""
        if parent_machine(machine.id):
            return self._provider_of_container(machine)
        return self.provider(machine.model, MANUAL if machine.provider == MANUAL else None)

    def _provider_of_container(self, machine: Machine) -> Provider:
        host, kind = str(parent_machine(machine.id)), self.kind_of(machine)
        key = (machine.model, f"{host}/{kind}")
        if key not in self._containers:
            with self.ctx.read(machine.model) as tx:
                model: Model = models.get(tx)
                settings = model_config.effective(tx)
            self._containers[key] = self.host.open_containers(
                kind=kind,
                host=self.link(machine.model, host),
                model=clouds.model_info(self.base_ctx, model),
                config={name: item["value"] for name, item in settings.items()},
                services=clouds.services_for(self.base_ctx, self.warn),
            )
        return self._containers[key]

    def link(self, model: str, host: str) -> HostLink:
        """Return the link to a machine on which containers are made."""

        def target() -> MachineTarget:
            return self.target(self._row(model, host))

        if (model, host) not in self._links:
            self._links[(model, host)] = HostLink(host, self.connector, target)
        return self._links[(model, host)]

    def storage_provider(self, model: str, type_name: str) -> MachineStorage | StorageProvider:
        """Return the provider of a storage type, opened with the provider of the model's cloud."""
        return self.host.open_storage(type_name, self.provider(model))

    def firewall(self, machine: Machine) -> Firewall | None:
        """Return the firewall of a machine, or None without a firewall. The mode of a model never changes."""
        key = (machine.model, machine.provider)
        if key not in self._firewalls:
            with self.ctx.read(machine.model) as tx:
                model = models.get(tx)
                mode, asked = firewall.mode(tx), firewall.is_asked_for(tx)
            self._firewalls[key] = (
                None
                if mode is firewall.Mode.NONE
                else self.host.open_firewall(
                    model=clouds.model_info(self.base_ctx, model),
                    mode=mode,
                    asked=asked,
                    provider_type=machine.provider,
                    provider=self._guarding(machine),
                )
            )
        return self._firewalls[key]

    def _guarding(self, machine: Machine) -> Provider | None:
        """Return the provider of a machine when its cloud has firewalls, else None."""
        has_one = machine.provider != MANUAL and "firewall" in self.features(machine.provider)
        return self.provider(machine.model) if has_one else None

    async def session(self, machine: Machine) -> MachineSession:
        """Return the open session to a machine, or open one.

        Raises:
            TransportError: The machine cannot be reached.
        """
        key = (machine.model, machine.id)
        if key in self._sessions and self._is_stale(self._sessions[key][0]):
            await self.drop(machine)
        if key not in self._sessions:
            line = self.ctx.store.line
            async with self.handshakes:
                stack = AsyncExitStack()
                session = await stack.enter_async_context(self.opening(machine))
            session.line = line
            self._sessions[key] = (session, stack)
        session = self._sessions[key][0]
        lease = self._leases[0]
        session.lease = {"of": machine.model, "number": lease} if lease else None
        return session

    def opening(self, machine: Machine) -> AbstractAsyncContextManager[MachineSession]:
        options: dict[str, object] = {"owner": self.owner_of(machine)}
        if (recall := lost_results.seconds(self.ctx, machine)) is not None:
            options["recall"] = recall
        target = self.target(machine)
        waste = self._waste.setdefault((machine.model, machine.id), Waste())
        return open_session(
            target,
            program=self.program,
            connector=self.connector,
            options=options,
            waste=waste,
            is_down=lambda: self._is_down(machine),
        )

    async def _is_down(self, machine: Machine) -> bool:
        """Return True when the cloud reports that a machine is stopped or gone; False without an answer."""
        if machine.provider == MANUAL or not machine.instance_id:
            return False
        try:
            (instance,) = await self.within(DOWN_S, self.provider_of(machine).get([machine.instance_id]))
        except PushjujuError:
            return False
        return instance is None or instance.status is InstanceStatus.STOPPED

    def owner_of(self, machine: Machine) -> str:
        """Return the line that marks a machine as held by this controller and model."""
        controller = str(self.base_ctx.controller.settings().get("uuid", ""))
        return owner_line(controller, machine.model, machine.id)

    def _is_stale(self, session: MachineSession) -> bool:
        """Return True when another process has worked on the machine, or another server has taken over."""
        if session.line != self.ctx.store.line:
            return True
        return session.lease is not None and session.lease["number"] not in self._leases

    def attached(self, machine: Machine) -> MachineSession | None:
        """Return the open session with a machine, or None."""
        found = self._sessions.get((machine.model, machine.id))
        return found[0] if found else None

    def is_attached(self, machine: Machine) -> bool:
        """Return True when the session with a machine can be used: connected, and with current facts."""
        session = self.attached(machine)
        return session is not None and session.connected and not self._is_stale(session)

    async def drop(self, machine: Machine) -> None:
        """Close the session with a machine, if one is open."""
        found = self._sessions.pop((machine.model, machine.id), None)
        if found is not None:
            await found[1].aclose()

    def target(self, machine: Machine) -> MachineTarget:
        """Return the SSH target of a machine; the target of a container leads through its host."""
        found = reach(self.ctx, machine.model, machine.ssh, config=machine.provider == MANUAL)
        host = parent_machine(machine.id)
        if host is None:
            return found
        jump = self.target(self._row(machine.model, host))
        return replace(found, jump=jump, host_key_alias=key_alias(machine))

    def _row(self, model: str, machine: str) -> Machine:
        with self.base_ctx.read(model) as tx:
            return machines.get(tx, machine)

    async def close(self) -> None:
        """Close every connection; operations on machines go on."""
        found = list(self._sessions.values())
        self._sessions.clear()
        links = list(self._links.values())
        self._links.clear()
        self._containers.clear()
        await asyncio.gather(
            *(stack.aclose() for _, stack in found), *(link.close() for link in links), return_exceptions=True
        )


def _sources(
    families: Iterable[HookToolFamily], warn: Callable[[str], None] = no_warning
) -> Iterator[tuple[str, Path]]:
    """Yield module and source file of every family that runs on machines; warn of a broken family."""
    for family in families:
        if not family.pushable:
            continue
        try:
            spec = importlib.util.find_spec(family.module)
            if spec is None or not spec.origin:
                raise NotFound(f"there is no module {family.module}")
            path = Path(spec.origin)
            if not family.module.startswith(_OURS):
                tool_names(family.module, path)
        except (ImportError, ValueError, PushjujuError) as error:
            warn(f"hook tools {family.name}: not used: {_why(error)}")
            continue
        yield family.module, path


def _answered(families: Iterable[HookToolFamily], warn: Callable[[str], None]) -> Iterator[tuple[str, Tool]]:
    """Yield the tools of every family that runs in the controller; warn of a broken family."""
    for family in [item for item in families if not item.pushable]:
        try:
            found = dict(importlib.import_module(family.module).TOOLS)
        except Exception as error:  # noqa: BLE001 (modules of plugins may raise anything)
            warn(f"hook tools {family.name}: not used: {_why(error)}")
            continue
        yield from ((name, tool) for name, tool in found.items() if name not in live.ANSWERED)


def _why(error: Exception) -> str:
    if isinstance(error, PushjujuError):
        return ": ".join(filter(None, (error.message, error.detail)))
    return f"{type(error).__name__}: {error}"


def target_document(target: SSHTarget) -> dict[str, object]:
    """Return an SSH target as a document for the machine's row."""
    return {
        "host": target.host,
        "port": target.port,
        "user": target.user,
        "host_keys": list(target.host_keys or ()),
        "jump": target.proxy_jump,
        "identities": [str(path) for path in target.identities],
    }
