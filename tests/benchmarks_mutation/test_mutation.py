"""The changes that mutation testing makes, and that it tells good code from bad."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import mutation
import mutation_tests
import pytest
from mutant_code import within_functions
from mutant_trial import Verdict
from mutants import Mutant, mutants

BENCHMARKS = Path(mutation.__file__).parent


def changes(source: str, operator: str) -> set[tuple[str, str]]:
    """Pairs of an original and a mutated line that some seed draws."""
    drawn = [mutant for seed in range(40) for mutant in mutants({"file.py": dedent(source)}, seed=seed)]
    for mutant in drawn:
        compile(mutant.source, "file.py", "exec")
    return {(mutant.original, mutant.mutated) for mutant in drawn if mutant.operator == operator}


def after(line: str, operator: str, returns: str = "str") -> set[str]:
    """What the line of a function can become."""
    source = f"def f(a, b, n: int = n) -> {returns}:\n    for _ in n:\n        {line}\n"
    return {mutated for original, mutated in changes(source, operator) if original == line}


@pytest.mark.parametrize(
    ("line", "operator", "expected"),
    [
        ("a = b < n", "comparison", {"a = (b <= n)", "a = (b >= n)"}),
        ("a = b is n", "comparison", {"a = (b is not n)"}),
        (
            "a = 0 <= b < n",
            "comparison",
            {f"a = (0 {x} b {y} n)" for x, y in ("<<", "><")} | {"a = (0 <= b <= n)", "a = (0 <= b >= n)"},
        ),
        ("a = b - n", "arithmetic", {"a = (b + n)"}),
        ("a = n - b * n", "arithmetic", {"a = (n + b * n)", "a = n - (b / n)"}),
        ("a = b @ n", "arithmetic", {"a = (b * n)"}),
        ("a = -b", "arithmetic", {"a = b"}),
        ("a += b", "arithmetic", {"a -= b"}),
        ("a = b and n", "boolean", {"a = (b or n)"}),
        ("a = not b", "boolean", {"a = b"}),
        ("a = b & n", "boolean", {"a = (b | n)"}),
        ("a = b if n else a", "boolean", {"a = b if (not n) else a"}),
        ("a = [x for x in b if x]", "boolean", {"a = [x for x in b if (not x)]"}),
        ("a = 3", "constant", {"a = 4", "a = 2", "a = 6", "a = (-3)"}),
        ("a = 0.0", "constant", {"a = 1.0", "a = (-1.0)"}),
        ("a = True", "constant", {"a = False"}),
        ("a = b.sum(axis=0)", "axis", {"a = b.sum(axis=1)"}),
        ("a = b.sum(axis=-1)", "axis", {"a = b.sum(axis=0)"}),
        ("a = min(b, n)", "extremum", {"a = max(b, n)"}),
        ("a = b.argmax()", "extremum", {"a = b.argmin()"}),
        ("a = b[n:]", "slice", {"a = b[(n + 1):]", "a = b[(n - 1):]"}),
        ("a = b[:, :n]", "slice", {"a = b[:, :(n + 1)]", "a = b[:, :(n - 1)]"}),
        ("a.b = n", "removal", {"pass"}),
        ("a[n] = b", "removal", {"pass"}),
        ("a += b", "removal", {"pass"}),
        ("a.append(n)", "removal", {"pass"}),
        ("raise ValueError(1 + n)", "removal", {"pass"}),
    ],
)
def test_each_kind_of_change(line: str, operator: str, expected: set[str]) -> None:
    assert after(line, operator) == expected


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        ("bool", {"return not b"}),
        ("float", {"return b + 1", "return -b"}),
        ("Array", {"return b + 1", "return -b"}),
        ("list[int]", {"return None"}),
        ("str", set()),
    ],
)
def test_what_is_returned_changes_as_its_type_allows(returns: str, expected: set[str]) -> None:
    assert after("return b", "return", returns) == expected


def test_what_does_nothing_or_is_only_shown_is_left_alone() -> None:
    source = '''
        """Text, 1."""
        from a import b
        __all__ = ["a"] + ["b"]
        Kind: TypeAlias = "1 | 2"
        if TYPE_CHECKING:
            LIMIT = 3
        @decorated(order=True)
        class A:
            __slots__ = ("a",) + ("b",)
            def __repr__(self) -> int:
                return 1 + 2
            def f(self, x: Literal[1]) -> Literal[2]:
                """Return 2 + 2."""
                assert x > 1
                isinstance(x, int | np.integer)
                zip(x, x, strict=True)
                raise ValueError(f"{x + 1}" + "more" if x > 2 else "less")
    '''
    found = mutants({"file.py": dedent(source)})
    assert {(mutant.function, mutant.original, mutant.mutated) for mutant in found} == {
        ("A.f", "isinstance(x, int | np.integer)", "pass"),
        ("A.f", "zip(x, x, strict=True)", "pass"),
        ("A.f", 'raise ValueError(f"{x + 1}" + "more" if x > 2 else "less")', "pass"),
    }


def test_the_draw_is_seeded_and_does_not_care_about_text_above() -> None:
    source = "def f(a: int) -> int:\n    b = a + 1\n    return a * b - 2 if a > 3 else a\n"
    keys = [
        [mutant.key for mutant in mutants({"f.py": text}, 5, seed=1)] for text in (source, f'"""More."""\n\n{source}')
    ]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 5
    assert keys[0] != [mutant.key for mutant in mutants({"f.py": source}, 5, seed=2)]


def test_equal_lines_are_told_apart() -> None:
    found = mutants({"f.py": "a = [b + 1]\na = [b + 1]\n"})
    assert len({mutant.key for mutant in found}) == len(found) == 4
    assert sorted(mutant.line for mutant in found) == [1, 1, 2, 2]


def test_three_changes_are_judged_and_nothing_is_kept() -> None:
    before = mutation.ROWS.read_text()
    command = [sys.executable, str(BENCHMARKS / "mutation.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert "\n| all | 3 | " in out.stdout
    assert mutation.ROWS.read_text() == before


def test_a_wrong_formula_a_hang_and_a_broken_module_are_killed_and_the_code_as_it_is_survives() -> None:
    file = "src/quadrat/confidence/averages.py"
    program = f"""
