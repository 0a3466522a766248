"""Which tests judge the mutants of which source file: chosen once, from coverage, and kept in mutation_tests.json.

    python benchmarks/mutation_tests.py measure tests/gp tests/partition tests/confidence
    python benchmarks/mutation_tests.py choose

`measure` runs tests and keeps, for each, its CPU seconds and the lines of the mutated packages that it runs. `choose`
makes the suite of each source file, in this order and as long as the suite stays within BUDGET seconds: the tests that
reach a line of the file which none before has reached, most new lines a second first; the tests of the file of tests
with the same name; all others that run the file, the quickest first. A parametrised test comes with all its cases.
"""

from __future__ import annotations

from timing import ROOT  # isort: skip  # sets the number of BLAS threads

import argparse
import json
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

PACKAGES = ("gp", "partition", "confidence")
SOURCE = ROOT / "src" / "quadrat"
CHOSEN = ROOT / "benchmarks" / "mutation_tests.json"
MEASURED = ROOT / "build" / "mutation_tests.measured.json"  # not committed
BUDGET = 8.0  # CPU seconds of a suite
LONGEST = 4.0  # CPU seconds of a test that may take part

Lines: TypeAlias = dict[str, list[int]]  # by source file
Measured: TypeAlias = dict[str, tuple[float, Lines]]  # CPU seconds and lines, by test


class Recorder:
    """Measure every test that passes: its CPU seconds and the lines that it runs."""

    def __init__(self) -> None:
        import coverage

        self.coverage: Any = coverage.Coverage(
            data_file=None, include=[str(SOURCE / package / "*") for package in PACKAGES], config_file=False
        )
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.coverage.switch_context(item.nodeid)
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - start
            self.coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:  # a test that is skipped or fails judges nothing
            self.seconds[report.nodeid] = float("inf")

    def measured(self) -> Measured:
        """Return what was found."""
        lines: dict[str, Lines] = {test: {} for test in self.seconds}
        data = self.coverage.get_data()
        for file in sorted(data.measured_files()):
            for line, tests in data.contexts_by_lineno(file).items():
                for test in tests:
                    if test in lines:
                        lines[test].setdefault(Path(file).relative_to(ROOT).as_posix(), []).append(line)
        return {test: (round(seconds, 3), lines[test]) for test, seconds in self.seconds.items()}


def by_function(measured: Measured) -> Measured:
    """Put the cases of a parametrised test together."""
    found: dict[str, tuple[float, dict[str, set[int]]]] = {}
    for test, (seconds, lines) in measured.items():
        name = test.split("[")[0]
        spent, reached = found.get(name, (0.0, {}))
        for file in lines:
            reached.setdefault(file, set()).update(lines[file])
        found[name] = spent + seconds, reached
    return {
        name: (seconds, {file: sorted(reached[file]) for file in reached}) for name, (seconds, reached) in found.items()
    }


def measure(tests: list[str]) -> Measured:
    """Run tests with coverage."""
    recorder = Recorder()
    recorder.coverage.start()
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", *tests], plugins=[recorder])
    recorder.coverage.stop()
    return recorder.measured()


def suite(file: str, measured: Mapping[str, tuple[float, Lines]]) -> list[str]:
    """Return the tests that judge a source file, as the module's docstring says; those of the same name go first."""
    package, module = Path(file).parent.name, Path(file).stem
    mirror = f"tests/{package}/test_{module}.py::"
    left = {
        test: (seconds, set(lines.get(file, ())))
        for test, (seconds, lines) in measured.items()
        if seconds <= LONGEST and (file in lines or test.startswith(mirror))
    }
    chosen: list[str] = []
    spent, reached = 0.0, set[int]()

    def order(test: str) -> tuple[float, bool, float, str]:
        seconds, lines = left[test]
        return -len(lines - reached) / (seconds + 0.01), not test.startswith(mirror), seconds, test

    while left:
        test = min(left, key=order)
        seconds, lines = left.pop(test)
        if spent + seconds <= BUDGET:
            chosen.append(test)
            spent += seconds
            reached |= lines
    return sorted(chosen, key=lambda test: (not test.startswith(mirror), test))


def write(found: Mapping[str, Sequence[str]]) -> None:
    """Keep suites, by source file and file of tests, one line for each pair."""
    lines = []
    for file, tests in found.items():
        names: dict[str, list[str]] = {}
        for test in tests:
            name, _, rest = test.partition("::")
            names.setdefault(name, []).append(rest)
        own = [f"  {json.dumps(name)}: {json.dumps(rest, ensure_ascii=False)}" for name, rest in names.items()]
        lines.append(f" {json.dumps(file)}: {{\n" + ",\n".join(own) + "\n }")
    CHOSEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def suites() -> dict[str, list[str]]:
    """Return the tests that judge each source file, as pytest names them without their cases."""
    kept: dict[str, dict[str, list[str]]] = json.loads(CHOSEN.read_text())
    return {file: [f"{name}::{test}" for name in own for test in own[name]] for file, own in kept.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="The tests that judge the mutants of each source file.")
    parser.add_argument("action", choices=("measure", "choose"))
    parser.add_argument("tests", nargs="*", help="files and folders of tests, for measure")
    arguments = parser.parse_args()
    measured: Measured = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    if arguments.action == "measure":
        found = measure(arguments.tests)
        again = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
        MEASURED.parent.mkdir(exist_ok=True)
        MEASURED.write_text(json.dumps(again | found, indent=0))
        print(f"{len(found)} tests of {sum(seconds for seconds, _ in found.values()):.0f} s measured")
        return
    measured = by_function(measured)
    files = sorted({file for _, lines in measured.values() for file in lines})
    chosen = {file: suite(file, measured) for file in files}
    write(chosen)
    for file, tests in chosen.items():
        print(f"{file}: {len(tests)} tests, {sum(measured[test][0] for test in tests):.1f} s")


if __name__ == "__main__":
    main()
