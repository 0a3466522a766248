"""Safe search, measured: does it break a limit, how soon does it get where it can, and what if the truth is worse.

    python benchmarks/safe_search.py [--smoke] [--write] [--workers 1]

Functions have norm exactly 1 in the kernel that is assumed (`quadrat.problems.draw_rkhs_function`). The limit of the
objective is a quantile of its values on a grid, between the 10th and the 40th per cent; that of a constraint is 0, with
such a share of the grid below. One safe setting is stated, where the function clears the limit by at least .2.
Everything but "speed" runs through `Optimizer`, in a user's units: a linear and a logarithmic axis, both directions.

safety   1,000 runs over kernels, dimensions, noises and their laws, batches, and what has the limit: the objective, a
         measured constraint, or both. In a third of them the norm bound or sigma is stated twice as large as it is.
         Counted: runs with any evaluation at which a limit is broken.
speed    evaluations until the recommended point has made 95 % of the way from the stated setting to the best value
         within reach (the closure of the stated setting under g(x') - epsilon - omega(x - x') >= h, on a grid, epsilon
         = .1), for `Safe` and for SafeOpt's rule. SafeOpt's rule, as it is written here, has the same bands,
         candidates, test of safety and recommendation; it evaluates the least known of all safe points that may be
         better than the best guaranteed value or that could, by their upper bounds, certify a point that is not yet
         safe (Sui, Gotovos, Burdick and Krause 2015, equations 3 to 5).
wrong    the norm bound or sigma is stated as half of what it is: how often a limit is broken, how often the data reject
         the assumptions, and how many evaluations came after that (none, since the search stops).
fitted   `FittedSafe`, which is told no norm bound: the share of its evaluations that break a limit.

Runs are kept in benchmarks/results/safe_search.jsonl and not run again. --write updates
benchmarks/results/safe_search.md. Even seeds; choices were made on odd ones.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from regret.rows import Cell, Row, complete, read_rows, recorded, rounded, stamp

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.errors import NotAvailable
from quadrat.kernels import Kernel, Matern, RationalQuadratic, SquaredExponential
from quadrat.methods.base import Observation, Proposal
from quadrat.methods.safe.search import SafeSearch
from quadrat.optimizer.run import domain_of
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

RUNS, EACH, SPEEDS, SPEED_N, FITTED = 1000, 16, 40, 120, 6
DELTA, EPSILON, MARGIN, GAIN, SHARE = 0.05, 0.1, 0.2, 0.25, 0.95
LENGTHSCALES = {1: 0.2, 2: 0.4, 3: 0.7}
KERNELS: dict[str, Callable[[float], Kernel]] = {
    "Matérn 5/2": lambda scale: Matern(2.5, scale),
    "Matérn 3/2": lambda scale: Matern(1.5, scale),
    "squared exponential": SquaredExponential,
    "rational quadratic": lambda scale: RationalQuadratic(1.0, scale),
    "Matérn 1/2": lambda scale: Matern(0.5, 3 * scale),
}
LAWS = ("gaussian", "two-point", "uniform")
GUARDED = ("objective", "constraint", "both")
ROWS = ROOT / "benchmarks" / "results" / "safe_search.jsonl"
_PROBLEM, _NOISE, _ORDER = 61, 62, 63  # name streams
_GRID = {1: 401, 2: 31, 3: 11}


@dataclass(frozen=True)
class Setting:
    """What a run is about; norm and noise are what is true, and `times_norm` and `times_noise` what is stated of it."""

    kernel: str = "Matérn 5/2"
    dimension: int = 1
    noise: float = 0.1
    law: str = "gaussian"
    batch: int = 1
    guarded: str = "objective"
    times_norm: float = 1.0
    times_noise: float = 1.0
    n: int = 40

    @property
    def form(self) -> Kernel:
        """The kernel."""
        return KERNELS[self.kernel](LENGTHSCALES[self.dimension])


@dataclass(frozen=True)
class Problem:
    """An objective and a constraint, which holds where its function is >= 0, on the cube, and a safe point."""

    setting: Setting
    objective: RKHSFunction
    constraint: RKHSFunction | None
    limit: float | None  # of the objective
    start: Array
    first: float  # the objective at the start
    top: float  # the best value within reach

    def is_safe(self, x: Array) -> bool:
        """Whether no limit is broken at x, (D,)."""
        kept = self.limit is None or float(self.objective(x)) >= self.limit
        return kept and (self.constraint is None or float(self.constraint(x)) >= 0)


def draw(setting: Setting, seed: int) -> Problem:
    """Return a problem in which something better than the start is within reach."""
    rng, dimension = generator(seed, _PROBLEM), setting.dimension
    axis = np.linspace(0, 1, _GRID[dimension])
    grid = np.array(list(product(axis, repeat=dimension)))
    while True:
        objective = draw_rkhs_function(setting.form, dimension, rng=rng)
        values, guarded, constraint, limit = objective.values(grid), [], None, None
        if setting.guarded != "constraint":
            limit = float(np.quantile(values, rng.uniform(0.1, 0.4)))
            guarded.append((values, limit))
        if setting.guarded != "objective":
            constraint = draw_rkhs_function(setting.form, dimension, rng=rng)
            measured = constraint.values(grid)
            if not 0.1 <= np.mean(measured < 0) <= 0.4:
                continue
            guarded.append((measured, 0.0))
        clear = np.flatnonzero(np.all([g >= least + MARGIN for g, least in guarded], axis=0))
        if not len(clear):
            continue
        start = int(rng.choice(clear))
        within = reached(setting.form, grid, guarded, start)
        top = float(values[within].max())
        if top - values[start] >= GAIN:
            return Problem(setting, objective, constraint, limit, grid[start], float(values[start]), top)


def reached(kernel: Kernel, grid: Array, guarded: Sequence[tuple[Array, float]], start: int) -> Array:
    """Return which points of the grid, (p,), are in the closure of the start, for functions of norm 1."""
    found = np.zeros(len(grid), dtype=bool)
    by = np.zeros((len(guarded), len(grid)), dtype=bool)
    found[start] = True
    todo = [start]
    while todo:
        source = todo.pop()
        away = kernel.modulus(grid - grid[source])
        for row, (values, limit) in zip(by, guarded, strict=True):
            row |= values[source] - EPSILON - away >= limit
        new = by.all(axis=0) & ~found
        found |= new
        todo += np.flatnonzero(new).tolist()
    return found


def space_of(dimension: int) -> qd.Space:
    """Axes as users have them."""
    axes = {"a": qd.Float(-3, 7), "b": qd.Float(1e-3, 10, log=True), "c": qd.Float(0, 1)}
    return qd.Space(**{name: axes[name] for name in [*axes][:dimension]})


def on_cube(params: dict[str, float]) -> Array:
    """Where parameters lie on the cube: written out, and not asked of the space that is tested."""
    ways: dict[str, Callable[[float], float]] = {
        "a": lambda a: (a + 3) / 10,
        "b": lambda b: float(np.log(b) - np.log(1e-3)) / float(np.log(1e4)),
        "c": lambda c: c,
    }
    return np.clip([ways[name](value) for name, value in params.items()], 0.0, 1.0)


def method_of(problem: Problem, sign: float, kind: str = "safe") -> qd.Method:
    """Return what is stated, true or not; `sign` is -1 where the objective is minimised."""
    setting = problem.setting
    at = space_of(setting.dimension).from_unit(problem.start)
    norm, noise = setting.times_norm, setting.times_noise * setting.noise
    threshold = None if problem.limit is None else sign * problem.limit
    if kind == "fitted":
        names = () if problem.constraint is None else ("load",)
        return qd.FittedSafe(threshold=threshold, safe=[at], constraints=names)
    given = {} if problem.constraint is None else {"load": qd.Assumptions(setting.form, norm, noise)}
    return qd.Safe(
        threshold=threshold,
        safe=[at],
        kernel=setting.form,
        norm_bound=norm,
        noise=noise,
        constraints=given,
        delta=DELTA,
    )


def noise_of(setting: Setting, seed: int, number: int) -> Array:
    """Return the noise of the objective and of the constraint in one trial: sub-Gaussian, with the setting's sigma."""
    rng = generator(seed, number, _NOISE)
    if setting.law == "gaussian":
        return setting.noise * rng.standard_normal(2)
    if setting.law == "two-point":
        return setting.noise * rng.choice([-1.0, 1.0], 2)
    return setting.noise * rng.uniform(-1, 1, 2)


