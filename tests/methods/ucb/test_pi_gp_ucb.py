from __future__ import annotations

from dataclasses import replace
from math import log, pi, sqrt
from typing import Any, cast

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.gp.sketch import Sketch
from quadrat.kernels import GammaExponential, Matern, PiecewisePolynomial, SquaredExponential
from quadrat.methods.base import CREDIBLE, Axis, Domain, Observation
from quadrat.methods.surrogate import Learned
from quadrat.methods.ucb.igp_ucb import IGPUCB
from quadrat.methods.ucb.pi_gp_ucb import PartitionedSearch, PiGPUCB
from quadrat.optimizer import Optimizer
from quadrat.randomness import generator
from quadrat.space import Float, Space

NONE = np.empty((0, 2))
STATED = PiGPUCB(kernel=Matern(1.5, 0.3), noise=0.1, delta=0.05, budget=60, standardise=False, n_initial=1, capacity=2)


def value_at(x: Array) -> float:
    return float(np.sin(5 * x[0]) * np.cos(4 * x[1]) / 2)


def run(search: PartitionedSearch, n: int, first: int = 0) -> None:
    for number in range(first, first + n):
        x = search.ask(number, NONE).x
        search.tell(Observation(number, x, np.array([value_at(x) + 0.1 * generator(9, number).normal()])))


def index(search: PartitionedSearch, points: Array) -> Array:
    """mu_A + beta_A sigma_A from scratch, cell by cell."""
    method, process = search.method, search.model.index
    assert isinstance(method, PiGPUCB)
    values = np.empty(len(points))
    for cell, rows in process.by_cell(points):
        gp = GaussianProcess(process.kernel, noise_variance=1 + 2 / method.budget)
        mine = np.array([cell is process.cell(x) for x in search.model.x])
        if mine.any():
            gp.add(search.model.x[mine], search.model.y[mine])
        share = 6 / (pi**2 * (cell.depth + 1) ** 2 * 2**cell.depth)
        gain = 0.5 * gp.logdet if mine.any() else 0.0
        beta = method.norm_bound + method.noise * sqrt(2 * (gain + 1 + log(1 / (method.delta * share))))
        at = gp.predict(points[rows])
        values[rows] = at.mean + beta * at.deviation
    return values


def test_beta_worked_out() -> None:
    """[CG17, theorem 2] at a cell's share of delta: [JBG20, theorem 1]."""
    share = 6 / (pi**2 * 16) / 8
    wanted = 2.0 + 0.3 * sqrt(2 * (1.7 + 1 + log(1 / (0.05 * share))))
    assert PiGPUCB(norm_bound=2.0, delta=0.05).multiplier(1.7, 3, 0.3) == pytest.approx(wanted)
    assert PiGPUCB(norm_bound=2.0, delta=0.05, scale=0.2).multiplier(1.7, 3, 0.3) == pytest.approx(0.2 * wanted)
    assert PiGPUCB(budget=50).regulariser(0.01) == 1.04


