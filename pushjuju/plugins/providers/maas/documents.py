"""MAAS's documents: makes the parameters of requests, and reads the documents of machines. Pure.

Mirrors: juju provider/maas/{constraints,volumes,instance,environ}.go (3.6)
"""

from __future__ import annotations

import base64
import gzip
import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid, unknown_placement
from pushjuju.core.status import InstanceStatus
from pushjuju.core.values import regex
from pushjuju.plugins.api.providers import Address, Hardware, Instance, StartRequest
from pushjuju.plugins.providers import cloud_config
from pushjuju.plugins.providers.maas import disks

Document = Mapping[str, Any]
"""The document of a machine in MAAS."""

MODEL_KEY, MACHINE_KEY = "juju-model-uuid", "pushjuju-machine"
NONCE_KEY, HOST_KEYS_KEY = "pushjuju-nonce", "pushjuju-host-keys"
ALLOCATED, DEPLOYING, DEPLOYED, FAILED = "Allocated", "Deploying", "Deployed", "Failed deployment"
USABLE = (ALLOCATED, DEPLOYING, DEPLOYED)
LEAVING = (
    "Releasing", "Releasing failed", "Disk erasing", "Failed to erase disks", "Ready", "New", "Retired",
)  # fmt: skip
"""The states of a machine that is released or being released."""

_STATUS = {
    DEPLOYED.lower(): InstanceStatus.RUNNING,
    DEPLOYING.lower(): InstanceStatus.ALLOCATING,
    ALLOCATED.lower(): InstanceStatus.ALLOCATING,
    FAILED.lower(): InstanceStatus.PROVISIONING_ERROR,
}
_COMMENT = regex(r"pushjuju machine=(\S+) nonce=(\S*)")
_RESOLVED = regex(r'\(resolved to "(.*)"\)')


# --- requests ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A placement directive; without one, all fields are empty. Mirrors: juju parsePlacement."""

    zone: str = ""
    system_id: str = ""
    host: str = ""

    @property
    def names_machine(self) -> bool:
        """Return True when the placement names one machine, which is then used in any zone."""
        return bool(self.system_id or self.host)

    @classmethod
    def parse(cls, text: str) -> Placement:
        """Return the placement in `zone=NAME`, `system-id=ID` or a host name.

        Raises:
            NotValid: The directive has another form; the message is Juju's.
        """
        kind, equals, value = text.partition("=")
        if not equals:
            return cls(host=text)
        if kind == "zone" and value:
            return cls(zone=value)
        if kind == "system-id" and value:
            return cls(system_id=value)
        raise unknown_placement(text)


def series(base: Base, images: Mapping[str, str], image_id: str = "") -> str:
    """Return MAAS's name of the image of a base: the constraint's, the cloud's, or else the series."""
    found = image_id or images.get(base.display) or base.series
    if not found:
        raise NotValid(
            f"no image for base {base.display}: MAAS has no common name for it", hint=image_hint(base)
        )
    return found


def image_hint(base: Base) -> str:
    """Return the hint that says how to set the image of a base."""
    return f'images = {{ "{base.display}" = "NAME" }} in the cloud\'s table names one'


def allocation(
    request: StartRequest,
    *,
    agent: str,
    pool: str = "",
    spaces: Sequence[str] = (),
    without: Sequence[str] = (),
) -> list[tuple[str, str]]:
    """Return the parameters that allocate a machine for a request.

    Args:
        agent: The UUID of the model, which MAAS stores as agent name.
        pool: The resource pool of the machine; empty for any pool.
        spaces: Ids of spaces in which the machine must have an address.
        without: Ids of spaces in which the machine must not have an address.
    """
    wanted, placed = request.constraints, Placement.parse(request.placement)
    tags = [str(word) for word in wanted.get("tags") or ()]
    single = {
        "agent_name": agent,
        "comment": comment(request),
        "system_id": placed.system_id,
        "name": placed.host,
        "zone": "" if placed.names_machine else placed.zone or request.zone,
        "pool": pool,
        "arch": str(wanted.get("arch") or ""),
        "cpu_count": str(wanted.get("cores") or ""),
        "mem": str(wanted.get("mem") or ""),
        "storage": disks.wanted(wanted.get("root-disk") or 0, request.volumes),
        "interfaces": ";".join(f"{space}:space={space}" for space in spaces),
    }
    return [
        *((name, value) for name, value in single.items() if value),
        *(("tags", word) for word in tags if not word.startswith("^")),
        *(("not_tags", word[1:]) for word in tags if word.startswith("^") and word != "^"),
        *(("not_subnets", f"space:{space}") for space in without),
    ]


def comment(request: StartRequest) -> str:
    """Return the comment of an allocation, which MAAS keeps in its event log: machine and nonce."""
    return f"pushjuju machine={request.machine_id} nonce={request.nonce}"


def user_data(document: Mapping[str, Any]) -> str:
    """Return a cloud-config document in MAAS's form: compressed, in base64. Mirrors: juju userdata.go."""
    return base64.b64encode(gzip.compress(cloud_config.as_text(document).encode(), mtime=0)).decode()


def notes(request: StartRequest, model: str, document: Document) -> list[tuple[str, str]]:
    """Return the annotations of a machine: its identity, its tags, and the disks of its volumes.

    Args:
        document: The answer to the allocation, or the machine's document.
    """
    noted = {
        **request.tags,
        MODEL_KEY: model,
        MACHINE_KEY: request.machine_id,
        NONCE_KEY: request.nonce,
        HOST_KEYS_KEY: "\n".join(request.host_keys),
        **disks.chosen(document, request.volumes),
    }
    return [(key, value) for key, value in noted.items() if value]


