"""Alert rules, the dashboard for Grafana and the docs name metrics that exist."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from contrib import reference
from contrib.grafana import build
from pushjuju.services.views.metrics.families import FAMILIES, PREFIX

ROOT = Path(__file__).parents[2]
RULES = ROOT / "contrib/prometheus/pushjuju.rules.yml"
RULES_TESTS = "pushjuju.yml"
_SELECTED = re.compile(r"(pushjuju_\w+)(?:\{([^}]*)\})?")
PLACES = {
    "rules": RULES.read_text(),
    "tests of the rules": (RULES.parent / "tests" / RULES_TESTS).read_text(),
    "dashboard": build.TARGET.read_text().replace('\\"', '"'),
    "how-to": (ROOT / "docs/how-to/monitor.md").read_text(),
}
OF_A_PROCESS = {name for name, item in FAMILIES.items() if "only with --metrics" in item.help} | {
    *(name for name in FAMILIES if name.startswith("http_")),
    "build_info",
    "metrics_generated_timestamp_seconds",
}


def family(name: str) -> str:
    """Return the name of the metric to which a series belongs."""
    base = re.sub("_(bucket|sum|count)$", "", name.removeprefix(PREFIX))
    return (
        base
        if base in FAMILIES and FAMILIES[base].kind in ("histogram", "summary")
        else name.removeprefix(PREFIX)
    )


@pytest.mark.parametrize("place", PLACES)
def test_every_metric_that_is_named_exists_with_its_labels(place: str) -> None:
    outside = {"le", "instance", "job"}  # of histograms, and of Prometheus
    for name, selector in _SELECTED.findall(PLACES[place]):
        assert family(name) in FAMILIES, name
        labels = set(re.findall(r"(\w+)\s*[=!]~?=?", re.sub(r'"[^"]*"', '""', selector)))
        assert labels <= outside | set(FAMILIES[family(name)].labels.split()), (name, selector)


def test_the_dashboard_shows_every_metric_and_is_what_its_script_writes() -> None:
    assert build.TARGET.read_text() == build.text(), "run python contrib/grafana/build.py"
    shown = {family(name) for name, _ in _SELECTED.findall(PLACES["dashboard"])}
    assert set(FAMILIES) - shown == set()


def test_the_script_of_the_dashboard_can_check_the_file_alone(tmp_path: Path) -> None:
    before = build.TARGET.read_bytes()
    script = [sys.executable, str(ROOT / "contrib/grafana/build.py"), "--check"]
    assert subprocess.run(script, check=False).returncode == 0
    copy = tmp_path / "build.py"
    copy.write_text(Path(script[1]).read_text())
    (tmp_path / "pushjuju.json").write_text("{}")
    done = subprocess.run([script[0], str(copy), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, (tmp_path / "pushjuju.json").read_text()) == (1, "{}")
    assert "run python" in done.stderr
    assert build.TARGET.read_bytes() == before


def expressions() -> list[str]:
    """Return the queries of the alerts and of the dashboard."""
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    panels = [panel for panels in build.ROWS.values() for panel in panels]
    return [*(rule["expr"] for rule in group["rules"]), *(panel.query for panel in panels)]


def test_what_every_process_tells_of_the_store_counts_once() -> None:
    once = re.compile(r"(max|min) (by|without) \([^)]*\) \(((rate|increase)\()?$")
    many = [
        query
        for query in expressions()
        for found in _SELECTED.finditer(query)
        if family(found[1]) not in OF_A_PROCESS and not once.search(query[: found.start()])
    ]
    assert [query for query in many if "unless" not in query] == []  # this one is about each process


def test_the_reference_has_every_metric() -> None:
    page = reference.pages()["reference/metrics.md"]
    assert [name for name in FAMILIES if f"\n| `{PREFIX}{name}` | " not in page] == []


def test_every_alert_is_on_the_page_that_it_names_and_has_a_test() -> None:
    tests = yaml.safe_load(PLACES["tests of the rules"])["tests"]
    begun = {case["alertname"] for part in tests for case in part["alert_rule_test"] if case["exp_alerts"]}
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    assert {rule["alert"] for rule in group["rules"]} == begun
    for rule in group["rules"]:
        path, _, anchor = rule["annotations"]["runbook_url"].partition("#")
        assert f'<a id="{anchor}"></a>`{rule["alert"]}`' in (ROOT / path).read_text()


def test_promtool_accepts_the_rules_and_their_tests_pass() -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    for words in (["check", "rules", RULES.name], ["test", "rules", f"tests/{RULES_TESTS}"]):
        done = subprocess.run([tool, *words], cwd=RULES.parent, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_understands_every_query_of_the_dashboard(tmp_path: Path) -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    known = {"$__rate_interval": "5m", "$model": ".*", "$application": ".*"}
    cases = []
    for panel in (panel for panels in build.ROWS.values() for panel in panels):
        query = re.sub("|".join(map(re.escape, known)), lambda found: known[found[0]], panel.query)
        cases.append({"expr": query, "eval_time": "5m", "exp_samples": []})
    test = {"interval": "1m", "input_series": [], "promql_expr_test": cases}
    (tmp_path / "test.yml").write_text(yaml.safe_dump({"tests": [test]}))
    done = subprocess.run(
        [tool, "test", "rules", str(tmp_path / "test.yml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_panel_of_keys_taken_over_and_lost_has_a_value(tmp_path: Path) -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    (query,) = [item for item in expressions() if "leases_lost" in item]
    series = {'pushjuju_claims_total{kind="takeover"}': "0+1x20", "pushjuju_leases_lost_total{}": "0+2x20"}
    case = {
        "expr": query.replace("$__rate_interval", "10m"),
        "eval_time": "15m",
        "exp_samples": [{"value": 30}],
    }
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [case],
    }
    (tmp_path / "test.yml").write_text(yaml.safe_dump({"tests": [test]}))
    done = subprocess.run(
        [tool, "test", "rules", str(tmp_path / "test.yml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
