"""Where other methods are better than ours, or the runs do not tell: sentences from the committed results.

Nothing here is chosen by hand: every ratio of the summary whose interval reaches 1, and every problem on which another
method has the lowest median.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUMMARY = ROOT / "benchmarks/regret/results/summary.md"
REPORT = ROOT / "benchmarks/regret/results/report.md"
HIGH = ROOT / "benchmarks/high_dimensions/results/report.md"
SURROGATES = ROOT / "benchmarks/hpo/results/report.md"
OURS = "Quadrat"
_RATIO = re.compile(r"^([\d.]+) \(([\d.]+) to ([\d.]+)\)$")
_BASELINES = ("/ random", "ours /")


def cells(row: str) -> list[str]:
    """Return the cells of a row."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield the header and the rows of each table."""
    for block in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        header, _, *rows = block.strip().split("\n")
        yield cells(header), [cells(row) for row in rows]


def undecided(summary: str) -> list[str]:
    """Return a sentence for each suite with methods that ours is not shown to be better than."""
    ((header, rows),) = tables(summary)
    sentences = []
    for column, title in enumerate(header):
        if not title.startswith("ours / theirs"):
            continue
        suite = title.removeprefix("ours / theirs, ")
        even = [
            f"{row[0]} {row[column]}" for row in rows if (ratio := _RATIO.match(row[column])) and float(ratio[3]) >= 1
        ]
        few = [row[0] for row in rows if "too few" in row[column]]
        if even:
            sentences.append(f"On {suite}, the interval of ours / theirs reaches 1 against {', '.join(even)}.")
        if few:
            sentences.append(f"On {suite}, there are too few seeds to compare with {', '.join(few)}.")
    return sentences


def marked(report: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield problems, and rows of a method, its seeds and its medians, of each table that marks the lowest median."""
    for header, rows in tables(report):
        if any("**" in cell for row in rows for cell in row):
            end = min(header.index(name) for name in _BASELINES if name in header)
            yield header[2:end], [row[:end] for row in rows]


def problems(report: str) -> list[str]:
    """Return all problems."""
    return [name for names, _ in marked(report) for name in names]


def beaten(report: str) -> list[tuple[str, str]]:
    """Return the problems on which another method has the lowest median, and ours has not, each with that method."""
    found = []
    for names, rows in marked(report):
        for column, problem in enumerate(names, start=2):
            lowest = [row[0] for row in rows if row[column].startswith("**")]
            found += [(problem, name) for name in lowest if OURS not in lowest]
    return found


def on_surrogates(report: str) -> list[str]:
    """Return sentences for each noise level and number of evaluations of the surrogates of tunings."""
    sentences = []
    for part in re.split(r"^## ", report, flags=re.MULTILINE)[1:]:
        title = part.split("\n")[0]
        found = [(header, rows) for header, rows in tables(part) if header[-1] == "ours / theirs"]
        if not found:
            continue
        where = f"On surrogates of tunings, {title[:1].lower()}{title[1:]},"
        ((header, rows),) = found
        ranks = {row[0]: float(row[header.index("mean rank")].split()[0]) for row in rows if row[2]}
        ahead = [f"{name} {rank:.2f}" for name, rank in ranks.items() if OURS in ranks and rank < ranks[OURS]]
        if ahead:
            sentences.append(f"{where} the mean rank of {', '.join(ahead)} is better than ours, {ranks[OURS]:.2f}.")
        even = [f"{row[0]} {row[-1]}" for row in rows if (ratio := _RATIO.match(row[-1])) and float(ratio[3]) >= 1]
        few = [row[0] for row in rows if "too few" in row[-1]]
        if even:
            sentences.append(f"{where} the interval of ours / theirs reaches 1 against {', '.join(even)}.")
        if few:
            sentences.append(f"{where} there are too few seeds to compare with {', '.join(few)}.")
        others = beaten(part)
        if others:
            count = len(problems(part))
            sentences.append(
                f"{where} another method has the lowest median on {len(others)} of {count}: {_listed(others)}."
            )
    return sentences


def losses() -> str:
    """Return the list."""
    report, high = REPORT.read_text(), table_of_recommended(HIGH.read_text())
    others = beaten(report)
    lines = undecided(SUMMARY.read_text())
    if others:
        lines.append(
            f"After 50 evaluations another method has the lowest median regret on {len(others)} of"
            f" {len(problems(report))} problems: {_listed(others)}."
        )
    if beaten(high):
        lines.append(
            "In twenty dimensions, after 2,000 evaluations, another method has the lowest median regret on"
            f" {len(beaten(high))} of {len(problems(high))}: {_listed(beaten(high))}."
        )
    lines += on_surrogates(SURROGATES.read_text())
    return "\n".join(f"- {line}" for line in lines)


def table_of_recommended(report: str) -> str:
    """Return the part of the report in twenty dimensions that is about the recommended point."""
    return report.split("| best evaluated point")[0]


def _listed(pairs: list[tuple[str, str]]) -> str:
    return "; ".join(f"{problem} ({method})" for problem, method in pairs)
