"""Whether the tests notice small errors: 300 seeded changes to gp, partition and confidence, each judged by a suite.

    python benchmarks/mutation.py [--smoke] [--write] [--workers 1] [--again] [--only gp/fit]

`mutants` draws the changes, `mutation_tests` has chosen the suite of each source file, `mutant_trial` runs it. The
suite of a file must pass unchanged, within LONGEST CPU seconds. A change is killed where a test fails or the suite
runs past its limit.

Verdicts are kept in benchmarks/results/mutation.jsonl and not asked for again; --again asks for those that survived,
after tests were added. mutation_survivors.toml says why each survivor is let live. --write updates
benchmarks/results/mutation.md. --smoke judges three changes and keeps nothing.
"""

from __future__ import annotations

from timing import ROOT, publish, table  # isort: skip  # sets the number of BLAS threads

import argparse
import json
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from mutant_code import Text
from mutant_trial import Verdict, judge
from mutants import OPERATORS, Mutant, mutants
from mutation_tests import PACKAGES, SOURCE, suites

SEED, NUMBER = 20, 300
LONGEST = 10.0  # CPU seconds of a suite that passes
ROWS = ROOT / "benchmarks" / "results" / "mutation.jsonl"
SURVIVORS = ROOT / "benchmarks" / "mutation_survivors.toml"
SMOKE = ("confidence/averages.py", "gp/ensemble.py", "partition/regression_tree.py")  # quick suites
UNCHANGED = "none"  # the kind of change of a file as it is
Row: TypeAlias = dict[str, Any]
NAME = ("file", "function", "operator", "original", "mutated", "repeat")  # what names a change in its row


def sources() -> dict[str, str]:
    """Return the text of every file that may be changed, by its path from the root of the repository.

    Lists of names are none: tests of the public surface, which import everything, judge them.
    """
    paths = [path for package in PACKAGES for path in sorted((SOURCE / package).rglob("*.py"))]
    paths = [path for path in paths if path.name != "__init__.py"]
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}


def read_rows() -> list[Row]:
    """Return the verdicts so far; the last one of a change counts."""
    lines = ROWS.read_text().splitlines() if ROWS.exists() else []
    rows = [json.loads(line) for line in lines]
    return list({key_of(row): row for row in rows}.values())


def key_of(row: Row) -> tuple[Any, ...]:
    """Return what names the change of a row, as `Mutant.key`."""
    return tuple(row[name] for name in NAME)


def row_of(mutant: Mutant, verdict: Verdict) -> Row:
    """Return what is kept of a verdict."""
    named = dict(zip(NAME, mutant.key, strict=True))
    found = {"outcome": verdict.outcome, "seconds": verdict.seconds, "by": verdict.by}
    return {"seed": SEED, **named, "line": mutant.line, **found}


def judged(drawn: Sequence[Mutant], files: Sequence[str], workers: int, keep: Callable[[Row], None]) -> None:
    """Judge changes, and before them the unchanged files, whose suites must pass; keep their rows as they come."""
    texts, chosen = sources(), suites()
    tried = [*(Mutant(file, "", UNCHANGED, "", "", texts[file], 1, 0) for file in files), *drawn]
    if any(file not in chosen for file in files):
        raise SystemExit("expected tests for every file; choose them with mutation_tests.py")
    held: dict[str, list[Row]] = {file: [] for file in files}  # until the suite of the file is known to pass
    failed: list[str] = []

    def report(place: int, verdict: Verdict) -> None:
        mutant = tried[place]
        print(f"{place + 1} of {len(tried)}: {verdict.outcome}, {verdict.seconds:.1f} s, {mutant.file}", flush=True)
        row = row_of(mutant, verdict)
        if mutant.operator == UNCHANGED and (verdict.outcome != "survived" or verdict.seconds > LONGEST):
            failed.append(f"{mutant.file}: expected that its tests pass within {LONGEST:g} s, got {verdict}")
        elif mutant.operator == UNCHANGED:
            for earlier in (row, *held.pop(mutant.file)):
                keep(earlier)
        elif mutant.file in held:
            held[mutant.file].append(row)
        else:
            keep(row)

    judge([Text(mutant.file, mutant.source) for mutant in tried], chosen, report, workers=workers)
    if failed:
        raise SystemExit("\n".join([*failed, "choose tests again with mutation_tests.py"]))


