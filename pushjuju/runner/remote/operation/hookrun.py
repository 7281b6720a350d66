"""Run a hook, an action, or commands in a unit's context.

Mirrors: juju worker/uniter/runner/runner.go, worker/uniter/operation/runhook.go (3.6).
"""

from __future__ import annotations

import os

from pushjuju.portable.quote import quote
from pushjuju.runner.remote.base import layout, output, signals
from pushjuju.runner.remote.base.results import CHARM_GONE, TIMED_OUT, Refused, plain_result, wall_time
from pushjuju.runner.remote.operation import debugging
from pushjuju.runner.remote.operation.commands import captured, judge, remove_script, script, shell, timeout
from pushjuju.runner.remote.operation.families import load_registry
from pushjuju.runner.remote.operation.host import RUNNER_LOGGER, Host
from pushjuju.runner.remote.operation.process import Child, Ended
from pushjuju.runner.remote.operation.toolserver import ToolServer
from pushjuju.runner.remote.tools import toolclient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.portable import frames

KEPT_ON_FAILURE = (
    "action",
)  # results and messages of an action; everything else that is buffered is dropped
VIA_TEXT = {"dispatch": "hook dispatching script: dispatch", "hook": "explicit, bespoke hook script"}


def new_writes() -> dict[str, object]:
    """Return the empty buffer for the changes that a run makes to the model."""
    return {
        "relations": {},
        "ports": {"open": [], "close": []},
        "state": {},
        "reboot": "",
        "status_set": False,
    }


def run(host: Host) -> frames.Result:
    """Run a hook, an action or commands of a unit."""
    unit = str(host.op["unit"])
    charm = host.paths.charm(unit)
    kind = host.op["kind"]
    if kind != "commands" and not os.path.exists(charm + "/metadata.yaml"):
        return _missing_charm(host)
    name = str(host.op.get("hook") or host.op.get("action") or "")
    if kind == "commands":
        return _run_commands(host, unit, charm)
    path, via = find_handler(charm, name, "actions" if kind == "action" else "hooks")
    if via is None:
        if kind == "hook":
            host.log("INFO", 'skipped "%s" hook (missing)' % name)
        return plain_result("missing", via=None)
    if kind == "action":
        return _run_action(host, unit, charm, path, via)
    return _run_hook(host, unit, charm, name, path, via)


def find_handler(charm: str, name: str, folder: str) -> tuple[str, str | None]:
    """Return the program of a hook or action and its kind ("hook", "dispatch"), or "" and None."""
    if not name or "/" in name or name.startswith("."):
        raise Refused('bad name "%s"' % name)
    dispatch = charm + "/dispatch"
    if os.path.exists(dispatch):
        return dispatch, "dispatch"
    path = charm + "/" + folder + "/" + name
    if os.path.exists(path):
        return path, "hook"
    return "", None


def _missing_charm(host: Host) -> frames.Result:
    host.log("ERROR", "charm missing from disk")
    return {**plain_result("failed", message="charm missing from disk"), "code": CHARM_GONE}


def environment(host: Host, unit: str, context_id: str) -> dict[str, str]:
    """Return the environment for a hook: the controller's variables, and the paths of this machine."""
    given = host.op.get("env") or {}
    env = {str(key): str(value) for key, value in given.items()}
    charm = host.paths.charm(unit)
    tools = host.paths.unit_tools(unit)
    search = env.get("PATH") or layout.AGENT_PATH
    rest = [part for part in search.split(":") if not part.endswith("/tools/" + layout.unit_tag(unit))]
    env.update(
        CHARM_DIR=charm,
        JUJU_CHARM_DIR=charm,
        JUJU_CONTEXT_ID=context_id,
        JUJU_AGENT_SOCKET_ADDRESS=host.paths.socket(unit),
        JUJU_AGENT_SOCKET_NETWORK="unix",
        PATH=":".join([tools] + rest),
    )
    return env


def _context_id(host: Host, unit: str) -> str:
    given = (host.op.get("env") or {}).get("JUJU_CONTEXT_ID")
    if given:
        return str(given)
    name = "run-commands" if host.op["kind"] == "commands" else host.op.get("hook") or host.op.get("action")
    return "%s-%s-%s" % (unit, name, os.urandom(16).hex())


def _missing_interpreter(path: str) -> str:
    """Return what to add to an error when a program's first line names a program that is not there."""
    try:
        with open(path, "rb") as file:
            first = file.readline(256)
    except OSError:
        return ""
    name = first[2:].strip(b" \t\n").partition(b" ")[0].decode("utf-8", "replace")
    if first[:2] != b"#!" or not name or os.path.exists(name):
        return ""
    return " (its first line asks for %s, which is not on the machine)" % quote(name)


