"""CITATION.cff, SECURITY.md and the forms for issues: they parse, and say what is so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import quadrat

ROOT = Path(__file__).resolve().parents[2]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*_*.yml"))


def read(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text())
    assert isinstance(found, dict)
    return found


def test_the_citation_is_of_this_version_and_names_the_paper() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == quadrat.__version__
    assert {"message", "title", "authors", "type", "license"} <= set(citation)
    (paper,) = citation["references"]
    assert [author["family-names"] for author in paper["authors"]] == ["Shekhar", "Javidi"]
    assert paper["title"] in (ROOT / "README.md").read_text()


def test_there_is_a_form_for_each_kind_of_issue() -> None:
    assert [path.stem for path in FORMS] == ["bug_report", "feature_request"]
    assert read(FORMS[0].with_name("config.yml"))["blank_issues_enabled"] is True


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_have_what_the_repository_needs(path: Path) -> None:
    """As the syntax for issue forms asks: name, description, and fields with a type, a label and an id of their own."""
    form = read(path)
    assert form["name"]
    assert form["description"]
    assert {field["type"] for field in form["body"]} <= {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert all(field["attributes"]["label"] for field in form["body"])
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids)


def test_a_bug_report_asks_for_what_repeats_a_run() -> None:
    text = FORMS[0].read_text()
    assert all(word in text for word in ("quadrat --version", "quadrat export", "seed"))


def test_security_says_how_to_report() -> None:
    assert "Report a vulnerability" in (ROOT / "SECURITY.md").read_text()
