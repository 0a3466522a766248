"""The support matrix: what works together, and what is refused in which words.

    python tests/support/matrix.py --write

writes docs/support.md anew from what happens; `tests/support/test_matrix.py` asserts that every cell is as expected
there, and that the page is as it would be written. A cell is checked by using the software: it works and gives what it
should, or it refuses in one sentence, which the page shows.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import optuna

import quadrat as qd
from quadrat.cli import main
from quadrat.report import report_html

__all__ = ["COLUMNS", "PAGE", "ROWS", "Cell", "Row", "cell", "escaped", "page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "support.md"
N = 12  # trials of a run

COLUMNS = {
    "ask": "`ask`: the next trial",
    "recommend": "`recommend`: a complete setting that was evaluated, or can be",
    "interval": "an interval for its value",
    "gain": "an upper value of what could still be gained",
    "stop": "`stop_at_gain`",
    "certificate": "a certificate from LPGPUCB with stated assumptions",
    "certify": "`certify` after the fact, with stated assumptions: `Optimizer.certify`, and `qd.certify(study)`",
    "predict": "`predict` at any setting",
    "report": "`report_html` and `quadrat report`",
    "sampler": "`QuadratSampler` in an Optuna study, and `qd.recommend(study)`",
    "CLI": "the command line: `quadrat tune`, or `ask` and `tell`",
}

# What it assumes is true of the objective of every row, whose norm is below 4 with this kernel.
SAFE = "Safe(threshold=0.6, safe=[{'x': 0.5, 'y': 0.5}], kernel=Matern(2.5, 1.0), norm_bound=4.0, noise=0.01)"


@dataclass(frozen=True)
class Cell:
    """What happened: it works, perhaps with another method than the default; or the sentence that refused it."""

    works: bool
    said: str = ""


def value(params: Mapping[str, Any]) -> float:
    """The objective of every row: at most 1, at x = .3."""
    bonus = {"a": 0.0, "b": -0.1, None: 0.0}[params.get("kind")]
    return 1.0 - (float(params["x"]) - 0.3) ** 2 - 0.2 * float(params.get("y", 0.5)) ** 2 + bonus


def noisy(params: Mapping[str, Any]) -> float:
    """The same with a little noise, which depends on the setting alone so that runs repeat."""
    return value(params) + 0.005 * math.sin(1e4 * float(params["x"]))


PLAIN = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1))
CERTIFYING = qd.LPGPUCB(kernel=qd.Matern(2.5, 1.0), norm_bound=4.0, noise=0.01, budget=40)
STATED = qd.RunAssumptions(kernel=qd.Matern(2.5, 1.0), lengthscales="unit cube", norm_bound=4.0, offset=0.0, noise=0.01)
SAID: dict[str, Any] = {"stated_before_data": True, "every_value_counts": True, "failures_ignore_noise": True}


@dataclass(frozen=True)
class Row:
    """A thing that users have, and how each column is tried with it.

    Attributes
    ----------
    name
        What it is called on the page.
    space
        What is searched.
    method
        None is the default method.
    outcome
        From parameters to what is told.
    context
        What is given with every ask; None where nothing is.
    earlier
        How many results are added before the first ask.
    batch
        How many trials are asked before the first of them is told.
    objective
        For studies: an objective of Optuna's; None asks for the parameters of the space.
    direction
        Of the optimizer.
    sampled
        What the sampler is given beside its seed.
    commands
        What is typed, where that is not `ask` and `tell` of every trial: from the folder to nothing.
    pruner, objectives
        Of the study: what prunes, and how many objectives it has.
    """

    name: str
    space: qd.Space = PLAIN
    method: Any = None
    outcome: Callable[[Mapping[str, Any]], Any] = noisy
    context: Mapping[str, Any] | None = None
    earlier: int = 0
    batch: int = 1
    objective: Callable[[optuna.Trial], Any] | None = None
    direction: Any = "maximize"
    sampled: Mapping[str, Any] = field(default_factory=dict)
    commands: Callable[[Path], None] | None = None
    pruner: Callable[[], optuna.pruners.BasePruner] | None = None
    objectives: int = 1

    # --- the run

    def begin(self, method: Any) -> qd.Optimizer:
        """Return an optimizer that was told N trials, or what it refuses."""
        optimizer = qd.Optimizer(self.space, direction=self.direction, method=method, seed=1)
        if self.earlier:
            rng = np.random.default_rng(0)
            params = [{"x": float(x), "y": float(y)} for x, y in rng.random((self.earlier, 2))]
            optimizer.add_trials(params, [self.outcome(one) for one in params])
        for _ in range(N // self.batch):
            trials = [optimizer.ask(context=self.context) for _ in range(self.batch)]
            for trial in reversed(trials):
                optimizer.tell(trial, self.outcome(trial.params))
        return optimizer

    @cached_property
    def optimizer(self) -> qd.Optimizer:
        """The told run."""
        return self.begin(self.method)

    def check_setting(self, params: Mapping[str, Any]) -> None:
        """See that a setting is complete and may be evaluated."""
        self.space.to_unit(params)
        assert self.space.feasible(params)

    # --- columns

    def ask(self) -> None:
        trial = self.optimizer.ask(context=self.context)
        self.check_setting(trial.params)
        for name, given in (self.context or {}).items():
            assert trial.params[name] == given
        self.optimizer.tell(trial, self.outcome(trial.params))

    def recommend(self) -> None:
        found = self.optimizer.recommend(self.context)
        self.check_setting(found.params)
        assert value(found.params) > 0.8, "the luckiest of random settings would do better"

    def interval(self) -> None:
        found = self.optimizer.recommend(self.context)
        assert found.credible_interval is not None
        low, high = found.credible_interval
        assert low <= found.value <= high
        assert low - 0.01 <= value(found.params) <= high + 0.01, "noise moves values by .005"

    def gain(self) -> None:
        found = self.optimizer.recommend(self.context)
        assert found.estimated_gain_upper is not None
        assert found.estimated_gain is not None
        assert 0 <= found.estimated_gain <= found.estimated_gain_upper
        best = max(value({**found.params, "x": x, "y": 0.0}) for x in np.linspace(0, 1, 101))
        assert best - value(found.params) <= found.estimated_gain_upper + 0.01

    def stop(self) -> None:
        search = qd.maximize if self.direction == "maximize" else qd.minimize
        run = search(self.outcome, self.space, n_trials=30, method=self.method, seed=1, stop_at_gain=5.0)
        assert "at most" in run.message, run.message
        assert run.n_trials < 30

    def certificate(self) -> None:
        optimizer = self.begin(CERTIFYING)
        report, found = optimizer.certificate(self.context), optimizer.recommend(self.context)
        if report.value is None:
            raise qd.NotAvailable(str(report.reason))
        assert report.params == found.params
        best = max(value({**found.params, "x": x, "y": 0.0}) for x in np.linspace(0, 1, 101))
        assert best - value(found.params) <= report.value

    def certify(self) -> None:
        optimizer = self.begin(self.method)
        self.check_certified(optimizer.certify(STATED, max_cells=256, **SAID))

    def check_certified(self, found: qd.Certification) -> None:
        """See that what is certified is true."""
        assert found.rejected is None
        assert found.recommended is not None
        low, high = found.recommended.certified_interval
        assert low <= value(found.recommended.params) <= high
        assert 1.0 - value(found.recommended.params) <= found.recommended.remaining_regret

    def predict(self) -> None:
        params = dict(self.optimizer.trials[0].params)
        [at] = self.optimizer.predict([params])
        assert at.credible_interval is not None
        assert at.credible_interval[0] <= at.value <= at.credible_interval[1]
        assert abs(at.value - value(params)) < 0.3

    def report(self) -> None:
        page = report_html(self.optimizer)
        assert page.startswith("<!doctype html>")
        assert "recommended" in page

    def sampler(self) -> None:
        study = self.study()
        found = qd.recommend(study, search_space=self.sampled.get("search_space"))
        complete = [trial for trial in study.trials if trial.state is optuna.trial.TrialState.COMPLETE]
        assert {*found.params} in [{*trial.params} for trial in complete], "a part of a setting is none"
        assert found.best_seen.params in [trial.params for trial in complete]

    def study(self) -> optuna.Study:
        """Return a study of this row that QuadratSampler ran."""
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = qd.QuadratSampler(seed=1, **self.sampled)
        pruner = None if self.pruner is None else self.pruner()
        directions = [self.direction] * self.objectives
        study = optuna.create_study(directions=directions, sampler=sampler, pruner=pruner)
        if self.batch > 1:
            for _ in range(N // self.batch):
                trials = [study.ask() for _ in range(self.batch)]
                for trial in trials:
                    study.tell(trial, self.outcome(qd.suggest(trial, self.space)))
            return study
        study.optimize(self.objective or self.suggested, n_trials=N, catch=(_Crash,))
        return study

    def suggested(self, trial: optuna.Trial) -> Any:
        """The objective of a study: the parameters of the space."""
        return self.outcome(qd.suggest(trial, self.space))

    def cli(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with _inside(folder):
                (folder / "space.json").write_text(json.dumps(self.space.to_dict()))
                if self.commands is not None:
                    self.commands(folder)
                    return
                typed("ask", "--space", "space.json", "--direction", self.direction, "-n", "1")
                typed("tell", "0", "0.5")
                for number in range(1, 4):
                    typed("ask")
                    typed("tell", str(number), str(0.5 + 0.1 * number))
                said = json.loads(typed("best", "--json"))
                self.check_setting(said["params"])


@dataclass(frozen=True)
class StudyRow(Row):
    """A thing that only studies of Optuna's have: answers are about the study."""

    @cached_property
    def ran(self) -> optuna.Study:
        """The study after N trials."""
        return self.study()

    @cached_property
    def found(self) -> qd.Recommendation:
        """What is recommended of it."""
        return qd.recommend(self.ran)

    def ask(self) -> None:
        trial = self.ran.ask()
        assert trial.number == N
        assert self.objective is not None
        self.objective(trial)
        assert trial.params

    def recommend(self) -> None:
        complete = [trial.params for trial in self.ran.trials if trial.state is optuna.trial.TrialState.COMPLETE]
        assert {*self.found.params} in [{*params} for params in complete]
        assert self.found.best_seen.params in complete

    def interval(self) -> None:
        assert self.found.credible_interval is not None
        low, high = self.found.credible_interval
        assert low - 0.01 <= value(self.found.params) <= high + 0.01

    def gain(self) -> None:
        assert self.found.estimated_gain_upper is not None
        assert 1 - value(self.found.params) <= self.found.estimated_gain_upper + 0.01

    def stop(self) -> None:
        qd.maximize(_pruning if self.pruner else self.objective, PLAIN, n_trials=N, stop_at_gain=5.0)  # type: ignore[arg-type]

    def certificate(self) -> None:
        qd.Optimizer(PLAIN, direction="maximize", method=CERTIFYING).add_trials(self.ran)

    def certify(self) -> None:
        self.check_certified(qd.certify(self.ran, STATED, max_cells=256, **SAID))

    def predict(self) -> None:
        optimizer = qd.Optimizer(PLAIN, direction="maximize")
        optimizer.add_trials(self.ran)
        complete = [trial for trial in self.ran.trials if trial.state is optuna.trial.TrialState.COMPLETE]
        assert len(optimizer.trials) == len(complete)
        [at] = optimizer.predict([complete[0].params])
        assert abs(at.value - value(complete[0].params)) < 0.1

    def report(self) -> None:
        page = report_html(self.ran)
        assert ("pruned" in page) == bool(self.pruner)


