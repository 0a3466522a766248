"""Add-GP-UCB: its groups' posteriors, its group-wise maximum, its groups, and that it is rebuilt bit for bit."""

from __future__ import annotations

from itertools import product
from math import log, pi
from typing import Any, cast

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.additive.method import AddGPUCB, AdditiveSearch, Practical, Theorem
from quadrat.methods.base import Domain, Observation, Proposal
from quadrat.optimizer import Optimizer
from quadrat.optimizer.run import domain_of
from quadrat.randomness import generator
from quadrat.space import Categorical, Fixed, Float, Int, Space

NONE = np.empty((0, 3))


def f(x: Array) -> float:
    """(0, 2) act together, 1 alone; the maximum is near (.8, .3, .65)."""
    return float(np.sin(3 * x[0] * x[2]) - 2 * (x[1] - 0.3) ** 2)


def run(method: AddGPUCB, n: int, seed: int = 0, *, look: bool = False) -> AdditiveSearch:
    search = method.start(Domain.cube(3), seed)
    for i in range(n):
        x = search.ask(i, NONE).x
        search.tell(Observation(i, x, np.array([f(x) + 0.05 * generator(seed, i, 9).normal()])))
        if look:
            search.recommend()
            search.explain()
    return search


@pytest.fixture(scope="module")
def settled() -> AdditiveSearch:
    return run(AddGPUCB(groups=[[0, 2], [1]], noise=0.05), 24)


def test_the_bounds_of_the_paper() -> None:
    """[K15, section 6 and theorem 5], worked out by hand for M = 2, d = 2, D = 3, t = 5."""
    groups = ((0, 2), (1,))
    assert Practical(scale=0.2).beta(5, groups) == pytest.approx(0.2 * 2 * log(10))
    assert AddGPUCB(form="practical").beta(5, groups) == Practical().beta(5, groups)
    wanted = 2 * log(2 * pi**2 * 25 / (2 * 0.1)) + 2 * 2 * log(3 * 125)
    assert Theorem(delta=0.1).beta(5, groups) == pytest.approx(wanted)


def test_the_proposal_is_the_largest_sum_on_a_lattice(settled: AdditiveSearch) -> None:
    """Group by group as good as the best of all 21^3 points of the cube, for the joint score [K15, algorithm 1]."""
    root = settled.method.beta(25, settled.model.fit.groups) ** 0.5
    lattice = np.array(list(product(np.linspace(0, 1, 21), repeat=3)))
    with settled.model.groups() as posterior:

        def score(points: Array) -> Array:
            parts = [
                posterior.predict(j, np.ascontiguousarray(points[:, list(g)])) for j, g in enumerate([(0, 2), (1,)])
            ]
            return np.asarray(sum(part.mean + root * part.deviation for part in parts))

        best = score(lattice).max()
        got = settled.ask(24, NONE).x
        assert score(got[None])[0] >= best
        assert score(got[None])[0] == pytest.approx(best, abs=0.02)


def test_it_finds_the_maximum_and_says_how_sure_it_is() -> None:
    for groups in ([[0, 2], [1]], None):
        incumbent = run(AddGPUCB(groups=groups), 40).recommend()
        assert f(incumbent.x) > 1.0 - 0.02
        assert incumbent.interval is not None
        assert incumbent.interval[0] <= f(incumbent.x) <= incumbent.interval[1]
        assert not incumbent.certified
        assert incumbent.gain is not None
        assert 0 <= incumbent.gain.mean <= incumbent.gain.upper < 0.5


def test_groups_are_learned() -> None:
    search = run(AddGPUCB(), 40)
    assert search.explain()["groups"] == [[0, 2], [1]]
    assert search.explain()["groups were"] == "learned"
    assert run(AddGPUCB(group_size=1), 40).explain()["groups"] == [[0], [1], [2]]


def test_random_partitions_as_in_the_paper() -> None:
    """Of three axes there are three partitions into a pair and one: ten random ones hold the best."""
    search = run(AddGPUCB(learning="random"), 40)
    assert search.explain()["groups"] == [[0, 2], [1]]


