"""Storage with and without a machine: create, attach, detach, destroy.

Each step is recorded when it is done. After an interruption, the next worker reads the rows and repeats the
step, which accepts what exists already. A failure is shown in the status of its volume or filesystem and
tried again later; other storage does not wait for it. Mirrors: juju worker/storageprovisioner (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import datetime

from pushjuju.core.errors import PushjujuError, StoreError, TransportError
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.storage import DISK_OF_MACHINE, MOST_MIB, STORAGE_DIR, Kind, is_storage
from pushjuju.core.values import regex
from pushjuju.plugins.api.storage_types import (
    BootMount,
    MachineStorage,
    StorageItem,
    StorageMade,
    StorageProvider,
    StorageSeen,
)
from pushjuju.plugins.storage import devices, mounts
from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import credential_validity, machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.storage import disks, storage_instances, storage_work
from pushjuju.services.entities.storage.storage_work import Step, Todo
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Machine
from pushjuju.store.rows.storage_records import Backing, StorageInstance
from pushjuju.workers.events import Event
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.runtime import Runtime
from pushjuju.workers.timeouts import STORAGE_S, within

SCRIPT_S = 600.0  # seconds that one step on a machine may take
MOST_STEPS = 10_000  # of one contact; more are an endless loop
_LINES = 5  # of a failed script's error output
_SIZE = regex(r"[0-9]{1,16}")
_DEVICE = regex(r"[a-z][a-z0-9-]{0,30}")
_UUID = regex(r"[0-9A-Za-z-]{4,36}")
_LINK = regex(r"/dev/[A-Za-z0-9_./:+=-]{1,200}")


class StorageFailed(PushjujuError, message="storage failed", code="storage-failed"):
    """A step failed on a machine or in a plugin, and will be tried again."""


def next_due(ctx: Context, machine: Machine) -> datetime | None:
    """Return when a machine must be reached for its storage (now, when at once), or None."""
    if not machine.storage:
        return None
    now = ctx.clock.now()
    with ctx.read(machine.model) as tx:
        dues = [todo.due or now for todo in storage_work.on_machine(tx, machine)]
    return min(dues, default=None)


def is_due(ctx: Context, machine: Machine) -> bool:
    """Return True when a machine must be reached for its storage now, as far as the store knows."""
    due = next_due(ctx, machine)
    return due is not None and due <= ctx.clock.now()


def waits(ctx: Context, machine: Machine) -> str:
    """Return what the storage of a machine waits for, else why storage keeps the machine, else ""."""
    with ctx.read(machine.model) as tx:
        found = storage_work.waits_on(tx, machine, everything=True)
        return "; ".join(found) or removal.kept_text(tx, machine)


async def while_attached(runtime: Runtime, machine: Machine, session: MachineSession) -> list[Problem]:
    """Do what is due for the storage of an attached machine; return the failures."""
    if not machine.storage:
        return []
    work = StorageWork(runtime, machine.model, machine.id, session)
    await work.work()
    return work.problems


async def empty(
    runtime: Runtime,
    machine: Machine,
    attach: Callable[[Machine], Awaitable[MachineSession]],
    *,
    stays: bool,
) -> list[str]:
    """Detach the storage that outlives a dying machine; return what is not detached yet.

    Args:
        machine: A machine that has no units any more.
        stays: True when the machine goes on running outside the model, so that all its storage is detached.
    """
    if not machine.storage:
        return []
    with runtime.ctx.write(machine.model) as tx:
        disks.end(tx, machine.id)
        lasting = storage_work.lasting_on(tx, machine)
    if not (lasting or stays):
        return []
    session = None
    try:
        session = await attach(machine) if machine.last_seen else None
    except PushjujuError:
        if not machine.forced:
            raise
    await StorageWork(runtime, machine.model, machine.id, session).work()
    with runtime.ctx.read(machine.model) as tx:
        return storage_work.waits_on(tx, machine, everything=stays)


async def tend(runtime: Runtime, model: str) -> Outcome:
    """Destroy or release storage that is on no machine."""
    work = StorageWork(runtime, model)
    await work.work()
    with runtime.ctx.read(model) as tx:
        dues = [todo.due for todo in storage_work.on_no_machine(tx)]
    due = min((moment for moment in dues if moment is not None), default=None)
    return Outcome(due=due, problems=tuple(work.problems))


class StorageWork:
    """The storage of one machine, through an open session; without a session, storage on no machine."""

    def __init__(
        self, runtime: Runtime, model: str, machine_id: str = "", session: MachineSession | None = None
    ) -> None:
        self.runtime = runtime
        self.ctx = runtime.ctx
        self.model = model
        self.machine_id = machine_id
        self.session = session
        self.attempted: set[tuple[Step, str, str]] = set()
        self.problems: list[Problem] = []

    async def work(self) -> None:
        """Do what is due, until the only steps left have failed."""
        for _ in range(MOST_STEPS):
            todo = self._next()
            if todo is None:
                return
            await self._do(todo)
        raise StorageFailed(f"storage does not come to rest after {MOST_STEPS} steps")

    def _next(self) -> Todo | None:
        now = self.ctx.clock.now()
        with self.ctx.read(self.model) as tx:
            if self.machine_id:
                todos = storage_work.on_machine(tx, machines.get(tx, self.machine_id))
            else:
                todos = list(storage_work.on_no_machine(tx))
        for todo in todos:
            tried = (todo.step, todo.backing.kind, todo.backing.id) in self.attempted
            if not tried and (todo.due is None or todo.due <= now):
                return todo
        return None

    async def _do(self, todo: Todo) -> None:
        """Do one step, and record its result."""
        with self.ctx.write(self.model) as tx:
            refused = self._asks_cloud(todo) and bool(credential_validity.reason(tx, models.get(tx)))
            if not refused and not storage_work.begin(tx, todo):
                return
        if refused:
            self._failed(todo, credential_validity.MESSAGE)
            return
        word = "release" if todo.step is Step.DESTROY and todo.backing.releasing else todo.step
        self._tell(f"{word} {storage_work.label(todo.backing)}")
        self.runtime.checkpoint(f"storage-{todo.step}-begun")
        steps: dict[Step, Callable[[Todo], Awaitable[None]]] = {
            Step.CREATE: self._create,
            Step.ATTACH: self._attach,
            Step.DETACH: self._detach,
            Step.DESTROY: self._destroy,
        }
        try:
            await steps[todo.step](todo)
        except (TransportError, StoreError):
            raise
        except PushjujuError as error:
            with self.ctx.write(self.model, whole=True) as tx:
                credential_validity.note(tx, error)
            self._failed(todo, error.full_text)
        except Exception as bug:  # noqa: BLE001 - a fault of a plugin: reported and tried again
            self._failed(todo, f"the storage provider failed: {bug!r}")
        self.runtime.checkpoint(f"storage-{todo.step}-noted")

    def _asks_cloud(self, todo: Todo) -> bool:
        """Return True when a step needs the cloud, and not only the machine."""
        return not todo.backing.volume and self._is_clouds(todo.backing)

    def _is_clouds(self, backing: Backing) -> bool:
        try:
            return not isinstance(self._provider(backing), MachineStorage)
        except PushjujuError:
            return False  # the step itself reports the error

    def _failed(self, todo: Todo, why: str) -> None:
        self.attempted.add((todo.step, todo.backing.kind, todo.backing.id))
        with self.ctx.write(todo.backing.model) as tx:
            storage_work.failed(tx, todo, why)
        text, subject = f"{todo.step} {todo.backing.kind} {todo.backing.id}: {why}", self._owner(todo.backing)
        where = f" on machine {self.machine_id}" if self.machine_id else ""
        self.problems.append(Problem(f"{subject}{where}: {text}" if subject else text, subject))
        self._tell(f"{todo.step} {storage_work.label(todo.backing)}: {why}", "failed")

    def _owner(self, backing: Backing) -> Subject | None:
        """Return the entity that a failure concerns, or None for the machine."""
        if is_storage(backing.storage):
            return Subject("storage", backing.storage)
        if self.machine_id:
            return None
        with self.ctx.read(self.model) as tx:
            disk = tx.find(StorageInstance, "storage_instance_get", id=backing.storage)
        return Subject(DISK_OF_MACHINE, disk.owner) if disk is not None else None

    def _tell(self, text: str, state: str = "running") -> None:
        entity = f"machine {self.machine_id}" if self.machine_id else "storage"
        self.runtime.tell(Event(entity=entity, text=text, state=state))

    # --- the steps ----------------------------------------------------------------------------------------

    async def _create(self, todo: Todo) -> None:
        backing = todo.backing
        item, provider = self._item(todo), self._provider(backing)
        if todo.volume is not None:
            device = await self._device(todo)
            taken = storage_instances.IMPORTED in backing.attributes
            found = await self._run(mounts.take(device) if taken else mounts.make(item, device))
            name = self._word(found, "uuid", _UUID) if taken else item.uuid
            made = StorageMade(provider_id=name, size=self._size(found, item.size))
        elif isinstance(provider, MachineStorage):
            found = await self._run(provider.create(item))
            made = StorageMade(provider_id=_own_id(backing), size=self._size(found, item.size))
        else:
            made = await within(STORAGE_S, provider.create(item))
        self.runtime.checkpoint("storage-made")
        with self.ctx.write(backing.model) as tx:
            storage_work.created(tx, backing, made)

    async def _attach(self, todo: Todo) -> None:
        backing, host = todo.backing, todo.host
        assert host is not None
        item, provider = self._item(todo), self._provider(backing)
        boots: list[BootMount] = []
        if todo.volume is not None:
            what = f"/dev/{await self._device(todo)}"
            boots.append(self._boot_of_volume(todo, item))
        else:
            where = await self._shown(item, provider)
            with self.ctx.write(host.model) as tx:
                storage_work.seen(tx, host, where)
            what = where.source
            if isinstance(provider, MachineStorage) and item.kind is Kind.FILESYSTEM:
                boots += [boot for boot in (provider.at_boot(item),) if boot is not None]
            boots.append(BootMount(what=what, options=("bind",)))
        if item.kind is Kind.FILESYSTEM:
            await self._run(mounts.mount(item, what, tuple(boots)))
        self.runtime.checkpoint("storage-mounted")
        with self.ctx.write(self.model) as tx:
            boot_id = machines.get(tx, self.machine_id).boot_id
            storage_work.attached(tx, backing, host, boot_id)

    async def _shown(self, item: StorageItem, provider: MachineStorage | StorageProvider) -> StorageSeen:
        """Attach a volume or filesystem, and return where the machine sees it."""
        if not isinstance(provider, MachineStorage):
            return await self._located(item, await within(STORAGE_S, provider.attach(item)))
        found = await self._run(provider.attach(item))
        if item.kind is Kind.BLOCK:
            return StorageSeen(device=self._word(found, "device", _DEVICE))
        source = found.get("source", "")
        if not source.startswith(f"{STORAGE_DIR}/.") or not source.isprintable() or "/../" in f"{source}/":
            raise StorageFailed(
                "the machine reports an invalid path for its storage",
                detail=f"`source` must be a path below {STORAGE_DIR}/.NAME, where NAME is the type's own",
            )
        return StorageSeen(source=source)

    async def _located(self, item: StorageItem, seen: StorageSeen) -> StorageSeen:
        """Return where a machine sees a volume; ask the machine when the cloud does not know the device."""
        paths = (*filter(None, [seen.device_link]), *seen.paths)
        if item.kind is not Kind.BLOCK or seen.device or not (paths or seen.serial):
            return seen
        found = await self._run(devices.locate(StorageSeen(serial=seen.serial, paths=paths)))
        link = self._word(found, "link", _LINK) if "link" in found else ""
        return StorageSeen(device=self._word(found, "device", _DEVICE), device_link=link)

    def _boot_of_volume(self, todo: Todo, item: StorageItem) -> BootMount:
        """Return the line of fstab for a filesystem on a volume: from the volume's provider, else by UUID."""
        assert todo.volume is not None
        below, provider = todo.volume[0], self._provider(todo.volume[0])
        boot = None
        if isinstance(provider, MachineStorage):
            with self.ctx.read(below.model) as tx:
                boot = provider.at_boot(storage_work.item_of(tx, below, todo.volume[1]))
        found = boot or BootMount(what=f"UUID={todo.backing.provider_id or item.uuid}")
        taken = storage_instances.IMPORTED in todo.backing.attributes
        return BootMount(what=found.what, type="auto" if taken else "ext4", options=found.options)

    async def _device(self, todo: Todo) -> str:
        """Return the device of a filesystem's volume; attach the volume again if necessary."""
        assert todo.volume is not None
        below, host = todo.volume
        provider = self._provider(below)
        if isinstance(provider, MachineStorage):
            with self.ctx.read(below.model) as tx:
                item = storage_work.item_of(tx, below, host)
            return self._word(await self._run(provider.attach(item)), "device", _DEVICE)
        if host is None or not host.device_link:
            return host.device if host is not None else ""
        seen = StorageSeen(paths=(host.device_link,))  # the device's name may change at a boot
        return self._word(await self._run(devices.locate(seen, wait_s=0)), "device", _DEVICE)

    async def _detach(self, todo: Todo) -> None:
        backing, host = todo.backing, todo.host
        assert host is not None
        item, provider = self._item(todo), self._provider(backing)
        if self.session is not None and backing.provider_id:
            if todo.volume is not None:
                await self._run(mounts.unmount(item, f"/dev/{await self._device(todo)}"))
            elif item.kind is Kind.FILESYSTEM and host.source:  # without source, it was never mounted
                await self._run(mounts.unmount(item, host.source))
            if isinstance(provider, MachineStorage) and todo.volume is None:
                await self._run(provider.detach(item))
        if not isinstance(provider, MachineStorage) and todo.volume is None and backing.provider_id:
            await within(STORAGE_S, provider.detach(item))
        self.runtime.checkpoint("storage-unmounted")
        with self.ctx.write(backing.model) as tx:
            storage_work.detached(tx, backing, host)

    async def _destroy(self, todo: Todo) -> None:
        backing = todo.backing
        item, provider = self._item(todo), self._provider(backing)
        if backing.volume:
            pass  # the filesystem ends with its volume
        elif isinstance(provider, MachineStorage):
            if self.session is not None:
                await self._run(provider.destroy(item))
        elif backing.provider_id or backing.begun:
            end = provider.release(item) if backing.releasing else provider.destroy(item)
            await within(STORAGE_S, end)
        self.runtime.checkpoint("storage-destroyed")
        with self.ctx.write(self.model) as tx:
            storage_work.destroyed(tx, backing)
            if backing.machine:
                removal.let_go_of_empty(tx, backing.machine)

    # --- helpers ------------------------------------------------------------------------------------------

    def _item(self, todo: Todo) -> StorageItem:
        with self.ctx.read(todo.backing.model) as tx:
            return storage_work.item_of(tx, todo.backing, todo.host)

    def _provider(self, backing: Backing) -> MachineStorage | StorageProvider:
        return self.runtime.storage_provider(self.model, backing.provider)

    async def _run(self, script: str) -> dict[str, str]:
        """Run a script on the machine, and return the `name=value` lines that it printed."""
        if self.session is None:
            raise StorageFailed("the machine cannot be reached")
        result = await self.session.exec(script=script, timeout=SCRIPT_S)
        if result.exit != 0:
            raise StorageFailed(_said(result.stderr) or f"the machine's script ended with {result.exit}")
        pairs = (line.partition("=") for line in result.stdout.splitlines()[:100])
        return {name: value for name, equals, value in pairs if equals}

    def _size(self, found: dict[str, str], asked: int) -> int:
        """Return the size in MiB that a machine reports, or the requested size."""
        size = int(self._word(found, "size", _SIZE))
        if size > MOST_MIB:
            raise StorageFailed("the machine reports an invalid size")
        return size or asked

    def _word(self, found: dict[str, str], name: str, shape: re.Pattern[str]) -> str:
        value = found.get(name, "")
        if not shape.fullmatch(value):
            raise StorageFailed(f"the machine reports no valid {name} for its storage")
        return value


def _own_id(backing: Backing) -> str:
    """Return the provider id of storage that exists only on a machine, as in Juju: `0/1`, or `volume-0-1`."""
    return f"{backing.kind}-{backing.id.replace('/', '-')}" if backing.kind == "volume" else backing.id


def _said(stderr: str) -> str:
    """Return the last lines of a script's error output as one line."""
    lines = [line.strip() for line in stderr.encode("utf-8", "replace").decode().splitlines() if line.strip()]
    text = "; ".join(lines[-_LINES:])
    return "".join(char if char.isprintable() else "?" for char in text)[:1000]
