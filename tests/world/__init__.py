"""Helpers that tests share: controllers with real stores, and machines simulated in this process."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
HELLO_PAGE = CHECKOUT / "contrib/charms/hello-page"
