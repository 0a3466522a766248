"""The experiment on rates: posteriors over arms are exact, exponents are the library's, tables say what rows say."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from math import inf, sqrt
from pathlib import Path

import numpy as np
import pytest

import quadrat as qd
from quadrat.confidence import Assumptions
from quadrat.methods.base import Domain, Observation
from quadrat.methods.surrogate import ModelSearch
from quadrat.methods.ucb.gp_ucb import Finite
from quadrat.randomness import generator
from quadrat.theory import rates as rates_of

FOLDER = Path(__file__).resolve().parents[2] / "experiments"
rates = import_module("rates")


# --- posteriors over a set of points


@pytest.mark.parametrize("regulariser", [0.01, 1.0002])
@pytest.mark.parametrize("few", [True, False])
def test_the_posterior_over_points_is_exact(few: bool, regulariser: float) -> None:
    """Mean, variance and gain after 300 observations of 64 points, most of them repeated, against the library's."""
    kernel, points = qd.Matern(1.5, 0.3), rates.arms(8, 2)
    rng = generator(3)
    drawn, y = rng.integers(40, size=300), rng.standard_normal(300)
    ours = (
        rates.FewPoints(kernel, points, regulariser) if few else rates.ManyPoints(kernel, points, regulariser, len(y))
    )
    for j, value in zip(drawn.tolist(), y.tolist(), strict=True):
        ours.observe(j, value)
    gp = qd.gp.GaussianProcess(kernel, noise_variance=regulariser)
    gp.add(points[drawn], y)
    at = gp.predict(points)
    assert ours.mean == pytest.approx(at.mean, abs=1e-9)
    assert ours.variance == pytest.approx(at.deviation**2, abs=1e-9)
    _, logdet = np.linalg.slogdet(np.eye(300) + kernel(points[drawn]) / regulariser)
    assert ours.gain == pytest.approx(0.5 * logdet, rel=1e-9)


@pytest.mark.parametrize("method", ["gp-ucb", "igp-ucb"])
def test_the_index_and_the_recommendation_are_the_library_s(method: str) -> None:
    """Told the same, the library's search finds no point of the cube that is better by more than the lattice allows."""
    kernel, points, n = qd.Matern(2.5, 0.2), rates.lattice(1024, 1), 40
    options = {"kernel": kernel, "noise": rates.NOISE, "delta": rates.DELTA, "n_initial": 1, "standardise": False}
    peer = (
        qd.research.GPUCB(form=Finite(arms=len(points)), **options)
        if method == "gp-ucb"
        else qd.research.IGPUCB(norm_bound=rates.NORM, budget=n, **options)
    ).start(Domain.cube(1), 0)
    assert isinstance(peer, ModelSearch)
    ours = rates.OverPoints(method, kernel, points, n, 0, few=False)
    none = np.empty((0, 1))
    for i in range(n):
        x, y = ours.ask(), float(generator(1, i).standard_normal())
        ours.tell(x, y)
        peer.tell(Observation(i, x, np.array([y])))
        if i % 8 != 7:
            continue
        score = peer.method.score(peer.model)[0]
        at = peer.model.gp.predict(np.array([peer.ask(i + 1, none).x, ours.ask()]))
        theirs, mine = score(at.mean, at.deviation)[0]
        assert mine == pytest.approx(theirs, abs=2e-4)
        assert ours.recommend() == pytest.approx(peer.recommend().x)
    assert ours.posterior.gain == pytest.approx(peer.model.gain, rel=1e-9)


# --- LP-GP-UCB on arms


def test_arms_are_the_centres_of_the_smallest_cells() -> None:
    """So every cell has an arm of its own, and what is proposed in a cell is evaluated in it."""
    search = rates.OverCells("matern-1/2", 2, 0, 1000, 0, side=4)
    arms = {point.tobytes() for point in rates.arms(4, 2)}  # all numbers here are dyadic: no rounding
    for i in range(400):
        x = search.ask()
        assert x.tobytes() in arms
        search.tell(x, 0.3 * float(x.sum()) + 0.1 * float(generator(0, i).standard_normal()))
    assert search.recommend().tobytes() in arms
    facts = search.facts()
    assert facts["smallest_side"] == 0.25
    cells = search.search.explain()["cells"]
    assert isinstance(cells, list)
    smallest = [cell for cell in cells if cell["depth"] == 4]
    assert smallest
    assert all((np.add(cell["lower"], cell["upper"]) / 2).tobytes() in arms for cell in smallest)


