"""Reads the audit log of a controller, and checks that no line was changed or taken out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from pushjuju.core.clock import to_iso
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis.audit import AuditLine, hash_of
from pushjuju.services.entities.basis.context import Context

_BATCH = 500
_NEWEST, _OLDEST, _NEVER = 2**62, "", "9"  # as a number, and as times


_RESULT = ("exit", "error")  # of a line that answers others
_CHANGED = {"user": "", "door": "", "command": "(this line was changed: audit verify)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which lines to read; an empty text, or None, selects all."""

    user: str = ""
    model: str = ""  # `owner/name`, `name` or the UUID of a model
    # the name of an application, which stands for its units and resources too, or of another
    entity: str = ""
    cause: str = ""  # the `cause` of the lines of one request
    since: datetime | None = None
    until: datetime | None = None
    most: int = 0  # how many of the newest lines; 0 for all

    def has(self, line: Mapping[str, Any]) -> bool:
        """Return True for a line of the wanted user, model, entity and request."""
        if line is _CHANGED:
            return not self.cause  # whatever it was about
        return (
            self.user in ("", line["user"])
            and self.cause in ("", line.get("cause"))
            and (not self.model or self.model in _names_of_model(line))
            and (not self.entity or any(_concerns(item, self.entity) for item in line.get("changed", ())))
        )


def _names_of_model(line: Mapping[str, Any]) -> tuple[str, ...]:
    name = str(line.get("model", ""))
    return name, name.partition("/")[2], str(line.get("model-uuid", ""))


def _concerns(changed: str, entity: str) -> bool:
    """Return True when `kind name` in a line is an entity, or a unit or resource of an application."""
    kind, _, name = changed.partition(" ")
    return name == entity or (name.startswith(f"{entity}/") and kind in ("unit", "resource"))


def lines(ctx: Context, wanted: Wanted) -> list[dict[str, Any]]:
    """Return the newest lines that are wanted, the oldest first, each with the result of its request."""
    found, results = [], dict[str, Mapping[str, Any]]()
    for row in _backwards(ctx, wanted):
        line = _read(row)
        if answered := line.pop("answers", ()):
            results |= {made: {key: line[key] for key in _RESULT if key in line} for made in answered}
        elif wanted.has(line):
            result = results.pop(row.hash, {})
            found.append({"number": row.number, "time": row.time, **line, **result, "hash": row.hash})
            if len(found) == wanted.most:
                break
    return found[::-1]


def _read(row: AuditLine) -> dict[str, Any]:
    """Return a line as it was written; of a line that was changed since, only that."""
    with suppress(ValueError, TypeError, AttributeError):
        if hash_of(row) == row.hash and (found := json.loads(row.line)).keys() >= _CHANGED.keys():
            return dict(found)
    return _CHANGED


def request(ctx: Context, model: str, cause: str) -> dict[str, Any] | None:
    """Return the first line of a request about a model, without its result; or None."""
    try:
        begun = datetime.fromtimestamp(int(cause[:12], 16) / 1000, UTC)
    except ValueError:
        return None
    span = timedelta(seconds=1)  # the id of a request is not as exact as the time of a line
    found = lines(ctx, Wanted(model=model, cause=cause, since=begun - span, until=begun + span))
    return found[0] if found else None


def newest_of_models(ctx: Context) -> dict[str, dict[str, Any]]:
    """Return UUID of a model -> its newest line, as far as the line is among the newest 500 of the log."""
    found: dict[str, dict[str, Any]] = {}
    for row in _batch(ctx, Wanted(), _NEWEST):
        line = _read(row)
        if "answers" not in line:
            found.setdefault(line.get("model-uuid", ""), {"time": row.time, **line})
    return found


def failed(line: Mapping[str, Any]) -> str:
    """Return how the request of a line failed; empty when it did not, or its end is not known."""
    parts = [str(line.get("error", "")), f"exit {line['exit']}" if line.get("exit") else ""]
    told = ", ".join(part for part in parts if part)
    return f"failed ({told})" if told else ""


def _batch(ctx: Context, wanted: Wanted, before: int) -> list[AuditLine]:
    """Return the newest lines before one, the newest first."""
    since = to_iso(wanted.since) if wanted.since else _OLDEST
    until = to_iso(wanted.until) if wanted.until else _NEVER
    with ctx.store.read() as tx:
        return tx.list(AuditLine, "audit_before", before=before, since=since, until=until, batch=_BATCH)


def _backwards(ctx: Context, wanted: Wanted) -> Iterator[AuditLine]:
    before = _NEWEST
    while True:
        batch = _batch(ctx, wanted, before)
        yield from batch
        if len(batch) < _BATCH:
            return
        before = batch[-1].number


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The result of a check."""

    lines: int  # how many lines there are
    last: int  # the number of the newest line; 0 without lines
    # the hash of the newest line: a copy that is kept elsewhere shows later whether the end was cut
    hash: str
    problems: tuple[str, ...]  # what is wrong, the first 100


_MOST_PROBLEMS = 100


def verify(ctx: Context, kept: str = "") -> Verified:
    """Check the hash of each line, and that the lines follow each other without a gap.

    Args:
        kept: A hash of an earlier check, which a line must have; empty for none.
    """
    problems: list[str] = []
    is_there = not kept
    count, first, before = 0, None, None
    begins = (1, "")  # the number and the `previous` of the oldest line
    for row in _forwards(ctx):
        count += 1
        first = first or row
        if hash_of(row) != row.hash:
            problems.append(f"line {row.number} was changed")
        if before is not None and (before.number + 1, before.hash) != (row.number, row.previous):
            problems.append(f"lines are missing or were changed between {before.number} and {row.number}")
        begins = _pruned(row) or begins
        is_there = is_there or kept in (row.hash, row.previous)
        before = row
    if first is not None and (first.number, first.previous) != begins:
        problems.insert(0, f"lines are missing before {first.number}")
    if not is_there:
        problems.insert(0, "no line has that hash: unless it was mistyped, lines were changed or deleted")
    newest = (before.number, before.hash) if before is not None else (0, "")
    return Verified(lines=count, last=newest[0], hash=newest[1], problems=tuple(problems[:_MOST_PROBLEMS]))


def _forwards(ctx: Context) -> Iterator[AuditLine]:
    after = 0
    while True:
        with ctx.store.read() as tx:
            batch = tx.list(AuditLine, "audit_after", after=after, batch=_BATCH)
        yield from batch
        if len(batch) < _BATCH:
            return
        after = batch[-1].number


def _pruned(row: AuditLine) -> tuple[int, str] | None:
    """Return where the log begins after the deletion of old lines that a line tells of, or None."""
    try:
        pruned = json.loads(row.line).get("pruned")
        return (int(pruned["number"]) + 1, str(pruned["hash"])) if pruned else None
    except (ValueError, KeyError, TypeError, AttributeError):  # a changed line
        return None
