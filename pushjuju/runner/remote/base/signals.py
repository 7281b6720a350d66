"""Signals without the ``signal`` module, which imports ``enum`` and costs milliseconds."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

INT, KILL, TERM, CONT = 2, 9, 15, int(_signal.SIGCONT)

_TEXTS = {
    1: "hangup",
    2: "interrupt",
    3: "quit",
    4: "illegal instruction",
    6: "aborted",
    8: "floating point exception",
    9: "killed",
    11: "segmentation fault",
    13: "broken pipe",
    14: "alarm clock",
    15: "terminated",
}

# Signals that Python or this program handles or ignores; a hook starts with the default action for all.
CHANGED = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGPIPE, _signal.SIGXFSZ, _signal.SIGCHLD)

set_wakeup_fd: Callable[[int], int] = _signal.set_wakeup_fd


def on_child_end(handler: Callable[..., Any]) -> None:
    """Call a handler when a child ends."""
    _signal.signal(_signal.SIGCHLD, handler)


def ignore_hangup() -> None:
    """Ignore hang-ups and interrupts of the session's terminal: the server outlives the session."""
    for number in (_signal.SIGHUP, _signal.SIGINT):
        _signal.signal(number, _signal.SIG_IGN)


def restore() -> None:
    """Restore the default actions, in a child before it becomes another program."""
    for number in CHANGED:
        _signal.signal(number, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def text(number: int) -> str:
    """Return Go's name of a signal."""
    return _TEXTS.get(number, "signal %d" % number)
