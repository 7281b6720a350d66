"""How near a mistyped word is to one that exists. Layer: cli, pure."""

from __future__ import annotations


def distance(left: str, right: str) -> int:
    """Count the single-letter edits between two words (Levenshtein)."""
    before = list(range(len(right) + 1))
    for row, char in enumerate(left, 1):
        now = [row]
        for column, other in enumerate(right, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (char != other)))
        before = now
    return before[-1]