@dataclass(frozen=True)
class SafeRow(Row):
    """A search that never breaks a limit: what others estimate it certifies."""

    def begin(self, method: Any) -> qd.Optimizer:
        return super().begin(SAFE if method == self.method else method)

    def interval(self) -> None:
        found = self.optimizer.recommend()
        assert found.certified_interval is not None
        assert found.certified_interval[0] <= value(found.params) <= found.certified_interval[1]

    def gain(self) -> None:
        found, region = self.optimizer.recommend(), self.optimizer.safe_region()
        assert region.remaining is not None
        assert 1 - value(found.params) <= region.remaining

    def stop(self) -> None:
        qd.maximize(self.outcome, self.space, n_trials=30, method=SAFE, seed=1, stop_at_gain=5.0)

    def predict(self) -> None:
        params = dict(self.optimizer.trials[0].params)
        [at] = self.optimizer.predict([params])
        assert at.certified_interval is not None
        assert at.certified_interval[0] <= value(params) <= at.certified_interval[1]

    def sampler(self) -> None:
        super().sampler()
        assert all(value(trial.params) >= 0.6 for trial in self.study().trials)


def typed(*words: str) -> str:
    """Type a command; return what it prints, or raise what it refuses."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        status = main(list(words))
    if status:
        raise qd.InvalidInput(error.getvalue().removeprefix("quadrat: ").strip().splitlines()[0])
    return out.getvalue()


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class _Crash(RuntimeError):
    """What an objective that crashes raises."""


def cell(row: Row, column: str) -> Cell:
    """Try a cell.

    Raises
    ------
    AssertionError
        It answers, and the answer is wrong.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(row, column.lower())()
    except (qd.QuadratError, ValueError) as error:  # Optuna wants some of its own refusals as ValueError
        return Cell(False, " ".join(str(error).split()))
    return Cell(True, "" if column in ("certificate", "certify") else str(row.method or ""))