@pytest.mark.parametrize(
    ("kernel", "nu"),
    [
        (None, 2.5),
        (Matern(1.5, 0.3), 1.5),
        (Learned(nu=0.5), 0.5),
        (GammaExponential(1.5, 0.2), 0.75),
        (PiecewisePolynomial(1, 2, 0.5), 1.5),
    ],
)
def test_smoothness_of_the_kernel(kernel: Any, nu: float) -> None:
    assert PiGPUCB(kernel=kernel).smoothness == nu
    assert PiGPUCB(kernel=kernel, smoothness=3.5).smoothness == 3.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": SquaredExponential(0.3)}, "smoothness: expected a number, since nu is no fact of"),
        ({"kernel": Matern(1.5, 0.3, amplitude=2.0)}, r"kernel: expected K\(x, x\) <= 1"),
        ({"kernel": Learned(amplitude=2.0)}, "kernel: expected an amplitude of at most 1"),
        ({"capacity": 0.5}, "capacity: expected"),
        ({"sketch": Sketch()}, "sketch: expected None"),
        ({"scale": 0.0}, "scale: expected"),
        ({"delta": 1.0}, "delta: expected a probability"),
        ({"budget": 0}, "budget: expected"),
        ({"smoothness": -1.0}, "smoothness: expected"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        PiGPUCB(**options)


def test_two_to_the_d_cells_at_most_ten_dimensions() -> None:
    with pytest.raises(InvalidInput, match="at most 10 dimensions"):
        PiGPUCB(all_axes=True).start(Domain.cube(11), 0)
    search = PiGPUCB(all_axes=True, capacity=4, n_initial=2, standardise=False).start(Domain.cube(2), 0)
    run(search, 4)
    assert [cell.depth for cell in search.model.index.cells] == [2] * 4


def test_asks_where_the_index_is_highest_over_all_cells() -> None:
    search = STATED.start(Domain.cube(2), 3)
    lattice = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), -1).reshape(-1, 2)
    counts = []
    for number in range(40):
        proposal = search.ask(number, NONE)
        if number % 6 == 5:
            there = float(index(search, proposal.x[None, :])[0])
            assert there >= index(search, lattice).max() - 0.01  # of a spread of .3 over the cube
            assert f"({there:.4g})" in proposal.why
            counts.append(len(search.model.index.cells))
        cell = search.model.index.cell(proposal.x)
        assert ((proposal.x > cell.lower) | (cell.lower == 0)).all()
        assert ((proposal.x < cell.last) | (cell.upper == 1)).all()
        search.tell(Observation(number, proposal.x, np.array([value_at(proposal.x)])))
    assert counts[-1] > 5


def test_one_cell_is_igp_ucb() -> None:
    """A capacity above n never splits: the index is that of IGP-UCB with delta times the share of the cube."""
    options: dict[str, Any] = {"kernel": Matern(1.5, 0.3), "standardise": False, "n_initial": 1, "budget": 20}
    whole = PiGPUCB(delta=0.05, capacity=50, **options).start(Domain.cube(2), 0)
    exact = IGPUCB(delta=0.05 * 6 / pi**2, **options).start(Domain.cube(2), 0)
    for number in range(12):
        x = generator(1, number).random(2)
        for search in (whole, exact):
            search.tell(Observation(number, x, np.array([value_at(x)])))
    method = exact.method
    assert isinstance(method, IGPUCB)
    got, wanted = whole.ask(12, NONE).x, exact.ask(12, NONE).x
    at = exact.model.gp.predict(np.array([got, wanted]))
    values = at.mean + method.multiplier(exact.model) * at.deviation
    assert values[0] == pytest.approx(values[1], abs=1e-4)
    posterior = exact.model.posterior.predict(exact.model.x)
    assert whole.recommend().interval[0] == pytest.approx((posterior.mean - CREDIBLE * posterior.deviation).max())  # type: ignore[index]
    score, _ = whole.method.score(whole.model)
    assert score(at.mean, at.deviation)[0] == pytest.approx(values)


def test_remembered_maxima_are_those_found_afresh() -> None:
    """What an ask remembers of cells never changes an answer: [a] asks every time, [b] only at the end."""
    asked, blind = STATED.start(Domain.cube(2), 5), STATED.start(Domain.cube(2), 5)
    pending = np.array([[0.2, 0.3], [0.9, 0.1], [0.2, 0.3]])
    for number in range(30):
        x = asked.ask(number, NONE).x
        asked.ask(number, pending)
        if number % 5 == 4:
            asked.ask(number, x[None, :])  # whatever it makes of the cell of x is not for later
            assert (asked.ask(number, NONE).x == x).all()
        told = Observation(number, x, np.array([value_at(x)]))
        for search in (asked, blind):
            search.tell(told)
        if number % 10 == 9:
            asked.recommend()
            asked.explain()
    for waiting in (pending, NONE):
        one, other = asked.ask(30, waiting), blind.ask(30, waiting)
        assert one.why == other.why
        assert (one.x == other.x).all()
    assert len(asked.model.index.cells) > 5
    assert asked.explain() == blind.explain()


def test_pending_points_are_not_asked_again() -> None:
    search = STATED.start(Domain.cube(2), 1)
    run(search, 25)
    waiting = NONE
    for _ in range(6):
        x = search.ask(25, waiting).x
        assert len(waiting) == 0 or np.abs(waiting - x).max(1).min() > 1e-3
        waiting = np.vstack([waiting, x])


