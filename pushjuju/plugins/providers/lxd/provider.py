"""The provider of LXD: the machines of one model, each a container or a virtual machine.

The identity of an instance is in `user.*` keys of its configuration: model, machine, and the `nonce` of the
request that made it. A repeated start finds the instance of the first start; a start with another nonce
replaces the instance. Mirrors: juju provider/lxd (3.6)
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.constraints import ConstraintRules, Constraints, juju_arch
from pushjuju.core.errors import (
    CredentialInvalid,
    NotFound,
    NotValid,
    ProviderError,
    PushjujuError,
    unknown_placement,
)
from pushjuju.core.extras import install_command
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api import providers
from pushjuju.plugins.api.clouds import CloudSpec, Credential, Reached
from pushjuju.plugins.api.findings import Finding, Fix
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.providers import cloud_config
from pushjuju.plugins.providers.lxd import instances, profiles
from pushjuju.plugins.providers.lxd.instances import CONTAINER, MACHINE_KEY, NONCE_KEY, VM
from pushjuju.plugins.providers.lxd.server import (
    WITHOUT_LXD,
    Api,
    Gone,
    Server,
    boot,
    connect,
    halt,
    ignore_gone,
    settle,
)
from pushjuju.plugins.providers.lxd.volumes import LxdStorage

ADDRESS_S = 180.0  # seconds after which the start of an instance without an address fails
LOOK_S = 0.2
DEFAULT = "default"  # the project that every server has
_UNSUPPORTED = frozenset({"tags", "cpu-power", "allocate-public-ip", "image-id", "container"})
_Seen = tuple[Mapping[str, Any], Mapping[str, Any]]
"""An instance's document and its state."""