def space_key(name: str) -> str:
    """Return a space's name in Juju's form. Mirrors: juju core/network ConvertSpaceName (3.6)."""
    return re.sub("-+", "-", re.sub("[^a-z0-9-]", "", re.sub(r"\s+", "-", name.lower()))).strip("-")


def wanted_spaces(asked: Iterable[str], known: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return (ids of required spaces, ids of excluded spaces).

    Args:
        asked: The constraint: names of spaces; `^` in front of a name excludes the space.
        known: Name of a space -> its id.
    """
    found: dict[bool, set[str]] = {False: set(), True: set()}
    for word in asked:
        name = word.removeprefix("^")
        if name in ("", "alpha"):  # alpha is the model's own space, which MAAS does not have
            continue
        if name not in known:
            raise NotValid(
                f'unrecognised space in constraint "{name}"', hint=f"known spaces: {', '.join(sorted(known))}"
            )
        found[word.startswith("^")].add(name)
    for name in sorted(found[False] & found[True]):
        raise NotValid(
            f'negative space "{name}" from constraints clashes with required spaces for instance NICs'
        )
    return sorted(known[name] for name in found[False]), sorted(known[name] for name in found[True])


def nothing_matches(text: str) -> str:
    """Return the criteria that no machine matches, taken from an error text of MAAS."""
    found = _RESOLVED.search(text)
    return found[1] if found else text


# --- documents of machines --------------------------------------------------------------------------------


def identity(document: Document, events: Sequence[Mapping[str, Any]] = ()) -> tuple[str, str]:
    """Return (machine id, nonce) for which a machine was allocated; both empty when nothing records them.

    Args:
        events: The machine's events, newest first; needed when its annotations were not written.
    """
    noted = _noted(document)
    if noted.get(MACHINE_KEY):
        return str(noted[MACHINE_KEY]), str(noted.get(NONCE_KEY) or "")
    for event in events:
        if found := _COMMENT.search(str(event.get("description") or "")):
            return found[1], found[2]
    return "", ""


def _noted(document: Document) -> Mapping[str, Any]:
    found = document.get("owner_data")
    return found if isinstance(found, Mapping) else {}


def is_noted(document: Document) -> bool:
    """Return True when the annotations of a machine name its model."""
    return bool(_noted(document).get(MACHINE_KEY))


def state(document: Document) -> str:
    """Return MAAS's word for the state of a machine."""
    return str(document.get("status_name") or "").strip()


def is_ours(document: Document) -> bool:
    """Return True for an allocated machine that is not being released."""
    return state(document).lower() not in {word.lower() for word in LEAVING}


def status(document: Document) -> tuple[InstanceStatus, str]:
    """Return (Juju's word for a machine's state, message). Mirrors: juju convertInstanceStatus."""
    word, more = state(document), " ".join(str(document.get("status_message") or "").split())
    if not word:
        return InstanceStatus.UNKNOWN, "error in getting status"
    if word == DEPLOYED:
        return InstanceStatus.RUNNING, word
    return _STATUS.get(word.lower(), InstanceStatus.UNKNOWN), f"{word}: {more}" if more else word


def host_keys(document: Document) -> tuple[str, ...] | None:
    """Return the host keys in a machine's annotations, or None when there are none."""
    return tuple(str(_noted(document).get(HOST_KEYS_KEY) or "").splitlines()) or None


def addresses(document: Document) -> tuple[Address, ...]:
    """Return a machine's addresses: those of its boot interface first, IPv4 before IPv6."""
    subnets = dict(_linked(card) for card in document.get("interface_set") or () for card in _links(card))
    boot = {value for value, _ in map(_linked, _links(document.get("boot_interface") or {}))}
    found: list[tuple[bool, int, int, ipaddress.IPv4Address | ipaddress.IPv6Address]] = []
    for text in document.get("ip_addresses") or ():
        try:
            seen = ipaddress.ip_address(str(text))
        except ValueError:
            continue
        if not (seen.is_loopback or seen.is_link_local):
            found.append((str(text) not in boot, seen.version, len(found), seen))
    return tuple(
        Address(
            value=str(seen),
            type=f"ipv{version}",
            scope="public" if seen.is_global else "local-cloud",
            cidr=subnets.get(str(seen), ""),
        )
        for _, version, _, seen in sorted(found, key=lambda item: item[:3])
    )


def _links(card: Any) -> list[Mapping[str, Any]]:
    links = card.get("links") if isinstance(card, Mapping) else None
    return [link for link in links or () if isinstance(link, Mapping)]


def _linked(link: Mapping[str, Any]) -> tuple[str, str]:
    subnet = link.get("subnet")
    return str(link.get("ip_address") or ""), str((subnet or {}).get("cidr") or "")


def name(document: Document) -> str:
    """Return the host name of a machine, with its domain when MAAS knows it."""
    return str(document.get("fqdn") or document.get("hostname") or "")


def instance(document: Document, machine_id: str) -> Instance:
    """Return a machine in the controller's form."""
    word, message = status(document)
    zone = document.get("zone")
    return Instance(
        id=str(document["system_id"]),
        status=word,
        message=message,
        addresses=addresses(document),
        hardware=Hardware(
            arch=str(document.get("architecture") or "").split("/")[0],
            cores=_number(document.get("cpu_count")),
            mem=_number(document.get("memory")),
            tags=tuple(str(word) for word in document.get("tag_names") or ()),
            availability_zone=str(zone.get("name") or "") if isinstance(zone, Mapping) else "",
        ),
        display_name=str(document.get("hostname") or ""),
        tags={str(key): str(value) for key, value in _noted(document).items() if key.startswith("juju-")},
        machine_id=machine_id,
    )


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and value else None
