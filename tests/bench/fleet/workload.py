"""What every tool does on every host: the hook, the charm, and the file that tells the tools of it."""

from __future__ import annotations

import binascii
import io
import json
import platform
import random
import shutil
import tarfile
import zlib
from pathlib import Path

import yaml

from pushjuju.runner.remote.tools.toolclient import PERL_CLIENT, native_client
from tests.bench.fleet.bed import Bed

HERE = Path(__file__).parent
WORKLOADS = {
    "conn": "connect, one command",
    "cold": "push and unpack 2 MB, one hook",
    "warm": "connect, one hook",
    "hooks10": "connect, ten hooks",
}
CALLS = 20
HOOKS_OF = {"conn": 0, "cold": 1, "warm": 1, "hooks10": 10}
LOOP = (
    f"i=0; while [ $i -lt {CALLS} ]; do config-get title >/dev/null || exit 1; i=$((i+1)); done\n"
    'echo "$0" >>/root/ran\n'
)
HOOKS = ("install", "update-status", *(f"e{n}-relation-created" for n in range(10)),
         *(f"e{n}-relation-broken" for n in range(10)))  # fmt: skip
FILES, FUNCTIONS = 400, 60  # of the charm: about 2.2 MB of Python, as charms bring their libraries along


def prepare(folder: Path) -> None:
    """Write what hosts see (`share`) and what the controller's side pushes."""
    share = folder / "share"
    share.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "peers" / "agent.py", share / "agent.py")
    native = native_client()
    client = zlib.decompress(binascii.a2b_base64(native)) if native else PERL_CLIENT.encode()
    _peers_hook(share, client)
    files = _files()
    with tarfile.open(folder / "charm.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"charm/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    _charm(folder / "bench", files)
    shutil.copytree(HERE / "sink", folder / "sink", dirs_exist_ok=True)
    (folder / "sink" / "manifest.yaml").write_text(yaml.safe_dump({"bases": [_this_base()]}))
    (folder / "sink" / "hooks").mkdir(exist_ok=True)
    (folder / "sink" / "hooks" / "install").write_text("#!/bin/sh\n")
    (folder / "sink" / "hooks" / "install").chmod(0o755)


def _peers_hook(share: Path, client: bytes) -> None:
    """Write the hook of the peers, whose hook tool is the client that pushjuju's hooks call, too."""
    tools = share / "bin"
    tools.mkdir(exist_ok=True)
    (tools / "config-get").write_bytes(client)
    (tools / "config-get").chmod(0o755)
    (share / "hook").write_text(
        "export JUJU_CONTEXT_ID=bench JUJU_AGENT_SOCKET_ADDRESS=/run/bench-agent.sock "
        f"PATH={tools}:$PATH\n{LOOP}"
    )


def _files() -> dict[str, bytes]:
    """Return modules of Python that differ from each other, so that they compress as real ones do."""
    chance = random.Random(20)
    return {f"lib/part{n // 40}/module{n}.py": _module(chance) for n in range(FILES)}


def _module(chance: random.Random) -> bytes:
    lines = []
    for number in range(FUNCTIONS):
        name, value = f"f{chance.getrandbits(40):x}", chance.getrandbits(64)
        lines.append(f"def {name}(a, b={number}):\n    return [a + x * {value} for x in range(b)]\n")
    return "\n".join(lines).encode()


def _charm(place: Path, files: dict[str, bytes]) -> None:
    shutil.copytree(HERE / "charm", place, dirs_exist_ok=True)
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    (place / "manifest.yaml").write_text(yaml.safe_dump({"bases": [_this_base()]}))
    (place / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        (place / "hooks" / name).write_text(f"#!/bin/sh\n{LOOP}")
        (place / "hooks" / name).chmod(0o755)


def _this_base() -> dict[str, object]:
    """Return the base of this machine, which is that of the hosts."""
    found = platform.freedesktop_os_release()
    channel = f"{found['VERSION_ID']}/stable"
    return {"name": found["ID"], "channel": channel, "architectures": ["amd64", "arm64"]}


def setting(made: Bed) -> Path:
    """Write the file that tools read, and return it."""
    path = made.folder / "setting.json"
    document = {
        "hosts": made.hosts,
        "key": str(made.key),
        "known_hosts": str(made.known_hosts),
        "folder": str(made.folder),
        "hook": str(made.share / "hook"),
        "archive": str(made.folder / "charm.tar.gz"),
    }
    path.write_text(json.dumps(document))
    return path
