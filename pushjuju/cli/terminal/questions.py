"""Asks the user questions one after another, in Juju's form.

Mirrors: juju cmd/juju/interact/pollster.go, query.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from getpass import getpass
from typing import TextIO

from pushjuju.core.errors import Aborted
from pushjuju.portable.quote import quote

Check = Callable[[str], str | None]
"""Returns None for a good answer, else what is wrong with it (an empty text only asks again)."""


def anything(_: str) -> str | None:
    """Take any answer."""
    return None


def something(text: str) -> str | None:
    """Take any answer but an empty one."""
    return None if text else ""


class Asking:
    """Asks questions on one stream and reads the answers from another."""

    def __init__(self, stdin: TextIO, stdout: TextIO) -> None:
        self._in, self._out = stdin, stdout

    def say(self, text: str) -> None:
        """Print a line between questions."""
        self._out.write(text)

    def query(self, question: str, check: Check = anything) -> str:
        """Ask until `check` accepts the answer."""
        while True:
            self._out.write(question)
            self._out.flush()
            line = self._in.readline()
            if not line:
                self._out.write("\n")
                raise Aborted("EOF")
            answer = line.strip()
            problem = check(answer)
            if problem is None:
                self._out.write("\n")
                return answer
            if problem:
                self._out.write(f"{problem}\n\n")

    def enter(self, what: str, check: Check = something) -> str:
        return self.query(f"Enter {what}: ", check)

    def enter_optional(self, what: str) -> str:
        """Ask for a text; the answer may be empty."""
        return self.query(f"Enter {what} (optional): ")

    def enter_default(self, what: str, default: str, check: Check = anything) -> str:
        """Ask for a text; an empty answer stands for the default, which the question shows."""
        return self.query(f"Enter {what} [{default}]: ", lambda text: check(text) if text else None)

    def password(self, what: str) -> str:
        """Ask for a secret text, which the terminal does not show."""
        if not self._in.isatty():
            return self.enter(what)

        found = ""
        while not found:
            found = getpass(f"Enter {what}: ", self._out)
        self._out.write("\n")
        return found

    def select(
        self,
        singular: str,
        plural: str,
        options: Sequence[str],
        default: str = "",
        check: Check | None = None,
    ) -> str:
        """Show the options and ask for one of them."""
        self._list(plural, options)
        asked = f"Select {singular}{f' [{default}]' if default else ''}: "
        found = self.query(asked, check or _one_of(singular, options, optional=bool(default)))
        return found or default

    def select_some(self, singular: str, plural: str, options: Sequence[str]) -> list[str]:
        """Show the options and ask for one or more of them."""

        def check(text: str) -> str | None:
            unknown = sorted({item.strip() for item in text.split(",")} - set(options))
            if not text or not unknown:
                return None if text else ""
            what = plural if len(unknown) > 1 else singular
            return f"Invalid {what}: {', '.join(quote(item) for item in unknown)}"

        self._list(plural, options)
        answer = self.query(f"Select one or more {plural} separated by commas: ", check)
        return [item.strip() for item in answer.split(",")]

    def yes(self, question: str, *, default: bool = False) -> bool:
        """Ask a yes-or-no question; the text comes without a question mark."""

        def check(text: str) -> str | None:
            good = text.lower() in ("", "y", "yes", "n", "no")
            return None if good else f"Invalid entry: {quote(text)}, please choose y or n."

        answer = self.query(f"{question}? {'(Y/n)' if default else '(y/N)'}: ", check).lower()
        return default if not answer else answer in ("y", "yes")

    def _list(self, plural: str, options: Sequence[str]) -> None:
        listed = "".join(f"  {option}\n" for option in options)
        self._out.write(f"{plural.title()}\n{listed}\n")


def _one_of(singular: str, options: Sequence[str], *, optional: bool) -> Check:
    def check(text: str) -> str | None:
        if not text:
            return None if optional else ""
        known = text.lower() in (option.lower() for option in options)
        return None if known else f"Invalid {singular}: {quote(text)}"

    return check