def explanations() -> dict[tuple[str, str, str], str]:
    """Return why survivors are let live, by file, function and changed line."""
    if not SURVIVORS.exists():
        return {}
    entries = tomllib.loads(SURVIVORS.read_text())["survivor"]
    return {(entry["file"], entry["function"], entry["mutated"]): entry["why"] for entry in entries}


def reason(row: Row, reasons: Mapping[tuple[str, str, str], str]) -> str:
    """Return why a survivor is let live, or nothing."""
    return reasons.get((row["file"], row["function"], row["mutated"]), "")


def share(rows: Sequence[Row]) -> tuple[str, str, str]:
    """Return the cells of a table: changes, those killed, and their share."""
    killed = sum(row["outcome"] != "survived" for row in rows)
    return str(len(rows)), str(killed), f"{100 * killed / len(rows):.1f} %" if rows else ""


def tables(rows: Sequence[Row]) -> str:
    """Return what was killed, by package and by kind of change, and the survivors."""
    rows = [row for row in rows if row["operator"] != UNCHANGED]
    packages = [(f"`{name}`", *share([row for row in rows if row["file"].split("/")[2] == name])) for name in PACKAGES]
    kinds = [(name, *share([row for row in rows if row["operator"] == name])) for name in OPERATORS]
    head = ("changes", "killed", "share")
    late = Counter(row["outcome"] for row in rows)["timeout"]
    parts = [
        table(("package", *head), [*packages, ("all", *share(rows))]),
        f"Of those killed, {late} ran past the limit of time.",
        table(("kind of change", *head), kinds),
        "## Survivors",
    ]
    reasons = explanations()
    for row in rows:
        if row["outcome"] == "survived":
            where = f"{row['file'].removeprefix('src/quadrat/')}, {row['function'] or 'top of the file'}"
            lines = f"```diff\n- {row['original']}\n+ {row['mutated']}\n```"
            parts.append(f"{where} ({row['operator']}):\n\n{lines}\n\n{reason(row, reasons) or 'Not explained yet.'}")
    return "\n\n".join(parts)


def smoke() -> None:
    """Judge one change in each of three small files."""
    texts = {file: text for file, text in sources().items() if file.removeprefix("src/quadrat/") in SMOKE}
    rows: list[Row] = []
    judged([mutants({file: text}, 1, seed=SEED)[0] for file, text in texts.items()], sorted(texts), 1, rows.append)
    print(tables(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="three changes, to see that it runs")
    parser.add_argument("--write", action="store_true", help="write the tables to benchmarks/results")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--again", action="store_true", help="judge the survivors again")
    parser.add_argument("--only", default="", help="files whose path contains this, to work on their tests")
    arguments = parser.parse_args()
    if arguments.smoke:
        smoke()
        return
    texts = sources()
    drawn = mutants(texts, NUMBER, seed=SEED)
    redone = [row for row in read_rows() if arguments.again and row["outcome"] == "survived"]
    done = {key_of(row) for row in read_rows()} - {key_of(row) for row in redone if row["operator"] != UNCHANGED}
    todo = [mutant for mutant in drawn if mutant.key not in done and arguments.only in mutant.file]
    passed = {key[0] for key in done if key[NAME.index("operator")] == UNCHANGED}
    files = {mutant.file for mutant in todo} | {
        mutant.file for mutant in drawn if mutant.file not in passed and arguments.only in mutant.file
    }
    with ROWS.open("a") as kept:

        def keep(row: Row) -> None:
            kept.write(json.dumps(row, ensure_ascii=False) + "\n")
            kept.flush()

        if files:
            judged(todo, sorted(files), arguments.workers, keep)
    by_key = {key_of(row): row for row in read_rows()}
    rows = [by_key[key] for key in sorted(by_key) if by_key[key]["operator"] == UNCHANGED]
    rows += [by_key[mutant.key] for mutant in drawn if mutant.key in by_key]
    ROWS.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    missing = sum(mutant.key not in by_key for mutant in drawn)
    if missing:
        print(f"{missing} changes are not judged yet")
        return
    longest = max(row["seconds"] for row in rows if row["operator"] == UNCHANGED)
    measured = (
        f"{NUMBER} of {len(mutants(texts)):,} places, seed {SEED}; every suite passes on the unchanged file, within"
        f" {longest:.1f} s of CPU"
    )
    publish("mutation", "Mutants that the tests kill", tables(rows), write=arguments.write, measured=measured)


if __name__ == "__main__":
    main()
