"""Parses ids and directives of storage, and prints the results of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.terminal.times import since_text, with_texts
from pushjuju.cli.work import removals
from pushjuju.core.errors import NotValid, Silent, UsageError
from pushjuju.core.problems import Subject
from pushjuju.core.storage import Directive, is_storage, parse_directives
from pushjuju.services.entities.model import sessions


def with_times(document: Mapping[str, object]) -> dict[str, object]:
    shown: dict[str, object] = with_texts(document, lambda moment: since_text(moment, utc=False))
    return shown


def check_ids(ids: Sequence[str]) -> None:
    for item in ids:
        if not is_storage(item):
            raise NotValid(f'storage ID "{item}" not valid')


def directives_of(words: Sequence[str]) -> dict[str, Directive]:
    try:
        return parse_directives(words, bare=True)
    except NotValid as error:
        raise UsageError(error.message) from None


def finish_change(
    cli: Cli,
    opened: sessions.Session,
    answers: Sequence[Any],
    lines: Sequence[str],
    failed: Sequence[str],
    *,
    no_wait: bool,
) -> None:
    """Print what was recorded and what was refused, then work on the model."""
    for line in (*lines, *failed):
        cli.console.info(line)
    for answer in answers:
        if answer.error is not None and answer.error.hint:
            cli.console.detail(answer.error.hint)
    touched = [unit for answer in answers for unit in answer.units]
    touched += [str(Subject("storage", answer.subject)) for answer in answers]
    if lines:
        removals.settle(cli, opened, touched=touched, no_wait=no_wait)
    if failed:
        raise Silent


def failure_lines(verb: str, answers: Sequence[Any], end: str = "") -> list[str]:
    return [
        f"failed to {verb} {answer.subject}{end}: {answer.error.message}"
        for answer in answers
        if answer.error
    ]


def attribute_pairs(words: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise UsageError(f'expected "key=value", got "{word}"')
        if key in found:
            raise UsageError(f'key "{key}" specified more than once')
        found[key] = value
    return found
