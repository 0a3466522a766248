"""docs/tables.py: pages show the committed tables, the code of the examples and what the results say against us."""

from __future__ import annotations

import re
from pathlib import Path

import losses
import pytest
import tables
from blocks import blocks_of

ROOT = Path(__file__).resolve().parents[2]
MARKED = [page for page in tables.PAGES if tables.END in page.read_text()]
OURS = (
    "migrating.md",
    "parallel.md",
    "benchmarks.md",
    "examples/boosting.md",
    "examples/instrument.md",
    "examples/level_set.md",
)
REPORT = """# A report

| what | a | b |
| --- | --- | --- |
| first | 1 | 2 |

## Ranks

Words.

| what | c |
| --- | --- |
| second | 3 |

| last | d |
| --- | --- |
| third | 4 |
"""
SCRIPT = '"""What it does."""\n\nimport os\n\n# --- the data\n\nx = 1\n\n# --- the run\n\nprint(x)\n'
SUMMARY = """| method | seeds | regret / random's | ours / theirs, plain | ours / theirs, bbob |
| --- | --- | --- | --- | --- |
| Quadrat | 10 | 0.1 |  |  |
| better | 10 | 0.1 | 0.40 (0.30 to 0.99) | 1.20 (1.10 to 1.30) |
| even | 10 | 0.1 | 0.90 (0.80 to 1.00) | 0.2 (too few seeds) |
"""
MEDIANS = """| method | seeds | p | q | r | / random | ours / |
| --- | --- | --- | --- | --- | --- | --- |
| Quadrat | 10 | **1** | 2 | 3 | 0.1 |  |
| other | 10 | 2 | **1** | 4 | 0.1 | 0.5 |
| third | 10 | 2 | 2 | **2** | 0.1 | 0.5 |

| method | best evaluated / random | ours / |
| --- | --- | --- |
| Quadrat | 0.1 |  |
"""

SURROGATES = """# Surrogates

## Noise 0, 50 evaluations

| noise 0, n = 50 | seeds | mean rank | regret / random's | ours / theirs |
| --- | --- | --- | --- | --- |
| Quadrat | 3 | 1.10 (1.00 to 1.20) | 0.20 (0.10 to 0.30) |  |
| worse | 3 | 1.90 (1.80 to 2.00) | 0.60 (0.50 to 0.70) | 0.30 (0.20 to 0.40) |

| method | seeds | a:1 | / random | ours / |
| --- | --- | --- | --- | --- |
| Quadrat | 3 | **0.1** | 0.20 (0.10 to 0.30) |  |

## Noise 0.5, 50 evaluations

| noise 0.5, n = 50 | seeds | mean rank | regret / random's | ours / theirs |
| --- | --- | --- | --- | --- |
| Quadrat | 3 | 1.50 (1.00 to 1.90) | 0.20 (0.10 to 0.30) |  |
| even | 3 | 1.40 (1.10 to 2.00) | 0.60 (0.50 to 0.70) | 0.90 (0.70 to 1.10) |
| few | 0 |  | 0.60 (too few seeds) | 0.90 (too few seeds, 1 of 2 problems) |

| method | seeds | a:1 | b:1 | / random | ours / |
| --- | --- | --- | --- | --- | --- |
| Quadrat | 3 | **0.1** | 0.3 | 0.20 (0.10 to 0.30) |  |
| even | 3 | 0.2 | **0.2** | 0.20 (0.10 to 0.30) | 0.90 (0.70 to 1.10) |

## Runs that failed

None.
"""


@pytest.mark.parametrize("page", MARKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_show_what_is_committed(page: Path) -> None:
    assert tables.filled(page.read_text()) == page.read_text(), "python docs/tables.py writes it"


def test_the_pages_that_have_markers_are_found() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in MARKED}
    assert {"README.md", "docs/benchmarks.md", "docs/parallel.md", "docs/examples/level_set.md"} <= names
    markers = sum(len(re.findall(r"<!-- (?!end)", page.read_text())) for page in MARKED)
    assert markers == sum(page.read_text().count(tables.END) for page in MARKED)
    assert markers == sum(len(tables._MARKER.findall(page.read_text())) for page in MARKED)


