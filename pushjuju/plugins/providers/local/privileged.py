"""Runs the steps that need root rights: directly for root, through sudo for other users."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pushjuju.core import children, errors
from pushjuju.plugins.api.providers import Progress
from pushjuju.plugins.providers.local.operations import OPERATIONS, Data
from pushjuju.plugins.providers.local.system import which

Call = Callable[[str, Data, Progress], Data]

# sudo drops PYTHONPATH, so the helper gets the module path of this process.
_HELPER = """import sys
sys.path[:] = sys.argv[1:]
from pushjuju.plugins.providers.local.operations import main
sys.exit(main())
"""


def caller() -> Call:
    """Return the blocking function that runs a step as root: directly, or through sudo."""
    return _direct if os.geteuid() == 0 else _through_sudo


def _direct(operation: str, args: Data, progress: Progress) -> Data:
    return OPERATIONS[operation](args, progress)


def sudo_works() -> bool:
    """Return True when sudo works now without a password."""
    sudo = which("sudo")
    return sudo is not None and not children.run([sudo, "-n", "true"]).returncode


def _let_in() -> str:
    """Return the path of sudo; sudo may ask the user for a password here."""
    sudo = which("sudo")
    if sudo is None:
        raise errors.SudoRefused(
            "local machines need root rights, and sudo is not installed",
            hint="pushjuju doctor",
            retryable=False,
        )
    if sudo_works():
        return sudo
    asked = os.isatty(0) and not os.waitpid(children.start_at_terminal(sudo, [sudo, "-v"]), 0)[1]
    if not asked:
        raise errors.SudoRefused(
            "local machines need root rights, and sudo does not let you in", hint="sudo -v", retryable=False
        )
    return sudo


def _through_sudo(operation: str, args: Data, progress: Progress) -> Data:
    here = str(Path(__file__).resolve().parents[4])
    modules = [here, *(item for item in sys.path if item)]
    argv = [_let_in(), "-n", sys.executable, "-I", "-B", "-c", _HELPER, *modules]
    pipe = children.PIPE
    with children.start(
        argv, environ=children.environment(), stdin=pipe, stdout=pipe, stderr=pipe, own_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps({"op": operation, "args": args}))
        process.stdin.close()
        answer: dict[str, Any] = {}
        for line in process.stdout:
            answer = json.loads(line)
            if "progress" in answer:
                progress(*answer["progress"])
        complaint = process.stderr.read()
    if "result" in answer:
        result: Data = answer["result"]
        return result
    raise _error(answer.get("error"), complaint)


def _error(said: dict[str, str] | None, complaint: str) -> errors.PushjujuError:
    if said is None:
        return errors.ProviderError(
            "the privileged step for local machines broke off", detail=complaint.strip()[-4000:]
        )
    kind = getattr(errors, said["kind"], errors.ProviderError)
    error: errors.PushjujuError = kind(said["message"], detail=said["detail"], hint=said["hint"])
    return error
