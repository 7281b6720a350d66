"""The provider of MAAS: the machines of one model, which a MAAS server allocates and deploys.

MAAS stores the model as a machine's agent name; machine id and nonce are in annotations, which are written
after the allocation. When the controller dies in between, the comment of the allocation in MAAS's event log
has the same data. Mirrors: juju provider/maas/environ.go (3.6)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.constraints import ConstraintRules, Constraints
from pushjuju.core.errors import NotFound, NotValid, ProviderError, PushjujuError, ZoneIndependent
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import CloudSpec, Credential, Reached
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.providers import Instance, ModelInfo, Started, StartRequest, Zone
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.providers.maas import documents
from pushjuju.plugins.providers.maas.client import Gone, Maas, Mismatch, Unsure
from pushjuju.plugins.providers.maas.disk_storage import MaasStorage
from pushjuju.plugins.providers.maas.documents import Document, Placement

LOOK_S = 1.0
LATE_LOOKS = 5  # searches for a machine whose allocation got no answer
ALLOCATE_TRIES = 3
_AT_ONCE = 40  # ids of machines in one request
_UNSUPPORTED = frozenset(
    {"cpu-power", "instance-type", "virt-type", "allocate-public-ip", "root-disk-source"}
)
_RELEASED = "released by pushjuju"
_NONSENSE = "the MAAS server sent an invalid answer"


class MaasProvider:
    """The machines of one model on one MAAS server."""

    def __init__(
        self, *, cloud: CloudSpec, credential: Credential, model: ModelInfo, maas: Maas | None = None
    ) -> None:
        images = cloud.config.get("images")
        self._images = {str(base): str(name) for base, name in (images or {}).items()}
        self._pool = str(cloud.config.get("pool") or "")
        self._model = model
        self._maas = maas or Maas(cloud, credential)
        self._zones: list[str] = []

    # --- before a start -----------------------------------------------------------------------------------

    async def check(self) -> Reached:
        """Return the user and the version of MAAS."""
        try:
            user = await self._maas.get("users/", op="whoami", tries=2)
            about = await self._maas.get("version/", tries=2)
        except Gone as error:  # the server is not MAAS, or has MAAS at another path
            text = "could not connect to MAAS controller - check the endpoint is correct"
            raise ProviderError(text, detail=error.detail, hint=error.hint, retryable=False) from None
        if not _text(user, "username") or not _text(about, "version"):
            raise ProviderError(_NONSENSE)
        return Reached(account=f'user "{_text(user, "username")}", MAAS {_text(about, "version")}')

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:
        """Refuse an unknown placement, space or image.

        Raises:
            NotValid: MAAS has no such place, space or image.
        """
        placed = Placement.parse(placement)
        if placed.zone:
            await self._require_zone(placed.zone)
        if placed.names_machine:
            await self._require_machine(placed)
        await self._spaces(constraints)
        await self._require_image(base, self._image(base, constraints))

    def _image(self, base: Base, constraints: Constraints) -> str:
        return documents.series(base, self._images, str(constraints.get("image-id") or ""))

    async def _require_zone(self, zone: str) -> None:
        if zone not in await self._known_zones():
            raise NotValid(f'availability zone "{zone}" not valid')

    async def _require_machine(self, placed: Placement) -> None:
        host, _, domain = placed.host.partition(".")
        asked = {"id": placed.system_id, "hostname": host, "domain": domain}
        found = await self._maas.get("machines/", [(key, value) for key, value in asked.items() if value])
        if not found:
            raise NotValid(f'machine "{placed.system_id or placed.host}" not found in MAAS')

    async def _require_image(self, base: Base, name: str) -> None:
        known = {_text(item, "name") for item in await self._boot_images()}
        if known and not {name, f"ubuntu/{name}", f"centos/{name}", f"custom/{name}"} & known:
            raise NotValid(
                f'no image for base {base.display}: MAAS has no "{name}"',
                hint=f"known images: {', '.join(sorted(known))}; {documents.image_hint(base)}",
            )

    async def _boot_images(self) -> Sequence[Mapping[str, Any]]:
        return _list(await self._maas.get("boot-resources/"))

    async def rules(self) -> ConstraintRules:
        """Return MAAS's rules for constraints."""
        arches = {_text(item, "architecture").split("/")[0] for item in await self._boot_images()}
        vocabulary = {"zones": await self._known_zones(), "arch": sorted(arches - {""})}
        return ConstraintRules(
            unsupported=_UNSUPPORTED, vocabulary={name: words for name, words in vocabulary.items() if words}
        )

    async def zones(self) -> Sequence[Zone]:
        return [Zone(name=name) for name in await self._known_zones()]

    async def derive_zones(self, request: StartRequest) -> Sequence[str]:
        """Return the zone that the placement names; empty for any zone."""
        placed = Placement.parse(request.placement)
        if placed.zone:
            await self._require_zone(placed.zone)
        return [placed.zone] if placed.zone else []

    async def _known_zones(self) -> list[str]:
        if not self._zones:
            self._zones = [_text(item, "name") for item in _list(await self._maas.get("zones/"))]
        return self._zones

    async def _spaces(self, constraints: Constraints) -> tuple[list[str], list[str]]:
        asked = [str(word) for word in constraints.get("spaces") or ()]
        if not asked:
            return [], []
        listed = [item for item in _list(await self._maas.get("spaces/")) if item.get("subnets")]
        known = {documents.space_key(_text(item, "name")): _text(item, "id") for item in listed}
        return documents.wanted_spaces(asked, known)

    # --- starting -----------------------------------------------------------------------------------------

    async def start(self, request: StartRequest) -> Started:
        """Deploy a machine, or return the machine that an earlier start with this request allocated.

        Raises:
            ProviderError: MAAS failed; no machine stays allocated.
        """
        image = self._image(request.base, request.constraints)
        found = [(item, nonce) for item, name, nonce in await self._listed() if name == request.machine_id]
        mine = [
            item for item, nonce in found if _is_usable(item) and request.nonce and nonce == request.nonce
        ]
        await self._release([item for item, _ in found if item not in mine[:1]])
        document = mine[0] if mine else await self._allocate(request)
        try:
            document = await self._deploy(document, request, image)
        except Gone:
            raise ProviderError(f"{documents.name(document)} left MAAS while it started") from None
        except BaseException:
            with contextlib.suppress(PushjujuError):  # the next attempt finds it; report the first error
                await asyncio.shield(self._release([document]))
            raise
        return Started(
            instance=documents.instance(document, request.machine_id),
            base=request.base,
            nonce=request.nonce,
            host_keys=documents.host_keys(document),
        )

    async def _allocate(self, request: StartRequest) -> Document:
        """Allocate one machine, even when the answer gets lost."""
        request.progress(InstanceStatus.ALLOCATING, "allocating a machine")
        spaces, without = await self._spaces(request.constraints)
        asked = documents.allocation(
            request, agent=self._model.uuid, pool=self._pool, spaces=spaces, without=without
        )
        lost = False
        for attempt in range(ALLOCATE_TRIES):
            try:
                document = _machine(await self._maas.post("machines/", "allocate", asked, again=False))
            except Mismatch as error:
                raise _no_match(request, error) from None
            except Unsure:
                lost = True
                if found := await self._find_late(request):
                    return found
                if attempt == ALLOCATE_TRIES - 1:
                    raise
            else:
                return await self._only(request, document) if lost else document
        raise AssertionError("not reached")

    async def _find_late(self, request: StartRequest) -> Document | None:
        """Return the machine of an allocation whose answer was lost, or None when there is none."""
        for _ in range(LATE_LOOKS):
            if found := await self._allocated(request):
                return found[0]
            await asyncio.sleep(LOOK_S)
        return None

    async def _only(self, request: StartRequest, document: Document) -> Document:
        """Release other machines that earlier allocations with lost answers brought for the request."""
        found = await self._allocated(request)
        await self._release([item for item in found if item["system_id"] != document["system_id"]])
        return document

    async def _allocated(self, request: StartRequest) -> list[Document]:
        wanted = (request.machine_id, request.nonce)
        return [item for item, name, nonce in await self._listed() if (name, nonce) == wanted]

    async def _deploy(self, document: Document, request: StartRequest, image: str) -> Document:
        """Write the annotations of a machine, and deploy the machine unless it is being deployed."""
        path = f"machines/{document['system_id']}/"
        if not documents.is_noted(document):
            noted = documents.notes(request, self._model.uuid, document)
            document = _machine(await self._maas.post(path, "set_owner_data", noted))
        if documents.state(document) != documents.ALLOCATED:
            return document
        request.progress(InstanceStatus.ALLOCATING, f"deploying {documents.name(document)}")
        asked = [("distro_series", image), ("comment", documents.comment(request))]
        if request.user_data:
            asked.append(("user_data", documents.user_data(request.user_data)))
        try:
            return _machine(await self._maas.post(path, "deploy", asked))
        except Mismatch:  # an earlier request without an answer may have started the deployment
            now = _machine(await self._maas.get(path))
            if documents.state(now) not in (documents.DEPLOYING, documents.DEPLOYED):
                raise
            return now

    # --- afterwards ---------------------------------------------------------------------------------------

    async def _documents(self, ids: Sequence[str] = ()) -> list[Document]:
        """Return the machines of the model that are not being released; with `ids`, only these."""
        asked = [("agent_name", self._model.uuid), *(("id", name) for name in ids)]
        listed = _list(await self._maas.get("machines/", asked))
        return [_machine(item) for item in listed if documents.is_ours(item)]

    async def _listed(self) -> list[tuple[Document, str, str]]:
        """Return the machines of the model, each with the machine id and nonce of its allocation."""
        found = []
        for document in await self._documents():
            events = [] if documents.is_noted(document) else await self._events(document)
            found.append((document, *documents.identity(document, events)))
        return found

    async def _events(self, document: Document) -> Sequence[Mapping[str, Any]]:
        asked = [("id", str(document["system_id"])), ("level", "DEBUG"), ("limit", "100")]
        answer = await self._maas.get("events/", asked, op="query")
        return _list(answer.get("events") if isinstance(answer, Mapping) else None)

    async def stop(self, ids: Sequence[str]) -> None:
        """Release machines of the model; unknown ids are no error."""
        for first in range(0, len(ids), _AT_ONCE):
            await self._release(await self._documents(ids[first : first + _AT_ONCE]))

    async def _release(self, listed: Sequence[Document]) -> None:
        ids = [str(item["system_id"]) for item in listed]
        if not ids:
            return
        try:
            await self._release_ids(ids)
        except (NotValid, Gone):  # a machine does not exist, so MAAS has released no machine
            for name in ids:
                with contextlib.suppress(NotValid, Gone):
                    await self._release_ids([name])

    async def _release_ids(self, ids: Sequence[str]) -> None:
        asked = [*(("machines", name) for name in ids), ("comment", _RELEASED)]
        try:
            await self._maas.post("machines/", "release", asked)
        except Mismatch as error:  # some are released already, or cannot be released now
            if await self._documents(ids):
                raise ProviderError("MAAS cannot release the machine now", detail=error.detail) from None

    async def list(self) -> Sequence[Instance]:
        return [documents.instance(item, name) for item, name, _ in await self._listed()]

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        """Return machines by id, with None for machines that were released or belong to another model."""
        found: dict[str, Instance] = {}
        for first in range(0, len(ids), _AT_ONCE):
            for item in await self._documents(ids[first : first + _AT_ONCE]):
                found[str(item["system_id"])] = documents.instance(item, documents.identity(item)[0])
        return [found.get(name) for name in ids]

    async def document(self, name: str) -> Document:
        """Return MAAS's document of a machine of the model."""
        found = [item for item in await self._documents([name]) if item["system_id"] == name]
        if not found:
            raise NotFound(f"instance {name} not found")
        return found[0]

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return the login as `ubuntu`, which the user data creates; without an address, use the host name.

        Raises:
            NotFound: The machine was released.
        """
        seen = await self.document(instance.id)
        known = documents.addresses(seen)
        host = known[0].value if known else documents.name(seen)
        return SSHTarget(host=host, host_keys=documents.host_keys(seen))

    def storage(self) -> MaasStorage:
        """Return the disks of the machines."""
        return MaasStorage(self.document)

    async def destroy_model(self) -> None:
        """Release all machines of the model."""
        await self._release(await self._documents())

    async def doctor(self) -> Sequence[Finding]:
        """Report whether the server answers, and whether it has images."""
        try:
            reached = await self.check()
            images = await self._boot_images()
        except PushjujuError as error:
            text = error.full_text
            return [Finding(name="account", ok=False, message=text)]
        told = f"{len(images)} boot images" if images else "MAAS has no boot images: import one there"
        return [
            Finding(name="account", ok=True, message=reached.account),
            Finding(name="images", ok=bool(images), message=told),
        ]


def _is_usable(document: Document) -> bool:
    return documents.state(document) in documents.USABLE


def _no_match(request: StartRequest, error: Mismatch) -> ProviderError:
    """Return the error for an allocation without a match now; another zone may have a match."""
    detail = documents.nothing_matches(error.detail)
    placed = Placement.parse(request.placement)
    if placed.names_machine:
        return ZoneIndependent(
            f'machine "{placed.system_id or placed.host}" is not free in MAAS, or does not fit', detail=detail
        )
    return ProviderError("no free machine in MAAS fits", detail=detail)


def _machine(answer: Any) -> Document:
    """Return an answer as a machine's document; raise Unsure when the answer is not a machine's document."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get("system_id"), str):
        raise Unsure(_NONSENSE)
    return answer


def _list(answer: Any) -> list[Mapping[str, Any]]:
    """Return an answer as a list of documents."""
    if not isinstance(answer, list) or not all(isinstance(item, Mapping) for item in answer):
        raise ProviderError(_NONSENSE)
    return answer


def _text(answer: Any, key: str) -> str:
    found = answer.get(key) if isinstance(answer, Mapping) else None
    return "" if found is None else str(found)
