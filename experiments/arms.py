"""Finitely many arms: does UCB1's regret grow like log n, and what does GP-UCB gain where arms are alike?

    python experiments/arms.py [--smoke] [--runs 40] [--workers 2] [--report]

Growth: UCB1 with sigma = 1/2 on arms with rewards 0 and 1, n = 10,000. Means: "two" .9, .2; "five" .9, .4, .3, .2, .1;
"ten" .9, three of .8, three of .7, three of .6 (distribution 12 of Auer, Cesa-Bianchi and Fischer 2002, section 4). The
(pseudo-)regret sum_t (best mean - mean of the arm pulled) is recorded at n = 100, 300, 1,000, 3,000 and 10,000, over
ln n, beside the bound of their theorem 1. Regret over ln n tends to 2 sum 1/gap from below, slowly: at n = 100 the
width of the best arm still counts. So it is also shown over the regret of the pulls that make all indices equal
("balanced"), which is that law with this width kept in; there it should be flat.

Comparison: UCB1 against GP-UCB on the same arms, n = 200, normal noise of sigma = .2, which all know. Problems:

- line: 100 ordered arms; f is drawn with a Matérn 5/2 kernel of length-scale .2, scaled to a range of 1.
- grid: 10 x 10 ordered arms, the same with length-scale .3.
- choices: 50 arms without order, means independent and uniform on [0, 1].
- shuffled: the arms of "line" in random order, still called ordered: what the kernel assumes is false.

GP-UCB learns the length-scale of a Matérn 5/2 kernel, within [.02, 2], when the number of trials doubles from 5 on;
"GP-UCB" has the beta_t of theorem 1 of Srinivas et al. (2012), delta = .1, for the number of arms, "GP-UCB, beta/5" a
fifth of it, as in their experiments. A seed has the same f for all; noise of a seed is that of the trial's number.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from itertools import product
from math import log

import numpy as np
from paired import pairs_of, ratio, words

from quadrat._core.arrays import Array
from quadrat.kernels import Matern
from quadrat.methods.base import Axis, Domain, Method, Observation
from quadrat.methods.surrogate import Learned
from quadrat.methods.ucb.gp_ucb import GPUCB
from quadrat.methods.ucb.ucb1 import UCB1
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

BERNOULLI = {"two": (0.9, 0.2), "five": (0.9, 0.4, 0.3, 0.2, 0.1), "ten": (0.9, *(0.8,) * 3, *(0.7,) * 3, *(0.6,) * 3)}
NORMAL = ("line", "grid", "choices", "shuffled")
METHODS = ("UCB1", "GP-UCB", "GP-UCB, beta/5")
CHECKPOINTS = (100, 300, 1000, 3000, 10_000)
NOISE, TRIALS = 0.2, 200
KERNEL = Learned(lengthscales=(0.02, 2.0), refit_every="doubling")


def _centres(count: int) -> tuple[float, ...]:
    return tuple(((np.arange(count) + 0.5) / count).tolist())


def arms(problem: str, seed: int) -> tuple[Domain, Array, Array]:
    """Return the domain, its arms (K, D) and their means (K,)."""
    rng = generator(seed, 80)
    if problem in BERNOULLI:
        axis = Axis(_centres(len(BERNOULLI[problem])), ordered=False)
        return Domain((axis,)), np.array(axis.values)[:, None], np.array(BERNOULLI[problem])
    if problem == "choices":
        axis = Axis(_centres(50), ordered=False)
        return Domain((axis,)), np.array(axis.values)[:, None], rng.random(50)
    axis = Axis(_centres(10 if problem == "grid" else 100))
    domain = Domain((axis, axis) if problem == "grid" else (axis,))
    points = np.array(list(product(*[_centres(10 if problem == "grid" else 100)] * domain.dimension)))
    f = draw_rkhs_function(Matern(2.5, 0.3 if problem == "grid" else 0.2), domain.dimension, norm=1.0, rng=rng)
    means = f.values(points)
    means = (means - means.min()) / (means.max() - means.min())
    return domain, points, rng.permutation(means) if problem == "shuffled" else means


def method_of(name: str, problem: str) -> Method:
    """Return the method with the settings of this experiment."""
    if name == "UCB1":
        return UCB1() if problem in BERNOULLI else UCB1(noise=NOISE)
    return GPUCB(kernel=KERNEL, noise=NOISE, delta=0.1, scale=0.2 if "/5" in name else 1.0)


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """One whole run."""
    domain, points, means = arms(problem, seed)
    search = method_of(method, problem).start(domain, seed)
    number = {point.tobytes(): j for j, point in enumerate(points)}
    none, best = np.empty((0, domain.dimension)), float(means.max())
    draws = generator(seed, 81)
    luck = draws.random(n) if problem in BERNOULLI else draws.normal(0.0, NOISE, n)
    regrets = np.empty(n)
    for i in range(n):
        x = search.ask(i, none).x
        mean = float(means[number[x.tobytes()]])
        value = float(luck[i] < mean) if problem in BERNOULLI else mean + float(luck[i])
        search.tell(Observation(i, x, np.array([value])))
        regrets[i] = best - mean
    total = np.cumsum(regrets)
    at = [count for count in CHECKPOINTS if count <= n]
    simple = best - float(means[number[search.recommend().x.tobytes()]])
    return {
        "regret": float(f"{total[-1]:.6g}"), "simple": float(f"{simple:.6g}"), "at": at,
        "regrets": [float(f"{total[count - 1]:.6g}") for count in at],
    }  # fmt: skip


def balanced(means: tuple[float, ...], n: int) -> float:
    """Return the regret of UCB1 if all means were known exactly: pulls n_j that make all indices equal, sum n_j = n.

    mean_j + sqrt(2 ln n / n_j) = c. As n grows, c tends to the best mean, and the regret to 2 ln n sum 1 / gap.
    """
    values = np.array(means)
    low, high = values.max(), values.max() + 2 * np.sqrt(2 * log(n))
    for _ in range(200):
        c = (low + high) / 2
        pulls = 2 * log(n) / (c - values) ** 2
        low, high = (c, high) if pulls.sum() > n else (low, c)
    return float(pulls @ (values.max() - values))


def growth(rows: list[Row]) -> str:
    """A Markdown table over n: mean regret over ln n and over the balanced one, and theorem 1's bound over ln n."""
    lines = ["| arms | what | runs | " + " | ".join(f"n = {n}" for n in CHECKPOINTS) + " | limit |"]
    lines.append("|---|---|---|" + "---|" * (len(CHECKPOINTS) + 1))
    for name, means in BERNOULLI.items():
        group = [row["regrets"] for row in rows if row["problem"] == name]
        if not group:
            continue
        found = np.array(group, dtype=np.float64)
        gaps = max(means) - np.array(means)
        limit = float((1 / gaps[gaps > 0]).sum())
        scaled = found / np.log(CHECKPOINTS[: found.shape[1]])
        shares = found / [balanced(means, n) for n in CHECKPOINTS[: found.shape[1]]]
        bound = [f"{UCB1().regret_bound(gaps, n) / log(n):.1f}" for n in CHECKPOINTS]
        for what, values, last in (
            ("regret / ln n", _with_errors(scaled), f"{2 * limit:.1f}"),
            ("regret / balanced regret", _with_errors(shares), "1"),
            ("theorem 1 / ln n", bound, f"{8 * limit:.1f}"),
        ):
            shown = [*values, *["–"] * (len(CHECKPOINTS) - len(values))]
            lines.append(f"| {name} | {what} | {len(group)} | {' | '.join(shown)} | {last} |")
    return "\n".join(lines)


