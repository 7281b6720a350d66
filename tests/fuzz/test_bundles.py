"""Bundles that people, programs and bad disks wrote: told what is wrong, never a traceback, never endless."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pushjuju.core.errors import PushjujuError
from pushjuju.services.bundles import plan_files
from pushjuju.services.bundles.plan import machines
from pushjuju.services.bundles.plan.diff import diff
from pushjuju.services.bundles.plan.facts import ModelFacts
from pushjuju.services.bundles.plan.machines import MachineMap
from pushjuju.services.bundles.plan.plan import ResolvedCharm, Wanted, plan
from pushjuju.services.bundles.plan.prune import removals
from pushjuju.services.bundles.read import placement
from pushjuju.services.bundles.read.load import assemble
from pushjuju.services.bundles.read.source import Source
from pushjuju.services.bundles.read.values import Bundle

WORDS = st.sampled_from(
    [
        "a", "b", "c", "0", "1", "9", "a/0", "lxd:a", "lxd:0", "new", "a:x", "b:y", "c", "ubuntu@22.04",
        "jammy", "mem=1G", "spaces=a,^b", "1G,2", "admin/m.o", "include-file://x", "", "mysql", "ch:mysql",
        "./x", "stable", "0.0.0.0/0", "kubernetes", "\x00", "ü",
    ]
)  # fmt: skip
SCALARS = st.one_of(
    WORDS,
    st.integers(-2, 4),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=True),
    st.integers(),
    st.text(max_size=4),
)
KEYS = st.sampled_from(
    [
        "charm", "channel", "revision", "series", "base", "resources", "num_units", "scale", "to",
        "placement", "expose", "exposed-endpoints", "options", "annotations", "constraints", "storage",
        "devices", "bindings", "offers", "trust", "endpoints", "acl", "url", "expose-to-cidrs",
        "expose-to-spaces",
    ]
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(KEYS, WORDS), inner, max_size=3)
    ),
    max_leaves=8,
)
APPLICATION = st.one_of(
    st.fixed_dictionaries({"charm": st.just("mysql")}, optional={
        "num_units": st.integers(0, 4), "to": st.lists(WORDS, max_size=3),
        "options": st.dictionaries(WORDS, SCALARS),
        "expose": st.booleans(), "constraints": WORDS, "bindings": st.dictionaries(WORDS, WORDS, max_size=2),
    }),
    st.dictionaries(KEYS, VALUES, max_size=5),
    SCALARS,
)  # fmt: skip
DOCUMENTS = st.one_of(
    st.fixed_dictionaries(
        {"applications": st.dictionaries(WORDS, APPLICATION, max_size=4)},
        optional={
            "machines": st.one_of(st.dictionaries(WORDS, VALUES, max_size=3), VALUES),
            "relations": st.one_of(st.lists(st.lists(WORDS, min_size=2, max_size=2), max_size=4), VALUES),
            "saas": VALUES, "series": SCALARS, "default-base": SCALARS, "bundle": SCALARS,
        },
    ),
    VALUES,
)  # fmt: skip


def made(*texts: str) -> Bundle | None:
    """Return the bundle of a text and its overlays; None when it is refused."""
    sources = [
        Source(file=f"{number}.yaml", text=text.encode(), folder=Path("/nowhere"))
        for number, text in enumerate(texts)
    ]
    with contextlib.suppress(PushjujuError):
        return assemble(sources[0], sources[1:]).bundle
    return None


def planned(bundle: Bundle) -> None:
    """Work with a bundle that was taken."""
    charms = {
        name: ResolvedCharm(name="mysql", base="ubuntu@22.04/stable", channel="latest/stable", revision=1)
        for name in bundle.applications
    }
    with contextlib.suppress(PushjujuError):
        plan(Wanted(bundle=bundle, charms=charms), ModelFacts())
        diff(bundle, ModelFacts(), mapping=MachineMap())
        removals(bundle, ModelFacts(), mapping=MachineMap())


@given(DOCUMENTS, st.one_of(st.none(), DOCUMENTS))
@settings(max_examples=150)
def test_documents(document: Any, overlay: Any) -> None:
    texts = [yaml.safe_dump(document, allow_unicode=True)]
    texts += [yaml.safe_dump(overlay)] if overlay is not None else []
    found = made(*texts)
    if found is not None:
        planned(found)


@given(st.text(max_size=200))
@settings(max_examples=100)
def test_texts(text: str) -> None:
    made(text.encode("utf-8", "replace").decode())


@given(st.text(max_size=20))
def test_words(text: str) -> None:
    for read in (placement.parse, machines.parse):
        with contextlib.suppress(PushjujuError):
            read(text)


def test_plans_in_files(tmp_path: Path) -> None:
    path = tmp_path / "plan"

    @given(st.binary(max_size=100))
    @settings(max_examples=50)
    def check(content: bytes) -> None:
        path.write_bytes(content)
        with contextlib.suppress(PushjujuError):
            plan_files.read(path)

    check()