def through_the_door(setting: Setting, seed: int, kind: str = "safe") -> Row:
    """Run through `Optimizer`, and look at every point that is asked for."""
    problem = draw(setting, seed)
    sign = -1.0 if seed // 2 % 2 else 1.0
    direction = "minimize" if sign < 0 else "maximize"
    space = space_of(setting.dimension)
    optimizer = qd.Optimizer(space, direction=direction, method=method_of(problem, sign, kind), seed=seed)
    unsafe, stopped, away = 0, None, 0.0
    while len(optimizer.trials) < setting.n and stopped is None:
        trials = []
        try:
            for _ in range(min(setting.batch, setting.n - len(optimizer.trials))):
                trials.append(optimizer.ask())  # noqa: PERF401  # those before a refusal are to be evaluated
        except NotAvailable as ended:
            stopped = str(ended)
        for index in generator(seed, len(optimizer.trials), _ORDER).permutation(len(trials)).tolist():
            trial = trials[index]
            x = on_cube(trial.params)
            unsafe += not problem.is_safe(x)
            away = max(away, float(np.abs(x - problem.start).max()))
            noise = noise_of(setting, seed, trial.number)
            value = sign * (float(problem.objective(x)) + noise[0])
            if problem.constraint is None:
                optimizer.tell(trial, value)
            else:
                optimizer.tell(trial, qd.Measured(value, {"load": -(float(problem.constraint(x)) + noise[1])}))
    found = on_cube(optimizer.recommend().params)
    gained = (float(problem.objective(found)) - problem.first) / (problem.top - problem.first)
    return {
        "unsafe": unsafe,
        "evaluations": len(optimizer.trials),
        "stopped": stopped,
        "away": rounded(away),
        "gained": rounded(gained),
    }


