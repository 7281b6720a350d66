"""The provider `manual`: existing machines join a model and leave the model.

The provider neither makes nor ends machines. It keeps one small file for each machine in the controller's
directory; a marker on the machine names the machine's owner.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.constraints import ConstraintRules, Constraints, juju_arch
from pushjuju.core.errors import (
    AlreadyExists,
    AuthFailed,
    Conflict,
    HostKeyChanged,
    NotFound,
    NotPermitted,
    NotValid,
    ProviderError,
    PushjujuError,
    RemoteFailed,
    SudoRefused,
    Unreachable,
)
from pushjuju.core.holding import owner_line, way_out
from pushjuju.core.status import InstanceStatus
from pushjuju.core.values import dataclass
from pushjuju.plugins.api import providers
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.targets import RemoteRunner, ScriptResult, SSHTarget
from pushjuju.plugins.providers.manual import scripts

_TIMEOUT_S = 120.0
_UNSUPPORTED = frozenset(
    {"allocate-public-ip", "cpu-power", "image-id", "instance-type", "tags", "virt-type"}
)  # as in Juju
_PREFIX = "manual:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The record of one machine."""

    id: str
    machine_id: str
    host: str
    port: int
    owner: str
    hardware: dict[str, Any]
    host_keys: tuple[str, ...] = ()
    jump: str = ""


