"""Makes, ends and restarts machines: the steps that need root rights.

Every function blocks. For root, the provider calls the functions in threads; for other users, through the
sudo helper. Therefore arguments and results are plain data.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from pushjuju.core.errors import Conflict, NotFound, ProviderError
from pushjuju.plugins.providers.local import network, system
from pushjuju.plugins.providers.local.bases import BaseRoot, host_apt_options
from pushjuju.plugins.providers.local.files import new_host_key, write_identity
from pushjuju.plugins.providers.local.prepare import prepare_root
from pushjuju.plugins.providers.local.supervisor import forget, spawn, wait_if_child
from pushjuju.plugins.providers.nspawn.cgroups import Cgroup, send
from pushjuju.plugins.providers.nspawn.layout import Layout, Record

_GRACE_S = 5.0
LOOPS = ".loop"  # folder for the files of storage type `loop`, in a machine's storage directory
_FOLDERS = ("up", "work", "root", "vol")
_SCRIPT = "var/lib/juju/user-data.sh"
_UNIT = "etc/systemd/system/pushjuju-user-data.service"
_SERVICE = f"""[Unit]
Description=User data of this machine
After=network.target
Before=ssh.service
ConditionPathExists=/{_SCRIPT}

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'sh /{_SCRIPT} >>/var/log/cloud-init-output.log 2>&1; rm -f /{_SCRIPT}'
TimeoutStartSec=20min
Environment=DEBIAN_FRONTEND=noninteractive HOME=/root LANG=C.UTF-8

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSpec:
    id: str
    controller_uuid: str
    model_uuid: str
    machine_id: str
    hostname: str
    arch: str
    created: str  # the present time as text
    nonce: str = ""
    cores: int | None = None
    mem: int | None = None
    subnet: str = ""  # the cloud's `subnet`; empty for a free subnet
    authorized_keys: tuple[str, ...] = ()
    tags: dict[str, str] | None = None
    user_data: str = ""  # a shell script for the first boot; may be empty


def create(layout: Layout, spec: MachineSpec, base: BaseRoot) -> Record:
    """Make a machine and start it; return while it still boots.

    When a machine with the same id and nonce runs already, it is returned: two controller processes may make
    the same request when the first one was suspended for a while. Remains of any other machine with the id
    are removed first.

    Raises:
        ProviderError: A step failed; everything of the machine has been removed.
    """
    try:
        with _alone(layout, spec.id):
            return _adopt(layout, spec) or _create(layout, spec, base)
    except BaseException:
        _tidy(layout)
        raise


def _alone(layout: Layout, instance_id: str) -> AbstractContextManager[None]:
    """Lock a machine against other processes that make or remove it."""
    return system.locked(layout.lock.with_name(f"{layout.lock.name}-{instance_id}"))


def _adopt(layout: Layout, spec: MachineSpec) -> Record | None:
    """Return the running machine of an earlier call with the same request, or None when there is none."""
    found = layout.read(spec.id)
    if found and found.model_uuid != spec.model_uuid:
        raise Conflict(f"instance {spec.id} belongs to another model")
    if not (found and found.ready and spec.nonce and found.nonce == spec.nonce):
        return None
    if not Cgroup.of(layout.cgroup(spec.id)).populated():
        return None
    # The machine belongs to this call now. A suspended earlier call must not `discard` it later.
    record = replace(found, created=max(found.created, spec.created))
    layout.write(record)
    return record


def _create(layout: Layout, spec: MachineSpec, base: BaseRoot) -> Record:
    _remove(layout, spec.id)
    record = _reserve(layout, spec, base)
    try:
        private, public = new_host_key()
        record = replace(record, host_key=public, boot_id=system.boot_id(), ready=True)
        _mount(layout.machine(spec.id), Path(base.root))
        root = layout.machine(spec.id) / "root"
        if not base.prepared:
            prepare_root(root, host_root=base.root == "/")
        write_identity(
            root,
            record,
            host_key=private,
            authorized_keys=spec.authorized_keys,
            nameservers=network.nameservers(),
            apt_options=host_apt_options(),
        )
        if spec.user_data:
            write_user_data(root, spec.user_data)
        _boot(layout, record)
        layout.write(record)
    except BaseException:
        _remove(layout, spec.id)
        raise
    return record


def discard(layout: Layout, instance_id: str, created: str) -> None:
    """Remove a machine that no call waits for, unless a later call has adopted it."""
    with _alone(layout, instance_id):
        found = layout.read(instance_id)
        if found is not None and found.created == created:
            _remove(layout, instance_id)
    _tidy(layout)


def _reserve(layout: Layout, spec: MachineSpec, base: BaseRoot) -> Record:
    """Reserve an address and write the first record: from now on, list and remove know the machine."""
    with system.locked(layout.lock):
        layout.state.parent.mkdir(parents=True, exist_ok=True)
        system.open_folder(layout.state)
        system.open_folder(layout.machines)
        subnet = network.ensure_network(layout, network.parse_subnet(spec.subnet) if spec.subnet else None)
        index = network.free_index(subnet, [item.index for item in layout.records()])
        record = Record(
            id=spec.id,
            controller_uuid=spec.controller_uuid,
            model_uuid=spec.model_uuid,
            machine_id=spec.machine_id,
            hostname=spec.hostname,
            index=index,
            address=str(subnet[index]),
            gateway=str(next(subnet.hosts())),
            cidr=str(subnet),
            base=base.base,
            root=base.root,
            arch=spec.arch,
            created=spec.created,
            nonce=spec.nonce,
            cores=spec.cores,
            mem=spec.mem,
            tags=spec.tags or {},
        )
        system.open_folder(layout.machine(spec.id))
        layout.write(record)
        network.make_namespace(layout, index, subnet)
    return record


