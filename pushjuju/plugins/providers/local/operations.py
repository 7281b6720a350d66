"""The steps that need root rights, called by name, with plain data as arguments and results.

For root, they run in the controller's own threads. For other users, `sudo -n` runs this module, which reads
one request from standard input and writes a line of JSON for each progress report, and one for the result.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pushjuju.core import errors
from pushjuju.core.base import Base
from pushjuju.plugins.api.providers import Progress
from pushjuju.plugins.providers.local import doctor, machines, volumes
from pushjuju.plugins.providers.local.bases import BaseRoot, ensure_base
from pushjuju.plugins.providers.local.sources import BasesConfig
from pushjuju.plugins.providers.nspawn.layout import Layout

Data = Mapping[str, Any]


def _layout(args: Data) -> Layout:
    return Layout(Path(args["state"]), args["key"])


def _base(args: Data, progress: Progress) -> Data:
    config = BasesConfig(**args["config"])
    found = ensure_base(config, Base.parse(args["base"]), Path(args["cache"]), progress)
    return {"base": found.base, "root": found.root, "prepared": found.prepared, "warning": found.warning}


def _create(args: Data, _progress: Progress) -> Data:
    spec = machines.MachineSpec(**args["spec"])
    record = machines.create(_layout(args), spec, BaseRoot(**args["base"]))
    return {"record": record.to_json()}


def _remove(args: Data, _progress: Progress) -> Data:
    machines.remove_all(_layout(args), args["ids"])
    return {}


def _discard(args: Data, _progress: Progress) -> Data:
    machines.discard(_layout(args), args["id"], args["created"])
    return {}


def _remove_model(args: Data, _progress: Progress) -> Data:
    machines.remove_model(_layout(args), args["model_uuid"])
    return {}


def _resume(args: Data, _progress: Progress) -> Data:
    machines.resume(_layout(args), args["id"])
    return {}


def _volume(args: Data, _progress: Progress) -> Data:
    layout, volume = _layout(args), args["volume"]
    match args["step"]:
        case "create":
            wanted = volumes.Volume(
                id=volume, uuid=args["uuid"], model_uuid=args["model_uuid"], size=args["size"],
                created=args["created"], tags=args["tags"],
            )  # fmt: skip
            return asdict(volumes.create(layout, wanted))
        case "attach":
            return {"source": volumes.attach(layout, volume, args["instance"])}
        case "detach":
            volumes.detach(layout, volume, args["instance"])
        case "destroy":
            volumes.destroy(layout, volume)
        case "release":
            volumes.release(layout, volume)
        case "take-in":
            return asdict(volumes.take_in(layout, volume, args["model_uuid"]))
        case step:
            raise errors.NotValid(f"a volume has no step {step}")
    return {}


def _probe(args: Data, _progress: Progress) -> Data:
    return {"problems": doctor.probe_kernel(Path(args["folder"])), "forward": doctor.forwarding_problem()}


OPERATIONS: Mapping[str, Callable[[Data, Progress], Data]] = {
    "base": _base,
    "create": _create,
    "remove": _remove,
    "discard": _discard,
    "remove-model": _remove_model,
    "resume": _resume,
    "volume": _volume,
    "probe": _probe,
}


def main() -> int:
    """Answer the request on standard input, and return the exit code."""
    os.umask(0o022)
    request = json.loads(sys.stdin.read())
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(**data: Any) -> None:
        out.write(json.dumps(data) + "\n")
        out.flush()

    try:
        result = OPERATIONS[request["op"]](
            request["args"], lambda status, message: answer(progress=[str(status), message])
        )
    except errors.PushjujuError as error:
        kind = type(error).__name__
        answer(error={"kind": kind, "message": error.message, "detail": error.detail, "hint": error.hint})
        return 1
    answer(result=result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