class _Run:
    """The common part of running hooks, actions and commands: environment, hook tools, process."""

    def __init__(self, host: Host, unit: str, sinks: Any) -> None:
        self.host = host
        self.writes = new_writes()
        self.reads: dict[str, Any] = {"masks": host.masks}
        if host.status:
            host.op["context"]["status"] = {"unit": host.status}
        context_id = _context_id(host, unit)
        self.env = environment(host, unit, context_id)
        registry = load_registry(host.paths.program) if host.registry is None else host.registry
        names = list(registry) + list(host.op.get("tools") or ())
        toolclient.ensure_tools(host.paths, unit, names, str(host.options.get("client", "")))
        self._jujud()
        self.child = Child(host, sinks)
        self.tools = ToolServer(host, registry, host.paths.socket(unit), context_id, self.writes, self.reads)
        self.tools.on_reboot_now = lambda: self.child.kill(signals.KILL)

    def _jujud(self) -> None:
        version = self.env.get("JUJU_VERSION", "")
        if version:
            machine = os.uname().machine
            arch = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64el"}.get(machine, machine)
            full = "%s-ubuntu-%s" % (version, arch)
            toolclient.ensure_jujud(self.host.paths, self.env.get("JUJU_MACHINE_ID", ""), full)

    def go(self, argv: list[str], cwd: str, timeout: float | None = None) -> Ended | str:
        """Run a program and return how it ended, or as text why it could not be started."""
        self.tools.open()
        try:
            self.child.start(argv, self.env, cwd)
            return self.child.wait(timeout)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            missing = _missing_interpreter(argv[0]) if isinstance(error, FileNotFoundError) else ""
            return "fork/exec %s: %s%s" % (argv[0], str(reason).lower(), missing)
        finally:
            self.child.close()
            self.tools.close()

    def hook_or_window(self, unit: str, name: str, path: str, charm: str) -> Ended | str:
        """Run a hook or action, in a window when a debug session waits for the hook or action."""
        session = debugging.find(self.host.paths, unit, name)
        if session is None:
            return self.go([path], charm)
        noun = str(self.host.op["kind"])
        self.host.log("INFO", '%s "%s" waits in a debug session' % (noun, name))
        window = debugging.Window(session, noun, name, path, self.env)
        self.env = window.env
        try:
            return self.go(window.argv, charm)
        finally:
            window.close()

    def result(self, ended: Ended | str, via: str | None) -> frames.Result:
        """Return how the program ended as a result frame with one of Juju's outcomes."""
        if isinstance(ended, str):
            return plain_result("failed", via=via, message=ended)
        outcome, message = judge(ended, self.host.cancelled)
        writes: Any = self.writes
        self.host.status = self.reads.get("status_set", {}).get("unit") or self.host.status
        if outcome != "ok" and not (self.host.op["kind"] == "commands" and outcome == "failed"):
            now = "now" if writes["reboot"] == "now" else ""
            kept = {key: writes[key] for key in KEPT_ON_FAILURE if key in writes}
            writes = dict(kept, status_set=writes.get("status_set", False), reboot=now)
        result = plain_result(outcome, via=via, message=message)
        result.update(
            {"exit": ended.exit, "signal": ended.signal, "writes": writes, "reboot": writes["reboot"]}
        )
        if ended.timed_out:
            result["code"] = TIMED_OUT
        if self.tools.timed["calls"]:
            result["timed"] = self.tools.timed
        return result


def _run_hook(host: Host, unit: str, charm: str, name: str, path: str, via: str) -> frames.Result:
    budget = output.Budget(int(host.options.get("output_limit", output.EVENT_LIMIT)))
    streams = []
    for stream in ("stdout", "stderr"):
        streams.append(output.LineStream(_line_emitter(host, stream), budget))
    run_ = _Run(host, unit, (streams[0].feed, streams[1].feed))
    ended = run_.hook_or_window(unit, name, path, charm)
    for number, stream in enumerate(("stdout", "stderr")):
        streams[number].close(_left_out_note(host, stream, budget.limit))
    result = run_.result(ended, via)
    if result["outcome"] == "ok":
        host.log("INFO", 'ran "%s" hook (via %s)' % (name, VIA_TEXT[via]))
    else:
        host.log("ERROR", 'hook "%s" (via %s) failed: %s' % (name, VIA_TEXT[via], result["message"]))
    return result


def _line_emitter(host: Host, stream: str) -> Any:
    def emit(line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        host.emit({"k": "output", "stream": stream, "line": text, "time": wall_time()})

    return emit


def _left_out_note(host: Host, stream: str, limit: int) -> Any:
    def note(lost: int) -> None:
        text = "hook printed more than %d bytes: %d bytes of its %s are left out before the lines that follow"
        host.log("WARNING", text % (limit, lost, stream), RUNNER_LOGGER)

    return note


def _run_action(host: Host, unit: str, charm: str, path: str, via: str) -> frames.Result:
    captures = [output.Capture(), output.Capture()]
    run_ = _Run(host, unit, (captures[0].feed, captures[1].feed))
    ended = run_.hook_or_window(unit, str(host.op["action"]), path, charm)
    return captured(run_.result(ended, via), captures)


def _run_commands(host: Host, unit: str, charm: str) -> frames.Result:
    captures = [output.Capture(), output.Capture()]
    run_ = _Run(host, unit, (captures[0].feed, captures[1].feed))
    cwd = charm if os.path.isdir(charm) else "/"
    path = script(host, str(host.op.get("script", "")))
    try:
        ended = run_.go([shell(), path], cwd, timeout(host))
    finally:
        remove_script(path)
    result = run_.result(ended, None)
    return captured(result, captures)