class ManualProvider:
    """The machines of one model; pushjuju neither makes nor ends them."""

    def __init__(self, *, model: providers.ModelInfo, services: providers.Services) -> None:
        self._model = model
        self._services = services
        self._folder = services.data_dir / "manual" / model.uuid

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:  # noqa: ARG002
        """Refuse every request for a new machine: this provider cannot make machines."""
        raise NotPermitted('use "pushjuju add-machine ssh:[user@]<host>" to provision machines')

    async def rules(self) -> ConstraintRules:
        """Return the constraints that have no effect on existing machines."""
        return ConstraintRules(unsupported=_UNSUPPORTED)

    async def start(self, request: providers.StartRequest) -> providers.Started:
        """Refuse, as `precheck` does."""
        await self.precheck(request.base, request.constraints, request.placement)
        raise AssertionError("precheck always raises")

    async def enlist(
        self,
        target: str,
        *,
        machine_id: str,
        authorized_keys: Sequence[str],
        identities: Sequence[Path] = (),
        jump: str = "",
        progress: providers.Progress = providers.no_progress,
    ) -> providers.Started:
        """Add a machine to the model: make the login `ubuntu`, mark the machine, read its hardware.

        Mirrors: juju environs/manual/sshprovisioner/sshprovisioner.go (3.6).
        """
        place = Target.parse(target)
        owner = owner_line(self._model.controller_uuid, self._model.uuid, machine_id)
        way = SSHTarget(host=place.host, port=place.port, identities=tuple(identities), proxy_jump=jump)
        login = replace(way, user=scripts.USER)
        try:
            done = await self._join(place, way, owner, authorized_keys, progress)
            base, hardware = read_facts(done.stdout)
        except (AlreadyExists, AuthFailed, HostKeyChanged, SudoRefused, Unreachable):
            raise  # nothing was written there; more logins could make sshd refuse this host for a while
        except PushjujuError:
            await self._give_up((login, replace(way, user=place.user)), owner)
            raise
        record = Record(
            id=place.instance_id,
            machine_id=machine_id,
            host=place.host,
            port=place.port,
            owner=owner,
            hardware=hardware,
            host_keys=(done.host_key,) if done.host_key else (),
            jump=jump,
        )
        self._write(record)
        return providers.Started(
            instance=_instance(record),
            base=base,
            nonce=f"{place.instance_id}:{uuid.uuid4()}",
            host_keys=record.host_keys or None,
        )

    async def _join(
        self, place: Target, way: SSHTarget, owner: str, keys: Sequence[str], progress: providers.Progress
    ) -> ScriptResult:
        """Mark the machine, let the controller log in as `ubuntu`, and return the machine's facts.

        One script does this in one connection: as the user that was named, else as `ubuntu`, else as the user
        of the SSH configuration. The user `ubuntu` may exist, with the user's own key, where the named user
        is refused.
        """
        named = place.user
        refusal: PushjujuError | None = None
        for user in dict.fromkeys((named, scripts.USER) if named else (scripts.USER, "")):
            present = user == scripts.USER
            begun = "checking" if present else f"setting up user {scripts.USER} on"
            progress(InstanceStatus.ALLOCATING, f"{begun} {place.host}")
            script = scripts.join(owner, keys, user_exists=present)
            try:
                return await self._run(replace(way, user=user), script, f"cannot set up {place.host}")
            except (AuthFailed, SudoRefused) as error:
                refusal = error if refusal is None or user == named else refusal
            except Unreachable as error:
                raise _named(error, place) from error.__cause__
        assert refusal is not None
        raise refusal

    async def _give_up(self, logins: Sequence[SSHTarget], owner: str) -> None:
        """Clean up a machine that could not join; without an answer, the mark stays for the next attempt."""
        for login in logins:
            with contextlib.suppress(PushjujuError):
                await self._remote().run_script(login, scripts.release(owner), sudo=True)
                return

    async def _run(self, login: SSHTarget, script: str, problem: str) -> ScriptResult:
        """Run a script as root; raise an error when another controller holds the machine."""
        done = await self._remote().run_script(login, script, sudo=True, timeout_s=_TIMEOUT_S)
        if done.rc == scripts.PROVISIONED:
            owner = done.stderr.strip().rpartition("\n")[2]  # the login's shell may have printed before
            raise AlreadyExists(
                "machine is already provisioned",
                detail=owner,
                hint=way_out(owner, login.host, login.port, login.user, self._model.controller_uuid),
            )
        _check(done, problem)
        return done

    async def stop(self, ids: Sequence[str]) -> None:
        """Remove pushjuju's traces from machines, which keep running. Unknown ids are no error.

        Raises:
            TransportError: A machine does not answer; its record stays.
            Conflict: Another controller has taken the machine over; its record is deleted, and nothing
            changes on it.
        """
        for record in [item for item in self._records() if item.id in ids]:
            target = await self.ssh_target(_instance(record))
            done = await self._remote().run_script(target, scripts.release(record.owner), sudo=True)
            if done.rc != scripts.NOT_OURS:
                _check(done, f"cannot clean up {record.host}")
            self._path(record.machine_id).unlink(missing_ok=True)
            if done.rc == scripts.NOT_OURS:
                raise Conflict(f"{record.host} belongs to another model now; nothing was changed on it")
        self._drop_empty_folders()

    async def list(self) -> Sequence[providers.Instance]:
        """Return the machines that were added to the model."""
        return [_instance(record) for record in self._records()]

    async def get(self, ids: Sequence[str]) -> Sequence[providers.Instance | None]:
        """Return machines by id; as in Juju, their status is `running`."""
        known = {record.id: _instance(record) for record in self._records()}
        return [known.get(item) for item in ids]

    async def ssh_target(self, instance: providers.Instance) -> SSHTarget:
        """Return the login as `ubuntu`; raise NotFound when the machine was not added to this model."""
        for record in self._records():
            if record.id == instance.id:
                keys = tuple(record.host_keys) or None
                return SSHTarget(
                    host=record.host,
                    port=record.port,
                    user=scripts.USER,
                    host_keys=keys,
                    proxy_jump=record.jump,
                )
        raise NotFound(f"instance {instance.id} not found")

    async def destroy_model(self) -> None:
        """Remove pushjuju's traces from all machines of the model."""
        await self.stop([record.id for record in self._records()])

    async def doctor(self) -> Sequence[Finding]:
        """Report that manual machines only need an SSH login."""
        return [Finding(name="ssh", ok=True, message="manual machines need only a login")]

    def _remote(self) -> RemoteRunner:
        if self._services.remote is None:
            raise ProviderError("manual machines need an SSH transport, and there is none", retryable=False)
        return self._services.remote

    def _path(self, machine_id: str) -> Path:
        return self._folder / f"{machine_id.replace('/', '-')}.json"

    def _records(self) -> Sequence[Record]:
        files = sorted(self._folder.glob("*.json"))
        found = [json.loads(path.read_text(encoding="utf-8")) for path in files]
        return [Record(**{**item, "host_keys": tuple(item["host_keys"])}) for item in found]

    def _write(self, record: Record) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        data = {name: getattr(record, name) for name in Record.__slots__}
        path = self._path(record.machine_id)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(data, indent=1), encoding="utf-8")
        new.replace(path)

    def _drop_empty_folders(self) -> None:
        for folder in (self._folder, self._folder.parent):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def read_facts(text: str) -> tuple[Base, dict[str, object]]:
    """Return the base and the arguments for `Hardware` in the output of the script `DETECT`."""
    facts = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    if facts.get("id") and not facts.get("version"):
        raise RemoteFailed(
            f"the machine runs {facts['id']} without a version number: it has no base",
            detail="/etc/os-release there has no VERSION_ID, as in development versions of Debian",
        )
    try:
        base = Base(facts["id"].lower(), facts["version"])
        machine = facts["arch"]
        hardware = {
            "arch": juju_arch(machine),
            "cores": int(facts["cores"]),
            "mem": int(facts["mem_kib"]) // 1024,
        }
    except (KeyError, ValueError) as error:
        said = text.strip() or "nothing was printed: does the login's shell run commands?"
        raise RemoteFailed("the facts of the machine cannot be read", detail=said) from error
    return base, hardware


