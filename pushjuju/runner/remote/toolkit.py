"""The interface between the runner and the hook tools.

A family of tools is a module with `TOOLS: dict[str, Tool]`. The runner calls `run_tool` once per call of a
tool in a hook; the tool answers from the snapshot of the run (`ToolContext.context`), keeps what is to be
written at the end of the run in `ToolContext.writes`, and streams what takes effect at once by `emit`.
Pushed to machines: Python 3.8, lean imports. Families import this module and the standard library only.

Command lines and outputs are text in which bytes that are not UTF-8 are lone surrogates ("surrogateescape").

Mirrors: juju worker/uniter/runner/jujuc, juju/cmd cmd.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote import goformat
from pushjuju.runner.remote.goflags import (
    Flag,
    HelpWanted,
    UsageError,
    atoi,
    help_text,
    parse,
    quote,
    quote_list,
    trim,
)
from pushjuju.runner.remote.goformat import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Mapping, Sequence

    # (tool, argv, stdin, cwd) -> (rc, stdout, stderr), answered by the controller
    Live = Callable[[str, list[str], bytes, str], tuple[int, bytes, bytes]]
    Run = Callable[["ToolContext", "Args"], Any]

__all__ = [
    "SMART",
    "YAML_FIRST",
    "Args",
    "Flag",
    "Struct",
    "Tool",
    "ToolContext",
    "ToolError",
    "atoi",
    "check_empty",
    "deprecated_format_flag",
    "file_flag",
    "is_application",
    "is_unit",
    "key_values",
    "needs_stdin",
    "quote",
    "quote_list",
    "read_settings",
    "relation_flag",
    "relation_id",
    "run_tool",
    "trim",
    "usage_error",
    "warn_format",
]

SMART = ("smart", "json", "yaml")  # formats of most tools; the first is the default
YAML_FIRST = ("yaml", "json")

_FORMATTERS = {
    "smart": goformat.format_smart,
    "json": goformat.format_json,
    "yaml": goformat.format_yaml,
}


class ToolError(Exception):
    """A tool fails: `ERROR text` on stderr, nothing on stdout.

    Attributes:
        text: The message.
        rc: 1 when execution failed, 2 when the arguments are wrong.
        raw: The exact bytes for stderr when the controller gave them; `text` is then not printed.
    """

    def __init__(self, text: str, rc: int = 1, raw: bytes | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.rc = rc
        self.raw = raw


def usage_error(text: str) -> ToolError:
    """Return the error for wrong arguments (exit code 2)."""
    return ToolError(text, 2)


class Args:
    """A parsed command line: `args["relation"]` is a flag's value, `args.positional` the rest."""

    __slots__ = ("argv", "flags", "positional")

    def __init__(self, flags: dict[str, Any], positional: list[str], argv: list[str]) -> None:
        self.flags = flags
        self.positional = positional
        self.argv = argv

    def __getitem__(self, key: str) -> Any:
        return self.flags[key]

    @property
    def format(self) -> str:
        """The format asked for."""
        return str(self.flags["format"])

    def take(self, default: str = "") -> str:
        """Take the next positional argument away, or return `default`."""
        return self.positional.pop(0) if self.positional else default


