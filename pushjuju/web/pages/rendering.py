"""Makes HTML from templates: every value is escaped; control and direction characters are shown as codes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.services.pictures import folding, svg, timeline_svg
from pushjuju.services.pictures.looks import SHAPES, Look, look_of, plain
from pushjuju.web.pages.visit import Content

_HERE = Path(__file__).parent
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_BADGE = Markup(
    '<span class="badge {0}"><svg aria-hidden="true" viewBox="0 0 16 16"><path class="i {0}" d="{1}"/></svg>'
    "{2}</span>"
)
_SPANS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


@cache
def files() -> dict[str, tuple[bytes, str]]:
    """Return name -> (content, type) of the files of all pages."""
    found = {path.name: path.read_bytes() for path in sorted((_HERE / "static").iterdir())}
    found["pictures.css"] = _picture_rules().encode()
    return {name: (data, _TYPES[name.rpartition(".")[2]]) for name, data in found.items()}


@cache
def version() -> str:
    """Return a text that differs when a file differs."""
    return hashlib.sha256(b"".join(data for data, _ in files().values())).hexdigest()[:16]


def _picture_rules() -> str:
    """Return the style of pictures, which in a file of their own they carry themselves."""
    lines = "".join(svg.strong_lines(folding.MOST_CARDS, when) for when in ("hover", "focus"))
    cards = "a:hover>.c,a:focus>.c{stroke:currentColor}"
    return f"{svg.variables()}{svg.style()}{timeline_svg.style()}{lines}{cards}"


def _shown(value: Any) -> Any:
    """Return a value of a template as text that cannot change how the text around it is read."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "\n".join(plain(line) for line in value.split("\n"))


def _kept(value: str) -> Markup:
    """Return a value that a form sends back as it is: only what HTML needs is escaped."""
    return escape(value)


def _when(moment: datetime | None, now: datetime) -> Markup:
    """Return a moment as `4 min ago` or `in 2 h`, with the whole time for pointers and programs."""
    if moment is None:
        return Markup("")
    utc = moment.astimezone(UTC)
    seconds = (now - utc).total_seconds()
    span = _span(abs(seconds))
    told = "now" if abs(seconds) < 1 else f"{span} ago" if seconds > 0 else f"in {span}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        utc.isoformat(timespec="seconds"), f"{utc:%Y-%m-%d %H:%M:%S} UTC", told
    )


def _span(seconds: float) -> str:
    """Return a number of seconds in its largest unit: `4 min`."""
    size, unit = next(((size, unit) for size, unit in _SPANS if seconds >= size), (1.0, "s"))
    return f"{seconds / size:.0f} {unit}"


def _took(seconds: float | None) -> str:
    """Return how long a run took."""
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else _span(seconds)


@lru_cache(maxsize=256)  # a page of 500 units has two words in each row, and few different ones
def _badge(word: str) -> Markup:
    """Return a status as shape, word and colour."""
    look = look_of(word)
    return _BADGE.format(look.value, SHAPES[look], _shown(word))


def _doing(word: str) -> Markup:
    """Return the result of a run or task as `_badge` does; what runs is not done yet."""
    look = Look.BUSY if word == "running" else look_of(word)
    return _BADGE.format(look.value, SHAPES[look], _shown(word))


def _clock(text: str) -> Markup:
    """Return the time of a log record as `2025-03-01 09:12:44`."""
    second = text[:19]
    return Markup('<time datetime="{}Z">{}</time>').format(second, second.replace("T", " "))


def _sentence(text: str) -> Markup:
    """Return an error as a sentence, with `commands` as code; a first word that may be a name stays."""
    word, end = text.partition(" ")[0], "" if text.endswith((".", "?", ")")) else "."
    begun = text[:1].upper() + text[1:] if word.isalpha() else text
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(_shown(begun) + end))))  # noqa: S704


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        badge=_badge,
        doing=_doing,
        took=_took,
        clock=_clock,
        picture=Markup,
        look=look_of,
        kept=_kept,
        sentence=_sentence,
        moment=from_iso,
    )
    made.globals["version"] = version()
    return made


def document(content: Content) -> str:
    """Return what a page shows as JSON."""
    return json.dumps(content.document(), default=_plain, indent=2, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_iso(value)
    return dict(value) if isinstance(value, Mapping) else list(value)


def render(template: str, now: datetime, values: Mapping[str, Any]) -> str:
    """Return a page, whose relative times count from `now`."""
    return _environment().get_template(template).render(values, when=lambda moment: _when(moment, now))