# --- the rows


def _conditional(trial: optuna.Trial) -> float:
    if trial.suggest_categorical("kind", ["a", "b"]) == "a":
        return noisy({"kind": "a", "x": trial.suggest_float("x", 0, 1)})
    return noisy({"kind": "b", "x": 0.5, "y": trial.suggest_float("y", 0, 1)})


def _curve(trial: optuna.Trial) -> float:
    params = {"x": trial.suggest_float("x", 0, 1), "y": trial.suggest_float("y", 0, 1)}
    for step in range(6):
        trial.report(noisy(params) - 0.5 * 0.5**step, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return noisy(params)


class EveryFourth(optuna.pruners.BasePruner):
    """Prunes the same trials whatever is suggested: the page says how many there were."""

    def prune(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> bool:  # noqa: ARG002 (Optuna's signature)
        return trial.number % 4 == 3


def _pruning(params: Mapping[str, Any]) -> float:
    raise optuna.TrialPruned


def _crashing(params: Mapping[str, Any]) -> Any:
    return qd.FAILED if params["x"] > 0.8 else noisy(params)


def _crashing_trial(trial: optuna.Trial) -> float:
    params = qd.suggest(trial, PLAIN)
    if params["x"] > 0.8:
        raise _Crash
    return noisy(params)


def _tuned(source: str, *words: str, space: bool = True, best: bool = True) -> Callable[[Path], None]:
    """Return what runs `quadrat tune` with an objective in a file."""

    def run(folder: Path) -> None:
        (folder / "objective.py").write_text(source)
        given = ("--space", "space.json") if space else ()
        typed("tune", "objective.py:f", *given, "--direction", "maximize", "-n", str(N), "--seed", "1", *words)
        if best:
            found = json.loads(typed("best", "--json"))
            assert 0 <= found["params"].get("x", found["params"].get("y")) <= 1
            assert found["credible_interval"] is not None

    return run


_VALUE = "1 - (p['x'] - .3) ** 2"


def _measured(folder: Path) -> None:
    source = f"import quadrat as qd\ndef f(p):\n    return qd.Measured({_VALUE}, {{'limit': p['x'] - .25}})\n"
    _tuned(source)(folder)
    found = json.loads(typed("best", "--json"))
    assert found["estimated_feasibility"] is not None


def _told_with(*words: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:  # it is the current one
        for number, told in enumerate(("0.5", "0.7", "0.6")):
            first = ("--space", "space.json", "--direction", "maximize") if number == 0 else ()
            typed("ask", *first)
            typed("tell", str(number), told, *words)
        assert json.loads(typed("best", "--json"))["credible_interval"] is not None

    return run


def _three_asked(folder: Path) -> None:
    typed("ask", "--space", "space.json", "--direction", "maximize", "-n", "3")
    for number in (2, 0, 1):
        typed("tell", str(number), str(0.5 + 0.1 * number))
    assert json.loads(typed("best", "--json"))["credible_interval"] is not None


def _many_rows(folder: Path) -> None:
    points = np.random.default_rng(0).random((300, 2)).tolist()
    rows = [f"{x!r},{y!r},{noisy({'x': x, 'y': y})!r}" for x, y in points]
    (folder / "old.csv").write_text("\n".join(["x,y,value", *rows]) + "\n")
    typed("tell", "--csv", "old.csv", "--space", "space.json", "--direction", "maximize")
    typed("ask")
    assert value(json.loads(typed("best", "--json"))["params"]) > 0.95


def _two_directions(folder: Path) -> None:
    (folder / "old.csv").write_text("x,y,value,cost\n.5,.5,1,2\n")
    both = ("--direction", "maximize", "--direction", "minimize", "--value", "value", "--value", "cost")
    typed("tell", "--csv", "old.csv", "--space", "space.json", *both)


def _context_file(folder: Path) -> None:
    typed("ask", "--space", "space.json", "--direction", "maximize")


DISC = PLAIN.subject_to(lambda p: (p["x"] - 0.5) ** 2 + (p["y"] - 0.5) ** 2 <= 0.16)
TREE = qd.Space(kind=qd.Categorical(["a", "b"]), x=qd.Float(0, 1), y=qd.Float(0, 1, when={"kind": "b"}))
GRID = qd.Space(
    x=qd.Float(0, 1, step=0.05), y=qd.Int(0, 2, step=2), kind=qd.Categorical(["a", None, "b"], ordered=True)
)
SITES = qd.Space(x=qd.Float(0, 1), y=qd.Context(qd.Float(0, 1)))
LEVELS = qd.Space(x=qd.Float(0, 1), level=qd.Fidelity([1, 5], cost=[1, 10]))

ROWS = {
    row.name: row
    for row in (
        Row("conditional parameters (`when=`)", TREE, sampled={"search_space": TREE}),
        StudyRow(
            "define-by-run: parameters that trials do not share",
            objective=_conditional,
            commands=_tuned(
                "def f(trial):\n"
                "    if trial.suggest_categorical('kind', ['a', 'b']) == 'a':\n"
                "        return trial.suggest_float('x', 0, 1)\n"
                "    return trial.suggest_float('y', 0, 1)\n",
                space=False,
            ),
        ),
        StudyRow(
            "pruned trials",
            objective=_curve,
            pruner=EveryFourth,
            commands=_tuned(
                "import optuna\n"
                "def f(trial):\n"
                "    x = trial.suggest_float('x', 0, 1)\n"
                "    trial.report(x, 0)\n"
                "    if trial.number % 4 == 3:\n"
                "        raise optuna.TrialPruned\n"
                "    return 1 - (x - .3) ** 2\n",
                space=False,
            ),
        ),
        Row("known constraints (`subject_to`)", DISC, sampled={"search_space": DISC}),
        Row(
            "measured constraints (`Measured`)",
            outcome=lambda p: qd.Measured(noisy(p), {"limit": p["x"] - 0.9}),
            objective=lambda trial: noisy(qd.suggest(trial, PLAIN)),
            sampled={"constraints_func": lambda trial: [trial.params["x"] - 0.9]},
            commands=_measured,
        ),
        Row(
            "failures (`FAILED`, NaN, exceptions)",
            outcome=_crashing,
            objective=_crashing_trial,
            commands=_tuned(f"def f(p):\n    if p['x'] > .8:\n        raise RuntimeError('no')\n    return {_VALUE}\n"),
        ),
        Row(
            "contexts (`Context`)",
            SITES,
            method="CGPUCB",
            context={"y": 0.25},
            sampled={"search_space": SITES},
            commands=_context_file,
        ),
        Row(
            "fidelities (`Fidelity`)",
            LEVELS,
            method="MFGPUCB",
            sampled={"search_space": LEVELS},
            commands=_context_file,
        ),
        Row(
            "means with standard errors (`Estimate`, `sem=`)",
            outcome=lambda p: qd.Estimate(noisy(p), 0.01),
            objective=lambda trial: _with_attribute(trial, "quadrat:sem", 0.01),
            commands=_told_with("--sem", "0.05"),
        ),
        Row(
            "replicates (lists)",
            outcome=lambda p: [noisy(p), noisy(p) + 0.004],
            objective=lambda trial: _with_attribute(trial, "quadrat:values", None),
            commands=_told_with("0.55"),
        ),
        Row("batches and pending trials", batch=3, commands=_three_asked),
        Row(
            "several objectives",
            outcome=lambda _: (0.5, 12.0),
            objective=lambda trial: (noisy(qd.suggest(trial, PLAIN)), 1.0),
            objectives=2,
            commands=_two_directions,
        ),
        Row("more than 256 trials", earlier=300, commands=_many_rows),
        SafeRow(
            "limits that no trial may break (`Safe`)",
            outcome=value,
            method="Safe",
            sampled={"search_space": PLAIN, "method": SAFE},
            commands=_tuned(f"def f(p):\n    return {_VALUE}\n", "--method", SAFE, best=False),
        ),
        Row("an objective without noise", outcome=value),
        Row("choices with an order, steps (`ordered=True`, `step=`)", GRID, sampled={"search_space": GRID}),
    )
}


def _with_attribute(trial: optuna.Trial, name: str, told: object) -> float:
    found = noisy(qd.suggest(trial, PLAIN))
    trial.set_user_attr(name, [found - 0.004, found + 0.004] if told is None else told)
    return found


# --- the page

_HEAD = """# What works together

Each cell of this table is tried by a test. "yes" means that it works with the default method, or with the method named
there, and gives a complete and true answer. A number means that it is refused: the sentence that users get stands
below the table. The table is written by `python tests/support/matrix.py --write`.
"""


def page(cells: Mapping[tuple[str, str], Cell]) -> str:
    """Return docs/support.md for these cells, by row and column."""
    notes: list[str] = []
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---|" + "---|" * len(COLUMNS)]
    for name in ROWS:
        shown = []
        for column in COLUMNS:
            found = cells[name, column]
            if found.works:
                shown.append(f"yes, {found.said}" if found.said else "yes")
                continue
            if found.said not in notes:
                notes.append(found.said)
            shown.append(f"no ({notes.index(found.said) + 1})")
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    columns = "\n".join(f"- **{column}**: {what}" for column, what in COLUMNS.items())
    refusals = "\n".join(f"{i}. {escaped(note)}" for i, note in enumerate(notes, start=1))
    table = "\n".join(lines)
    return f"{_HEAD}\n{table}\n\n## Columns\n\n{columns}\n\n## Refusals\n\n{refusals}\n"


def escaped(note: str) -> str:
    """Return a sentence as it stands in Markdown."""
    return note.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page({(name, column): cell(row, column) for name, row in ROWS.items() for column in COLUMNS}))