def test_arms_at_the_faces_of_the_cube() -> None:
    assert rates.nearest_arm(np.array([0.0, 1.0]), 4).tolist() == [0.125, 0.875]
    assert rates.nearest_arm(np.array([0.24, 0.26]), 4).tolist() == [0.125, 0.375]


def test_the_horizon_does_not_matter() -> None:
    """What the docstring says of reading regret along the way: runs told n = 56 and n = 100 agree up to 56."""
    for method, setting in (("lp-gp-ucb-0", "arms"), ("lp-gp-ucb-1", "arms"), ("lp-gp-ucb-1", "continuum")):
        short, long = (rates.run(setting, "rational-quadratic", 1, method, 0, n) for n in (56, 100))
        for quantity in ("cumulative", "best", "recommended"):
            assert short[quantity] == long[quantity][: len(short[quantity])]


def test_the_threshold_is_above_every_variation() -> None:
    """gamma_n/sqrt(n) is smallest for the smoothest kernel, between a thousand and ten thousand evaluations."""
    kernel = rates.PROBLEMS["rational-quadratic", 1]
    assert isinstance(kernel, qd.kernels.Kernel)
    largest = float(Assumptions(kernel, rates.NORM, rates.NOISE).variation([1.0]))
    assert largest <= sqrt(2) * rates.NORM
    assert rates.threshold("rational-quadratic", 1, 3162) > largest


# --- runs


@pytest.mark.parametrize("setting", ["arms", "continuum"])
@pytest.mark.parametrize("method", ["lp-gp-ucb-1", "gp-ucb", "igp-ucb"])
def test_a_row_is_plain_data_and_repeats(setting: str, method: str) -> None:
    row = rates.run(setting, "piecewise-polynomial", 1, method, 1, 18)
    assert json.loads(json.dumps(row)) == row == rates.run(setting, "piecewise-polynomial", 1, method, 1, 18)
    assert len(row["cumulative"]) == len(row["best"]) == len(row["recommended"]) == 2
    assert 0 <= row["best"][1] <= row["best"][0]
    assert 0 < row["cumulative"][0] < row["cumulative"][1]
    assert 1 < row["points"] <= 18
    if method.startswith("lp"):
        assert row["threshold"] > 0
        assert sum(row["active"].values()) > 0


def test_regret_on_arms_is_against_the_best_arm() -> None:
    f, points = rates.function("matern-1/2", 1, 2), rates.arms(rates.SIDE[1], 1)
    assert f.norm == pytest.approx(1.0)
    row = rates.run("arms", "matern-1/2", 1, "igp-ucb", 2, 1000)
    assert row["best"][-1] == 0  # it has been almost everywhere
    assert 200 < row["points"] <= len(points)
    assert row["cumulative"][-1] < 1000 * float(np.ptp(f.values(points)))


def test_the_grid() -> None:
    cells = rates.grid(5)
    assert len(cells) == 5 * 66 - (5 - rates.FEWER) * 15
    assert len({json.dumps(cell) for cell in cells}) == len(cells)
    assert [rates.degrees(kernel) for kernel in rates.PROBLEMS.values()] == [
        (0,), (0, 1), (0, 2), (0,), (0, 1), (0, 2), (0, 1), (0,), (0, 1),
    ]  # fmt: skip
    dear = [c for c in cells if c["setting"] == "arms" and str(c["method"]).startswith("lp")]
    assert len(dear) == 15 * rates.FEWER


# --- exponents


