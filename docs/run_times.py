"""How long benchmarks take, from the rows that they keep: hours, rounded up so that a few more runs change nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = {  # what is run: the rows that it keeps, and where its page is
    "python benchmarks/regret/run.py METHOD": (
        "benchmarks/regret/results/*.jsonl",
        "benchmarks/regret/results/report.md",
    ),
    "python benchmarks/regret/noise.py": (
        "benchmarks/regret/results/noise_*/*.jsonl",
        "benchmarks/regret/results/noise.md",
    ),
    "python benchmarks/regret/ablation.py": (
        "benchmarks/regret/results/ablation.jsonl",
        "benchmarks/regret/results/ablation.md",
    ),
    "python benchmarks/regret/parallel.py": (
        "benchmarks/regret/results/parallel.jsonl",
        "benchmarks/regret/results/parallel.md",
    ),
    "python benchmarks/high_dimensions/run.py METHOD": (
        "benchmarks/high_dimensions/results/*.jsonl",
        "benchmarks/high_dimensions/results/report.md",
    ),
    "python benchmarks/long_runs.py": ("benchmarks/results/long_runs.jsonl", "benchmarks/results/long_runs.md"),
    "python benchmarks/failures.py": ("benchmarks/results/failures.jsonl", "benchmarks/results/failures.md"),
    "python benchmarks/scaling.py": ("benchmarks/results/scaling.jsonl", "benchmarks/results/scaling.md"),
    "python benchmarks/safe_search.py": ("benchmarks/results/safe_search.jsonl", "benchmarks/results/safe_search.md"),
    "python benchmarks/local_bands.py": ("benchmarks/results/local_bands.jsonl", "benchmarks/results/local_bands.md"),
    "python benchmarks/hpo/table.py": ("benchmarks/hpo/results/noise_*/*.jsonl", "benchmarks/hpo/results/report.md"),
    "python benchmarks/hpo/carps_run.py": ("benchmarks/hpo/results/carps/*.jsonl", "benchmarks/hpo/results/carps.md"),
    "python benchmarks/define_by_run.py": (
        "benchmarks/results/define_by_run.jsonl",
        "benchmarks/results/define_by_run.md",
    ),
    "python benchmarks/choices.py": ("benchmarks/results/choices.jsonl", "benchmarks/results/choices.md"),
    "python benchmarks/search_cv.py": ("benchmarks/results/search_cv.jsonl", "benchmarks/results/search_cv.md"),
}
_HOURS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_ALONE = ("ablation.jsonl", "parallel.jsonl")  # beside the rows of methods, but not of the comparison


def times() -> str:
    """Return the table, with links from a page in docs/."""
    lines = ["| command | hours, at most | results |", "| --- | --- | --- |"]
    for command, (pattern, page) in PAGES.items():
        files = [path for path in sorted(ROOT.glob(pattern)) if "*" not in pattern or path.name not in _ALONE]
        runs = [row["seconds"] for path in files for row in _rows(path) if "seconds" in row]
        if runs and (ROOT / page).exists():
            hours = next(steps for steps in _HOURS if steps >= sum(runs) / 3600)
            lines.append(f"| `{command}` | {hours} | [{Path(page).name}](../{page}) |")
    return "\n".join(lines)


def _rows(path: Path) -> Iterable[dict[str, float]]:
    return (json.loads(line) for line in path.read_text().splitlines() if line.strip())
