"""Containers inside a machine of the model, on the machine's own LXD.

Requests go over the machine's SSH connection: a local socket is forwarded to the socket of LXD on the
machine. Nothing of pushjuju keeps running there.

Mirrors: juju container/lxd, worker/provisioner/lxd-broker.go (3.6)
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.constraints import Constraints
from pushjuju.core.errors import ProviderError
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.providers import CharmProfile, Instance, ModelInfo, Services, Started, StartRequest
from pushjuju.plugins.api.targets import ContainerHost, SSHTarget
from pushjuju.plugins.providers.lxd.provider import LxdProvider

INSTALL_S = 1800.0  # enough for a slow network and a slow disk
NO_LXD = 69  # exit status of the script when there is no package of LXD
_SOCKETS = ("/var/snap/lxd/common/lxd/unix.socket", "/var/lib/lxd/unix.socket")
BRIDGE = f"""
import os, select, socket, sys
lxd = socket.socket(socket.AF_UNIX)
for path in {_SOCKETS!r}:
    try:
        lxd.connect(path)
        break
    except OSError:
        pass
else:
    sys.exit("no LXD answers here")
ends = {{0: lxd.fileno(), lxd.fileno(): 1}}
waiting = list(ends)
while lxd.fileno() in waiting:
    for source in select.select(waiting, [], [])[0]:
        data = os.read(source, 65536)
        if not data:
            waiting.remove(source)
            if source == 0:
                lxd.shutdown(socket.SHUT_WR)
        while data:
            data = data[os.write(ends[source], data):]
"""
_PREPARE = """\
set -u
there() {
  for socket in /var/snap/lxd/common/lxd/unix.socket /var/lib/lxd/unix.socket; do
    [ -S "$socket" ] && return 0
  done
  return 1
}
PATH=$PATH:/snap/bin
# Debian gives root more user ids than a container has; LXD then accepts none of them.
fit() {
  least=165536 room=$(awk '{ print $1 + $3; exit }' /proc/self/uid_map)
  [ "$room" -lt $((least + 10000001)) ] && [ "$room" -ge $((least + 65536)) ] || return 0
  sed -i "s/^root:$least:10000001\\$/root:$least:$((room - least))/" /etc/subuid /etc/subgid &&
    systemctl restart lxd
}
if ! there; then
  if command -v snap >/dev/null; then
    snap install lxd --channel="$channel" >&2 || exit 1
  elif command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    # apt-cache also shows names that other packages only mention; these have no version.
    candidate() { apt-cache policy lxd 2>/dev/null | grep -q 'Candidate: [^(]'; }
    candidate || apt-get update -q >&2 || exit 1
    candidate || exit 69
    apt-get install -q -y lxd dnsmasq-base iptables >&2 || exit 1  # its bridge needs the other two
    fit >&2 || exit 1
  else
    exit 69
  fi
fi
command -v lxc >/dev/null || exit 0  # an LXD without the client lxc is used as it is
if command -v lxd >/dev/null; then lxd waitready --timeout=120 >&2 || exit 1; fi
lxc remote list >/dev/null 2>&1  # the first call of lxc prints a hint for new users
pools() { lxc query /1.0/storage-pools | tr -d '[:space:]'; }
free() {
  for number in $(seq 1 254); do
    ip -4 route show | grep -q -F "10.207.$number." || { echo "10.207.$number.1/24"; return; }
  done
}
# When the network answers for every address, LXD finds no unused subnet: a subnet without a route is used.
if [ "$(pools)" = '[]' ]; then
  lxd init --auto >&2 || lxd init --preseed >&2 <<END || exit 1
networks:
- name: lxdbr0
  type: bridge
  config: {ipv4.address: $(free), ipv4.nat: "true", ipv6.address: none}
storage_pools:
- {name: default, driver: dir}
profiles:
- name: default
  devices:
    root: {path: /, pool: default, type: disk}
    eth0: {name: eth0, network: lxdbr0, type: nic}