def test_exponents_are_those_of_the_library() -> None:
    for (name, dimension), kernel in rates.PROBLEMS.items():
        table = rates_of(kernel, dimension)
        for regret, exponent in (("simple", "simple_exponent"), ("cumulative", "cumulative_exponent")):

            def first(method: str, regret: str = regret) -> float:
                return float(rates.claims(kernel, dimension, method, regret)[0].exponent)  # noqa: B023

            assert first("gp-ucb") == pytest.approx(getattr(table["gp-ucb-vakili"], exponent))
            assert first("lp-gp-ucb-0") == pytest.approx(getattr(table["lp-gp-ucb-0-vakili"], exponent))
            lower = rates.lower_bound(kernel, dimension, regret)
            if name.startswith("matern"):
                degree = rates.degrees(kernel)[-1]
                assert first(f"lp-gp-ucb-{degree}") == pytest.approx(getattr(table["lp-gp-ucb-k"], exponent))
                assert lower == (getattr(table["lower-bound"], exponent), True)
            elif name == "rational-quadratic":
                assert lower is None
            else:
                assert f"n^{lower[0]:.3f}" in table["lower-bound"].remark
                assert not lower[1]


def test_what_is_stated_and_what_is_proved_are_told_apart() -> None:
    found = rates.claims(qd.Matern(1.5), 1, "lp-gp-ucb-1", "cumulative")
    assert [str(claim) for claim in found] == ["0.667 (gap in proof)", "0.750 (proved)"]
    found = rates.claims(qd.Matern(2.5), 2, "lp-gp-ucb-2", "simple")
    assert [str(claim) for claim in found] == ["-0.357 (sparse n)", "-0.143 (proved)"]
    found = rates.claims(qd.Matern(1.5), 1, "igp-ucb", "cumulative")
    assert [str(claim) for claim in found] == ["0.750 (conditional)", "0.900 (proved)"]
    found = rates.claims(qd.kernels.RationalQuadratic(1.0), 1, "lp-gp-ucb-1", "cumulative")
    assert [str(claim) for claim in found] == ["0.500 (conditional)"]


# --- slopes


def test_slopes_of_powers() -> None:
    n = np.array([100.0, 178.0, 316.0, 562.0, 1000.0])
    regrets = np.array([3 * n**0.7, n**-0.25, np.zeros(5), np.array([1.0, 0, 0, 0, 0])])
    regrets = np.vstack([regrets, np.where([True, False, True, True, False], 2 * n**-0.5, 0.0)])
    assert rates.lines(n, regrets).tolist() == pytest.approx([0.7, -0.25, -inf, -inf, -0.5])
    assert rates.lines(n, regrets[:1] + 1)[0] == pytest.approx(np.polyfit(np.log(n), np.log(regrets[0] + 1), 1)[0])


def test_intervals_over_seeds() -> None:
    n = np.array([100.0, 316.0, 1000.0])
    regrets = np.array([n**0.6, n**0.7, n**0.8])
    each = rates.slope_of_each(n, regrets)
    assert (each.value, each.low, each.high) == pytest.approx((0.7, 0.7 - 4.302653 * 0.1 / 3**0.5, 0.948415), abs=1e-5)
    mean = rates.slope_of_mean(n, regrets)
    assert 0.599 < mean.low < 0.7 < mean.value < mean.high < 0.801  # the mean leans to the largest
    alone = rates.slope_of_each(n, regrets[:1])
    assert (alone.low, alone.high, str(alone)) == (-inf, inf, "0.60")


def test_slopes_are_fitted_over_the_last_decades() -> None:
    kept = rates.fitted("arms", 10000)
    assert [rates.CHECKPOINTS[i] for i in kept] == [316, 562, 1000, 1778, 3162, 5623, 10000]
    assert [rates.CHECKPOINTS[i] for i in rates.fitted("continuum", 1000)] == [100, 178, 316, 562, 1000]