def _instance(record: Record) -> providers.Instance:
    place = Target(record.host, record.port)
    return providers.Instance(
        id=record.id,
        status=InstanceStatus.RUNNING,
        message="Manually provisioned machine",
        addresses=(providers.Address(value=record.host, type=place.address_type, scope="public"),),
        hardware=providers.Hardware(**record.hardware),
    )


def _named(error: Unreachable, place: Target) -> Unreachable:
    """Return the error with the login that was asked for."""
    if error.reason and place.user:
        error.message = f"cannot reach {place}: {error.reason}"
        error.args = (error.message,)
    return error


def _check(done: ScriptResult, problem: str) -> None:
    if done.rc != 0:
        said = (done.stderr or done.stdout).strip()[-4000:]
        silence = f"it ended with code {done.rc} and no output: does the login's shell run commands?"
        raise RemoteFailed(problem, detail=said or silence)


@dataclass(frozen=True, slots=True)
class Target:
    """The address of a machine and the login; `user` is empty when the text has no user."""

    host: str
    port: int = 22
    user: str = ""

    @classmethod
    def parse(cls, text: str) -> Target:
        """Return the address in `[ssh:][user@]host[:port]`; an IPv6 address with a port needs brackets.

        Raises:
            NotValid: The text has no host, or the port is not valid.
        """
        user, _, place = text.removeprefix("ssh:").rpartition("@")
        host, port = _split_port(place)
        if not host or host.startswith("-") or any(char.isspace() or char == "/" for char in host + user):
            raise NotValid(f'invalid SSH target "{text}"')
        if not port.isascii() or not port.isdigit() or len(port) > 5 or not 0 < int(port) < 65536:
            raise NotValid(f'invalid port "{port}" in SSH target "{text}"')
        return cls(host, int(port), user)

    def __str__(self) -> str:
        """The address as users write it: `bob@host:2222`."""
        host = f"[{self.host}]" if ":" in self.host and self.port != 22 else self.host
        return f"{self.user}@" * bool(self.user) + host + f":{self.port}" * (self.port != 22)

    @property
    def instance_id(self) -> str:
        """The instance id: `manual:<host>`, with the port unless it is 22."""
        if self.port == 22:
            return f"{_PREFIX}{self.host}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{_PREFIX}{host}:{self.port}"

    @property
    def address_type(self) -> str:
        """The form of the host: `ipv4`, `ipv6` or `hostname`."""
        try:
            return f"ipv{ipaddress.ip_address(self.host).version}"
        except ValueError:
            return "hostname"


def _split_port(place: str) -> tuple[str, str]:
    if place.startswith("["):
        host, bracket, rest = place[1:].partition("]")
        return host if bracket else "", rest.removeprefix(":") or "22"
    if place.count(":") > 1:  # a bare IPv6 address
        return place, "22"
    host, colon, port = place.partition(":")
    return host, port if colon else "22"