class ToolContext:
    """What a tool may look at and change during one call.

    Attributes:
        context: The snapshot that came with the operation. Never changed.
        writes: Buffered changes, shared by all calls of the run, returned with the result of the hook.
        reads: Cache of the run: what a later call of the same run must see.
        cwd: Working directory of the caller.
        errors: Warnings for stderr of a call that succeeds.
    """

    __slots__ = ("_emit", "_live", "_stdin", "context", "cwd", "errors", "reads", "writes")

    def __init__(
        self,
        context: Mapping[str, Any],
        writes: dict[str, Any],
        *,
        reads: dict[str, Any],
        stdin: Callable[[], bytes],
        cwd: str,
        emit: Callable[[dict[str, Any]], None],
        live: Live,
    ) -> None:
        self.context = context
        self.writes = writes
        self.reads = reads
        self.cwd = cwd
        self.errors: list[str] = []
        self._stdin = stdin
        self._emit = emit
        self._live = live

    @property
    def unit(self) -> str:
        """Name of the own unit."""
        return str(self.context["unit"])

    @property
    def app(self) -> str:
        """Name of the own application."""
        return str(self.context["app"])

    @property
    def hook_relation(self) -> dict[str, Any] | None:
        """The relation of the running relation hook, None in other hooks."""
        return self.context.get("relation") or None

    def is_leader(self) -> bool:
        """Tell whether the unit is the leader; the controller keeps leadership still during the run."""
        return bool(self.context.get("leader"))

    def relation(self, relation_id: int) -> dict[str, Any] | None:
        """Return the snapshot of a relation that this unit takes part in, or None."""
        found: dict[str, Any] | None = self.context.get("relations", {}).get(str(relation_id))
        return found

    def pending(self, *path: str) -> dict[str, Any]:
        """Return the map of buffered writes at `path`, made on first use."""
        node = self.writes
        for name in path:
            if not isinstance(node.get(name), dict):
                node[name] = {}
            node = node[name]
        return node

    def emit(self, event: dict[str, Any]) -> None:
        """Send an event to the controller at once; it is kept even when the hook fails."""
        self._emit(event)

    def ask(self, tool: str, argv: Sequence[str], stdin: bytes = b"") -> bytes:
        """Have the controller answer now and return its stdout.

        Raises:
            ToolError: with the controller's own stderr and exit code.
        """
        rc, out, err = self._live(tool, list(argv), stdin, self.cwd)
        if rc:
            raise ToolError(err.decode("utf-8", "replace"), rc, err)
        return out

    def path(self, name: str) -> str:
        """Return the absolute path of a file named on the command line."""
        if name == "~" or name.startswith("~/"):
            import os

            return os.path.expanduser("~") + name[1:]
        if name.startswith("/"):
            return name
        return self.cwd.rstrip("/") + "/" + name

    def read_input(self, name: str) -> bytes:
        """Read a file named on the command line; `-` is stdin."""
        if name == "-":
            return self._stdin()
        path = self.path(name)
        try:
            with open(path, "rb") as stream:
                return stream.read()
        except OSError as error:
            raise _file_error(path, error) from None


def _file_error(path: str, error: OSError) -> ToolError:
    return ToolError("open %s: %s" % (path, (error.strerror or "input/output error").lower()))