def test_a_table_is_found_by_its_heading_or_first_column() -> None:
    assert tables.last_paragraph(REPORT).endswith("| third | 4 |")
    assert tables.table_at(REPORT, "what").endswith("| first | 1 | 2 |")
    assert tables.table_at(REPORT, "Ranks") == "| what | c |\n| --- | --- |\n| second | 3 |"
    assert tables.table_at(REPORT, "last").endswith("| third | 4 |")
    with pytest.raises(ValueError, match="begins with 'third thing'"):
        tables.table_at(REPORT, "third thing")


def test_a_part_of_a_script_is_found_by_its_comment() -> None:
    assert tables.part_of(SCRIPT, "start") == '"""What it does."""\n\nimport os'
    assert tables.part_of(SCRIPT, "the data") == "x = 1"
    assert tables.part_of(SCRIPT, "the run") == "print(x)"
    with pytest.raises(ValueError, match="the data, the run, got 'the end'"):
        tables.part_of(SCRIPT, "the end")


def test_markers_are_filled_and_filled_again_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.md").write_text(REPORT)
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    page = "A\n\n<!-- table: report.md: Ranks -->\nstale\n<!-- end -->\n"
    page += "\n<!-- code: script.py: the run -->\n<!-- end -->\n"
    page += "\n<!-- code: script.py -->\n<!-- end -->\n"
    filled = tables.filled(page)
    assert "stale" not in filled
    assert "-->\n| what | c |\n| --- | --- |\n| second | 3 |\n<!-- end -->" in filled
    assert "-->\n```python\nprint(x)\n```\n<!-- end -->" in filled
    assert '-->\n```python\n# file: script.py\n"""What it does."""' in filled
    assert tables.filled(filled) == filled


def test_what_is_lost_is_read_off_the_results() -> None:
    assert losses.undecided(SUMMARY) == [
        "On plain, the interval of ours / theirs reaches 1 against even 0.90 (0.80 to 1.00).",
        "On bbob, the interval of ours / theirs reaches 1 against better 1.20 (1.10 to 1.30).",
        "On bbob, there are too few seeds to compare with even.",
    ]
    assert losses.beaten(MEDIANS) == [("q", "other"), ("r", "third")]
    assert losses.problems(MEDIANS) == ["p", "q", "r"]
    assert losses.beaten(MEDIANS.replace("| 2 | 3 | 0.1 |", "| **1** | 3 | 0.1 |")) == [("r", "third")], (
        "as low is not lower"
    )


def test_what_is_lost_on_surrogates_is_read_for_each_noise_level() -> None:
    where = "On surrogates of tunings, noise 0.5, 50 evaluations,"
    assert losses.on_surrogates(SURROGATES) == [
        f"{where} the mean rank of even 1.40 is better than ours, 1.50.",
        f"{where} the interval of ours / theirs reaches 1 against even 0.90 (0.70 to 1.10).",
        f"{where} there are too few seeds to compare with few.",
        f"{where} another method has the lowest median on 1 of 2: b:1 (even).",
    ]


def test_the_program_for_ray_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown and not run: what it imports exists, and it defines what it uses."""
    files = {block.file: "\n".join(block.lines) for block in blocks_of((ROOT / "docs/parallel.md").read_text())}
    (tmp_path / "experiment.py").write_text(files["experiment.py"])
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, object] = {"__name__": "on_ray"}
    exec(compile(files["on_ray.py"], "on_ray.py", "exec"), names)
    assert {"RayExecutor", "space", "loss"} <= set(names)


@pytest.mark.parametrize("name", OURS)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / "docs" / name
    for target in re.findall(r"\]\((?!http|#)([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), target
