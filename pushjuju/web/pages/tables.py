"""Long tables of pages: found by name, in an order, in pages of 500 rows; all of that is in the address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from pushjuju.core.values import dataclass

MOST_ROWS = 500
WORST = "worst"

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[Row]):
    """The rows that a page shows.

    Attributes:
        rows: At most `MOST_ROWS`.
        found: How many rows there are with the name.
        page: The number of the page, from 1.
        pages: How many pages there are.
        sort: The column of the order, or `worst`.
    """

    rows: tuple[Row, ...]
    found: int
    find: str
    sort: str
    page: int
    pages: int

    def to(self, **changed: object) -> str:
        """Return the address of the same table with another order or page."""
        asked = {"find": self.find, "sort": self.sort, "page": self.page, **changed}
        usual = {"find": "", "sort": WORST, "page": 1}
        return "?" + urlencode({key: value for key, value in asked.items() if value != usual[key]})


def table(
    query: Mapping[str, str],
    rows: Iterable[Row],
    name: Callable[[Row], str],
    orders: Mapping[str, Callable[[Row], Any]],
) -> Table[Row]:
    """Return the rows that a query asks for; rows that are equal in the order keep theirs.

    Args:
        query: `find`, `sort` and `page` of the address; what does not fit is ignored.
        orders: Column -> key of a row; that of `worst` is used when the query names no other.
    """
    find, sort, page = query.get("find", "").strip(), query.get("sort", ""), query.get("page", "")
    if sort not in orders:
        sort = WORST
    found = sorted((row for row in rows if find in name(row)), key=orders[sort])
    pages = max(-(-len(found) // MOST_ROWS), 1)
    at = min(max(int(page), 1), pages) if page.isdecimal() and len(page) < 9 else 1
    shown = tuple(found[(at - 1) * MOST_ROWS : at * MOST_ROWS])
    return Table(rows=shown, found=len(found), find=find, sort=sort, page=at, pages=pages)
