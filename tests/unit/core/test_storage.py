"""Directives, sizes, ids and mount points of storage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core.errors import NotValid
from pushjuju.core.storage import (
    Directive,
    check_count,
    check_nesting,
    decimal_size,
    is_pool,
    is_storage,
    mount_point,
    parse_directives,
    parse_size,
    store_of,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("loop", Directive(pool="loop", count=1)),
        ("loop,2,1G", Directive(pool="loop", count=2, size=1024)),
        ("1G,loop,2", Directive(pool="loop", count=2, size=1024)),
        ("512M", Directive(size=512, count=1)),
        ("1.5GiB", Directive(size=1536, count=1)),
        ("3", Directive(count=3)),
        ("ebs-ssd,10GB", Directive(pool="ebs-ssd", size=10240, count=1)),
    ],
)
def test_directive(text: str, found: Directive) -> None:
    assert Directive.parse(text) == found
    assert Directive.parse(str(found)) == found


PARSING = 'cannot parse constraints for storage "a": '


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["data"], 'expected "name=constraints" where "constraints" must be specified, got "data"'),
        (["=loop"], 'expected "name=constraints" where "constraints" must be specified, got "=loop"'),
        (["a=loop", "a=1G"], 'storage "a" specified more than once'),
        (["a=loop,x"], f'{PARSING}pool name is already set to "loop", new value "x" not valid'),
        (["a=0"], f'{PARSING}cannot parse count: count must be greater than zero, got "0"'),
        (["a=5!"], f'{PARSING}unrecognized storage constraint "5!" not valid'),
        (["a=1025E"], f"{PARSING}cannot parse size: at most 1Z is possible"),
        (["a=loop,99999999999999999999G"], f"{PARSING}cannot parse size: at most 1Z is possible"),
        ([f"a={'9' * 5000}G"], f"{PARSING}cannot parse size: at most 1Z is possible"),
        ([f"a={'9' * 5000}"], f"{PARSING}cannot parse count: value out of range"),
        (["a=,"], f"{PARSING}storage constraints require at least one field to be specified"),
    ],
)
def test_refused_directives(words: list[str], refusal: str) -> None:
    with pytest.raises(NotValid) as caught:
        parse_directives(words)
    assert caught.value.message == refusal


def test_a_bare_name_asks_for_one() -> None:
    assert parse_directives(["data"], bare=True) == {"data": Directive(count=1)}


@given(st.text(max_size=30))
def test_any_text_is_a_directive_or_refused(text: str) -> None:
    try:
        found = Directive.parse(text)
    except NotValid:
        return
    assert found.count > 0


def test_sizes() -> None:
    assert [parse_size(text) for text in ("1M", "0.1G", "1T", ".5G")] == [1, 103, 1024**2, 512]
    assert [decimal_size(size) for size in (1, 100, 1024, 99_999)] == ["1.0 MB", "100 MB", "1.0 GB", "100 GB"]


def test_ids() -> None:
    assert all(map(is_storage, ("data/0", "pg-data/12")))
    assert not any(map(is_storage, ("data", "data/01", "data/-1", "Data/0", "data/0/1", "")))
    assert store_of("pg-data/3") == "pg-data"
    assert is_pool("ebs-ssd")
    assert not is_pool("1x")


@pytest.mark.parametrize(
    ("count", "least", "most", "refusal"),
    [
        (2, 1, 1, "storage is singular, 2 specified"),
        (1, 2, 3, "2 instances required, 1 specified"),
        (4, 0, 3, "at most 3 instances supported, 4 specified"),
        (1001, 0, -1, "at most 1000 instances supported, 1001 specified"),
    ],
)
def test_counts(count: int, least: int, most: int, refusal: str) -> None:
    with pytest.raises(NotValid, match=refusal):
        check_count(count, least, most)
    check_count(least, least, most)


def test_mount_points() -> None:
    assert mount_point("", 1, "data/0") == "/var/lib/juju/storage/data/0"
    assert mount_point("/srv/db", 1, "data/0") == "/srv/db"
    assert mount_point("/srv//db/", 1, "data/0") == "/srv/db"
    assert mount_point("/srv/db", -1, "data/3") == "/srv/db/data/3"


@pytest.mark.parametrize(
    "location",
    [
        "srv", "/", "//", "/..", "/srv\n/etc", "/var/lib/juju/storage", "/srv/../var/lib/juju/storage/x",
        "//var/lib/juju/storage", "/var/lib/juju", "/var/lib/juju/agents", "/var/lib/pushjuju/machine",
        "/var", "/var/lib", "/var/log", "/var/log/juju",
    ],
)  # fmt: skip
def test_refused_locations(location: str) -> None:
    """Nothing comes below Juju's own directory, however it is written, nor into two lines of fstab."""
    with pytest.raises(NotValid, match="invalid location"):
        mount_point(location, 1, "data/0")


def test_a_location_of_many_comes_below_nothing_of_ours() -> None:
    assert mount_point("/var", -1, "lib/0") == "/var/lib/0"
    for location, storage in (("/var/lib", "juju/0"), ("/var/lib/juju", "data/0")):
        with pytest.raises(NotValid, match="must not fall within"):
            mount_point(location, -1, storage)


def test_mount_points_do_not_hold_each_other() -> None:
    there = [("data", "/srv/data"), ("logs", "/var/log/app")]
    check_nesting("cache", "/srv/data2", there)
    with pytest.raises(NotValid) as caught:
        check_nesting("cache", "/srv/data/cache", there)
    assert caught.value.message == (
        'mount point "/srv/data" for "data" storage contains '
        'mount point "/srv/data/cache" for "cache" storage'
    )
    with pytest.raises(NotValid, match='"/var" for "all" storage contains mount point "/var/log/app"'):
        check_nesting("all", "/var", there)
    with pytest.raises(NotValid):
        check_nesting("data", "/srv/data", there)