class Tool:
    """One hook tool.

    `run(ctx, args)` returns the value to print for tools with formats; for the others text that is
    written as it is, or None.
    """

    __slots__ = ("details", "flags", "formats", "name", "run", "summary", "usage")

    def __init__(
        self,
        name: str,
        run: Run,
        *,
        summary: str,
        usage: str = "",
        details: str = "",
        flags: Sequence[Flag] = (),
        formats: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.run = run
        self.summary = summary
        self.usage = usage
        self.details = details
        self.formats = tuple(formats)
        self.flags = tuple(flags) + (_format_flags(self.formats) if formats else ())

    def help(self) -> str:
        """Render the help text."""
        return help_text(
            self.name, usage=self.usage, summary=self.summary, details=self.details, flags=self.flags
        )


def _format_flags(formats: tuple[str, ...]) -> tuple[Flag, ...]:
    def check(_: Any, text: str) -> str:
        if text not in formats:
            raise ValueError("unknown format %s" % quote(text))
        return text

    names = "|".join(sorted(formats))
    return (
        Flag(
            "format",
            help="Specify output format (%s)" % names,
            default=formats[0],
            convert=check,
            shown=formats[0],
        ),
        Flag("o", "output", help="Specify an output file"),
    )


def _relation_id(ctx: ToolContext, text: str) -> int:
    name, _, digits = text.rpartition(":")
    try:
        relation_id = atoi(digits)
    except ValueError:
        raise ValueError("invalid relation id") from None
    relation = ctx.relation(relation_id)
    if relation is None or (name and name != relation["endpoint"]):
        raise ValueError("relation not found")
    return relation_id


def relation_flag() -> Flag:
    """Return `-r`/`--relation`; its value is None when not given: see `relation_id`."""
    return Flag("r", "relation", help="Specify a relation by id", default=None, convert=_relation_id)


def relation_id(ctx: ToolContext, args: Args) -> int | None:
    """Return the relation asked for, else that of the running hook, else None."""
    if args["relation"] is not None:
        return int(args["relation"])
    hook = ctx.hook_relation
    return None if hook is None else int(hook["id"])


def file_flag() -> Flag:
    """Return `--file` of the tools that read settings."""
    return Flag("file", help='Specify a YAML or JSON file with settings; "-" is standard input')


def deprecated_format_flag() -> Flag:
    """Return the `--format` that some tools accept and ignore."""
    return Flag("format", help="Deprecated: has no effect")


def warn_format(ctx: ToolContext, args: Args, name: str) -> None:
    """Warn of the ignored `--format`, as Juju does: without a newline."""
    if args["format"]:
        ctx.errors.append('--format flag deprecated for command "%s"' % name)


def check_empty(positional: Sequence[str]) -> None:
    """Refuse positional arguments that are left over."""
    if positional:
        raise usage_error("unrecognized args: %s" % quote_list(positional))


def key_values(words: Iterable[str], *, allow_empty: bool = True) -> dict[str, str]:
    """Parse `key=value` words; both sides are trimmed.

    Mirrors: juju/utils keyvalues
    """
    found: dict[str, str] = {}
    for word in words:
        if not word:
            continue
        key, equals, value = word.partition("=")
        key, value = trim(key), trim(value)
        if not equals or not key or not (value or allow_empty):
            raise usage_error('expected "key=value", got %s' % quote(word))
        if key in found:
            raise usage_error("key %s specified more than once" % quote(key))
        found[key] = value
    return found


def read_settings(ctx: ToolContext, name: str) -> dict[str, str]:
    """Read the settings of `--file`: a YAML or JSON map of scalars, taken as written."""
    if not name:
        return {}
    from pushjuju.runner.remote import goyaml

    try:
        return goyaml.read_settings(ctx.read_input(name))
    except goyaml.YamlError as error:
        raise ToolError(str(error)) from None


def is_application(name: str) -> bool:
    """Tell whether `name` is a valid application name."""
    parts = name.split("-")
    if not name.isascii() or not name[:1].isalpha() or name != name.lower():
        return False
    return all(part.isalnum() and any(map(str.isalpha, part)) for part in parts)


def is_unit(name: str) -> bool:
    """Tell whether `name` is a valid unit name."""
    app, _, number = name.partition("/")
    return (
        is_application(app) and number.isascii() and number.isdigit() and (number == "0" or number[0] != "0")
    )


def needs_stdin(registry: Mapping[str, Tool], name: str, argv: Sequence[str]) -> bool:
    """Tell whether a call will read its stdin, so that the client sends it only then."""
    tool = registry.get(name)
    if tool is None or not any(flag.key == "file" for flag in tool.flags):
        return False
    lenient = [Flag(*flag.names, help="", boolean=flag.boolean) for flag in tool.flags]
    try:
        values, _ = parse(lenient, argv, None)
    except (UsageError, HelpWanted):
        return False
    return bool(values["file"] == "-")


def _deliver(ctx: ToolContext, tool: Tool, args: Args, value: Any) -> bytes:
    """Return what goes to stdout; with `--output` write it to that file instead."""
    if not tool.formats:
        return goformat.encode(value) if value else b""
    data = goformat.encode(_FORMATTERS[args.format](value))
    if not args["output"]:
        return data
    path = ctx.path(args["output"])
    try:
        with open(path, "wb") as stream:
            stream.write(data)
    except OSError as error:
        raise _file_error(path, error) from None
    return b""


def _call(ctx: ToolContext, tool: Tool, argv: Sequence[str]) -> bytes:
    try:
        flags, positional = parse(tool.flags, argv, ctx)
    except HelpWanted:
        return goformat.encode(tool.help())
    except UsageError as error:
        raise usage_error(str(error)) from None
    args = Args(flags, positional, list(argv))
    return _deliver(ctx, tool, args, tool.run(ctx, args))


def run_tool(
    registry: Mapping[str, Tool],
    name: str,
    argv: Sequence[str],
    context: Mapping[str, Any],
    writes: dict[str, Any],
    *,
    stdin: Callable[[], bytes],
    cwd: str,
    emit: Callable[[dict[str, Any]], None],
    live: Live,
    reads: dict[str, Any],
) -> tuple[int, bytes, bytes]:
    """Answer one call of a hook tool.

    Args:
        registry: All tools by name.
        name: The name the tool was called by.
        argv: Its arguments.
        context: The snapshot of the run.
        writes: Buffered writes of the run; changed in place. `writes["reboot"] == "now"` after the call
            asks the runner to kill the hook.
        stdin: Returns the caller's standard input.
        cwd: The caller's working directory.
        emit: Streams an event to the controller.
        live: Asks the controller.
        reads: Cache of the run, empty at its start.

    Returns:
        Exit code, stdout, stderr. Never raises on account of a tool.
    """
    tool = registry.get(name)
    if tool is None:
        return 1, b"", goformat.encode("ERROR bad request: unknown command: %s\n" % name)
    ctx = ToolContext(context, writes, reads=reads, stdin=stdin, cwd=cwd, emit=emit, live=live)
    try:
        out = _call(ctx, tool, argv)
    except ToolError as error:
        text = "" if error.raw is not None else "ERROR %s\n" % error.text
        return error.rc, b"", goformat.encode("".join(ctx.errors) + text) + (error.raw or b"")
    except Exception as error:  # a fault in a tool must not take the runner down
        return (
            1,
            b"",
            goformat.encode("ERROR %s: internal error: %s: %s\n" % (name, type(error).__name__, error)),
        )
    return 0, out, goformat.encode("".join(ctx.errors))