def test_recommends_the_evaluated_point_of_highest_lower_bound_in_its_cell() -> None:
    search = STATED.start(Domain.cube(2), 2)
    run(search, 40)
    incumbent, process = search.recommend(), search.model.believed
    assert process.noise_variance == pytest.approx(0.01)
    assert len(process.cells) > 5
    at = [process.cell(x).gp.predict(x[None, :]) for x in search.model.x]
    ends = [(one.mean[0] - CREDIBLE * one.deviation[0], one.mean[0] + CREDIBLE * one.deviation[0]) for one in at]
    assert incumbent.interval == pytest.approx(max(ends))
    assert incumbent.x.tolist() == search.model.x[ends.index(max(ends))].tolist()
    assert incumbent.value == pytest.approx(sum(max(ends)) / 2)
    assert incumbent.gain is not None
    assert 0 <= incumbent.gain.mean <= incumbent.gain.upper
    assert not incumbent.certified


def test_recommends_what_is_surer() -> None:
    """Five readings of .5 outweigh one of .52, whose mean is higher."""
    search = STATED.start(Domain.cube(2), 0)
    search.tell(Observation(0, np.array([0.1, 0.1]), np.full(5, 0.5)))
    search.tell(Observation(1, np.array([0.9, 0.9]), np.array([0.52])))
    assert search.model.believed.predict_mean([[0.1, 0.1]]) < search.model.believed.predict_mean([[0.9, 0.9]])
    assert search.recommend().x.tolist() == [0.1, 0.1]


def test_values_in_other_units_make_the_same_choices() -> None:
    """`standardise` and a learned kernel: values and noise a thousand times as large, and shifted."""
    plain, large = (PiGPUCB(noise=noise, capacity=8).start(Domain.cube(2), 0) for noise in (0.1, 100.0))
    for number in range(14):
        one, other = plain.ask(number, NONE).x, large.ask(number, NONE).x
        assert np.allclose(one, other, atol=1e-4)
        plain.tell(Observation(number, one, np.array([value_at(one)])))
        large.tell(Observation(number, one, np.array([1000 * value_at(one) + 5000.0])))
    assert large.recommend().value == pytest.approx(1000 * plain.recommend().value + 5000, rel=1e-6)


def test_replicates_and_standard_errors() -> None:
    search = STATED.start(Domain.cube(2), 0)
    x = np.array([0.3, 0.4])
    search.tell(Observation(0, x, np.array([0.1, 0.3]), None))
    search.tell(Observation(1, x, np.array([0.2, 0.6]), 0.04))
    process = search.model.believed
    assert process.n_observations == 3
    assert process.noise_variances.tolist() == pytest.approx([1 / (100 + 100 + 25)])
    assert process.y.tolist() == pytest.approx([(10 + 30 + 10) / 225])
    assert search.model.index.noise_variances[0] / process.noise_variances[0] == pytest.approx((1 + 2 / 60) / 0.01)


def test_refits_begin_cells_anew() -> None:
    method = PiGPUCB(kernel=Learned(nu=1.5, refit_every=5), capacity=5, n_initial=5)
    search, again = method.start(Domain.cube(2), 0), method.start(Domain.cube(2), 0)
    run(search, 16)
    for number in range(16):
        frame = search.model.frame
        values = frame.scale * search.model.y[number : number + 1] + frame.shift
        again.tell(Observation(number, search.model.x[number], values))
    assert search.model.index.kernel == search.model.frame.kernel
    assert search.model.index.n_observations == 16
    assert len(search.model.index.cells) == len(again.model.index.cells) > 1


def test_through_the_optimizer() -> None:
    space = Space(x=Float(-1, 2), y=Float(0, 1))
    first, again = (
        Optimizer(space, direction="maximize", method=PiGPUCB(budget=15, capacity=4), seed=1) for _ in range(2)
    )
    for optimizer in (first, again):
        for _ in range(15):
            trial = optimizer.ask()
            optimizer.tell(trial, -((trial.params["x"] - 0.5) ** 2))
    assert first.trials == again.trials
    assert first.recommend().credible_interval is not None
    assert first.certificate().value is None


