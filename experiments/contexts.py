"""Does it pay to know the context? Contextual regret, and certificates in every context.

    python experiments/contexts.py [--smoke] [--runs 20] [--workers 2] [--report]

Four contexts, z = 1/8, 3/8, 5/8, 7/8; one is drawn uniformly for each of n = 200 rounds, the same for all methods, as
is the noise of each round, normal with sigma = .1. Problems:

- rkhs: a function of norm exactly 4 of the RKHS of a Matérn 5/2 kernel on two actions (length-scale .3) and a context
  (length-scale .5), another one for each seed: kernels at ten random actions with normal weights w in the first
  context, and at the same actions with weights (v - 3w)/4, v normal, in the last. What an action does mostly
  turns around.
- branin: Branin's function, standardised, with its second axis as the context.

Methods, each in three forms that differ in nothing else: with the context, without knowing it (actions alone), and as
four separate searches, one for each context.

- CGP-UCB with its defaults: kernels learned.
- LP-GP-UCB, k = 0, delta = .05, with a Matérn 5/2 kernel stated. On rkhs, kernel and B = 4 are those of f. On branin
  nobody knows them; stated are length-scales .3 and 1.5 and B = 24 (an interpolant at 1,024 points has norm 22.3).

Regret is r_t = max_x f(x, z_t) - f(x_t, z_t), averaged over the rounds so far. At the checkpoints, LP-GP-UCB with
contexts certifies what it recommends in each of the four; a run holds when all of these are at least the true regret of
the point, and the data do not reject the assumptions. Finished runs are kept as JSON lines in
experiments/results/contexts.jsonl and not run again; --report prints the tables from that file alone.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from functools import cache
from itertools import product
from math import isfinite

import numpy as np
from contextual_problems import ContextualProblem, ContextualTrace
from paired import difference, pairs_of, ratio, words

import problems
import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.confidence import Certificate
from quadrat.methods import LPGPUCB
from quadrat.methods.base import Axis, Domain, Method, Observation, Search
from quadrat.methods.ucb.cgp_ucb import CGPUCB
from quadrat.problems import RKHSFunction
from quadrat.randomness import generator

CONTEXTS = (0.125, 0.375, 0.625, 0.875)
NOISE, DELTA = 0.1, 0.05
METHODS, FORMS, PROBLEMS = ("CGP-UCB", "LP-GP-UCB"), ("contexts", "ignored", "separate"), ("rkhs", "branin")
CHECKPOINTS = (25, 50, 100, 200)
ACTIONS = {"rkhs": (0.3, 0.3), "branin": (0.3,)}  # length-scales that are stated, and those of the context
CONTEXT = {"rkhs": 0.5, "branin": 1.5}
NORM = {"rkhs": 4.0, "branin": 24.0}
CENTRES = 10
_FUNCTION, _ROUNDS, _NOISE = 40, 41, 42  # names of streams


@cache
def problem_of(name: str, seed: int) -> ContextualProblem:
    """The problem of a seed; its context is its last axis."""
    if name == "branin":
        return ContextualProblem(problems.get("branin2"), (1,))
    kernel, rng = qd.Matern(2.5, [*ACTIONS[name], CONTEXT[name]]), generator(seed, _FUNCTION)
    actions, first, other = rng.random((CENTRES, 2)), rng.standard_normal(CENTRES), rng.standard_normal(CENTRES)
    ends = [np.column_stack([actions, np.full(CENTRES, z)]) for z in (CONTEXTS[0], CONTEXTS[-1])]
    f = RKHSFunction(kernel, np.vstack(ends), np.append(first, (other - 3 * first) / 4))
    scaled = RKHSFunction(kernel, f.centres, f.weights * (NORM[name] / f.norm))
    return ContextualProblem(problems.from_rkhs(scaled), (2,))


def method_of(method: str, problem: str, form: str, n: int) -> Method:
    """The method that is to see actions and contexts together, or actions alone."""
    if method == "CGP-UCB":
        return CGPUCB(noise=NOISE)
    scales = [*ACTIONS[problem], *([CONTEXT[problem]] if form == "contexts" else [])]
    # f(., z) has norm at most B for the kernel on actions alone: what separate searches assume is true.
    budget = n // len(CONTEXTS) if form == "separate" else n
    return LPGPUCB(
        kernel=qd.Matern(2.5, scales),
        norm_bound=NORM[problem],
        noise=NOISE,
        budget=max(budget, 1),
        degree=0,
        delta=DELTA,
    )


class Player:
    """Searches that play the rounds of one run: one for all contexts, or one for each."""

    def __init__(self, method: str, problem: str, form: str, seed: int, n: int) -> None:
        self.form = form
        self.actions = len(ACTIONS[problem])
        chosen = method_of(method, problem, form, n)
        if form == "contexts":
            domain = Domain((Axis(),) * (self.actions + 1), context=(self.actions,))
            self.searches: list[Search] = [chosen.start(domain, seed)]
        else:
            count = len(CONTEXTS) if form == "separate" else 1
            self.searches = [chosen.start(Domain.cube(self.actions), seed * 10 + i) for i in range(count)]

    def at(self, z: int) -> Array:
        """The context number z as searches see it."""
        return np.append(np.full(self.actions, np.nan), CONTEXTS[z])

    def ask(self, i: int, z: int) -> Array:
        """Return the point of round i in context number z, shape (D,)."""
        search = self.searches[z if self.form == "separate" else 0]
        if self.form == "contexts":
            return search.ask(i, np.empty((0, self.actions + 1)), self.at(z)).x
        return np.append(search.ask(i, np.empty((0, self.actions))).x, CONTEXTS[z])

    def tell(self, i: int, z: int, x: Array, y: float) -> None:
        """Take in y, observed at x, shape (D,)."""
        search = self.searches[z if self.form == "separate" else 0]
        search.tell(Observation(i, x if self.form == "contexts" else x[: self.actions], np.array([y])))


def run(method: str, form: str, problem: str, seed: int, n: int) -> Row:
    """One whole run; function, contexts and noise of a seed are the same for all methods."""
    f = problem_of(problem, seed)
    rounds = generator(seed, _ROUNDS).integers(len(CONTEXTS), size=n)
    noise = NOISE * generator(seed, _NOISE).standard_normal(n)
    player = Player(method, problem, form, seed, n)
    points: list[Array] = []
    certificates: list[list[float | None]] = []
    held, rejected = True, False
    for i, z in enumerate(rounds.tolist()):
        x = player.ask(i, z)
        points.append(x)
        player.tell(i, z, x, float(f.problem.values(x[None])[0] + noise[i]))
        if method == "LP-GP-UCB" and form == "contexts" and (i + 1 in CHECKPOINTS or i + 1 == n):
            here: list[float | None] = []
            for j in range(len(CONTEXTS)):
                got = player.searches[0].certificate(player.searches[0].recommend(player.at(j)).x)
                assert isinstance(got, Certificate)
                rejected |= got.rejection is not None
                held &= bool(f.regrets(got.point)[0] <= got.value)
                here.append(round(got.value, 5) if isfinite(got.value) else None)
            certificates.append(here)
    average = ContextualTrace.of(f, np.array(points)).average
    at = [t for t in CHECKPOINTS if t < n] + [n]
    return {
        "at": at, "averages": [float(f"{average[t - 1]:.6g}") for t in at], "average": float(f"{average[-1]:.6g}"),
        "held": held, "rejected": rejected, "certificates": certificates,
    }  # fmt: skip


def report(rows: list[Row]) -> str:
    """Markdown tables: average regret over rounds; what the context is worth; whether certificates held."""
    parts = [_regrets(rows), _worth(rows), _certificates(rows)]
    return "\n\n".join(part for part in parts if part)


def _of(rows: list[Row], method: str, form: str, problem: str) -> list[Row]:
    return [row for row in rows if (row["method"], row["form"], row["problem"]) == (method, form, problem)]


def _regrets(rows: list[Row]) -> str:
    ns = sorted({n for row in rows for n in _list(row["at"])})
    lines = [
        "| problem | method | form | runs | " + " | ".join(f"n = {n}" for n in ns) + " |",
        "|---|---|---|---|" + "---|" * len(ns),
    ]
    for problem, method, form in product(PROBLEMS, METHODS, FORMS):
        group = _of(rows, method, form, problem)
        if group:
            means = [
                np.mean([_list(row["averages"])[_list(row["at"]).index(n)] for row in group if n in _list(row["at"])])
                for n in ns
            ]
            shown = " | ".join(f"{mean:.3f}" for mean in means)
            lines.append(f"| {problem} | {method} | {form} | {len(group)} | {shown} |")
    return "\n".join(lines)


def _worth(rows: list[Row]) -> str:
    """Average regret with contexts against the two forms without, paired by seed."""
    lines = [
        "| problem | method | against | seeds | ratio of average regrets | difference | lower in |",
        "|---|---|---|---|---|---|---|",
    ]
    for problem, method, other in product(PROBLEMS, METHODS, FORMS[1:]):
        some = [row for row in rows if row["problem"] == problem]
        pairs = pairs_of(some, "average", {"method": method, "form": "contexts"}, {"method": method, "form": other})
        if pairs:
            first, second = (np.array(side) for side in pairs[0])
            worth = f"{words(ratio(pairs))} | {words(difference(pairs), 3)} | {np.mean(first < second):.0%}"
            lines.append(f"| {problem} | {method} | {other} | {len(first)} | {worth} |")
    return "\n".join(lines)


def _certificates(rows: list[Row]) -> str:
    lines = ["| problem | runs | held in all contexts | rejected | median certificate |", "|---|---|---|---|---|"]
    for problem in PROBLEMS:
        group = _of(rows, "LP-GP-UCB", "contexts", problem)
        if group:
            at = _list(group[0]["at"])
            medians = []
            for k, n in enumerate(at):
                values = [v for row in group for v in _list(_list(row["certificates"])[k]) if v is not None]
                medians.append(f"{np.median(values):.3f} (n = {n})" if values else f"none (n = {n})")
            held, rejected = (sum(bool(row[key]) for row in group) for key in ("held", "rejected"))
            lines.append(f"| {problem} | {len(group)} | {held} | {rejected} | {', '.join(medians)} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def _list(value: object) -> list:  # type: ignore[type-arg]  # from JSON
    assert isinstance(value, list)
    return value


def cells(runs: int, n: int = CHECKPOINTS[-1]) -> list[Cell]:
    """The grid."""
    return [
        {"method": method, "form": form, "problem": problem, "seed": seed, "n": n}
        for seed, problem, method, form in product(range(runs), PROBLEMS, METHODS, FORMS)
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        rows = run_here(run, cells(1, 12))
    elif chosen.report:
        rows = finished("contexts")
    else:
        rows = complete("contexts", run, cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