def _mount(folder: Path, base: Path) -> None:
    for name in _FOLDERS:
        system.open_folder(folder / name)
    if not system.mounts_below(folder / "vol"):
        system.run(["mount", "--bind", "vol", "vol"], cwd=folder)
        system.run(["mount", "--make-shared", "vol"], cwd=folder)
    if not system.mounts_below(folder / "root"):
        # Relative names: a comma or colon in an absolute path would end the mount option.
        lower = folder / "base"
        lower.unlink(missing_ok=True)
        lower.symlink_to(base)
        options = "lowerdir=base,upperdir=up,workdir=work"
        system.run(["mount", "-t", "overlay", "overlay", "-o", options, "root"], cwd=folder)


def _boot(layout: Layout, record: Record) -> None:
    cgroup = Cgroup.of(layout.cgroup(record.id))
    cgroup.create(cores=record.cores, mem=record.mem)
    spawn(layout.machine(record.id), record.hostname, layout.namespace(record.index), cgroup)


def resume(layout: Layout, instance_id: str) -> None:
    """Boot a machine that was powered off, or that stopped with this host; a running one stays as it is."""
    record = layout.read(instance_id)
    if record is None or not record.ready:
        raise NotFound(f"instance {instance_id} not found")
    cgroup = Cgroup.of(layout.cgroup(record.id))
    with system.locked(layout.machine(record.id) / ".lock"):
        if cgroup.populated():
            return
        with system.locked(layout.lock):
            subnet = network.ensure_network(layout, network.parse_subnet(record.cidr))
            if str(subnet) != record.cidr:
                raise ProviderError(
                    f"the subnet {record.cidr} of {instance_id} is in use by something else now"
                )
            network.make_namespace(layout, record.index, subnet)
        cgroup.remove()
        _mount(layout.machine(record.id), Path(record.root))
        _boot(layout, record)
        layout.write(replace(record, boot_id=system.boot_id()))


def remove(layout: Layout, instance_id: str, grace_s: float = _GRACE_S) -> None:
    """End a machine and delete everything of it; a missing machine is no error.

    Args:
        grace_s: Seconds for an orderly shutdown.

    Raises:
        ProviderError: Something could not be deleted; the machine is still listed, so a new attempt is
        possible.
    """
    with _alone(layout, instance_id):
        _remove(layout, instance_id, grace_s)
    _tidy(layout)


def _remove(layout: Layout, instance_id: str, grace_s: float = _GRACE_S) -> None:
    folder = layout.machine(instance_id)
    record = layout.read(instance_id)
    if record is None and not folder.exists():
        return
    halt(layout, instance_id, grace_s)
    Cgroup.of(layout.cgroup(instance_id)).remove()
    _free_loops(folder / "vol")
    if record is not None:
        network.remove_namespace(layout, record.index)
        forget(folder / "root", layout.namespace(record.index))
    system.remove_tree(folder)


def _free_loops(volumes: Path) -> None:
    """Detach the loop devices of a machine's files: they belong to the host and outlive the machine."""
    for file in volumes.glob(f"{LOOPS}/*"):
        for device in system.run(["losetup", "-n", "-O", "NAME", "-j", str(file)], check=False).split():
            system.run(["losetup", "-d", device], check=False)


def halt(layout: Layout, instance_id: str, grace_s: float = _GRACE_S) -> None:
    """Shut a machine down, and kill its remaining processes after the grace time."""
    cgroup = Cgroup.of(layout.cgroup(instance_id))
    supervisors = cgroup.supervisor_pids()
    # systemd-nspawn powers the machine off and exits with 0, after which its supervisor ends by itself.
    send(cgroup.nspawn_pids(), signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while cgroup.machine_populated() and time.monotonic() < deadline:
        time.sleep(0.01)
    send(supervisors, signal.SIGKILL)
    cgroup.kill()
    for pid in supervisors:
        wait_if_child(pid)


def _tidy(layout: Layout) -> None:
    """Remove the bridge and the folders when no machine is left."""
    with system.locked(layout.lock):
        if layout.machines.is_dir() and any(layout.machines.iterdir()):
            return
        network.remove_network(layout)
        if layout.machines.is_dir():
            layout.machines.rmdir()
    if layout.state.is_dir() and not any(layout.state.iterdir()):
        layout.state.rmdir()


def remove_model(layout: Layout, model_uuid: str) -> None:
    """End all machines of a model; remove the network when no other model has machines."""
    for record in layout.records():
        if record.model_uuid == model_uuid:
            remove(layout, record.id)


def remove_all(layout: Layout, ids: Sequence[str]) -> None:
    """End machines one after the other; try all of them before the first error is raised."""
    problem: ProviderError | None = None
    for instance_id in ids:
        try:
            remove(layout, instance_id)
        except ProviderError as error:
            problem = problem or error
    if problem:
        raise problem


def write_user_data(root: Path, script: str) -> None:
    """Write the script into a machine's root, with a service that runs it at the first boot, before sshd.

    So a machine that answers SSH has run its user data, as Juju's agent starts after cloud-init.
    """
    system.put_file(root, _SCRIPT, script, mode=0o700)
    system.put_file(root, _UNIT, _SERVICE)
    system.put_link(root, f"etc/systemd/system/multi-user.target.wants/{Path(_UNIT).name}", f"/{_UNIT}")
