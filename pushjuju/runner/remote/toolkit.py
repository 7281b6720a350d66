"""The interface between the runner and the hook tools.

A family of tools is a module with `TOOLS: dict[str, Tool]`. The runner calls `run_tool` once per call of a
tool in a hook; the tool answers from the snapshot of the run (`ToolContext.context`), keeps what is to be
written at the end of the run in `ToolContext.writes`, and streams what takes effect at once by `emit`.
Pushed to machines: Python 3.8, lean imports. Families import this module and the standard library only.

Command lines and outputs are text in which bytes that are not UTF-8 are lone surrogates ("surrogateescape").

Mirrors: juju worker/uniter/runner/jujuc, juju/cmd cmd.go (3.6)
"""

from __future__ import annotations

from pushjuju.portable import output
from pushjuju.portable.flags import Flag, FlagTable, HelpWanted, UsageError, help_text, parse
from pushjuju.portable.gotypes import Moment, Struct
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import atoi, quote, quote_list, trim
from pushjuju.runner.remote.tools.toolcontext import Args, ToolContext, ToolError, file_error, usage_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Mapping, Sequence

    from pushjuju.portable import frames
    from pushjuju.runner.remote.tools.toolcontext import Live

    Run = Callable[["ToolContext", "Args"], Any]

__all__ = [
    "SMART", "YAML_FIRST", "Args", "Flag", "Moment", "Struct", "Tool", "ToolContext", "ToolError", "atoi",
    "check_empty", "deprecated_format_flag", "file_error", "file_flag", "is_application", "is_unit",
    "key_values", "quote", "quote_list", "read_settings", "relation_flag", "relation_id", "run_tool", "trim",
    "usage_error", "valid_text", "warn_format",
]  # fmt: skip

SMART = ("smart", "json", "yaml")  # formats of most tools; the first is the default
YAML_FIRST = ("yaml", "json")

_FORMATTERS = {"smart": output.format_smart, "json": output.format_json, "yaml": output.format_yaml}


class Tool:
    """One hook tool.

    `run(ctx, args)` returns the value to print when the tool has formats, else the text to print unchanged,
    or None.
    """

    __slots__ = ("details", "flags", "formats", "name", "parsed", "run", "summary", "table", "usage")

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
        parsed: bool = True,
    ) -> None:
        """Describe a tool.

        Args:
            name: The name of the tool on the command line.
            summary: One line of help.
            usage: The arguments, as help shows them.
            flags: The flags of the tool; `--format` and `--output` come with `formats`.
            formats: Formats of the output, the default first; empty for a tool without `--format`.
            parsed: False for a tool that takes its command line as it is, apart from `--help`.
        """
        self.parsed = parsed
        self.name = name
        self.run = run
        self.summary = summary
        self.usage = usage
        self.details = details
        self.formats = tuple(formats)
        self.flags = tuple(flags) + (_format_flags(self.formats) if formats else ())
        self.table = FlagTable(self.flags)

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
    # Juju ignores what stands before the number, so charms may have a name there that is out of date.
    try:
        relation_id = atoi(text.rpartition(":")[2])
    except ValueError:
        raise ValueError("invalid relation id") from None
    if ctx.relation(relation_id) is None:
        raise ValueError("relation not found")
    return relation_id


def relation_flag() -> Flag:
    """Return the flag `-r`/`--relation`; `relation_id` reads its value, None when a call lacks the flag."""
    return Flag("r", "relation", help="Specify a relation by id", default=None, convert=_relation_id)


def relation_id(ctx: ToolContext, args: Args) -> int | None:
    """Return the relation that the flag names, else the relation of the running hook, else None."""
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
    """Parse `key=value` words; both sides are trimmed. Mirrors: juju/utils keyvalues"""
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
    """Read the settings of `--file`: a YAML or JSON map of scalars, each kept as it is written."""
    if not name:
        return {}
    from pushjuju.runner.remote.tools import goyaml  # imported here: few charms write YAML

    try:
        return goyaml.read_settings(ctx.read_input(name))
    except goyaml.YamlError as error:
        raise ToolError(str(error)) from None


def valid_text(text: str) -> str:
    """Replace bytes that are not UTF-8 by U+FFFD, as Juju does on the way to its controller."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _deliver(ctx: ToolContext, tool: Tool, args: Args, value: Any) -> bytes:
    """Return the bytes for stdout; with `--output`, write them to that file instead and return b""."""
    if not tool.formats:
        return output.encode(value) if value else b""
    data = output.encode(_FORMATTERS[args.format](value))
    if not args["output"]:
        return data
    path = ctx.path(args["output"])
    try:
        with open(path, "wb") as stream:
            stream.write(data)
    except OSError as error:
        raise file_error(path, error) from None
    return b""


def _call(ctx: ToolContext, tool: Tool, argv: Sequence[str]) -> bytes:
    if not tool.parsed and not {"-h", "--help"}.intersection(argv):
        args = Args({}, list(argv), list(argv))
        return _deliver(ctx, tool, args, tool.run(ctx, args))
    try:
        flags, positional = parse(tool.table, argv, ctx)
    except HelpWanted:
        return output.encode(tool.help())
    except UsageError as error:
        raise usage_error(str(error)) from None
    args = Args(flags, [valid_text(word) for word in positional], list(argv))
    return _deliver(ctx, tool, args, tool.run(ctx, args))


def run_tool(
    registry: Mapping[str, Tool],
    name: str,
    argv: Sequence[str],
    context: Mapping[str, Any],
    writes: dict[str, object],
    *,
    stdin: Callable[[], bytes],
    cwd: str,
    emit: Callable[[frames.Event], None],
    live: Live,
    reads: dict[str, object],
    files: Any = None,
) -> tuple[int, bytes, bytes]:
    """Answer one call of a hook tool.

    Args:
        name: The name under which the hook called the tool.
        context: The snapshot of the run.
        writes: Buffered writes of the run; changed in place. `writes["reboot"] == "now"` after the call
            asks the runner to kill the hook.
        stdin: Returns the caller's standard input.
        emit: Streams an event to the controller.
        live: Asks the controller and returns its answer.
        reads: Cache of the run, empty when the run starts.
        files: The resource files of the unit.

    Returns:
        Exit code, stdout, stderr. A fault in a tool is an exit code and a text, never an exception.
    """
    tool = registry.get(name)
    if tool is None:
        return 1, b"", output.encode("ERROR bad request: unknown command: %s\n" % name)
    ctx = ToolContext(context, writes, reads=reads, stdin=stdin, cwd=cwd, emit=emit, live=live, files=files)
    try:
        out = _call(ctx, tool, argv)
    except ToolError as error:
        text = "" if error.raw is not None else "ERROR %s\n" % error.text
        return error.rc, b"", output.encode("".join(ctx.errors) + text) + (error.raw or b"")
    except Exception as error:  # a fault in a tool must not take the runner down
        return (
            1,
            b"",
            output.encode("ERROR %s: internal error: %s: %s\n" % (name, type(error).__name__, error)),
        )
    return 0, out, output.encode("".join(ctx.errors))
