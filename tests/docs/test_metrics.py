"""Alert rules, the dashboard for Grafana and the docs name metrics that exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from contrib import reference
from contrib.grafana import build
from pushjuju.services.views.metrics.families import FAMILIES, PREFIX

ROOT = Path(__file__).parents[2]
RULES = ROOT / "contrib/prometheus/pushjuju.rules.yml"
_SELECTED = re.compile(r"(pushjuju_\w+)(?:\{([^}]*)\})?")
PLACES = {
    "rules": RULES.read_text(),
    "tests of the rules": RULES.with_name("pushjuju.tests.yml").read_text(),
    "dashboard": build.TARGET.read_text().replace('\\"', '"'),
    "how-to": (ROOT / "docs/how-to/monitor.md").read_text(),
}


def family(name: str) -> str:
    """Return the name of the metric to which a series belongs."""
    base = re.sub("_(bucket|sum|count)$", "", name.removeprefix(PREFIX))
    return base if base in FAMILIES and FAMILIES[base].kind == "histogram" else name.removeprefix(PREFIX)


@pytest.mark.parametrize("place", PLACES)
def test_every_metric_that_is_named_exists_with_its_labels(place: str) -> None:
    outside = {"le", "instance"}  # of histograms, and of Prometheus
    for name, selector in _SELECTED.findall(PLACES[place]):
        assert family(name) in FAMILIES, name
        labels = set(re.findall(r"(\w+)\s*[=!]~?=?", re.sub(r'"[^"]*"', '""', selector)))
        assert labels <= outside | set(FAMILIES[family(name)].labels.split()), (name, selector)


def test_the_dashboard_shows_every_metric_and_is_what_its_script_writes() -> None:
    assert build.TARGET.read_text() == build.text(), "run python contrib/grafana/build.py"
    shown = {family(name) for name, _ in _SELECTED.findall(PLACES["dashboard"])}
    assert set(FAMILIES) - shown == set()


def test_the_reference_has_every_metric() -> None:
    page = reference.pages()["reference/metrics.md"]
    assert [name for name in FAMILIES if f"\n| `{PREFIX}{name}` | " not in page] == []


def test_every_alert_is_on_the_page_that_it_names_and_has_a_test() -> None:
    tests = yaml.safe_load(PLACES["tests of the rules"])["tests"]
    begun = {case["alertname"] for part in tests for case in part["alert_rule_test"] if case["exp_alerts"]}
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    assert {rule["alert"] for rule in group["rules"]} == begun
    for rule in group["rules"]:
        path, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert f'<a id="{anchor}"></a>`{rule["alert"]}`' in (ROOT / path).read_text()


def test_promtool_accepts_the_rules_and_their_tests_pass() -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    for words in (["check", "rules", RULES.name], ["test", "rules", "pushjuju.tests.yml"]):
        done = subprocess.run([tool, *words], cwd=RULES.parent, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
