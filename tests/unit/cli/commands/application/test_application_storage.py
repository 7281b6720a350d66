"""application-storage: what future units get, shown, set by words and by files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.world.charms import Charms
from tests.world.commandline import Run

STORES = {"data": {"type": "filesystem", "minimum-size": "1G"}, "logs": {"type": "filesystem"}}
SHOWN = {
    "data": {"Pool": "rootfs", "Size": 1024, "Count": 1},
    "logs": {"Pool": "rootfs", "Size": 1024, "Count": 1},
}


@pytest.fixture
def lab(run: Run, packs: Charms, unworked: None) -> Run:
    """A model with the application `db`."""
    assert run("bootstrap", "local", "home", "--add-model", "shop").status == 0
    ended = run("deploy", str(packs.make("db", storage=STORES).path), "db")
    assert ended.status == 0, ended.err
    return run


def held(lab: Run) -> Any:
    ended = lab("application-storage", "db", "--format", "json")
    assert ended.status == 0, ended.err
    return json.loads(ended.out)


def test_shown_with_the_names_of_each_format(lab: Run) -> None:
    assert held(lab) == SHOWN
    assert lab("application-storage", "db", "data", "--format", "yaml").out == (
        "data:\n  pool: rootfs\n  size: 1024\n  count: 1\n"
    )
    table = lab("application-storage", "db").out
    assert [line.split() for line in table.splitlines()] == [
        ["Storage", "Pool", "Size", "Count"],
        ["data", "rootfs", "1024", "1"],
        ["logs", "rootfs", "1024", "1"],
    ]


@pytest.mark.parametrize(
    "text",
    ["data: loop,2G\n", "data: {pool: loop, size: 2048}\n", 'data: {pool: loop, size: "2G", count: 1}\n'],
)
def test_set_from_a_file(lab: Run, text: str) -> None:
    Path("wanted.yaml").write_text(text)
    ended = lab("application-storage", "db", "--file", "wanted.yaml")
    assert (ended.status, ended.out) == (0, ""), ended.err
    assert held(lab)["data"] == {"Pool": "loop", "Size": 2048, "Count": 1}
    assert held(lab)["logs"] == SHOWN["logs"]


def test_what_is_typed_comes_over_the_file_and_stdin_is_a_file(lab: Run) -> None:
    text = "data: 2G\nlogs: 3G\n"
    assert lab("application-storage", "db", "data=4G", "--file", "-", stdin=text).status == 0
    assert (held(lab)["data"]["Size"], held(lab)["logs"]["Size"]) == (4096, 3072)


def test_what_it_printed_is_what_it_reads(lab: Run) -> None:
    Path("kept.yaml").write_text(lab("application-storage", "db", "--format", "yaml").out)
    assert lab("application-storage", "db", "data=loop,9G").status == 0
    assert lab("application-storage", "db", "--file", "kept.yaml").status == 0
    assert held(lab) == SHOWN


@pytest.mark.parametrize(
    ("words", "text", "status", "error"),
    [
        (("nosuch",), "", 1, 'storage "nosuch" not found'),
        (("data", "logs=1G"), "", 2, "cannot get value and set values simultaneously"),
        (("data", "--file", "wanted.yaml"), "", 2, "cannot get value and set from file simultaneously"),
        (("data", "logs"), "", 2, "cannot specify multiple keys to get"),
        (("--file", "none.yaml"), "", 1, "open none.yaml: no such file or directory"),
        (("--file", "wanted.yaml"), "[1]", 1, "wanted.yaml: expected a map of settings"),
        (
            ("--file", "wanted.yaml"),
            "data: [1G]",
            1,
            'cannot parse constraints for storage "data": expected a',
        ),
        (
            ("--file", "wanted.yaml"),
            "data: {pol: x}",
            1,
            'cannot parse constraints for storage "data": expected',
        ),
        (("--file", "wanted.yaml"), "data: 1X", 1, 'cannot parse constraints for storage "data": '),
        (("--file", "wanted.yaml"), "data: 1G\nnosuch: 1G", 1, ""),
        (("--file", "wanted.yaml"), "data: {", 1, ""),
    ],
)
def test_refused_and_nothing_changed(
    lab: Run, words: tuple[str, ...], text: str, status: int, error: str
) -> None:
    Path("wanted.yaml").write_text(text)
    ended = lab("application-storage", "db", *words)
    assert (ended.status, ended.out, error in ended.err) == (status, "", True), ended.err
    assert "Traceback" not in ended.err
    assert held(lab) == SHOWN


def test_names_of_applications(lab: Run) -> None:
    assert 'invalid application name "Db"' in lab("application-storage", "Db").err
    assert 'application "dc" not found' in lab("application-storage", "dc").err
