"""The entry point: streams and environment in, exit status out; the only place that prints errors.

Mirrors: juju/cmd cmd.go Main (3.6)
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TextIO

from pushjuju.cli.app import crash
from pushjuju.cli.app.root import Root
from pushjuju.cli.commands.plan import plannable
from pushjuju.cli.syntax.command import Cli, Exited
from pushjuju.cli.terminal import logs
from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.output import Output
from pushjuju.cli.work import suggest
from pushjuju.core.errors import NotFound, PushjujuError, Refused, Silent, UsageError
from pushjuju.services.entities.basis.places import told_by
from pushjuju.workers import traced

INTERRUPTED = 130
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of stdout, without a file name
_FULL = {
    errno.ENOSPC: "`df -h` shows which disk is full: free some space there, then run the command again",
    errno.EDQUOT: "free some of your quota, then run the command again",
}
_FOR_TRACES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "PUSHJUJU_TRACE_FILE")
_RESUME = (
    "Interrupted. What was asked for is recorded and the work already started on machines goes on.\n"
    "'{program} update-status' continues it, '{program} status' shows it."
)
_GONE = "the working directory was deleted: files cannot be named from there"
_UNDONE = "Interrupted before anything was recorded."


def main() -> None:
    """Run the command line of this process and exit."""
    _speak_utf8()
    status = run(
        _words(sys.argv[1:]),
        stdin=sys.stdin,
        stdout=sys.stdout,
        stderr=sys.stderr,
        env=os.environ,
        program=os.path.basename(sys.argv[0] or "pushjuju"),  # noqa: PTH119 - pathlib costs start-up time
        on_interrupt=_end_at_the_next,
    )
    sys.exit(status)


def _end_at_the_next() -> None:
    """Let another Ctrl-C end this process at once, without a trace of what it was closing."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _speak_utf8() -> None:
    """Make the streams UTF-8 whatever the locale says, as Go does, for the same output everywhere."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8", errors=stream.errors)


def _words(argv: list[str]) -> list[str]:
    """Return the arguments decoded as UTF-8, even under a locale with another encoding."""
    if sys.getfilesystemencoding().lower() == "utf-8":
        return argv
    return [os.fsencode(word).decode("utf-8", "surrogateescape") for word in argv]


def run(
    argv: Sequence[str],
    *,
    stdin: TextIO,
    stdout: TextIO,
    stderr: TextIO,
    env: Mapping[str, str],
    program: str = "pushjuju",
    on_interrupt: Callable[[], None] = lambda: None,
) -> int:
    """Run one command line and return its exit status.

    Args:
        on_interrupt: Called when Ctrl-C has interrupted the command.
    """
    console = Console(stdin=stdin, stdout=stdout, stderr=stderr, env=env)
    name = program if program in ("juju", "pushjuju") else "pushjuju"
    cli = Cli(console=console, output=Output(console), program=name)
    try:
        with told_by(console.info):
            status = _traced(list(argv), cli)
            if status == INTERRUPTED:
                on_interrupt()
            _answer(cli, status)
            return status
    finally:
        for service in cli.extra.values():
            close = getattr(service, "close", None)
            if close is not None:
                close()


def _traced(argv: list[str], cli: Cli) -> int:
    """Run the command line; send a trace when the environment names a place for traces."""
    wanted = any(cli.env.get(name) for name in _FOR_TRACES)
    traces = traced.open_traces(cli.env, cli.console.warn) if wanted else None
    if traces is None:
        return _guarded(argv, cli)
    cli.console.env = traces.environment
    with traces.recording():
        status = _guarded(argv, cli)
        for opened in (service for service in cli.extra.values() if hasattr(service, "controller")):
            traces.of(opened)
        traces.ended(cli.word, status)
        return status


def _answer(cli: Cli, status: int) -> None:
    """Write how a command that changed something has ended into the audit log."""
    result = {"exit": status, "error": cli.failure} if cli.failure else {"exit": status}
    asked = bool(cli.failure) and not cli.failure.startswith("store") and _asks_for_change(cli)
    for opened in cli.extra.values():
        if hasattr(opened, "answered") and not cli.rehearsal:
            with suppress(PushjujuError):  # the controller may be gone, and the command has ended
                opened.answered(asked=asked, **result)


def _asks_for_change(cli: Cli) -> bool:
    """Return True for a command line that is to change something; `config web greeting` only reads."""
    sets = any("=" in word for word in cli.words) or not cli.given.isdisjoint(("reset", "file"))
    reads = cli.word.endswith(("config", "defaults")) and not sets
    return cli.word in plannable.PLANNED and not reads and "dry_run" not in cli.given


def _guarded(argv: list[str], cli: Cli) -> int:
    try:
        _check_text(argv)
        _dispatch(argv, cli)
    except PushjujuError as error:
        return _failed(error, cli)
    except KeyboardInterrupt:
        cli.console.stderr.write(f"\n{_interrupted(cli)}\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has ended (`| head`): end silently, as Unix programs do.
        _leave_stdout()
        return 0
    except OSError as error:
        if error.filename is None and error.errno in _UNWRITABLE:
            _leave_stdout()
            what = f"write error: {(error.strerror or '').lower()}"
            return _failed(PushjujuError(what, hint=_FULL.get(error.errno, "")), cli)
        if not str(error.filename or "").startswith("/") and not _has_directory():
            return _failed(
                PushjujuError(_GONE, hint=f"cd somewhere else, then run '{cli.program}' again"), cli
            )
        if error.filename is None:
            return _crashed(error, argv, cli)
        return _failed(_of_the_system(error), cli)
    except Exception as error:  # noqa: BLE001 - the last resort of the program
        return _crashed(error, argv, cli)
    return 0


def _interrupted(cli: Cli) -> str:
    """Return what becomes of a command that was interrupted."""
    opened = [service for service in cli.extra.values() if hasattr(service, "answered")]
    if cli.working or any(ctx.caller.course.recorded for ctx in opened):
        return cli.on_interrupt or _RESUME.format(program=cli.program)
    return cli.on_interrupt or _UNDONE


def _has_directory() -> bool:
    """Return False when the working directory of this process was deleted."""
    try:
        os.getcwd()  # noqa: PTH109 - pathlib would ask the same
    except FileNotFoundError:
        return False
    return True


def _leave_stdout() -> None:
    """Send further output to the null device, so that the end of the process does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_text(argv: Sequence[str]) -> None:
    """Refuse arguments that are not valid UTF-8: names in the store and on the network are UTF-8."""
    for word in argv:
        if not word.isascii() and any(0xD800 <= ord(letter) <= 0xDFFF for letter in word):
            shown = word.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
            raise UsageError(f'argument "{shown}" is not valid UTF-8')


def _of_the_system(error: OSError) -> PushjujuError:
    """Return the error for a file that the operating system does not let pushjuju use."""
    name, hint = str(error.filename), _FULL.get(error.errno or 0, "")
    return PushjujuError(f"{name if len(name) <= 255 else name[:255] + '...'}: {error.strerror}", hint=hint)


def _dispatch(argv: list[str], cli: Cli) -> None:
    root = Root()
    with root.make_context(cli.program, argv, obj=cli) as context:
        root.invoke(context)


def _failed(error: PushjujuError, cli: Cli) -> int:
    if isinstance(error, (Silent, Exited)):
        return error.exit_code
    cli.failure = error.code
    if not isinstance(error, (UsageError, Refused)):
        cli.output.failed()
    if cli.debug:
        logs.error_stack(error)
    if isinstance(error, NotFound):
        suggest.advise(error, cli)
    cli.console.error(error)
    return error.exit_code


def _crashed(error: Exception, argv: list[str], cli: Cli) -> int:
    return _failed(crash.report(error, env=cli.env, now=cli.clock.now(), argv=argv), cli)