class SafeOptRule(SafeSearch):
    """SafeOpt's choice among the points that the safe search may evaluate."""

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:  # noqa: ARG002
        from scipy.spatial import cKDTree

        bounds = self.bounds
        is_safe = bounds.safe()
        safe, outside = np.flatnonzero(is_safe), bounds.points[~is_safe]
        width = (bounds.high[safe] - bounds.low[safe]).max(axis=1)
        wanted = bounds.high[safe, 0] >= bounds.low[safe, 0].max()
        if len(outside):
            _, nearest = cKDTree(outside).query(bounds.points[safe])  # one length-scale: near is near for omega too
            for index, guard in enumerate(bounds.guards):
                if guard.limit is not None:
                    way = guard.given.variation(bounds.points[safe] - outside[nearest])
                    wanted |= bounds.high[safe, index] - way >= guard.limit
        row = safe[np.argmax(np.where(wanted, width, -1.0))]
        return Proposal(np.array(bounds.points[row]), "the least known that may be better or expand")


def speed(setting: Setting, seed: int, rule: str) -> Row:
    """Return after how many evaluations the recommended point has made its way; one more than n where it never had."""
    problem, nothing = draw(setting, seed), np.empty((0, setting.dimension))
    domain = domain_of(space_of(setting.dimension))
    search = method_of(problem, 1.0).start(domain, seed)
    assert isinstance(search, SafeSearch)
    if rule == SAFEOPT:
        search = SafeOptRule(search.bounds, domain, seed, names=search.names)
    unsafe = 0
    for number in range(setting.n):
        x = search.ask(number, nothing).x
        unsafe += not problem.is_safe(x)
        noise = noise_of(setting, seed, number)
        load = () if problem.constraint is None else (-(float(problem.constraint(x)) + noise[1]),)
        value = float(problem.objective(x)) + noise[0]
        search.tell(Observation(number, x, np.array([value]), constraints=load))
        gained = float(problem.objective(search.recommend().x)) - problem.first
        if gained >= SHARE * (problem.top - problem.first):
            return {"needed": number + 1, "unsafe": unsafe}
    return {"needed": setting.n + 1, "unsafe": unsafe}


SAFE, SAFEOPT = "safe", "SafeOpt's rule"
SPEED = {
    "D = 1, limit of the objective": Setting(noise=0.05, n=SPEED_N),
    "D = 1, constraint": Setting(noise=0.05, guarded="constraint", n=SPEED_N),
    "D = 2, limit of the objective": Setting(dimension=2, noise=0.05, n=SPEED_N),
    "D = 2, constraint": Setting(dimension=2, noise=0.05, guarded="constraint", n=SPEED_N),
    "D = 2, constraint, squared exponential": Setting(
        "squared exponential", 2, noise=0.1, guarded="constraint", n=SPEED_N
    ),
    "D = 3, constraint": Setting(dimension=3, noise=0.05, guarded="constraint", n=SPEED_N),
}
WRONG = {"norm bound, half of the truth": (0.5, 1.0), "sigma, half of the truth": (1.0, 0.5), "both": (0.5, 0.5)}
ABOUT = {f"D = {d}, {guarded}": (d, guarded) for d in (1, 2) for guarded in ("objective", "constraint")}