@pytest.mark.parametrize(
    ("interval", "exponents", "said"),
    [
        ((0.5, 0.6), (0.667,), "shown"),
        ((0.5, 0.55), (0.667,), "shown; easier than the worst f"),
        ((0.6, 0.7), (0.667,), "consistent"),
        ((0.6, 1.1), (0.667,), "undecided: the interval contains 1 too"),
        ((0.7, 0.8), (0.667,), "steeper: not shown at this n"),
        ((0.9, 0.97), (0.667,), "steeper: not shown at this n; as if nothing were learned: 1"),
        ((0.7, 0.74), (0.667, 0.75), "shown for 0.750, steeper than 0.667"),
        ((0.7, 0.74), (1.0, 1.2), "nothing is claimed"),
        ((0.7, 0.74), (), "nothing is claimed"),
        ((0.9, 0.97), (), "nothing is claimed; as if nothing were learned: 1"),
        ((-inf, inf), (0.667,), "one seed: no reading"),
    ],
)
def test_readings(interval: tuple[float, float], exponents: tuple[float, ...], said: str) -> None:
    slope = rates.Slope(sum(interval) / 2, *interval)
    claimed = [rates.Claim(exponent, "proved") for exponent in exponents]
    assert rates.reading(slope, claimed, 0.583, "cumulative") == said


def test_simple_regret_that_does_not_fall_is_not_shown() -> None:
    claimed = [rates.Claim(-0.333, "proved")]
    said = rates.reading(rates.Slope(-0.05, -0.1, 0.02), claimed, None, "simple")
    assert said == "slower: not shown at this n; as if nothing were learned: 0"
    said = rates.reading(rates.Slope(0.0, -0.1, 0.02), claimed, None, "simple", negligible=True)
    assert said == "shown: below σ/√n"


# --- tables


def made_up(simple: list[list[float]]) -> list[dict[str, object]]:
    n = np.array(rates.checkpoints(1000))
    return [
        {
            "setting": "continuum", "kernel": "matern-5/2", "D": 1, "method": "lp-gp-ucb-0", "seed": seed, "n": 1000,
            "cumulative": (2 * n ** (0.6 + 0.01 * seed)).tolist(), "best": regrets, "recommended": regrets,
        }
        for seed, regrets in enumerate(simple)
    ]  # fmt: skip


def test_curves_and_tables() -> None:
    falling = (np.array(rates.checkpoints(1000)) ** -0.5).tolist()
    rows = made_up([falling, falling, falling])
    n, middle, low, high = rates.curves(rows, "continuum", "matern-5/2", 1, "lp-gp-ucb-0", "cumulative")
    assert n.tolist() == list(rates.checkpoints(1000))
    assert middle.tolist() == rows[1]["cumulative"]
    assert (low < middle).all()
    assert (middle < high).all()
    text = rates.report(rows)
    (first, second) = [line for line in text.splitlines() if line.startswith("| matern-5/2")]
    assert "| LP-GP-UCB, k = 0 | 3 | 135 | 0.61 (0.59 to 0.63) | 0.61 | 0.667 (proved) | 0.583 | shown |" in first
    assert "| 0.0316 | -0.50 (-0.50 to -0.50) | 0.0316 | -0.50 (-0.50 to -0.50) | -0.333 (proved) | -0.417 |" in second
    assert second.endswith("| shown; easier than the worst f |")
    assert rates.report([]).count("\n|") == 4


def test_the_best_arm_found_is_said() -> None:
    zero = [0.1, 0.05, 0.02, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    later = [*zero[:3], 0.01, 0.01, *zero[5:]]
    text = rates.report(made_up([zero, later]))
    assert "| 0 | best found in all seeds from n = 178 |" in text
    assert "| 0 | best found in all seeds from n = 10 |" in rates.report(made_up([[0.0] * 9]))


def test_regret_that_noise_hides_needs_no_slope() -> None:
    """sigma/sqrt(1000) is .0032, the smallest at the fitted n."""
    assert rates.report(made_up([[0.003] * 9, [0.001] * 9])).count("| shown: below σ/√n |") == 1
    assert rates.report(made_up([[0.003] * 9, [0.004] * 9])).count("| shown: below σ/√n |") == 0


def test_smoke() -> None:
    script = str(FOLDER / "rates.py")
    out = subprocess.run([sys.executable, script, "--smoke"], capture_output=True, text=True, check=True).stdout
    assert out.startswith("Cumulative regret")
    assert out.count("\n| matern-3/2 | 1 |") == 16
