"""A machine simulated in this process, and the results that it returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


def hello(
    hostname: str, boot_id: str, address: str, done: Iterable[str], prefix: int = 24, **more: Any
) -> dict[str, Any]:
    """Return the report of a machine with one address at each contact; `done`: unacknowledged results."""
    lan = {"value": address, "cidr": f"{address}/{prefix}"}
    return {
        "t": "hello", "python": "3.10", "arch": "amd64", "boot_id": boot_id, "hostname": hostname,
        "os": {"id": "ubuntu", "version_id": "22.04"}, "cores": 2, "mem_mib": 2048,
        "nics": [{"name": "eth0", "mac": "00:16:3e:00:00:01", "up": True, "addresses": [lan]}],
        "journal": [{"id": key, "done": True} for key in done], "blobs": [], "running": [], **more,
    }  # fmt: skip


def result(frame: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of an operation that succeeded and wrote nothing."""
    return {
        "t": "result", "id": frame["id"], "outcome": "ok", "exit": 0, "signal": None, "via": None,
        "message": "", "writes": {}, "events": [], "reboot": "",
    }  # fmt: skip


@dataclass
class PlayedMachine:
    """A simulated machine: it answers frames, runs each operation id once, and records what it did.

    Attributes:
        hooks: (unit, hook) in the order of their runs.
        charms: Unit -> URL of the charm on the machine.
        frames: All frames that started an operation.
        script: Hook name, or (unit, hook) -> outcomes of the next runs; later runs succeed.
        results: Results that the controller has not acknowledged.
        answers: The answers to live calls.
        blobs: Archives that were sent.
        cancelled: Operations that were interrupted.
        requests: Requests of `juju-exec` on the machine.
        answered: Requests that were refused, with the error.
        left: Units with files on the machine, when the machine reports them.
    """

    id: str
    boot_id: str = "boot-1"
    address: str = "10.0.0.2"
    hooks: list[tuple[str, str]] = field(default_factory=list)
    charms: dict[str, str] = field(default_factory=dict)
    frames: list[dict[str, Any]] = field(default_factory=list)
    script: dict[Any, list[dict[str, Any]]] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    blobs: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    answered: list[tuple[str, str]] = field(default_factory=list)
    left: list[str] | None = None

    def hello(self) -> dict[str, Any]:
        """Return what the machine reports at each contact."""
        loopback = {"value": "127.0.0.1", "cidr": "127.0.0.1/8"}
        known = hello(f"juju-{self.id}", self.boot_id, self.address, self.results, charms=list(self.charms))
        known["nics"].insert(0, {"name": "lo", "mac": "", "up": True, "addresses": [loopback]})
        known["ssh"] = f"192.0.2.9 50022 {self.address} 22"
        return known if self.left is None else {**known, "units": self.left}

    def will(self, hook: str, *answers: Mapping[str, Any], unit: str = "") -> None:
        """Set the outcomes of the next runs of a hook."""
        self.script.setdefault((unit, hook) if unit else hook, []).extend(dict(item) for item in answers)

    def fail(self, hook: str, times: int = 1, unit: str = "") -> None:
        """Make the next runs of a hook fail."""
        self.will(hook, *[{"outcome": "failed", "exit": 1}] * times, unit=unit)

    def run(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """Run the operation of a frame, once per id."""
        known = self.results.get(frame["id"])
        if known is not None:
            return known
        self.frames.append(dict(frame))
        answer = self._do(frame)
        self.results[frame["id"]] = answer
        return answer

    def _do(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        plain = result(frame)
        title = frame.get("hook") or frame["kind"]
        if frame["kind"] == "hook":
            self.hooks.append((frame["unit"], title))
            plain["via"] = "hook"
        if frame["kind"] == "reboot":
            self.boot_id += "+"
        for key in ((frame.get("unit"), title), title):
            if self.script.get(key):
                plain.update(self.script[key].pop(0))
                break
        if frame["kind"] == "deploy" and plain["outcome"] == "ok":
            self.charms[frame["unit"]] = frame["url"]
        if frame["kind"] == "remove-unit":
            self.charms.pop(frame["unit"], None)
        return plain

    def of(self, unit: str) -> list[str]:
        """The hooks that ran on one unit."""
        return [hook for name, hook in self.hooks if name == unit]

    def frame_of(self, hook: str, unit: str = "") -> dict[str, Any]:
        """The last frame that ran a hook of the unit."""
        return next(
            frame
            for frame in reversed(self.frames)
            if frame.get("hook") == hook and unit in ("", frame["unit"])
        )


def ok(**more: Any) -> dict[str, Any]:
    """A result of a hook that succeeded."""
    plain = {"outcome": "ok", "exit": 0, "via": "hook", "message": "", "writes": {}, "events": []}
    return {**plain, **more}


def failed(code: int = 1, **more: Any) -> dict[str, Any]:
    """A result of a hook that failed."""
    return ok(**{"outcome": "failed", "exit": code, **more})


def event(seq: int, kind: str, **fields: Any) -> dict[str, Any]:
    """An event in the form of results."""
    return {"seq": seq, "e": {"k": kind, "time": None, **fields}}


def status_event(seq: int, status: str, message: str = "", scope: str = "unit") -> dict[str, Any]:
    return event(seq, "status", scope=scope, status=status, message=message)