import sys
sys.path.insert(0, {str(BENCHMARKS)!r})
import mutant_code, mutant_trial, mutation, mutation_tests
mutant_trial.CPU_LIMIT = 2
text = mutation.sources()[{file!r}]
texts = [
    text,
    text.replace("np.sqrt(", "np.square("),
    text.replace("    as_probability(delta)", "    while True: pass"),
    text + "# a comment",
    text + "average_half_width = max\\n",
    text + "import nowhere\\n",
]
assert len(set(texts)) == len(texts)
found = {{}}
mutant_trial.judge([mutant_code.Text({file!r}, each) for each in texts], mutation_tests.suites(), found.__setitem__)
print(*[found[i].outcome for i in range(len(texts))])
print(found[1].by)
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    lines = [line for line in out.stdout.splitlines() if line]
    assert lines[0].split() == ["survived", "killed", "timeout", "survived", "killed", "killed"], (
        out.stdout + out.stderr
    )
    assert lines[1].startswith("tests/confidence/test_averages.py::test_")


def test_what_is_only_in_functions_is_told_from_what_an_import_does() -> None:
    text = "A = 1\ndef f(x=2):\n    y = 3\n    return [y for _ in x]\nclass C:\n    b: int = 4\n    def g(self): 5\n"
    found = {digit: within_functions(text, text.replace(digit, "9")) for digit in "12345"}
    assert found == {"1": False, "2": False, "3": True, "4": False, "5": True}
    assert not within_functions(text, text + "A += 1\n")


def test_suites_are_chosen_for_reach_then_name_then_speed() -> None:
    file = "src/quadrat/gp/fit.py"
    measured: dict[str, tuple[float, dict[str, list[int]]]] = {
        "tests/gp/test_fit.py::slow": (0.5 * mutation_tests.BUDGET, {file: [1]}),
        "tests/other.py::far": (0.3 * mutation_tests.BUDGET, {file: [1, 2, 3]}),
        "tests/other.py::quick": (0.1, {file: [1]}),
        "tests/other.py::slower": (0.4 * mutation_tests.BUDGET, {file: [2]}),
        "tests/other.py::too_long": (4.5, {file: [4]}),
        "tests/other.py::elsewhere": (0.1, {"src/quadrat/gp/sketch.py": [1]}),
    }
    assert mutation_tests.suite(file, measured) == [
        "tests/gp/test_fit.py::slow",
        "tests/other.py::far",
        "tests/other.py::quick",
    ]


def test_at_least_85_percent_are_killed_and_every_survivor_is_explained() -> None:
    """Of 300 seeded changes; the record is checked, `make mutation` makes it."""
    kept = mutation.read_rows()
    rows = [row for row in kept if row["operator"] != mutation.UNCHANGED]
    assert {row["file"] for row in kept if row["operator"] == mutation.UNCHANGED} == {row["file"] for row in rows}
    assert max(row["seconds"] for row in kept if row["operator"] == mutation.UNCHANGED) < 10
    assert len(rows) == mutation.NUMBER == 300
    survivors = [row for row in rows if row["outcome"] == "survived"]
    assert len(survivors) <= 0.15 * len(rows)
    reasons = mutation.explanations()
    assert {(row["file"], row["function"], row["mutated"]) for row in survivors} == set(reasons)
    assert all(len(why) > 20 for why in reasons.values())
    assert mutation.tables(rows) in (mutation.ROWS.with_suffix(".md")).read_text()


def test_cases_of_a_test_are_put_together() -> None:
    cases: mutation_tests.Measured = {
        "a.py::t[1-x]": (0.25, {"f": [1, 2], "g": [7]}),
        "a.py::t[2]": (0.5, {"f": [2, 3]}),
        "a.py::u": (1.0, {"f": [9]}),
    }
    assert mutation_tests.by_function(cases) == {
        "a.py::t": (0.75, {"f": [1, 2, 3], "g": [7]}),
        "a.py::u": (1.0, {"f": [9]}),
    }


def test_suites_are_kept_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"src/a.py": ["tests/a.py::one", "tests/a.py::two", "tests/b.py::C::three"], "src/b.py": []}
    monkeypatch.setattr(mutation_tests, "CHOSEN", tmp_path / "kept.json")
    mutation_tests.write(chosen)
    assert mutation_tests.suites() == chosen


def test_rows_name_their_mutants() -> None:
    mutant = Mutant("src/quadrat/gp/fit.py", "f", "constant", "a = 1", "a = 2", "a = 2\n", 1, 0)
    row = mutation.row_of(mutant, Verdict("killed", 0.5, "tests/gp/test_fit.py::test"))
    assert mutation.key_of(json.loads(json.dumps(row))) == mutant.key
