"""Levels of log lines by logger, as Juju's loggers read them."""

from __future__ import annotations

import pytest

from pushjuju.portable.loglevels import kept, level_of, parse_levels, threshold


@pytest.mark.parametrize(
    ("config", "module", "level"),
    [
        ("<root>=INFO", "unit.web/0.juju-log", "INFO"),
        ("<root>=WARNING", "juju.worker", "WARNING"),
        ("<root>=WARN", "juju.worker", "WARNING"),
        ("DEBUG", "juju.worker", "DEBUG"),
        ("<root>=INFO;unit=DEBUG", "unit.web/0.install", "DEBUG"),
        ("<root>=INFO;unit=DEBUG", "united.front", "INFO"),
        ("<root>=INFO; unit = DEBUG ;unit.web/0=TRACE", "unit.web/0.install", "TRACE"),
        ("<root>=INFO; unit = DEBUG ;", "unit.web/0.install", "DEBUG"),
        ("unit=DEBUG", "juju.worker", "INFO"),
        ("unit.web/0=error:<root>=trace", "unit.web/0", "ERROR"),
        ("<root>=ERROR;unit=UNSPECIFIED", "unit.web/0", "ERROR"),
        ("<root>=LOUD", "juju", "INFO"),
        ("", "juju", "INFO"),
    ],
)
def test_the_longest_prefix_that_names_a_logger_decides(config: str, module: str, level: str) -> None:
    assert threshold(config, module) == level


@pytest.mark.parametrize(
    ("level", "expected"),
    [("TRACE", False), ("DEBUG", False), ("INFO", True), ("WARNING", True), ("ERROR", True), ("odd", True)],
)
def test_what_is_kept(level: str, expected: bool) -> None:
    assert kept("<root>=INFO", "unit", level) is expected


def test_a_level_that_does_not_exist_counts_as_info() -> None:
    assert kept("<root>=INFO", "any", "ODD")
    assert not kept("<root>=WARNING", "any", "ODD")


def test_levels_in_any_case() -> None:
    assert parse_levels("<root>=debug; a.b = Warn;;c=UNSPECIFIED") == {
        "": "DEBUG",
        "a.b": "WARNING",
        "c": "UNSPECIFIED",
    }
    assert parse_levels("") == {}
    assert (level_of("warn"), level_of("LOUD"), level_of("unspecified")) == ("WARNING", "", "")


@pytest.mark.parametrize("spec", ["<root>=LOUD", "LOUD", "a=", "a=DEBUG;b=LOUD"])
def test_an_unknown_level_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="unknown severity level"):
        parse_levels(spec)
