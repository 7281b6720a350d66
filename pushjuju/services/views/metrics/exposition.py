"""Metrics as text for Prometheus: its text format 0.0.4, or OpenMetrics 1.0 for clients that ask for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.services.views.metrics.families import FAMILIES, PREFIX
from pushjuju.services.views.metrics.reading import Sample, read
from pushjuju.store.files.private import put_text

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPEN_CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_COUNTED = "_total"
_READABLE = 0o644  # node_exporter runs as another user
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def text(
    ctx: Context, more: Iterable[Sample] = (), *, per_unit: bool = False, open_metrics: bool = False
) -> str:
    """Return all metrics of a controller as Prometheus reads them.

    Args:
        more: Metrics of this process.
        per_unit: True to have also the status of each unit.
        open_metrics: True for OpenMetrics in place of the text format.
    """
    found = lines(read(ctx, more, per_unit=per_unit), open_metrics=open_metrics)
    return "".join(f"{line}\n" for line in found) + ("# EOF\n" if open_metrics else "")


def wants_open_metrics(accept: str) -> bool:
    """Return True when a header Accept prefers OpenMetrics 1.0, as Prometheus's does, to plain text."""
    ranks = {"application/openmetrics-text": 0.0, "text/plain": 0.0}
    for item in accept.split(","):
        kind, *given = (part.strip() for part in item.split(";"))
        options = dict(part.split("=", 1) for part in given if "=" in part)
        if kind == "application/openmetrics-text" and options.get("version", "1.0.0") != "1.0.0":
            continue
        with suppress(ValueError):
            ranks[kind] = max(float(options.get("q", "1")), ranks.get(kind, 0.0))
    return ranks["application/openmetrics-text"] > ranks["text/plain"]


def content_type(*, open_metrics: bool) -> str:
    """Return the content type of the text."""
    return OPEN_CONTENT_TYPE if open_metrics else CONTENT_TYPE


def write(path: Path, content: str) -> None:
    """Replace a file in one step: a reader sees the old or the new metrics, never a part."""
    put_text(path, content, _READABLE)


def lines(samples: Iterable[Sample], *, open_metrics: bool = False) -> Iterator[str]:
    """Yield the lines of samples; those of one metric stand together."""
    found: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        found[sample.family].append(sample)
    for name, family in FAMILIES.items():
        if name in found:
            called = PREFIX + (name.removesuffix(_COUNTED) if open_metrics else name)
            yield f"# HELP {called} {family.help}"
            yield f"# TYPE {called} {family.kind}"
            labels = family.labels.split()
            yield from (_line(sample, labels, open_metrics=open_metrics) for sample in found[name])


def _line(sample: Sample, names: list[str], *, open_metrics: bool) -> str:
    pairs = list(zip(names, sample.labels, strict=True))
    if sample.bound:
        whole = open_metrics and sample.bound.isdecimal()  # OpenMetrics writes 1.0
        pairs.append(("le", f"{sample.bound}.0" if whole else sample.bound))
    labels = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in pairs)
    return f"{PREFIX}{sample.family}{sample.suffix}{f'{{{labels}}}' if labels else ''} {sample.value!r}"
