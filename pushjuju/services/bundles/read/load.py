"""Reads a bundle and its overlays, merges them and verifies the result.

Mirrors: juju cmd/juju/application/bundle/bundle.go ComposeAndVerifyBundle (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.bundles.read import compose, decode, source, verify
from pushjuju.services.bundles.read.compose import Composed, Include, Part
from pushjuju.services.bundles.read.source import Source
from pushjuju.services.bundles.read.values import Bundle, Fault

_SERIES = (
    "series are being deprecated in favour of bases. For more information about the transition to bases see "
    "https://discourse.charmhub.io/t/transition-from-series-to-base-in-juju-4-0/14127"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A bundle that was read, merged and verified."""

    bundle: Bundle
    composed: Composed  # the merged document, which gives later faults their file and line
    folder: Path | None  # the folder that relative paths of resources start at, or None for an archive
    warnings: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()  # lines about keys that have no effect, for a dry run to show
    faults: tuple[Fault, ...] = ()  # the faults of the bundle itself


def load(path: Path, overlays: Sequence[str] = ()) -> Loaded:
    """Read a bundle from a file, directory or archive, or raise BundleFaulty with all its faults."""
    return _require_sound(examine(path, overlays))


def examine(path: Path, overlays: Sequence[str] = ()) -> Loaded:
    """Read a bundle like `load`, but return its faults, so that they can be reported with other faults."""
    return merge_and_verify(source.read(path), [source.overlay(name) for name in overlays])


def assemble(main: Source, overlays: Sequence[Source] = (), include: Include = source.include) -> Loaded:
    """Merge and verify texts that were already read, or raise BundleFaulty with all faults of the bundle."""
    return _require_sound(merge_and_verify(main, overlays, include))


def _require_sound(loaded: Loaded) -> Loaded:
    if loaded.faults:
        raise verify.BundleFaulty(list(loaded.faults))
    return loaded


def merge_and_verify(
    main: Source, overlays: Sequence[Source] = (), include: Include = source.include
) -> Loaded:
    """Merge and verify texts; as in Juju, the first document also has to be right without its overlays."""
    parts = compose.parts(main)
    if not parts:
        raise NotValid("malformed bundle: bundle is empty", detail=main.file)
    for overlay in overlays:
        try:
            parts += [part for part in compose.parts(overlay) if part.document.root]
        except NotValid as error:
            raise NotValid(f"unable to process overlays: {error.message}", detail=error.detail) from None
    _, alone = verify.verify(compose.base(parts[0], include), base_only=True)
    composed = compose.compose(parts, include)
    bundle, together = verify.verify(composed)
    faults = {(fault.text, fault.place): fault for fault in (*alone, *together)}
    return Loaded(
        bundle=bundle,
        composed=composed,
        folder=main.folder,
        warnings=(_SERIES,) if decode.has_series(bundle) else (),
        ignored=tuple(_ignored(parts)),
        faults=tuple(faults.values()),
    )


def _ignored(parts: Sequence[Part]) -> list[str]:
    lines = []
    for part in parts:
        lines += decode.complaints(part.document, part.number)
    return lines


def needs_trust(bundle: Bundle) -> list[str]:
    """Return the applications that ask for the cloud's credential, sorted."""
    return sorted(app.name for app in bundle.applications.values() if app.trusted)


def untrusted(names: Sequence[str]) -> NotValid:
    """Return the error for a bundle whose applications need `--trust`; the text is Juju's."""
    listed = "\n".join(f"  - {name}" for name in names)
    return NotValid(
        "Bundle cannot be deployed without trusting applications with your cloud credentials.\n"
        "Please repeat the deploy command with the --trust argument if you consent to trust the following "
        f"application(s):\n{listed}"
    )
