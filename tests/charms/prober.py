"""A charm that does what it is told: it keeps the environment of each run, and runs commands for a test.

On the machine, below `/var/lib/probe`: `UNIT/NNNN.NAME` is the environment that its run NNNN got. A file
`in-NAME` (a JSON list of commands) lets hooks of that name run these and write what came of them to
`from-NAME`, a JSON list per run. `APP.NAME.sleeps` holds the seconds that a hook waits, `APP.NAME.fails` lets
it fail.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.charms.client import Client

_DISPATCH = r"""#!/bin/bash
set -u
kept=/var/lib/probe/${JUJU_UNIT_NAME/\//-}
mkdir -p "$kept"
name=${JUJU_DISPATCH_PATH##*/}
{ cat /proc/$$/environ; printf 'ON_DISK=%s\0' "$(cat .juju-charm)"; } > "$kept.written"
mv "$kept.written" "$kept/$(printf %04d "$(ls "$kept" | wc -l)").$name"  # a reader sees whole files only
faults=/var/lib/probe/${JUJU_UNIT_NAME%/*}.$name
sleep "$(cat "$faults.sleeps" 2>/dev/null || echo 0)"
[ ! -e "$faults.fails" ] || exit 7
case $JUJU_DISPATCH_PATH in
  actions/*) exec /bin/bash -c "$(action-get script)" ;;
  hooks/start) status-set active ;;
  hooks/upgrade-charm) date +%s%N > upgraded ;;
esac
script=$(config-get "$name")
[ -z "$script" ] || /bin/bash -c "$script" || exit
asked=/var/lib/probe/in-$name
[ ! -e "$asked" ] || ./probe --file "$asked" >> "/var/lib/probe/from-$name"
"""
_PROBE = r"""#!/usr/bin/env python3
import json, subprocess, sys
lines = json.load(open(sys.argv[2])) if sys.argv[1] == "--file" else sys.argv[1:]
found = []
for line in lines:
    done = subprocess.run(["/bin/bash", "-c", line], stdin=subprocess.DEVNULL, capture_output=True)
    found.append([done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")])
print(json.dumps(found))
"""
_BASES = [{"name": "ubuntu", "channel": channel, "architectures": ["all"]} for channel in ("24.04", "22.04")]
_TEXT = {"type": "string", "default": ""}
_DO = {"description": "Run a script.", "params": {"script": {"type": "string", "default": "true"}}}
METADATA: dict[str, Any] = {
    "name": "probe",
    "summary": "Does what it is told",
    "description": "-",
    "peers": {"ring": {"interface": "ring"}},
    "provides": {"up": {"interface": "probe"}, "spare": {"interface": "spare"}},
    "requires": {"down": {"interface": "probe"}},
    "payloads": {"web": {"type": "docker"}},
}
CONFIG: dict[str, Any] = {
    "config-changed": _TEXT,
    "update-status": _TEXT,
    "word": {"type": "string", "default": "abc"},
    "empty": _TEXT,
    "truth": {"type": "boolean", "default": True},
    "whole": {"type": "int", "default": 3},
    "half": {"type": "float", "default": 2.5},
    "unset": {"type": "string"},
}
ACTIONS: dict[str, Any] = {"do": _DO}


def charm(folder: Path, name: str = "probe", **metadata: Any) -> Path:
    """Write the charm, with some of its metadata replaced; None takes a key away."""
    tree = folder / name
    tree.mkdir()
    document = {**METADATA, "name": name, **metadata}
    kept = {key: value for key, value in document.items() if value is not None}
    (tree / "metadata.yaml").write_text(yaml.safe_dump(kept))
    (tree / "manifest.yaml").write_text(yaml.safe_dump({"bases": _BASES}))
    (tree / "config.yaml").write_text(yaml.safe_dump({"options": CONFIG}))
    (tree / "actions.yaml").write_text(yaml.safe_dump(ACTIONS))
    for file, text in (("dispatch", _DISPATCH), ("probe", _PROBE)):
        (tree / file).write_text(text)
        (tree / file).chmod(0o755)
    return tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a command wrote, and its exit code."""

    rc: int
    out: str
    err: str


def _said(rows: list[list[Any]]) -> list[Said]:
    return [Said(rc=rc, out=_text(out), err=_text(err)) for rc, out, err in rows]


def _text(latin: str) -> str:
    return latin.encode("latin-1").decode("utf-8", "backslashreplace")


def ask(client: Client, unit: str, *lines: str) -> list[Said]:
    """Run commands in one `exec` of a unit, each in a shell of its own."""
    return _said(json.loads(client.run("exec", "--unit", unit, "--", "./probe", *lines)))


def ask_in_action(client: Client, unit: str, *lines: str) -> list[Said]:
    """Run commands in an action of a unit."""
    done = client.json("run", unit, "do", f"script=./probe {shlex.join(lines)}", "--string-args")
    return _said(json.loads(done[unit]["results"]["stdout"]))


def prepare_hooks(client: Client, machine: str, questions: Mapping[str, list[str]]) -> None:
    """Let the hooks of these names on a machine run commands from now on."""
    lines = ["mkdir -p /var/lib/probe"]
    for name, commands in questions.items():
        lines += [
            f"printf %s {shlex.quote(json.dumps(commands))} > /var/lib/probe/in-{name}",
            f"rm -f /var/lib/probe/from-{name}",
        ]
    client.on(machine, "; ".join(lines))


def answers(client: Client, machine: str, name: str) -> list[list[Said]]:
    """Return what came of the commands in the hooks of a name on a machine, run by run."""
    text = client.on(machine, f"cat /var/lib/probe/from-{name}")
    return [_said(json.loads(line)) for line in text.splitlines()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the charm.

    Attributes:
        name: The hook or action.
        environ: The environment that it got.
        charm: URL of the charm that lay there.
    """

    name: str
    environ: Mapping[str, str]
    charm: str


_DUMP = (
    "import json, os\nfound = {}\nfor unit in os.listdir('.'):\n  if os.path.isdir(unit):\n"
    "    found[unit] = [[name[5:], open(unit + '/' + name, 'rb').read().decode()] "
    "for name in sorted(os.listdir(unit))]\nprint(json.dumps(found))"
)


def runs(client: Client, machine: str) -> dict[str, list[Run]]:
    """Return unit -> its runs on a machine, in order."""
    found = json.loads(client.on(machine, f"cd /var/lib/probe && python3 -c {shlex.quote(_DUMP)}"))
    return {
        "/".join(unit.rsplit("-", 1)): [_run(name, text) for name, text in every]
        for unit, every in found.items()
    }


def _run(name: str, text: str) -> Run:
    environ = dict(item.split("=", 1) for item in text.split("\0") if item)
    return Run(name=name, charm=environ.pop("ON_DISK").strip(), environ=environ)


def faults(client: Client, machine: str, command: str) -> None:
    """Change what hooks on a machine do, by a shell command below `/var/lib/probe`."""
    client.on(machine, f"mkdir -p /var/lib/probe && cd /var/lib/probe && {command}")
