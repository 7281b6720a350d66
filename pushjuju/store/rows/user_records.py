"""Rows about users."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user of a controller beside the one who works it."""

    name: str
    display_name: str
    created: str
    created_by: str
    disabled: int = 0