def safety_setting(index: int, n: int = 40) -> Setting:
    """Return the setting of one of the 1,000 runs: every pair of values of two of its parts occurs."""
    dimension = 3 if index % 40 == 39 else (1, 1, 1, 2, 2)[index // 5 % 5]
    twice = index // 11 % 6
    return Setting(
        [*KERNELS][index // 40 % 4 if dimension == 3 else index % 5],  # rough functions of three variables are too flat
        dimension,
        (0.02, 0.1, 0.3)[index // 25 % 3],
        LAWS[index // 75 % 3],
        (1, 4)[index % 2],
        GUARDED[index // 40 % 2 if dimension == 3 else index // 7 % 3],
        2.0 if twice == 4 else 1.0,
        2.0 if twice == 5 else 1.0,
        n,
    )


def outcome(method: str, problem: str, seed: int, n: int) -> Row:
    """Return what came out of one run."""
    if method == "safety":
        return through_the_door(safety_setting(int(problem), n), seed)
    if method in (SAFE, SAFEOPT):
        return speed(replace(SPEED[problem], n=n), seed, method)
    if method == "fitted":
        dimension, guarded = ABOUT[problem]
        return through_the_door(Setting(dimension=dimension, guarded=guarded, n=n), seed, "fitted")
    how, _, where = problem.partition(": ")
    dimension, guarded = ABOUT[where]
    norm, noise = WRONG[how]
    setting = Setting(dimension=dimension, guarded=guarded, times_norm=norm, times_noise=noise, n=n)
    return through_the_door(setting, seed)


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """Run once."""
    return recorded((method, problem, seed, n), lambda: outcome(method, problem, seed, n))


def cells(runs: int, each: int, speeds: int, n: int, longest: int, fitted: int) -> list[Cell]:
    """Return all runs; a quarter of those about safety first, and the others last."""
    seeds, fast_seeds = range(0, 2 * each, 2), range(0, 2 * speeds, 2)
    safety: list[Cell] = [("safety", str(index), 2 * index, n) for index in range(runs)]
    found = safety[: runs // 4]
    fast = [name for name in SPEED if SPEED[name].dimension < 3]
    slow = [name for name in SPEED if SPEED[name].dimension == 3]
    for names, some in ((fast, fast_seeds), (slow, fast_seeds[: max(speeds // 4, 1)])):
        found += [(rule, name, seed, longest) for seed in some for name in names for rule in (SAFE, SAFEOPT)]
    found += [("wrong", f"{how}: {where}", seed, n) for seed in seeds for how in WRONG for where in ABOUT]
    found += [("fitted", where, seed, n) for seed in range(0, 2 * fitted, 2) for where in ABOUT]
    return found + safety[runs // 4 :]


def tables(rows: Sequence[Row]) -> str:
    """Return the tables."""
    good = [row for row in rows if "error" not in row]
    refused = [row for row in rows if row.get("error", "").startswith("InvalidInput: threshold")]
    parts = [_safety(good), _speed(good), _wrong(good, refused), _fitted(good)]
    parts += [f"Left out: {row['method']}, {row['problem']}, seed {row['seed']}: {row['error']}."
              for row in rows if "error" in row and row not in refused]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def _safety(rows: Sequence[Row]) -> str:
    found = [(safety_setting(int(row["problem"])), row) for row in rows if row["method"] == "safety"]
    if not found:
        return ""
    groups: dict[str, list[Row]] = {"all": [row for _, row in found]}
    for label, key in (
        ("", lambda one: one.kernel),
        ("D = ", lambda one: one.dimension),
        ("noise ", lambda one: one.noise),
        ("", lambda one: f"{one.law} noise"),
        ("trials at a time: ", lambda one: one.batch),
        ("limit of: ", lambda one: one.guarded),
        ("", lambda one: "norm bound twice the truth" if one.times_norm > 1 else None),
        ("", lambda one: "sigma twice the truth" if one.times_noise > 1 else None),
        ("", lambda one: "stated as it is" if one.times_norm == one.times_noise == 1 else None),
    ):
        for one in dict.fromkeys(key(setting) for setting, _ in found):
            if one is not None:
                groups[f"{label}{one}"] = [row for setting, row in found if key(setting) == one]
    lines = []
    for name, some in groups.items():
        evaluations = sum(row["evaluations"] for row in some)
        lines.append((
            name, f"{len(some):,}", str(sum(row["unsafe"] > 0 for row in some)), f"{evaluations:,}",
            str(sum(row["unsafe"] for row in some)), str(sum(row["stopped"] is not None for row in some)),
            f"{statistics.median(row['gained'] for row in some):.2f}",
        ))  # fmt: skip
    head = (
        "runs", "number", "runs with a broken limit", "evaluations", "of these unsafe", "stopped",
        "share of the way made, median",
    )  # fmt: skip
    return f"Safety (delta = {DELTA:g}: at most {DELTA:.0%} of the runs may break a limit)\n\n{table(head, lines)}"


def _speed(rows: Sequence[Row]) -> str:
    lines: list[tuple[str, ...]] = []
    totals = {SAFE: 0.0, SAFEOPT: 0.0}
    for name in SPEED:
        by = {rule: {row["seed"]: row["needed"] for row in rows if (row["method"], row["problem"]) == (rule, name)}
              for rule in (SAFE, SAFEOPT)}  # fmt: skip
        seeds = sorted(by[SAFE].keys() & by[SAFEOPT].keys())
        if not seeds:
            continue
        medians = {rule: statistics.median(by[rule][seed] for seed in seeds) for rule in by}
        totals = {rule: totals[rule] + medians[rule] for rule in totals}
        never = {rule: sum(by[rule][seed] > SPEED_N for seed in seeds) for rule in by}
        means = {rule: statistics.fmean(by[rule][seed] for seed in seeds) for rule in by}
        lines.append((
            name, str(len(seeds)), f"{medians[SAFE]:g}", f"{medians[SAFEOPT]:g}",
            f"{medians[SAFE] / medians[SAFEOPT]:.2f}", f"{means[SAFE]:.1f}", f"{means[SAFEOPT]:.1f}",
            str(never[SAFE]), str(never[SAFEOPT]),
        ))  # fmt: skip
    if not lines:
        return ""
    ratio = totals[SAFE] / totals[SAFEOPT]
    lines.append(("sum of the medians", "", f"{totals[SAFE]:g}", f"{totals[SAFEOPT]:g}", f"{ratio:.2f}", *[""] * 4))
    head = (
        f"evaluations until {SHARE:.0%} of the way", "seeds", "Safe, median", "SafeOpt's rule, median", "ratio",
        "Safe, mean", "SafeOpt's rule, mean", f"Safe, never in {SPEED_N}", f"SafeOpt's rule, never in {SPEED_N}",
    )  # fmt: skip
    return f"Speed (a run that never made it counts as {SPEED_N + 1})\n\n{table(head, lines)}"


def _wrong(rows: Sequence[Row], refused: Sequence[Row]) -> str:
    lines: list[tuple[str, ...]] = []
    for how in WRONG:
        some = [row for row in rows if row["method"] == "wrong" and row["problem"].startswith(f"{how}: ")]
        if some:
            stopped = [row for row in some if row["stopped"] is not None]
            early = statistics.median(row["evaluations"] for row in stopped) if stopped else None
            lines.append((
                how, str(len(some)), str(sum(row["unsafe"] > 0 for row in some)),
                f"{sum(row['unsafe'] for row in some) / sum(row['evaluations'] for row in some):.1%}",
                str(len(stopped)), "-" if early is None else f"{early:g}",
                str(sum(row["unsafe"] > 0 for row in some if row["stopped"] is None)),
                str(sum(row["problem"].startswith(f"{how}: ") for row in refused)),
            ))  # fmt: skip
    if not lines:
        return ""
    head = (
        "stated", "runs", "runs with a broken limit", "of all evaluations", "stopped at a rejection",
        "after, median", "broken and not stopped", "refused: the norm bound forbids the limit",
    )  # fmt: skip
    return f"Stated as half of what it is\n\n{table(head, lines)}"


def _fitted(rows: Sequence[Row]) -> str:
    lines = []
    for where in ABOUT:
        some = [row for row in rows if (row["method"], row["problem"]) == ("fitted", where)]
        if some:
            lines.append((
                where, str(len(some)), str(sum(row["unsafe"] > 0 for row in some)),
                f"{sum(row['unsafe'] for row in some) / sum(row['evaluations'] for row in some):.1%}",
                f"{statistics.median(row['gained'] for row in some):.2f}",
            ))  # fmt: skip
    if not lines:
        return ""
    head = ("limit of", "runs", "runs with a broken limit", "of all evaluations", "share of the way made, median")
    return f"FittedSafe with risk = .05, noise .1, nothing stated but a safe setting\n\n{table(head, lines)}"


def main() -> None:
    chosen = options(__doc__, workers=True)
    if chosen.smoke:
        print(tables([run(*cell) for cell in cells(8, 1, 1, 8, 8, 1)]))
        return
    stamp(())  # before anything runs: what runs is what is on disk now
    complete(ROWS, run, cells(RUNS, EACH, SPEEDS, 40, SPEED_N, FITTED), workers=chosen.workers)
    rows: list[Row] = read_rows(ROWS)
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    publish(
        "safe_search", "Safe search", tables(rows), write=chosen.write, measured=f"one BLAS thread; rows of {commits}"
    )


if __name__ == "__main__":
    main()