def test_points_that_stand_for_others_are_never_asked() -> None:
    """Axis 0 has few values: a cell between two holds no setting, and would never be told anything."""
    values = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    cells_without = 0

    def rounded(points: Array) -> Array:
        return np.column_stack([values[np.abs(points[:, :1] - values).argmin(1)], points[:, 1]])

    domain = Domain((Axis(tuple(values.tolist())), Axis()), rounded, feasible=lambda points: points[:, 1] <= 0.8)
    search = replace(STATED, kernel=Matern(1.5, (0.1, 2.0)), capacity=1).start(domain, 0)
    search.tell(Observation(0, np.array([0.1, 0.4]), np.array([0.0])))
    for number in range(1, 60):
        x = search.ask(number, NONE).x
        assert x[0] in values
        assert x[1] <= 0.8
        search.tell(Observation(number, x, np.array([value_at(x)])))
    for cell in search.model.index.cells:
        cells_without += not ((values >= cell.lower[0]) & (values <= cell.last[0])).any()
    assert cells_without > 0
    assert len({float(x[0]) for x in search.model.x}) == 5


@pytest.mark.parametrize("low", [-1.0, 0.0, 1e-3])
def test_faces_between_cells_are_not_asked(low: float) -> None:
    """From the cube to parameters and back a point on a face may change cells: the cell that asked would hear nothing.

    Nor are pending points asked again, although with lambda > 1 a corner stays the best place for long.
    """
    space = Space(x=Float(low, 2))
    optimizer = Optimizer(space, direction="maximize", method=PiGPUCB(capacity=1, n_initial=1, budget=25), seed=0)
    for number in range(5):
        pending = [optimizer.ask() for _ in range(5)]
        assert len({trial.params["x"] for trial in pending}) == 5
        for trial in pending:
            optimizer.tell(trial, float(np.sin(3 * trial.params["x"])) + 1e-3 * number)


def test_nothing_told() -> None:
    search = STATED.start(Domain.cube(2), 0)
    assert search.explain() == {"trials": 0}
    assert search.ask(0, NONE).why.startswith("uniform")


def test_results_outside_a_thin_feasible_region() -> None:
    """No candidate of any cell may be evaluated: it still asks, and the optimizer moves the point to a feasible one."""
    space = Space(x=Float(0, 1), y=Float(0, 1)).subject_to(lambda p: abs(p["x"] - 0.7) + abs(p["y"] - 0.123) < 0.04)
    optimizer = Optimizer(space, direction="maximize", method=PiGPUCB(n_initial=2), seed=0)
    for x in (0.2, 0.4):
        optimizer.add({"x": x, "y": x}, x)
    for _ in range(2):
        trial = optimizer.ask()
        assert abs(trial.params["x"] - 0.7) + abs(trial.params["y"] - 0.123) < 0.04


def test_predictions_are_those_of_the_cells() -> None:
    """Not of one posterior over all trials: at the recommended point they are what is recommended."""
    space = Space(x=Float(0, 1), y=Float(0, 1))
    optimizer = Optimizer(space, direction="maximize", method=PiGPUCB(capacity=2, n_initial=2, noise=0.05))
    for _ in range(14):
        trial = optimizer.ask()
        optimizer.tell(trial, np.sin(5 * trial.params["x"]) - trial.params["y"])
    found = optimizer.recommend()
    (there,) = optimizer.predict([found.params])
    assert there.value == pytest.approx(found.value, rel=1e-12)
    assert there.credible_interval == pytest.approx(found.credible_interval, rel=1e-12)
    search = cast(PartitionedSearch, optimizer._run.search)
    assert len(search.model.believed.cells) > 1
    points = generator(0).random((20, 2))
    own = search.predict(points)[0]
    model, frame = search.model, search.model.frame
    whole = GaussianProcess(frame.kernel, noise_variance=model.noise**2)
    whole.add(model.x, model.y, model.variances)
    one = frame.shift + frame.scale * whole.predict_mean(points)
    assert np.abs(own - one).max() > 1e-3
