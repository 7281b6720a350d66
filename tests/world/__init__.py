"""The world that tests share: real stores, and machines that are played in this process."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
HELLO_PAGE = CHECKOUT / "contrib/charms/hello-page"