def test_rebuilt_bit_for_bit_without_asking_and_looking_changes_nothing() -> None:
    first = run(AddGPUCB(), 22)
    looked = run(AddGPUCB(), 22, look=True)
    told = AddGPUCB().start(Domain.cube(3), 0)
    for i in range(22):
        x = first.model.data.x[i]
        told.tell(Observation(i, x, np.array([first.model.data.y[i]])))
    pending = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.1, 0.2, 0.3]])
    asked: list[Proposal] = [search.ask(22, pending) for search in (first, looked, told)]
    for other in (1, 2):
        assert np.array_equal(asked[0].x, asked[other].x)
        assert asked[0].why == asked[other].why
    incumbents = [search.recommend() for search in (first, looked, told)]
    for incumbent in incumbents[1:]:
        assert np.array_equal(incumbent.x, incumbents[0].x)
        assert (incumbent.value, incumbent.distribution, incumbent.gain) == (
            incumbents[0].value,
            incumbents[0].distribution,
            incumbents[0].gain,
        )


def test_a_pending_point_is_not_asked_again(settled: AdditiveSearch) -> None:
    pending = NONE
    for _ in range(4):
        x = settled.ask(24, pending).x
        assert ((x >= 0) & (x <= 1)).all()
        assert not (pending == x).all(axis=1).any()
        pending = np.vstack([pending, x])


def test_where_pending_points_change_nothing_it_steps_aside() -> None:
    """All information is in the corner already: the maximum stays there, and the proposal moves a little inwards."""
    search = AddGPUCB(groups=[[0]], noise=1e-3, n_initial=8, form=Practical(scale=1e-9)).start(Domain.cube(1), 0)
    for i in range(8):
        search.tell(Observation(i, np.array([i / 7]), np.array([i / 7])))
    corner = search.ask(8, np.empty((0, 1)))
    assert corner.x.tolist() == [1.0]
    aside = search.ask(8, corner.x[None])
    assert 0.7 < aside.x[0] < 1.0
    assert "aside" in aside.why


def test_replicates_and_standard_errors() -> None:
    """One trial of four values is four observations; one with a standard error is one of that variance."""
    search = AddGPUCB(groups=[[0]], noise=0.3, n_initial=2).start(Domain.cube(1), 0)
    search.tell(Observation(0, np.array([0.2]), np.array([1.0, 2.0, 3.0, 2.0])))
    search.tell(Observation(1, np.array([0.7]), np.array([1.0]), variance=0.04))
    search.tell(Observation(2, np.array([0.4]), np.array([1.0]), variance=0.0))
    gp = search.model.gp
    assert gp.noise_variances[:2] == pytest.approx([0.09 / 4, 0.04])
    assert 0 < gp.noise_variances[2] < 1e-6
    assert gp.y.tolist() == [2.0, 1.0, 1.0]


