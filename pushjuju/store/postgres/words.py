"""Words for completion from a store in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

from pushjuju.core.values import regex

_PARAMETER = regex(r"(?<!:):([a-z_]+)")
_OPTIONS = "-c search_path=pushjuju -c statement_timeout=1000 -c default_transaction_read_only=on"


class Database:
    """A connection that runs the statements of `complete.sql`, as one of `sqlite3` does."""

    def __init__(self, url: str) -> None:
        self._link = psycopg.connect(url, connect_timeout=2, options=_OPTIONS, autocommit=True)

    def execute(self, statement: str, params: Mapping[str, Any]) -> psycopg.Cursor[Any]:
        text = _PARAMETER.sub(r"%(\1)s", statement.replace("%", "%%"))
        return self._link.execute(text.encode(), params)

    def close(self) -> None:
        """End the connection."""
        self._link.close()
