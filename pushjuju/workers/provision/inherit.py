"""Copies parts of a host's cloud-config to its containers: apt's sources, certificates.

The model key `container-inherit-properties` names the parts. They are read from the files that set up the
host: `cloud.cfg.d`, the vendor data of its cloud, and the configuration of MAAS's installer; later files win.
A container whose base differs from its host's inherits nothing. Mirrors: juju
cloudconfig/machinecloudconfig.go, container/broker/broker.go combinedCloudInitData (3.6)
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.charms.format.yamlload import load
from pushjuju.core.base import Base
from pushjuju.core.cloudinit import inherited_names
from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.names import parent_machine
from pushjuju.services.entities.model import model_config
from pushjuju.store.rows.records import Machine
from pushjuju.workers.runtime import Runtime

KEY = "container-inherit-properties"
_MOST = 1_000_000  # bytes of one file
# One line per file: its name, then what is in it as base64.
_SCRIPT = f"""\
export LC_ALL=C
. /etc/os-release && echo "$ID@$VERSION_ID"
for file in /etc/cloud/cloud.cfg.d/*.cfg /var/lib/cloud/instance/vendor-data.txt \\
    /root/curtin-install-cfg.yaml; do
  [ -f "$file" ] && [ -r "$file" ] || continue
  echo "${{file##*/}} $(head -c {_MOST} "$file" | base64 | tr -d '\\n')"
done
"""


async def from_host(runtime: Runtime, machine: Machine) -> dict[str, object]:
    """Return the keys of cloud-config that a container inherits from its host; {} for other machines."""
    host = parent_machine(machine.id)
    if host is None:
        return {}
    with runtime.ctx.read(machine.model) as tx:
        names = inherited_names(str(model_config.get(tx, KEY) or ""))
    if not names:
        return {}
    done = await runtime.link(machine.model, host).run(_SCRIPT)
    if done.rc != 0:
        raise ProviderError(
            f"machine {host} cannot show its cloud-init configuration", detail=done.stderr.strip()[-300:]
        )
    base, *lines = done.stdout.splitlines() or [""]
    wanted = Base.parse(machine.base)
    if base != f"{wanted.os}@{wanted.track}":
        return {}
    return pick(_read(runtime, host, lines), names)


def _read(runtime: Runtime, host: str, lines: Iterable[str]) -> dict[str, object]:
    """Return the merged content of the files; report a file that cannot be read and leave it out."""
    found: dict[str, object] = {}
    for line in lines:
        name, _, content = line.rpartition(" ")
        try:
            found.update(parse(base64.b64decode(content)))
        except (NotValid, binascii.Error) as error:
            runtime.warn(f"machine {host}: containers inherit nothing of its {name or 'settings'}: {error}")
    return found


def parse(data: bytes) -> dict[str, Any]:
    """Read a file that holds YAML, or YAML that is compressed, in base64, or both.

    Raises:
        NotValid: The content has another form, or is not a map.
    """
    wrong = NotValid("the content is not YAML")
    for text in _forms(data):
        try:
            document = load(text) if text.strip() else {}
        except NotValid as error:
            wrong = error
            continue
        if isinstance(document, Mapping):
            return dict(document)
        if document is None:
            return {}
    raise wrong


def _forms(data: bytes) -> Iterable[bytes]:
    yield data
    if plain := _unzipped(data):
        yield plain
    try:
        decoded = base64.b64decode(b"".join(data.split()), validate=True)
    except binascii.Error:
        return
    yield decoded
    if plain := _unzipped(decoded):
        yield plain


def _unzipped(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(data, _MOST)
    except zlib.error:
        return b""


def pick(document: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the part of a cloud-config document that `container-inherit-properties` names.

    `apt-sources` also selects MAAS's `sources_list`, the whole text of a file.
    """
    found: dict[str, Any] = {}
    apt = document.get("apt")
    for name in names:
        if name == "ca-certs":
            found.update({key: document[key] for key in ("ca-certs", "ca_certs") if key in document})
            continue
        _, _, part = name.partition("-")
        for key in (part, "sources_list") if part == "sources" else (part,):
            if isinstance(apt, Mapping) and key in apt:
                found.setdefault("apt", {})[key] = apt[key]
    return found