class LxdProvider:
    """The machines of one model on one server or cluster."""

    def __init__(
        self,
        *,
        cloud: CloudSpec,
        credential: Credential,
        model: providers.ModelInfo,
        config: Mapping[str, Any],
        services: providers.Services,
    ) -> None:
        project = str(config.get("project") or cloud.config.get("project") or DEFAULT)
        images = cloud.config.get("images")
        self._images = {str(base): str(name) for base, name in (images or {}).items()}
        self._model, self._project = model, project
        self._server = Server(lambda: connect(cloud, credential, services, project), cloud.name)
        self._about: Mapping[str, Any] = {}

    def storage(self) -> LxdStorage:
        """Return the filesystems of the model in the server's pools."""
        return LxdStorage(self._server, self._model.uuid)

    # --- the server ---------------------------------------------------------------------------------------

    async def _facts(self) -> Mapping[str, Any]:
        """Return the server's description of itself, cached."""
        if not self._about:
            self._about = await self._server.run(lambda api: _facts(api, self._project))
        return self._about

    async def check(self) -> Reached:
        """Return the name and version of the server."""
        facts = await self._facts()
        return Reached(account=f'server "{_name(facts)}", LXD {facts["environment"].get("server_version")}')

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:
        """Refuse an unknown placement, and a base without an image.

        Raises:
            NotValid: The server cannot make such a machine.
        """
        await self._placed(placement)
        wanted = providers.StartRequest(machine_id="", base=base, constraints=constraints)
        await self._source(wanted)

    async def rules(self) -> ConstraintRules:
        """Return LXD's rules for constraints."""
        facts = await self._facts()
        pools = await self._server.run(
            lambda api: [item["name"] for item in api.get("storage-pools", recursion="1")]
        )
        drivers = str(facts["environment"].get("driver") or "")
        return ConstraintRules(
            unsupported=_UNSUPPORTED,
            vocabulary={
                "arch": _arches(facts),
                "virt-type": [CONTAINER, VM] if "qemu" in drivers else [CONTAINER],
                "root-disk-source": sorted(pools),
                "zones": [zone.name for zone in await self.zones()],
            },
        )

    async def zones(self) -> Sequence[providers.Zone]:
        """Return the members of the cluster as zones, or the single server."""
        facts = await self._facts()
        if not facts["environment"].get("server_clustered"):
            return [providers.Zone(name=_name(facts))]
        members = await self._server.run(lambda api: api.get("cluster/members", recursion="1"))
        return [
            providers.Zone(name=str(item["server_name"]), available=item.get("status") == "Online")
            for item in members
        ]

    async def derive_zones(self, request: providers.StartRequest) -> Sequence[str]:
        """Return the cluster member that the placement names; empty for any."""
        return await self._placed(request.placement)

    async def _placed(self, placement: str) -> list[str]:
        """Return the member in `zone=MEMBER` or `MEMBER`."""
        if not placement:
            return []
        kind, equals, value = placement.partition("=")
        if equals and kind != "zone":
            raise unknown_placement(placement)
        wanted = value if equals else placement
        if wanted not in {zone.name for zone in await self.zones()}:
            known = ", ".join(zone.name for zone in await self.zones())
            raise NotValid(f'availability zone "{wanted}" not valid', hint=f"zones: {known}")
        return [wanted]

    # --- starting -----------------------------------------------------------------------------------------

    async def start(self, request: providers.StartRequest) -> providers.Started:
        """Start an instance, or return the instance that an earlier start with this request made.

        Raises:
            ProviderError: The server failed, or gave no address in time; what was made is deleted.
        """
        found = [
            item
            for item in await self._server.run(self._documents)
            if item["config"].get(MACHINE_KEY) == request.machine_id
        ]
        mine = [item for item in found if request.nonce and item["config"].get(NONCE_KEY) == request.nonce]
        await self.stop([str(item["name"]) for item in found if item not in mine])
        name = str(mine[0]["name"]) if mine else await self._make(request)
        try:
            await self._server.run(lambda api: boot(api, name))
            document, state = await self._with_address(name)
        except Gone as gone:
            raise ProviderError(f"instance {name} ended while it started", detail=gone.message) from gone
        except BaseException:
            await asyncio.shield(self.stop([name]))
            raise
        server = _name(await self._facts())
        return providers.Started(
            instance=instances.instance(document, state, server=server),
            base=request.base,
            nonce=request.nonce,
            host_keys=instances.host_keys(document),
        )

    async def _make(self, request: providers.StartRequest) -> str:
        source, facts = await self._source(request), await self._facts()
        request.progress(InstanceStatus.ALLOCATING, "Creating container")
        member = request.zone if facts["environment"].get("server_clustered") else ""

        def make(api: Api) -> str:
            self._ensure_profile(api)
            profiles.ensure(api, request.profiles, self._model.uuid)
            root = (api.get("profiles/default").get("devices") or {}).get("root") or {}
            document = instances.order(
                request,
                model=self._model,
                source=source,
                root=root,
                user_data=cloud_config.as_text(request.user_data),
            )
            try:
                api.change("post", "instances", document, **({"target": member} if member else {}))
            except BaseException:
                self._drop_own(api, str(document["name"]))
                raise
            return str(document["name"])

        return await self._server.run(make)

    def _ensure_profile(self, api: Api) -> None:
        wanted = instances.profile(self._model)
        try:
            api.get(f"profiles/{wanted['name']}")
        except Exception as error:
            if getattr(getattr(error, "response", None), "status_code", 0) != 404:
                raise
            try:
                api.change("post", "profiles", wanted)
            except Exception as late:
                if "already exists" not in str(late):  # another start has made it already
                    raise

    async def _source(self, request: providers.StartRequest) -> dict[str, object]:
        """Return where the image of a request is."""
        arch = str(request.constraints.get("arch") or _arches(await self._facts())[0])
        base, vm = request.base, instances.is_vm(request)
        given = self._images.get(base.display)
        names = [given] if given else instances.aliases(base, arch, vm=vm)
        known = await self._server.run(lambda api: api.get("images", recursion="1"))
        for image in known:
            alias = next((item["name"] for item in image.get("aliases") or () if item["name"] in names), "")
            if alias or image["fingerprint"] in names:
                return {"type": "image", "fingerprint": str(image["fingerprint"])}
        if base.os == "ubuntu" and not given:
            return {
                "type": "image",
                "mode": "pull",
                "protocol": "simplestreams",
                "server": f"{instances.STREAMS}/{'daily' if request.daily_images else 'releases'}",
                "alias": base.track,
            }
        where = "" if self._project == DEFAULT else f" --project {self._project}"
        raise NotValid(
            f'no image for base {base.display} on {arch}: the LXD server has no alias "{names[0]}"',
            hint=f"lxc image import FILES --alias {names[0]}{where}",
        )

    async def _with_address(self, name: str) -> _Seen:
        """Wait until an instance has an address; raise Gone when the instance was deleted meanwhile."""
        end = asyncio.get_running_loop().time() + ADDRESS_S
        while True:
            seen = await self._server.run(lambda api: _seen(api, api.get(f"instances/{name}")))
            if instances.addresses(*seen):
                return seen
            if asyncio.get_running_loop().time() > end:
                raise ProviderError(f"instance {name} got no address in {ADDRESS_S:.0f} s", retryable=True)
            await asyncio.sleep(LOOK_S)

    # --- afterwards ---------------------------------------------------------------------------------------

    async def resume(self, instance_id: str) -> None:
        """Start a stopped instance again, or one that did not start with its host."""
        await self._server.run(lambda api: self._boot_own(api, instance_id))

    def _boot_own(self, api: Api, name: str) -> None:
        if not any(document["name"] == name for document in self._documents(api)):
            raise NotFound(f"instance {name} not found")
        boot(api, name)

    async def stop(self, ids: Sequence[str]) -> None:
        """End instances of the model and delete their disks; unknown ids are no error."""
        await asyncio.gather(*(self._stop(name) for name in ids))

    async def _stop(self, name: str) -> None:
        await self._server.run(lambda api: self._drop_own(api, name))

    def _drop_own(self, api: Api, name: str) -> None:
        """Delete an instance when it belongs to the model."""
        for document in self._documents(api):
            if document["name"] == name:
                instances.require_reached(document)
                settle(api, name)
                ignore_gone(lambda: halt(api, name))
                ignore_gone(lambda: api.change("delete", f"instances/{name}"))

    def _documents(self, api: Api) -> list[Mapping[str, Any]]:
        return instances.of_model(api.get("instances", recursion="1"), self._model.uuid)

    async def list(self) -> Sequence[providers.Instance]:
        server = _name(await self._facts())

        def look(api: Api) -> list[providers.Instance]:
            found = []
            for document in self._documents(api):
                state = {} if instances.lost(document) else _state(api, str(document["name"]))
                found.append(instances.instance(document, state, server=server))
            return found

        return await self._server.run(look)

    async def get(self, ids: Sequence[str]) -> Sequence[providers.Instance | None]:
        """Return instances by id, with None for instances that were deleted or belong to another model."""
        if not ids:
            return []
        found = {item.id: item for item in await self.list()}
        return [found.get(name) for name in ids]

    async def ssh_target(self, instance: providers.Instance) -> SSHTarget:
        """Return the address and the login as `ubuntu`, the user that the user data creates.

        Raises:
            NotFound: The instance does not exist any more, or has no address.
        """
        seen = [item for item in await self._server.run(self._documents) if item["name"] == instance.id]
        if not seen:
            raise NotFound(f"instance {instance.id} not found")
        instances.require_reached(seen[0])
        document, state = await self._server.run(lambda api: _seen(api, seen[0]))
        found = instances.addresses(document, state)
        if not found:
            raise NotFound(f"instance {instance.id} has no address")
        return SSHTarget(host=found[0].value, host_keys=instances.host_keys(document))

    async def destroy_model(self) -> None:
        """End all instances of the model and delete its profile."""
        found = await self._server.run(self._documents)
        await self.stop([str(item["name"]) for item in found])
        await self.drop_profile()
        await self._server.run(lambda api: profiles.sweep(api, self._model.uuid))

    async def set_profiles(
        self, instance_id: str, wanted: Sequence[providers.CharmProfile], keep: Collection[str]
    ) -> None:
        """Assign the charm profiles of an instance; delete the model's charm profiles without an instance."""

        def set_all(api: Api) -> None:
            if instance_id:
                profiles.ensure(api, wanted, self._model.uuid)
                profiles.give(api, instance_id, wanted, self._model.uuid)
            profiles.sweep(api, self._model.uuid, keep)

        await self._server.run(set_all)

    async def drop_profile(self) -> None:
        """Delete the model's profile, unless an instance uses it."""
        name = instances.profile_name(self._model)

        def drop(api: Api) -> None:
            found = ignore_gone(lambda: api.get(f"profiles/{name}"))
            if found and not found.get("used_by"):
                ignore_gone(lambda: api.change("delete", f"profiles/{name}"))

        await self._server.run(drop)

    async def doctor(self) -> Sequence[Finding]:
        """Report whether pylxd is installed and the server answers."""
        if importlib.util.find_spec("pylxd") is None:
            fix = Fix(command=install_command("lxd"))
            text = f"pylxd is not installed; {WITHOUT_LXD}"
            return [Finding(name="pylxd", ok=False, message=text, fix=fix)]
        try:
            reached = await self.check()
        except PushjujuError as error:
            text = ": ".join(filter(None, (error.message, error.detail)))
            return [Finding(name="server", ok=False, message="; ".join(filter(None, (text, error.hint))))]
        return [Finding(name="server", ok=True, message=reached.account)]


def _facts(api: Api, project: str) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = api.get("")
    if facts.get("auth") != "trusted" or "environment" not in facts:
        raise CredentialInvalid(detail="the LXD server does not trust this certificate")
    if project != DEFAULT and not ignore_gone(lambda: api.get(f"projects/{project}")):
        text = f'the LXD server has no project "{project}"'
        raise NotValid(text, hint=f"lxc project create {project}")
    return facts


def _name(facts: Mapping[str, Any]) -> str:
    return str(facts["environment"].get("server_name") or "none")


def _arches(facts: Mapping[str, Any]) -> list[str]:
    return [juju_arch(str(name)) for name in facts["environment"].get("architectures") or ("x86_64",)]


def _seen(api: Api, document: Mapping[str, Any]) -> _Seen:
    return document, _state(api, str(document["name"]))


def _state(api: Api, name: str) -> Mapping[str, Any]:
    return ignore_gone(lambda: api.get(f"instances/{name}/state")) or {}
