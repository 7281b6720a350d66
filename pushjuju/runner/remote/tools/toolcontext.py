"""What one call of a hook tool sees: its arguments, the snapshot, the buffered writes, the caller's files.

`toolkit` is where tools import these names from. Runs on machines: Python 3.8, lean imports.

Mirrors: juju worker/uniter/runner/jujuc/context.go, juju/cmd cmd.go (3.6)
"""

from __future__ import annotations

import os

from pushjuju.portable.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping, Sequence

    from pushjuju.portable import frames

    # (tool, argv, stdin, cwd) -> (rc, stdout, stderr), answered by the controller
    Live = Callable[[str, list[str], bytes, str], tuple[int, bytes, bytes]]


class ToolError(Exception):
    """A tool failed: `ERROR text` goes to stderr, nothing to stdout."""

    def __init__(self, text: str, rc: int = 1, raw: bytes | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.rc = rc  # 1 when execution failed, 2 when the arguments are wrong
        self.raw = raw  # the bytes for stderr when the controller sent them; `text` is then not printed


def usage_error(text: str) -> ToolError:
    """Return the error for wrong arguments (exit code 2)."""
    return ToolError(text, 2)


class Args:
    """A parsed command line: `args["relation"]` is a flag's value, `args.positional` the other arguments."""

    __slots__ = ("argv", "flags", "positional")

    def __init__(self, flags: dict[str, object], positional: list[str], argv: list[str]) -> None:
        self.flags = flags
        self.positional = positional
        self.argv = argv

    def __getitem__(self, key: str) -> Any:
        return self.flags[key]

    @property
    def format(self) -> str:
        """The output format that the caller chose."""
        return str(self.flags["format"])

    def take(self, default: str = "") -> str:
        """Remove and return the next positional argument, or return `default`."""
        return self.positional.pop(0) if self.positional else default


class ToolContext:
    """What a tool may read and change during one call."""

    __slots__ = ("_emit", "_live", "_stdin", "context", "cwd", "errors", "files", "reads", "writes")

    def __init__(
        self,
        context: Mapping[str, Any],
        writes: dict[str, Any],
        *,
        reads: dict[str, Any],
        stdin: Callable[[], bytes],
        cwd: str,
        emit: Callable[[frames.Event], None],
        live: Live,
        files: Any = None,
    ) -> None:
        self.context = context  # the snapshot that came with the operation. Never changed.
        # buffered changes, shared by all calls of the run, returned with the result of the hook
        self.writes = writes
        self.reads = reads  # cache of the run, for values that later calls of the same run must see
        self.cwd = cwd  # working directory of the caller
        self.errors: list[str] = []  # warnings that a successful call prints on stderr
        self.files = files  # the resource files of the unit, or None on the controller
        self._stdin = stdin
        self._emit = emit
        self._live = live

    @property
    def unit(self) -> str:
        """Name of the unit that runs the hook."""
        return str(self.context["unit"])

    @property
    def app(self) -> str:
        """Name of the application of the unit."""
        return str(self.context["app"])

    @property
    def hook_relation(self) -> dict[str, Any] | None:
        """The relation of a relation hook, or None in other hooks."""
        return self.context.get("relation") or None

    def is_leader(self) -> bool:
        """Return True when the unit is the leader; the controller changes no leader during the run."""
        return bool(self.context.get("leader"))

    def relation(self, relation_id: int) -> dict[str, object] | None:
        """Return the snapshot of a relation that this unit takes part in, or None."""
        found: dict[str, object] | None = self.context.get("relations", {}).get(str(relation_id))
        return found

    def pending(self, *path: str) -> dict[str, Any]:
        """Return the map of buffered writes at `path`; make it when it is missing."""
        node = self.writes
        for name in path:
            if not isinstance(node.get(name), dict):
                node[name] = {}
            node = node[name]
        return node

    def emit(self, event: frames.Event) -> None:
        """Send an event to the controller at once; the controller keeps it even when the hook fails."""
        self._emit(event)

    def ask(self, tool: str, argv: Sequence[str], stdin: bytes = b"") -> bytes:
        """Let the controller run the tool now; return its stdout.

        Raises:
            ToolError: The tool failed there; rc and stderr are the controller's.
        """
        rc, out, err = self._live(tool, list(argv), stdin, self.cwd)
        if rc:
            raise ToolError(err.decode("utf-8", "replace"), rc, err)
        return out

    def ask_data(self, tool: str, argv: Sequence[str]) -> Any:
        """Let the controller run the tool now; return the JSON document that it printed, decoded.

        Raises:
            ToolError: The tool failed there; rc and stderr are the controller's.
        """
        return loads(self.ask(tool, argv).decode("utf-8"))

    def path(self, name: str) -> str:
        """Return the absolute path of a file that the command line names."""
        if name == "~" or name.startswith("~/"):
            return os.path.expanduser("~") + name[1:]
        if name.startswith("/"):
            return name
        return self.cwd.rstrip("/") + "/" + name

    def read_input(self, name: str) -> bytes:
        """Return the content of a file that the command line names; `-` is stdin."""
        if name == "-":
            return self._stdin()
        path = self.path(name)
        try:
            with open(path, "rb") as stream:
                return stream.read()
        except OSError as error:
            raise file_error(path, error) from None


def file_error(path: str, error: OSError) -> ToolError:
    """Return the error for a file that cannot be opened, in Go's words."""
    return ToolError("open %s: %s" % (path, (error.strerror or "input/output error").lower()))
