"""The audit log: who changed what over the network, as lines of JSON in `log/audit.log` of the controller.

Requests that only read leave no line. Mirrors: juju core/auditlog/auditlog.go (3.6)
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import PushjujuError, StoreError
from pushjuju.core.storage import parse_size
from pushjuju.core.values import regex
from pushjuju.services.entities.model.controller_config import SETTINGS, parse_value
from pushjuju.web import errors, messages

if TYPE_CHECKING:
    from datetime import datetime

    from pushjuju.services.entities.basis.context import Context

_HIDDEN = regex("passw|secret|credential|content|data|attr|key|token|macaroon|config|options|param|yaml")
_MIB = 1024 * 1024
_LONGEST = 256  # characters of a refused user's name that are logged


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """The user, the command and the model of a connection, for the first line of a conversation."""

    user: str
    what: str = ""
    model: str = ""
    model_name: str = ""


@contextmanager
def answering(ctx: Context) -> Iterator[Context]:
    """Write a line into the log of all doors when the block, which asks for a change, raises an error."""
    try:
        yield ctx
    except PushjujuError as error:
        with suppress(StoreError):  # the client must hear of its own error
            ctx.answered(asked=True, error=error.code.replace(" ", "-"))
        raise


def answered(ctx: Context, failed: Iterable[errors.Error]) -> None:
    """Write a line into the log of all doors about the items of a bulk call that failed, if any did.

    The line has the codes alone: a message may quote what the client sent.
    """
    if codes := {error["code"].replace(" ", "-") or PushjujuError.code for error in failed}:
        with suppress(StoreError):  # the other items are done, and the client must hear that they are
            ctx.answered(asked=True, error=", ".join(sorted(codes)))


class AuditLog:
    """The audit log of a server. Several threads may write at the same time."""

    def __init__(self, ctx: Context) -> None:
        config: dict[str, Any] = {key: item.default for key, item in SETTINGS.items()}
        config |= ctx.controller.settings().get("config", {})
        self._enabled = bool(parse_value("auditing-enabled", config["auditing-enabled"]))
        self._capture = bool(parse_value("audit-log-capture-args", config["audit-log-capture-args"]))
        self._excluded = set(re.split(r"[\s,]+", str(config["audit-log-exclude-methods"])))
        self._now = ctx.clock.now
        self._handler = _Private(
            ctx.controller.root / "log" / "audit.log",
            maxBytes=parse_size(str(config["audit-log-max-size"])) * _MIB,
            backupCount=int(config["audit-log-max-backups"]),
            encoding="utf-8",
            delay=True,
        )

    def conversation(self, speaker: Speaker) -> Conversation:
        """Return the conversation of a new connection."""
        return Conversation(self, speaker)

    def refused(self, user: str) -> None:
        """Write a line about a login with a wrong name or password."""
        made = self.conversation(Speaker(user=user[:_LONGEST]))
        made.asked(0, "Admin.Login", 3, {})
        made.answered(0, {"message": "invalid entity name or password", "code": "unauthorized access"})

    def notes(self, method: str) -> bool:
        """Return True when the log has lines about calls of `Facade.Method`."""
        return self._enabled and method not in self._excluded

    def arguments(self, params: Mapping[str, Any]) -> dict[str, str]:
        """Return the params for the log, with secrets masked; empty when the log has no params."""
        return {"args": messages.dumped(_masked(params))} if self._capture else {}

    def when(self) -> str:
        """Return the time of a line."""
        moment: datetime = self._now()
        return to_iso(moment)

    def write(self, kind: str, line: Mapping[str, object]) -> None:
        text = messages.dumped({kind: line})
        self._handler.handle(logging.LogRecord("audit", logging.INFO, "", 0, text, None, None))

    def close(self) -> None:
        self._handler.close()


class Conversation:
    """The lines of a connection; the first line is written with the first request that changes something."""

    def __init__(self, log: AuditLog, speaker: Speaker) -> None:
        self._log = log
        self._speaker = speaker
        self._ids = {"conversation-id": token_hex(8), "connection-id": token_hex(4).upper()}
        self._begun = False

    def asked(self, number: int, method: str, version: int, params: Mapping[str, Any]) -> None:
        """Write a line about a request; `method` is `Facade.Method`."""
        if not self._log.notes(method):
            return
        if not self._begun:
            self._begin()
        facade, _, name = method.partition(".")
        line = {**self._ids, "request-id": number, "when": self._log.when(), "facade": facade, "method": name}
        self._log.write("request", {**line, "version": version, **self._log.arguments(params)})

    @contextmanager
    def request(self, number: int, method: str, version: int, params: Mapping[str, Any]) -> Iterator[None]:
        """Write a line before the block, and one after it with the error that the block raises."""
        self.asked(number, method, version, params)
        failed = [errors.Error(message="internal error", code="")]
        try:
            yield
            failed = []
        except PushjujuError as error:
            failed = [errors.told(error)]
            raise
        finally:
            self.answered(number, *failed)

    def _begin(self) -> None:
        self._begun = True
        said = self._speaker
        line = {"who": said.user, "what": said.what, "when": self._log.when(), "model-name": said.model_name}
        self._log.write("conversation", {**line, "model-uuid": said.model, **self._ids})

    def answered(self, number: int, *failed: errors.Error) -> None:
        """Write a line about the end of a request, with its errors; a bulk call may have several."""
        if self._begun:
            line = {**self._ids, "request-id": number, "when": self._log.when()}
            self._log.write("errors", {**line, "errors": list(failed) or None})


class _Private(RotatingFileHandler):
    """A log file that only its owner may read."""

    def _open(self) -> Any:
        path = Path(self.baseFilename)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        return super()._open()


def _masked(value: Any, name: str = "") -> Any:
    """Return a value with `***` in the fields whose names suggest a secret."""
    if name and _HIDDEN.search(name.lower()) and not isinstance(value, (bool, int)):
        return "***"
    if isinstance(value, dict):
        return {key: _masked(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, name) for item in value]
    return value
