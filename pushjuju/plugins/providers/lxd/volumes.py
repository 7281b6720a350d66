"""Filesystems in LXD's storage pools: custom volumes that are attached to instances.

The name of a volume is `juju-UUID`; its `user.*` keys name its model. LXD attaches a volume as a disk below
the instance's storage directory, and attaches it again after each start.

Mirrors: juju provider/lxd/storage.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.errors import Conflict, NotFound, NotValid, ProviderError
from pushjuju.core.storage import STORAGE_DIR, Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageSeen
from pushjuju.plugins.providers.lxd.instances import MODEL_KEY, mebibytes
from pushjuju.plugins.providers.lxd.server import Api, Gone, Server, ignore_gone

DRIVER, POOL = "driver", "lxd-pool"
DEFAULT_DRIVER, DEFAULT_POOL = "dir", "juju"
UUID_KEY, SIZE_KEY = "user.pushjuju-storage", "user.pushjuju-size"
_OF_MEMBER = frozenset({"size", "source", "zfs.pool_name", "lvm.thinpool_name", "lvm.vg_name"})
SHOWN = ".lxd"  # a folder in a machine's storage directory; no storage can have this name
_MIB = 2**20


def pool_of(attributes: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    """Return (LXD's pool, its driver, settings for LXD) from the attributes of a pool of the model."""
    rest = {key: str(value) for key, value in attributes.items() if key not in (DRIVER, POOL)}
    driver = str(attributes.get(DRIVER) or DEFAULT_DRIVER)
    return str(attributes.get(POOL) or DEFAULT_POOL), driver, rest


def split(provider_id: str) -> tuple[str, str]:
    """Return (pool, volume) of `POOL:VOLUME`."""
    pool, colon, volume = provider_id.partition(":")
    if not (pool and colon and volume) or {"..", "."} & {pool, volume} or "/" in provider_id:
        raise NotValid(
            f'invalid filesystem ID "{provider_id}"; expected ID in format <lxd-pool>:<volume-name>'
        )
    return pool, volume


def shown_at(volume: str) -> str:
    """Return the directory of a volume inside an instance."""
    return f"{STORAGE_DIR}/{SHOWN}/{volume}"


class LxdStorage:
    """The filesystems of one model on one server or cluster."""

    def __init__(self, server: Server, model_uuid: str) -> None:
        self._server, self._model = server, model_uuid

    async def create(self, item: StorageItem) -> StorageMade:
        """Make a volume, and also its pool when the server has no pool with that name."""
        return await self._server.run(lambda api: self._create(api, item))

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Attach a volume to an instance."""
        return await self._server.run(lambda api: _attach(api, item))

    async def detach(self, item: StorageItem) -> None:
        """Detach a volume from an instance."""
        await self._server.run(lambda api: _detach(api, item))

    async def destroy(self, item: StorageItem) -> None:
        await self._server.run(lambda api: _destroy(api, item))

    async def release(self, item: StorageItem) -> None:
        """Remove the model's marks from a volume, so that any model can import the volume."""
        await self._server.run(lambda api: _set_model(api, item.provider_id, ""))

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:
        """Return a volume that belongs to no model, and mark it as the model's.

        Raises:
            NotFound: The volume does not exist.
        """
        if kind is not Kind.FILESYSTEM:
            raise NotValid("storage of LXD has filesystems only")
        return await self._server.run(lambda api: self._take_in(api, provider_id))

    def _create(self, api: Api, item: StorageItem) -> StorageMade:
        pool, driver, config = pool_of(item.attributes)
        _ensure_pool(api, pool, driver, config)
        volume = _own_name(item)
        if (found := _find(api, pool, volume)) is None:
            own = {f"user.{key}": value for key, value in item.tags.items() if key.startswith("juju-")}
            document = {"name": volume, "type": "custom", "content_type": "filesystem"}
            sized = {} if _driver(api, pool) == DEFAULT_DRIVER else {"size": f"{item.size}MiB"}
            mine = {**own, MODEL_KEY: self._model, UUID_KEY: item.uuid, SIZE_KEY: str(item.size)}
            params = _member(api, item.instance_id)
            api.change(
                "post", f"storage-pools/{pool}/volumes/custom", {**document, "config": mine | sized}, **params
            )
            found = _get(api, pool, volume)
        return _made(api, pool, found)

    def _take_in(self, api: Api, provider_id: str) -> StorageMade:
        pool, volume = split(provider_id)
        found = _get(api, pool, volume)
        if found["config"].get(MODEL_KEY) not in (None, "", self._model):
            raise Conflict(f"{provider_id} belongs to another model")
        if users := _users(found):
            raise Conflict(f'filesystem "{provider_id}" is in use by {", ".join(users)}')
        made = _made(api, pool, found)
        _set_model(api, provider_id, self._model)
        return made


def _own_name(item: StorageItem) -> str:
    return f"juju-{item.uuid}"


def _place(item: StorageItem) -> tuple[str, str]:
    """Return (pool, volume) of an item, even when the volume's id was not recorded."""
    return split(item.provider_id) if item.provider_id else (pool_of(item.attributes)[0], _own_name(item))


def _ensure_pool(api: Api, pool: str, driver: str, config: Mapping[str, str]) -> None:
    """Make a pool; an existing pool of that name is used as it is."""
    known = {str(item["name"]): item for item in api.get("storage-pools", recursion="1")}
    found = known.get(pool)
    if found and found["driver"] != driver:
        raise ProviderError(
            f'LXD storage pool "{pool}" exists, with conflicting driver "{found["driver"]}". '
            f'Specify an alternative pool name via the "{POOL}" attribute.',
            retryable=False,
        )
    if not found or found.get("status") == "Pending":  # a process was interrupted while it made the pool
        _make_pool(api, {"name": pool, "driver": driver}, config)


def _make_pool(api: Api, document: Mapping[str, str], config: Mapping[str, str]) -> None:
    """Make a pool; in a cluster, the pool has to be defined for each member first."""
    clustered = api.get("")["environment"].get("server_clustered")
    own = {key: value for key, value in config.items() if clustered and key in _OF_MEMBER}
    shared = {key: value for key, value in config.items() if key not in own}
    for member in api.get("cluster/members", recursion="1") if clustered else ():
        _post_pool(api, {**document, "config": own}, target=str(member["server_name"]))
    _post_pool(api, {**document, "config": shared})


def _post_pool(api: Api, document: Mapping[str, Any], **params: str) -> None:
    try:
        api.change("post", "storage-pools", document, **params)
    except Exception as error:
        if "already" not in str(error):  # another worker, or an earlier attempt, has made it
            raise


def _driver(api: Api, pool: str) -> str:
    return str(api.get(f"storage-pools/{pool}")["driver"])


def _member(api: Api, instance: str) -> dict[str, str]:
    """Return the parameter that makes a volume on the cluster member of its instance; may be empty."""
    found = ignore_gone(lambda: api.get(f"instances/{instance}")) if instance else None
    place = str((found or {}).get("location") or "none")
    return {} if place == "none" else {"target": place}


def _find(api: Api, pool: str, volume: str) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = ignore_gone(
        lambda: api.get(f"storage-pools/{pool}/volumes/custom/{volume}")
    )
    return found


def _get(api: Api, pool: str, volume: str) -> Mapping[str, Any]:
    found = _find(api, pool, volume)
    if found is None:
        raise NotFound(f'filesystem "{pool}:{volume}" not found')
    return found


def _made(api: Api, pool: str, volume: Mapping[str, Any]) -> StorageMade:
    """Return a volume with its size: that of the volume, or else of the pool, which limits the volume."""
    config = volume["config"]
    size = mebibytes(str(config.get("size") or "")) or int(config.get(SIZE_KEY) or 0)
    if not size:
        space = api.get(f"storage-pools/{pool}/resources").get("space") or {}
        size = int(space.get("total") or 0) // _MIB
    return StorageMade(provider_id=f"{pool}:{volume['name']}", size=size)


def _users(volume: Mapping[str, Any]) -> list[str]:
    """Return the instances to which a volume is attached."""
    paths = (str(path).partition("?")[0] for path in volume.get("used_by") or ())
    return sorted(path.rpartition("/")[2] for path in paths if path.startswith("/1.0/instances/"))


def _attach(api: Api, item: StorageItem) -> StorageSeen:
    pool, volume = split(item.provider_id)
    users = _users(_get(api, pool, volume))
    seen = StorageSeen(source=shown_at(volume))
    if item.instance_id in users:
        return seen
    if users:
        raise Conflict(f"{item.provider_id} is attached to {users[0]}")
    device = {"type": "disk", "pool": pool, "source": volume, "path": shown_at(volume)}
    try:
        api.change("patch", f"instances/{item.instance_id}", {"devices": {volume: device}})
    except Gone:
        raise NotFound(f"instance {item.instance_id} not found") from None
    return seen


def _detach(api: Api, item: StorageItem) -> None:
    _, volume = split(item.provider_id)
    found = ignore_gone(lambda: api.get(f"instances/{item.instance_id}"))
    if not found or volume not in found["devices"]:
        return
    kept = ("architecture", "config", "description", "ephemeral", "profiles", "stateful")
    document = {key: found[key] for key in kept if key in found}
    devices = {name: device for name, device in found["devices"].items() if name != volume}
    ignore_gone(lambda: api.change("put", f"instances/{item.instance_id}", {**document, "devices": devices}))


def _destroy(api: Api, item: StorageItem) -> None:
    pool, volume = _place(item)
    found = _find(api, pool, volume)
    if found is None:
        return
    if users := _users(found):
        raise Conflict(f"{pool}:{volume} is attached to {users[0]}")
    ignore_gone(lambda: api.change("delete", f"storage-pools/{pool}/volumes/custom/{volume}"))


def _set_model(api: Api, provider_id: str, model: str) -> None:
    pool, volume = split(provider_id)
    found = _find(api, pool, volume)
    if found is not None:
        config = {**found["config"], MODEL_KEY: model}
        document = {"config": config, "description": found.get("description") or ""}
        api.change("put", f"storage-pools/{pool}/volumes/custom/{volume}", document)
