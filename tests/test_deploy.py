"""The alert rules and the dashboard name metrics that exist, and lead to runbooks that exist."""

import json
import re
import shutil
import subprocess

import pytest
from ruamel.yaml import YAML

from tests.test_docs import ROOT, anchors

PROMETHEUS = ROOT / "deploy" / "prometheus"
ALERTS, DASHBOARD = PROMETHEUS / "alerts.yml", ROOT / "deploy" / "grafana" / "cairn.json"
METRIC = re.compile(r"\bcairn_[a-z_]+\b")
DOCUMENTED = re.compile(r"^\| `(cairn_\w+)` \| (\w+) \| (.*?) \|", re.MULTILINE)


def documented() -> dict[str, str]:
    """Return the Prometheus names of the documented metrics with their labels; another test compares the page with the
    code."""
    text = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    found = {}
    for name, kind, labels in DOCUMENTED.findall(text):
        for ending in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
            found[f"{name}{ending}"] = labels
    return found


def rules() -> list[dict[str, object]]:
    (group,) = YAML(typ="safe").load(ALERTS)["groups"]
    found: list[dict[str, object]] = group["rules"]
    return found


def expressions() -> list[str]:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return [str(rule["expr"]) for rule in rules()] + [target["expr"] for panel in panels for target in panel["targets"]]


@pytest.mark.parametrize("expression", expressions())
def test_every_expression_names_metrics_and_labels_that_exist(expression: str) -> None:
    known = documented()
    named = METRIC.findall(expression)
    assert [name for name in named if name not in known] == []
    allowed = " ".join(known[name] for name in named) + " `le` `job`"
    labels = re.findall(r"(\w+)\s*=~?\s*\"", expression)
    labels += [one.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for one in group.split(",")]
    assert [label for label in labels if f"`{label}`" not in allowed] == []


def test_every_alert_leads_to_a_runbook() -> None:
    page = ROOT / "deploy" / "runbooks.md"
    led = set()
    for rule in rules():
        path, _, fragment = str(rule["annotations"]["runbook_url"]).partition("#")  # type: ignore[index]
        assert ROOT / path == page
        led.add(fragment)
    assert led <= anchors(page)
    assert {*anchors(page)} - led == {"runbooks", "data-was-lost-or-deleted"}


def test_every_runbook_is_rehearsed_by_a_test_that_exists() -> None:
    _, *runbooks = re.split(r"^## ", (ROOT / "deploy" / "runbooks.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for runbook in runbooks:
        _, _, rehearsed = runbook.partition("Rehearsed by ")
        tests = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", rehearsed)
        assert tests, runbook
        for path, name in tests:
            assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), name


def test_promtool_accepts_the_alert_rules_and_their_tests_pass() -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed: it is in the package prometheus")
    for arguments in (["check", "rules", ALERTS.name], ["test", "rules", "alerts_test.yml"]):
        result = subprocess.run([tool, *arguments], cwd=PROMETHEUS, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr


def test_the_dashboard_can_be_imported_into_grafana() -> None:
    found = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    assert found["schemaVersion"] >= 36
    assert [panel["id"] for panel in found["panels"]] == list(range(1, len(found["panels"]) + 1))
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in found["panels"])
