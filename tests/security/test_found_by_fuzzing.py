"""What fuzzing found, each kept as a test: once it was a traceback, a hang or a message of megabytes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.security.captured import run_command
from tests.security.study_example import quiet, write_study

from quadrat.errors import InvalidInput
from quadrat.methods.registry import read_method
from quadrat.space import Categorical, Space
from quadrat.studies import open_storage
from quadrat.studies.journal import journal_storage

FLOAT = {"type": "float", "low": 0, "high": 1}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.json", '{"x": ' + "[" * 30_000 + "]" * 30_000 + "}"),
        ("deep.toml", "x = " + "[" * 30_000 + "]" * 30_000),
        ("long.json", '{"x": {"type": "float", "low": ' + "9" * 6000 + ', "high": 1}}'),
        ("long.toml", '[x]\ntype = "float"\nlow = ' + "9" * 6000 + "\nhigh = 1\n"),
        ("hexadecimal.toml", '[x]\ntype = "float"\nlow = 0x' + "f" * 6000 + "\nhigh = 1\n"),
        ("type.toml", "[x]\ntype = 0x" + "f" * 6000),
    ],
)
def test_numbers_and_nesting_that_python_gives_up_on(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InvalidInput, match=rf"{name}: .*expected") as raised:
        Space.from_file(path)
    assert len(str(raised.value)) < 4000


@pytest.mark.parametrize(
    "tables",
    [
        {"x" * 10_000_000: {"type": "nothing"}},
        {"x": {"type": "y" * 10_000_000}},
        {"x": {**FLOAT, "z" * 10_000_000: 1}},
        {"x": {"type": "float", "low": "1" * 10_000_000, "high": 1}},
        {"x": ["a" * 10_000_000]},
        {"x": {**FLOAT, "when": {"p" * 10_000_000: [[1]]}}},
    ],
)
def test_messages_about_long_texts_are_short(tables: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"expected|unknown") as raised:
        Space.from_dict(tables)
    assert len(str(raised.value)) < 4000


def test_long_texts_may_be_choices() -> None:
    long = "a prompt " * 1_000_000
    assert Space(x=Categorical([long, "short"])).from_unit([0.0]) == {"x": long}


def test_many_choices_take_no_longer_than_their_number() -> None:
    """300,000 choices took the square of that."""
    assert len(Categorical(range(300_000)).choices) == 300_000
    with pytest.raises(InvalidInput, match=r"got 0 and 0\.0, which are equal"):
        Categorical([*range(300_000), 0.0])


def test_a_key_that_is_repeated_among_many_is_found(tmp_path: Path) -> None:
    path = tmp_path / "space.json"
    keys = [*(f"k{i}" for i in range(100_000)), "k99999"]
    path.write_text("{" + ",".join(f'"{key}": 1' for key in keys) + "}")
    with pytest.raises(InvalidInput, match="expected each key once, got 'k99999' more than once"):
        Space.from_file(path)


@pytest.mark.parametrize("closed", [False, True])
def test_chains_of_conditions_are_longer_than_python_calls_functions(closed: bool) -> None:
    names = [f"p{i}" for i in range(3000)]
    tables: dict[str, dict[str, Any]] = {name: {"type": "int", "low": 0, "high": 1} for name in names}
    for child, parent in zip(names, names[1:] + names[:closed], strict=False):
        tables[child]["when"] = {parent: 1}
    if not closed:
        assert set(Space.from_dict(tables).from_unit([0.0] * 3000)) == {"p2999"}
        return
    with pytest.raises(InvalidInput, match="without a cycle, got p0 -> p1"):
        Space.from_dict(tables)


def test_a_null_character_in_a_path() -> None:
    with pytest.raises(InvalidInput, match="expected a file to read the space from"):
        Space.from_file("a\0b")


@pytest.mark.parametrize(
    "text", ["Auto(" * 3000, "Auto(n_initial=0x" + "f" * 6000 + "+1)", "GPUCB(n_initial=1if 1else 2)"]
)
def test_texts_of_methods_that_python_gives_up_on(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^method: expected"):
        read_method(text)


@pytest.mark.parametrize(
    "change",
    [
        {"op_code": 77},
        {"user_attr": {}},
        {"user_attr": {"a": 1, "b": 2}},
        {"param_value_internal": 10**30},
        {"distribution": "{}"},
    ],
)
def test_records_that_optuna_does_not_expect(change: dict[str, Any], tmp_path: Path) -> None:
    journal = tmp_path / "study.journal"
    write_study(journal, finished=1)
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    fitting = [one for one in records if set(change) <= set(one)]
    fitting[-1].update(change)
    journal.write_text("".join(json.dumps(record) + "\n" for record in records))
    before = journal.read_bytes()
    with pytest.raises(InvalidInput, match=r"expected a journal file, got .*which cannot be read as one"):
        open_storage(str(journal))
    assert journal.read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "--storage", "LONG"],
        ["ask", "--space", "LONG", "--storage", "none.journal"],
        ["tune", "LONG.py:f"],
        ["tune", "math:LONG"],
        ["rates", "--dimension", "2", "--kernel", "LONG"],
        ["rates", "--dimension", "LONG"],
        ["LONG"],
    ],
)
def test_an_error_takes_one_line_that_somebody_reads(arguments: list[str]) -> None:
    said = run_command([text.replace("LONG", "\x1b[2J" + "x" * 100_000) for text in arguments])
    assert said.status == 2
    assert said.err.count("\n") == 1
    assert len(said.err) < 1500
    assert "\x1b" not in said.err


@pytest.mark.parametrize(
    "chosen", [5, True, [1], {"a": 1}, "[" * 100_000, "[1]", '{"x": "text", "kind": NaN, "n": 1e400}', "9" * 5000]
)
def test_a_choice_that_is_no_choice(chosen: Any, tmp_path: Path) -> None:
    path = tmp_path / "study.journal"
    write_study(path)
    storage = journal_storage(path)
    [study] = storage.get_all_studies()
    running = storage.get_all_trials(study._study_id, states=(TrialState.RUNNING,))
    for trial in running:
        storage.set_trial_system_attr(trial._trial_id, "quadrat:params:0", chosen)
    for command in (["show"], ["show", "--json"], ["ask"], ["export"]):
        said = run_command([*command, "--storage", str(path)])
        assert (said.status, said.err) == (0, ""), said.err


@pytest.mark.parametrize("pid", ["self/../../etc", "1", None, [1], True, {"a": 1}])
def test_a_lease_that_names_no_process(pid: Any, tmp_path: Path) -> None:
    """The number of a process becomes a part of a path, which is read."""
    path = tmp_path / "study.journal"
    write_study(path)
    storage = journal_storage(path)
    [study] = storage.get_all_studies()
    (tmp_path / "objective.py").write_text("def score(params):\n    return 1.0\n")
    for lease in ({"owner": "another", "pid": pid}, pid if pid is not None else [], "text"):
        storage.set_study_user_attr(study._study_id, "quadrat:coordinator", lease)
        for command in (["ask"], ["tune", f"{tmp_path}/objective.py:score", "-n", "6"]):
            said = run_command([*command, "--storage", str(path)])
            assert said.status == 2
            assert "expected the number of the process that tunes it" in said.err
            assert said.err.count("\n") == 1
        assert run_command(["show", "--storage", str(path)]).status == 0


@pytest.mark.parametrize("text", ["x" * 131_073 + ",value\n1,2\n", "x,value\n" + "1" * 131_073 + ",2\n"])
def test_a_cell_longer_than_cells_are(text: str, tmp_path: Path) -> None:
    write_study(tmp_path / "study.journal")
    (tmp_path / "long.csv").write_text(text)
    said = run_command(["tell", "--csv", str(tmp_path / "long.csv"), "--storage", str(tmp_path / "study.journal")])
    assert said.status == 2
    assert "expected CSV, got: field larger than field limit" in said.err
    assert said.err.count("\n") == 1


def test_a_standard_error_of_many_digits(tmp_path: Path) -> None:
    path = tmp_path / "study.journal"
    at = {"x": optuna.distributions.FloatDistribution(-1, 1)}
    with quiet():
        study = optuna.create_study(storage=journal_storage(path))
        trial = optuna.trial.create_trial(
            value=1.0, params={"x": 0.5}, distributions={**at}, user_attrs={"quadrat:sem": 10**100}
        )
        study.add_trial(trial)
    assert "1 ± 1e+100" in run_command(["show", "--storage", str(path)]).out


def test_the_best_of_two_objectives(tmp_path: Path) -> None:
    path = tmp_path / "study.journal"
    with quiet():
        study = optuna.create_study(storage=journal_storage(path), directions=["minimize", "minimize"])
        study.add_trial(optuna.trial.create_trial(values=[1.0, 2.0]))
    said = run_command(["best", "--storage", str(path)])
    assert (said.status, said.out) == (2, "")
    assert "expected one objective, got 2" in said.err


def test_a_space_that_is_not_the_one_of_the_trials(tmp_path: Path) -> None:
    path = tmp_path / "study.journal"
    write_study(path)
    storage = journal_storage(path)
    [study] = storage.get_all_studies()
    storage.set_study_user_attr(study._study_id, "quadrat:space", Space(x=Categorical(["a", "b"])).to_dict())
    before = path.read_bytes()
    said = run_command(["ask", "--storage", str(path)])
    assert said.status == 2
    assert "expected parameters as in the trials of the study 'bowl'" in said.err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "method", ["GPUCB(kernel=" + "9" * 5000 + ")", "LP0(budget=" + "(" * 5000, 5, ["Auto"], {}, True]
)
def test_a_method_that_is_none(method: Any, tmp_path: Path) -> None:
    path = tmp_path / "study.journal"
    write_study(path)
    storage = journal_storage(path)
    [study] = storage.get_all_studies()
    storage.set_study_user_attr(study._study_id, "quadrat:method", method)
    (tmp_path / "objective.py").write_text("def score(params):\n    return 1.0\n")
    for command in (["show"], ["best"], ["ask"], ["tune", f"{tmp_path}/objective.py:score", "-n", "6"], ["export"]):
        said = run_command([*command, "--storage", str(path)])
        assert "Traceback" not in said.err
        assert said.status == 0 or (said.status, said.err.count("\n")) == (2, 1), (command, said)
