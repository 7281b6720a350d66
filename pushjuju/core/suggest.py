"""Finds the known word that a user probably meant by a mistyped word. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

LONGEST = 100  # letters: a longer word is not compared
MOST = 5000  # known words that are compared


def distance(left: str, right: str) -> int:
    """Count the typing errors between two words: a letter added, missing or replaced, or two swapped."""
    earlier: list[int] = []
    before = list(range(len(right) + 1))
    for row, char in enumerate(left, 1):
        now = [row]
        for column, other in enumerate(right, 1):
            least = min(before[column] + 1, now[-1] + 1, before[column - 1] + (char != other))
            if row > 1 and column > 1 and char == right[column - 2] and other == left[row - 2]:
                least = min(least, earlier[column - 2] + 1)
            now.append(least)
        earlier, before = before, now
    return before[-1]


def closest(word: str, known: Iterable[str]) -> str:
    """Return the known word that is nearest to a mistyped word, or an empty text when no word is near.

    A word is near with one typing error for each three letters; one error is always allowed.
    """
    if len(word) > LONGEST:
        return ""
    scored = sorted((distance(word, other), other) for other in islice(known, MOST))
    return scored[0][1] if scored and scored[0][0] <= max(1, len(word) // 3) else ""


def is_alike(word: str, near: str) -> bool:
    """Return True when a word may be a typing error for another; short words allow fewer errors."""
    return 0 < distance(word, near) < len(word)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known word (`Did you mean:`), or an empty text when no word is near."""
    near = closest(word, known)
    return f"\nDid you mean:\n\t{near}" if near and is_alike(word, near) else ""
