"""Formats the document of `show-application`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.shapes import struct


def show_application(form: str, document: Mapping[str, Any]) -> str:
    """Return the document of `show-application` (name -> application) as yaml, json or smart."""
    return render(form, struct(document, "*show-application"))
