"""Errors as clients of Juju read them: a message and one of Juju's codes.

Mirrors: juju rpc/params/apierror.go, apiserver/errors (3.6)
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from typing import Any, NotRequired, TypedDict

from pushjuju.core.errors import (
    AlreadyExists,
    Blocked,
    NotFound,
    NotPermitted,
    NotSupported,
    NotValid,
    PushjujuError,
    Refused,
    StoreBusy,
    StoreError,
    UsageError,
)
from pushjuju.core.ids import new_uuid

NOT_FOUND, UNAUTHORIZED, NOT_IMPLEMENTED = "not found", "unauthorized access", "not implemented"
NOT_SUPPORTED, STOPPED, TRY_AGAIN = "not supported", "stopped", "try again"
MODEL_NOT_FOUND, NO_CREDENTIALS = "model not found", "no credentials provided"
BAD_REQUEST, FORBIDDEN, ALREADY_EXISTS = "bad request", "forbidden", "already exists"
QUOTA = "quota limit exceeded"


class BadMessage(NotValid):
    """A message that is not a request, or exceeds a limit."""

    message = "the message is not valid"
    number = 0  # the number of the request, or 0 when it is unknown; then the server closes the connection


class WrongType(NotValid):
    """A value in the params of a request has another type than the method takes."""

    message = "the params are not valid"


_CODES: tuple[tuple[type[PushjujuError], str], ...] = (
    (BadMessage, ""),
    (WrongType, ""),
    (NotFound, NOT_FOUND),
    (AlreadyExists, ALREADY_EXISTS),
    (Blocked, "operation is blocked"),
    (NotPermitted, UNAUTHORIZED),
    (NotSupported, NOT_SUPPORTED),
    (Refused, NOT_SUPPORTED),
    (NotValid, "not valid"),
    (UsageError, "not valid"),
    (StoreBusy, TRY_AGAIN),
)
_OF_ITEMS = ("error", "errors")  # fields of answers, in lower case


class ApiError(PushjujuError):
    """An error of the protocol, with the code that clients match."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Error(TypedDict):
    """An error in an answer."""

    message: str
    code: str


class ErrorResult(TypedDict):
    """One result of a bulk call: empty, or an error."""

    error: NotRequired[Error]


class ErrorResults(TypedDict):
    """The results of a bulk call, in the order of its arguments."""

    results: list[ErrorResult]


def denied() -> ApiError:
    """Return the error for a caller without the needed access."""
    return ApiError("permission denied", UNAUTHORIZED)


def refused_login() -> ApiError:
    """Return the error for a wrong name or password, the same for both."""
    return ApiError("invalid entity name or password", UNAUTHORIZED)


def not_supported(text: str, hint: str = "") -> ApiError:
    """Return the error of a method that has no meaning without agents or a controller machine."""
    made = ApiError(text, NOT_SUPPORTED)
    made.hint = hint
    return made


def code_of(error: PushjujuError) -> str:
    """Return Juju's code of an error, or an empty text."""
    if isinstance(error, ApiError):
        return error.code
    return next((code for kind, code in _CODES if isinstance(error, kind)), "")


def told(error: BaseException) -> Error:
    """Return an error in the form of the wire; of a bug only an id, with the trace in the server's log."""
    if isinstance(error, StoreError):
        error = type(error)()  # where the store is, and what its server said, is for this computer's own user
    if isinstance(error, PushjujuError):
        return {"message": error.full_text.replace("--num-units", "num-units"), "code": code_of(error)}
    bug = new_uuid()[:8]
    print(f"internal error {bug} of the API", file=sys.stderr)
    traceback.print_exception(error)
    return {"message": f"internal error ({bug})", "code": ""}


def of_items(answer: Any, field: str = "") -> Iterator[Error]:
    """Yield the errors of the items in the answer to a bulk call."""
    if isinstance(answer, list):
        for item in answer:
            yield from of_items(item, field)
    elif isinstance(answer, dict):
        if field.lower() in _OF_ITEMS and "message" in answer:
            yield {"message": answer["message"], "code": answer["code"]}
            return
        for name, item in answer.items():
            yield from of_items(item, name)