@pytest.mark.parametrize("value", [0.0, 1e6])
def test_a_constant(value: float) -> None:
    search = AddGPUCB(n_initial=4).start(Domain.cube(3), 0)
    for i in range(9):
        search.tell(Observation(i, search.ask(i, NONE).x, np.array([value])))
    assert search.recommend().value == pytest.approx(value, abs=1.0)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 1], [1, 2]], r"disjoint groups .* got axis 1 more than once"),
        ([[0], [], [1, 2]], "none of them empty"),
        ([], "none of them empty"),
        ([0, 1, 2], r"such as \[\[0, 1\], \[2\]\], got \[0, 1, 2\]"),
        ([["x"], [1]], r"axis numbers from 0.* got \[\['x'\], \[1\]\]"),
        ([[-1, 0], [1, 2]], "axis numbers from 0"),
        ([[0.5], [1, 2]], "axis numbers from 0"),
        (3, "got 3"),
    ],
)
def test_bad_groups_are_refused(groups: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AddGPUCB(groups=groups)  # type: ignore[arg-type]


def test_groups_that_do_not_fit_the_space_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"axes 0 to 3, got none for axis 3 .* such as \[3\]"):
        AddGPUCB(groups=[[0, 1], [2]]).start(Domain.cube(4), 0)
    with pytest.raises(InvalidInput, match=r"axes 0 to 1, got axis 2 "):
        AddGPUCB(groups=[[0, 1], [2]]).start(Domain.cube(2), 0)
    space = Space(heat=Float(0, 1), time=Float(0, 1), salt=Float(0, 1))
    for groups in ([["heat"], ["salt"]], [[0], [2]]):
        with pytest.raises(
            InvalidInput,
            match=r"each of heat, time, salt, got none for 'time' in \[\['heat'\], \['salt'\]\].* as \['time'\]",
        ):
            Optimizer(space, direction="maximize", method=AddGPUCB(groups=groups), seed=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group_size": 0}, "group_size"),
        ({"learning": "gibbs"}, 'learning: expected "moves" or "random"'),
        ({"form": "bayes"}, "form: expected Practical"),
        ({"form": 2.0}, "form: expected Practical"),
        ({"noise": 0.0}, "noise"),
        ({"nu": -1.0}, "nu"),
        ({"n_initial": 0}, "n_initial"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AddGPUCB(**options)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        Practical(scale=0.0)
    with pytest.raises(InvalidInput):
        Theorem(delta=1.0)


def test_groups_by_name() -> None:
    """Names are those of the parameters; what is learned is said in them too."""
    space = Space(heat=Float(0, 1), kind=Fixed("a"), salt=Float(0, 1), time=Float(0, 1))
    named = Optimizer(space, direction="maximize", method=AddGPUCB(groups=[["time", "heat"], ["salt"]], n_initial=4))
    numbered = Optimizer(space, direction="maximize", method=AddGPUCB(groups=[[0, 2], [1]], n_initial=4))
    for optimizer in (named, numbered):
        for _ in range(6):
            trial = optimizer.ask()
            optimizer.tell(trial, trial.params["heat"] * trial.params["time"] - trial.params["salt"])
        assert cast(Any, optimizer.explain()["search"])["groups"] == [["heat", "time"], ["salt"]]
    assert [record.params for record in named.trials] == [record.params for record in numbered.trials]
    with pytest.raises(InvalidInput, match=r"expected names of parameters that vary \(heat, salt, time\), got 'kind'"):
        Optimizer(space, direction="maximize", method=AddGPUCB(groups=[["kind"], ["heat", "salt", "time"]]))


def test_what_is_recommended_may_be_evaluated() -> None:
    """Group by group the best is (1, 1), which the constraint forbids: then it is the best that was told."""
    space = Space(x=Float(0, 1), y=Float(0, 1)).subject_to(lambda params: params["x"] + params["y"] <= 1)
    optimizer = Optimizer(space, direction="maximize", method=AddGPUCB(groups=[[0], [1]], n_initial=6), seed=0)
    for _ in range(12):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params["x"] + trial.params["y"])
    got = optimizer.recommend()
    assert got.params["x"] + got.params["y"] <= 1
    assert got.params in [record.params for record in optimizer.trials]
    assert got.value > 0.85
    assert got.credible_interval is not None
    assert got.credible_interval[0] <= got.value <= got.credible_interval[1]


def test_a_space_without_a_point_that_was_told_and_may_be_evaluated() -> None:
    space = Space(x=Float(0, 1), y=Float(0, 1)).subject_to(lambda params: params["x"] + params["y"] <= 0.1)
    optimizer = Optimizer(space, direction="maximize", method=AddGPUCB(groups=[[0], [1]], n_initial=2), seed=0)
    for x in (0.4, 0.6, 0.9):
        optimizer.add({"x": x, "y": x}, x)
    assert optimizer.recommend().params == {"x": 0.9, "y": 0.9}


def test_value_and_interval_are_those_of_the_rounded_point() -> None:
    """Three choices, of which the middle is best: the model's highest mean lies between what stands for them."""
    domain = domain_of(Space(kind=Categorical(["a", "b", "c"]), n=Int(1, 4)))
    search = AddGPUCB(groups=[[0], [1]], n_initial=6).start(domain, 0)
    rng = np.random.default_rng(0)
    for i in range(14):
        x = domain.rounded(rng.random((1, 2)))[0]
        search.tell(Observation(i, x, np.array([1.0 * (x[0] > 0.6) + 0.5 * (0.3 < x[0] < 0.6) + x[1] * (1.4 - x[1])])))
    incumbent = search.recommend()
    assert np.array_equal(domain.rounded(incumbent.x[None, :])[0], incumbent.x)
    assert incumbent.value == pytest.approx(float(search.model.gp.predict_mean(incumbent.x[None, :])[0]))


def test_results_that_are_told_together_are_learned_from_once(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[int] = []
    method = AddGPUCB(groups=[[0, 2], [1]], n_initial=4)
    search, learn = method.start(Domain.cube(3), 0), AdditiveSearch._learn

    def spied(self: AdditiveSearch, data: Any, previous: Any, trials: int) -> Any:
        learned.append(trials)
        return learn(self, data, previous, trials)

    monkeypatch.setattr(AdditiveSearch, "_learn", spied)
    search = method.start(Domain.cube(3), 0)
    x = np.random.default_rng(0).random((13, 3))
    told = [Observation(i, point, np.array([f(point)])) for i, point in enumerate(x)]
    search.tell_many(told[:12])
    assert learned == [12]
    assert search.model.settled
    for _ in range(5):  # next with 40 % more: 17
        search.tell(told[12])
    assert learned == [12, 17]
