"""What strange stores answer: taken, or refused with a sentence; never a trace."""

from __future__ import annotations

import contextlib
import copy
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pushjuju.charms.hub import catalogue, wire
from pushjuju.cli.commands.charm import charm_table
from pushjuju.core.base import Channel
from pushjuju.core.charmstore import Ask, StoreCharm
from pushjuju.core.errors import PushjujuError
from pushjuju.plugins.api.sources import SourceServices
from pushjuju.plugins.sources.mirror import Mirror
from tests.fuzz.hostile import ODD, fuzz

ASK = [("k", Ask(name="web"))]
GOOD: dict[str, Any] = {
    "results": [
        {
            "instance-key": "k",
            "id": "i",
            "name": "web",
            "effective-channel": "14/stable",
            "charm": {
                "name": "web",
                "type": "charm",
                "revision": 3,
                "download": {"url": "https://h/x", "hash-sha-256": "a" * 64, "hash-sha-384": "", "size": 3},
                "bases": [{"architecture": "amd64", "name": "ubuntu", "channel": "24.04"}],
                "resources": [{"name": "r", "revision": 1, "filename": "f", "download": {}}],
            },
            "error": {
                "code": "revision-not-found",
                "message": "m",
                "extra": {"releases": [{"base": {}, "channel": "x"}]},
            },
        }
    ],
    "error-list": [],
}
INDEX: dict[str, Any] = {
    "format": 1,
    "charms": [
        {
            "id": "i", "name": "web", "type": "charm", "revision": 1, "version": "", "channel": "14/stable",
            "default": True, "platforms": [{"arch": "amd64", "os": "ubuntu", "track": "24.04"}],
            "download": {"hash-sha-256": "a" * 64, "hash-sha-384": "", "size": 3},
            "resources": [], "more": [],
        }
    ],
}  # fmt: skip


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the places of a document."""
    found = [at]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += paths(item, (*at, key))
    return found


def changed(document: Any, at: tuple[Any, ...], value: Any) -> Any:
    """Return a document with another value at a place."""
    if not at:
        return value
    found = copy.deepcopy(document)
    inner = found
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return found


@fuzz(150)
@given(st.sampled_from(paths(GOOD)), ODD, st.booleans())
def test_answers_to_a_refresh(at: tuple[Any, ...], odd: Any, error: bool) -> None:
    document = copy.deepcopy(GOOD)
    if not error and at[:3] != ("results", 0, "error"):
        document["results"][0]["error"] = None
    with contextlib.suppress(PushjujuError):
        for found in wire.answers(changed(document, at, odd), ASK, secure=True):
            if isinstance(found, StoreCharm):
                assert found.download.url.startswith("https://")
                assert found.revision >= 0
                assert isinstance(found.channel, Channel | None)


@fuzz(150)
@given(st.sampled_from(paths(INDEX)), ODD)
def test_indexes_of_mirrors(at: tuple[Any, ...], odd: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(PushjujuError):
        Path(folder, "mirror.json").write_text(json.dumps(changed(INDEX, at, odd)))
        Mirror(f"file://{folder}", SourceServices()).resolve([Ask(name="web")])


@fuzz(150)
@given(st.data())
def test_documents_of_info_and_find(data: st.DataObject) -> None:
    from tests.golden.test_charmhub import DOCUMENT

    document = changed(DOCUMENT, data.draw(st.sampled_from(paths(DOCUMENT))), data.draw(ODD))
    with contextlib.suppress(PushjujuError):
        wire.check_errors(document)
        charm_table.found_table([catalogue.found_entry(document)], "nbvpsaoS")
        charm_table.info_text(catalogue.info_document(document), arch="", base="", unicode=True)


@fuzz(150)
@given(st.text(max_size=30) | st.text(alphabet="stableedg/142.-", max_size=14))
def test_channels(text: str) -> None:
    with contextlib.suppress(PushjujuError):
        channel = Channel.parse(text)
        assert Channel.parse(str(channel)) == channel
        assert channel.full().track
