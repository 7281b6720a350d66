"""Metrics as text for Prometheus (text format 0.0.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.services.views.metrics.families import FAMILIES, PREFIX
from pushjuju.services.views.metrics.reading import Sample, read
from pushjuju.store.files.private import replace_text

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_READABLE = 0o644  # node_exporter runs as another user
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def text(ctx: Context, more: Iterable[Sample] = (), *, per_unit: bool = False) -> str:
    """Return all metrics of a controller as Prometheus reads them.

    Args:
        more: Metrics of this process.
        per_unit: True to have also the status of each unit.
    """
    return "".join(f"{line}\n" for line in lines([*read(ctx, per_unit=per_unit), *more]))


def write(path: Path, content: str) -> None:
    """Replace a file in one step: a reader sees the old or the new metrics, never a part."""
    replace_text(path, content, _READABLE)


def lines(samples: Iterable[Sample]) -> Iterator[str]:
    """Yield the lines of samples; those of one metric stand together."""
    found: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        found[sample.family].append(sample)
    for name, family in FAMILIES.items():
        if name in found:
            yield f"# HELP {PREFIX}{name} {family.help}"
            yield f"# TYPE {PREFIX}{name} {family.kind}"
            yield from (_line(sample, family.labels.split()) for sample in found[name])


def _line(sample: Sample, names: list[str]) -> str:
    pairs = list(zip(names, sample.labels, strict=True))
    if sample.bound:
        pairs.append(("le", sample.bound))
    labels = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in pairs)
    return f"{PREFIX}{sample.family}{sample.suffix}{f'{{{labels}}}' if labels else ''} {sample.value!r}"