END
fi
"""
# Without program and data, there never was an LXD, and so no container; an LXD that is down has data.
_NEVER_THERE = """\
for trace in /var/snap/lxd /var/lib/lxd /snap/bin/lxd; do
  [ ! -e "$trace" ] || exit 1
done
! command -v lxd >/dev/null
"""


class HostedLxd:
    """The containers of one model inside one machine."""

    def __init__(
        self, *, host: ContainerHost, model: ModelInfo, config: Mapping[str, Any], services: Services
    ) -> None:
        self._host, self._model, self._services = host, model, services
        self._channel = str(config.get("lxd-snap-channel") or "")
        self._ready = asyncio.Lock()
        self._prepared = False

    async def _lxd(self) -> LxdProvider:
        """Return the provider of the machine's LXD over the present SSH connection."""
        socket = await self._host.relay(BRIDGE)
        name = f"machine {self._host.machine_id}"
        return LxdProvider(
            cloud=CloudSpec(name=name, type="lxd", endpoint=str(socket)),
            credential=Credential(),
            model=self._model,
            config={},
            services=self._services,
        )

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:
        """Refuse nothing: the machine may not exist yet."""

    async def start(self, request: StartRequest) -> Started:
        """Make a container; before the first container of a machine, install LXD there."""
        await self._prepare(request)
        return _here(await (await self._lxd()).start(replace(request, zone="", placement="")))

    async def _prepare(self, request: StartRequest) -> None:
        async with self._ready:
            if self._prepared:
                return
            request.progress(InstanceStatus.ALLOCATING, "preparing LXD on the host")
            script = f"channel={quote(self._channel)}\n{_PREPARE}"
            done = await self._host.run(script, timeout_s=INSTALL_S)
            if done.rc:
                raise self._failed(done.rc, done.stderr, request.machine_id)
            self._prepared = True

    def _failed(self, code: int, said: str, container: str) -> ProviderError:
        host, again = self._host.machine_id, f"pushjuju retry-provisioning {container}"
        if code == NO_LXD:
            return ProviderError(
                f"machine {host} has no LXD, and no package source has one: install lxd there, then {again}",
                retryable=False,
            )
        last = [line.strip() for line in said.splitlines() if line.strip()][-3:]
        return ProviderError(f"LXD cannot be prepared on machine {host}", detail="; ".join(last), hint=again)

    async def resume(self, instance_id: str) -> None:
        """Start a stopped container again, or one that did not start with its host."""
        await (await self._lxd()).resume(instance_id)

    async def stop(self, ids: Sequence[str]) -> None:
        """Delete containers; with the last container, also the model's profile."""
        try:
            lxd = await self._lxd()
            await lxd.stop(ids)
            await lxd.drop_profile()
        except ProviderError:
            if not await self._never_there():
                raise

    async def set_profiles(
        self, instance_id: str, wanted: Sequence[CharmProfile], keep: Collection[str]
    ) -> None:
        await (await self._lxd()).set_profiles(instance_id, wanted, keep)

    async def list(self) -> Sequence[Instance]:
        try:
            return [_local(item) for item in await (await self._lxd()).list()]
        except ProviderError:
            if await self._never_there():
                return []
            raise

    async def _never_there(self) -> bool:
        """Return True when the machine has no LXD: then a container that was never made can be removed."""
        return not self._prepared and (await self._host.run(_NEVER_THERE)).rc == 0

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        """Return containers by id, with None for containers that do not exist."""
        found = await (await self._lxd()).get(ids)
        return [_local(item) if item is not None else None for item in found]

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return the address and login for SSH from the machine."""
        return await (await self._lxd()).ssh_target(instance)

    async def destroy_model(self) -> None:
        """Do nothing: containers end one by one, and the LXD belongs to the machine."""

    async def doctor(self) -> Sequence[Finding]:
        """Return no findings: the machine is not this computer."""
        return []


def _here(started: Started) -> Started:
    return replace(started, instance=_local(started.instance))


def _local(instance: Instance) -> Instance:
    """Return a container without a zone: the name of the machine's LXD is no zone."""
    return replace(instance, hardware=replace(instance.hardware, availability_zone=""))
