"""A cloud of type `sky` that follows a JSON file: a plugin for tests, found by its entry point.

The file has the keys `good` (valid tokens), `answers` (results of the next starts: the name of an error and
its text), `instances` (machine id -> request), `calls` (the calls so far) and `silent` (`check` hangs).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pushjuju.core import errors
from pushjuju.core.base import Base
from pushjuju.core.constraints import ConstraintRules, Constraints
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import Attr, CloudSpec, Credential, ProviderType, Reached
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.providers import Instance, Provider, Started, StartRequest
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.hookspecs import hookimpl

PUSHJUJU_API = (1, 4)
TOKEN = Attr(name="token", summary="the token", required=True, secret=True)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Register the type `sky`."""
    return [
        ProviderType(
            name="sky",
            summary="as a file says",
            credential_schemas={"token": (TOKEN,)},
            cloud_schema=(Attr(name="state", summary="path of the file"),),
            config_schema=(
                Attr(name="zone-of-sky", summary="which zone; the file names those that are there"),
            ),
            features=frozenset({"start", "poll"}),
        )
    ]


@hookimpl
def pushjuju_open_provider(
    cloud: CloudSpec, credential: Credential, config: Mapping[str, Any]
) -> Provider | None:
    """Return the provider of a cloud of type `sky`."""
    return Sky(cloud, credential, str(config.get("zone-of-sky") or "")) if cloud.type == "sky" else None


class Sky:
    """Starts no machine; records the calls."""

    def __init__(self, cloud: CloudSpec, credential: Credential, zone: str) -> None:
        self._zone = zone
        self._file = Path(str(cloud.config["state"]))
        self._token = credential.attributes.get("token", "")

    def _called(self, name: str) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self._file.read_text())
        state["calls"].append(name)
        self._file.write_text(json.dumps(state))
        if self._token not in state["good"]:
            raise errors.CredentialInvalid(detail="AuthFailure: no such token")
        return state

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:
        """Accept everything."""

    async def rules(self) -> ConstraintRules:
        """Return rules with two instance types, when the token is valid."""
        self._called("rules")
        return ConstraintRules(vocabulary={"instance-type": ["big", "small"]})

    async def check(self) -> Reached:
        """Return the account of the token."""
        state = self._called("check")
        if state.get("silent"):
            await asyncio.Event().wait()
        if self._zone and self._zone not in state.get("zones", ()):
            raise errors.NotValid(f'the sky has no zone "{self._zone}"', hint="look up")
        return Reached(account="kim")

    async def start(self, request: StartRequest) -> Started:
        """Return or raise the next result of the file."""
        state = self._called(f"start {request.machine_id}")
        if state["answers"]:
            name, text = state["answers"].pop(0)
            self._file.write_text(json.dumps(state))
            raise getattr(errors, name)(detail=text)
        state["instances"][request.machine_id] = request.nonce
        self._file.write_text(json.dumps(state))
        return Started(instance=self._instance(request.machine_id), base=request.base)

    def _instance(self, machine: str) -> Instance:
        return Instance(id=f"sky-{machine}", machine_id=machine, status=InstanceStatus.PENDING)

    async def stop(self, ids: Sequence[str]) -> None:
        """Remove instances."""
        state = self._called(f"stop {' '.join(ids)}")
        for name in ids:
            state["instances"].pop(name.removeprefix("sky-"), None)
        self._file.write_text(json.dumps(state))

    async def list(self) -> Sequence[Instance]:
        return [self._instance(machine) for machine in self._called("list")["instances"]]

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        known = self._called("get")["instances"]
        numbers = [name.removeprefix("sky-") for name in ids]
        return [self._instance(number) if number in known else None for number in numbers]

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return an address where no machine answers."""
        return SSHTarget(host="127.0.0.1", port=9)

    async def destroy_model(self) -> None:
        """Remove all instances."""
        self._called("destroy")

    async def doctor(self) -> Sequence[Finding]:
        return []