def _with_errors(values: Array) -> list[str]:
    """Means over rows and their standard errors."""
    errors = np.std(values, axis=0, ddof=min(1, len(values) - 1)) / np.sqrt(len(values))
    return [f"{mean:.2f} ± {error:.2f}" for mean, error in zip(values.mean(axis=0), errors, strict=True)]


def comparison(rows: list[Row]) -> str:
    """A Markdown table: mean regrets, and paired ratios of GP-UCB's to UCB1's with 95 % intervals."""
    lines = [
        "| arms | method | runs | cumulative regret | simple regret | ratio to UCB1 |",
        "|---|---|---|---|---|---|",
    ]
    for name, method in product(NORMAL, METHODS):
        here = [row for row in rows if row["problem"] == name]
        group = [row for row in here if row["method"] == method]
        if not group:
            continue
        pairs = pairs_of(here, "regret", {"method": method}, {"method": "UCB1"}) if method != "UCB1" else []
        means = [np.mean([float(str(row[key])) for row in group]) for key in ("regret", "simple")]
        lines.append(
            f"| {name} | {method} | {len(group)} | {means[0]:.1f} | {means[1]:.3f}"
            f" | {words(ratio(pairs)) if pairs else '–'} |"
        )
    return "\n".join(lines)


def report(rows: list[Row]) -> str:
    """Both tables."""
    return f"{growth(rows)}\n\n{comparison(rows)}"


def cells(runs: int, n: int = CHECKPOINTS[-1], fewer: int = TRIALS) -> list[Cell]:
    """The grid: UCB1 for n pulls, and the comparison for `fewer`."""
    long = [{"method": "UCB1", "problem": name, "seed": seed, "n": n} for seed, name in product(range(runs), BERNOULLI)]
    short = [
        {"method": method, "problem": name, "seed": seed, "n": fewer}
        for seed, name, method in product(range(runs), NORMAL, METHODS)
    ]
    return [*long, *short]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=40)
    if chosen.smoke:
        rows = run_here(run, cells(2, 300, 20))
    elif chosen.report:
        rows = finished("arms")
    else:
        rows = complete("arms", run, cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
