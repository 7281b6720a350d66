"""Handles faults in pushjuju itself: a short text for the user, the traceback in a file."""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.basis import places


class InternalError(PushjujuError, message="internal error", code="internal"):
    """A fault in pushjuju itself, not something the user did."""


def report(error: Exception, *, env: Mapping[str, str], now: datetime, argv: list[str]) -> InternalError:
    """Write the traceback of an unexpected exception to a file, and return the error to show."""
    short = f"internal error: {type(error).__name__}: {error}".rstrip(": ")
    path = _write(_trace(error, argv), env, now)
    hint = f"The trace is in {path}; please send it with a bug report." if path else ""
    return InternalError(short, hint=hint)


def _trace(error: Exception, argv: list[str]) -> str:
    # Arguments may hold secrets (add-secret, config): only the name of the command is written.
    word = next((arg for arg in argv if not arg.startswith("-")), "")
    return f"command: {word}\n{''.join(traceback.format_exception(error))}"


def _write(text: str, env: Mapping[str, str], now: datetime) -> Path | None:
    """Write the file to the data directory, or to the temporary directory; return its path, or None."""
    name = f"crash-{now:%Y%m%d-%H%M%S}-{os.getpid()}.log"
    for folder in (places.locate(env, places.here()) / "log", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            continue
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        return folder / name
    return None
