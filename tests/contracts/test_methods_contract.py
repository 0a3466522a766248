"""What every registered method must survive and keep, through the optimizer, as a user would meet it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast

import numpy as np
import pytest
from as_printed import PrintedLPGPUCB

from quadrat.errors import InvalidInput, SpaceExhausted
from quadrat.gp.sketch import Sketch
from quadrat.kernels import Matern
from quadrat.loop import minimize
from quadrat.methods.base import Method
from quadrat.methods.registry import all_methods
from quadrat.optimizer import FAILED, CertificateReport, Estimate, Optimizer, Recommendation, Trial
from quadrat.space import Categorical, Context, Fidelity, Float, Int, Space

LINE = Space(x=Float(-1, 2))
PLANE = Space(x=Float(0, 1), y=Float(1e-3, 1e3, log=True))
MIXED = Space(x=Float(0, 1), n=Int(1, 5), kind=Categorical(["a", "b", "c"]), depth=Int(1, 9, when={"kind": "a"}))
TINY = Space(x=Float(1.0, 1.0 + 1e-8))
TWO = Space(n=Int(1, 2))
WIDE = Space.from_dict({f"x{i}": Float(0, 1) for i in range(50)})
SPACES = {"line": LINE, "plane": PLANE, "mixed": MIXED, "tiny": TINY, "two": TWO, "wide": WIDE}
# The same with finitely many points, for methods that need that.
FINITE = {
    "line": Space(x=Float(-1, 2, step=0.25)),
    "plane": Space(x=Float(0, 1, step=0.25), y=Int(1, 20, log=True)),
    "mixed": Space(**{**MIXED, "x": Float(0, 1, step=0.25)}),
    "tiny": Space(x=Categorical(["only"]), n=Int(1, 2)),
    "two": TWO,
    "wide": Space.from_dict({f"x{i}": Int(1, 2) for i in range(50)}),
}


def with_fidelity(space: Space) -> Space:
    return Space(**space, level=Fidelity([1, 2, 4], cost=[1, 3, 9]))


def with_contexts(space: Space) -> Space:
    return Space(**space, site=Context(Categorical(["north", "south"])), wind=Context(Float(0, 1)))


KINDS: dict[str, type[Method]] = {**all_methods(), "PrintedLPGPUCB": PrintedLPGPUCB}


@dataclass(frozen=True)
class Make:
    """From a number of trials to the method that a user would configure for it, and the spaces that it is for.

    `largest_dimension` is what the form of a method says itself that it cannot exceed; None where nothing is said.
    """

    name: str
    options: dict[str, Any]
    largest_dimension: int | None = None
    spaces: Mapping[str, Space] = field(default_factory=lambda: SPACES)

    def __call__(self, budget: int) -> Method:
        build: Callable[..., Method] = KINDS[self.name]
        takes_budget = any(field.name == "budget" for field in fields(cast(Any, build)))
        return build(**self.options, **({"budget": budget} if takes_budget else {}))

    def params(self, space: str, given: dict[str, Any]) -> dict[str, Any]:
        """Parameters of a plain space as those of the method's own: the nearest, and where there is more, the last."""
        u = SPACES[space].to_unit(given)
        return self.spaces[space].from_unit(np.append(u, np.ones(self.spaces[space].dimension - len(u))))


_ASSUMED = {"kernel": Matern(2.5, 0.3), "norm_bound": 2.0, "noise": 0.1}
# Those that cannot be made without arguments, or not for any space; everything else is made with its defaults.
OPTIONS: dict[str, dict[str, Any]] = {
    "LPGPUCB": _ASSUMED,
    "LP0": _ASSUMED,
    "LevelSet": {**_ASSUMED, "threshold": 0.2},
    "MultiScaleLevelSet": {**_ASSUMED, "threshold": 0.2},
    "StableOpt": {"perturbation": 0.1},
    # With few initial trials, so that the models decide within the runs here.
    "AddGPUCB": {"n_initial": 4},
    "MFGPUCB": {"n_initial": 2},
    "PiGPUCB": {"capacity": 2, "n_initial": 2},
}
OWN_SPACES: dict[str, Mapping[str, Space]] = {
    "UCB1": FINITE,
    "MFGPUCB": {name: with_fidelity(space) for name, space in SPACES.items()},
    "StableOpt": {**SPACES, "two": Space(**TWO, x=Float(0, 1))},  # integers alone are not missed by a little
}
IN_CONTEXTS = {name: with_contexts(space) for name, space in SPACES.items()}
# And forms of a method that are almost methods of their own.
VARIANTS = {
    "LPGPUCB as printed": Make("PrintedLPGPUCB", _ASSUMED, largest_dimension=10),
    "LPGPUCB with a sketch": Make("LPGPUCB", {**_ASSUMED, "sketch": Sketch()}),
    "LPGPUCB in contexts": Make("LPGPUCB", _ASSUMED, spaces=IN_CONTEXTS),
    "CGPUCB in contexts": Make("CGPUCB", {}, spaces=IN_CONTEXTS),
    "GPUCB on arms": Make("GPUCB", {}, spaces=FINITE),
    **{
        name: Make(name, OPTIONS.get(name, {}), spaces=OWN_SPACES.get(name, SPACES))
        for name, method in all_methods().items()
        if "safe regions" not in method.facts.handles  # tests/methods/safe: where these may go, no other method would
    },
}


@pytest.fixture(params=sorted(VARIANTS))
def make(request: pytest.FixtureRequest) -> Make:
    return VARIANTS[str(request.param)]


def value_of(params: dict[str, Any]) -> float:
    """A smooth function of size 1 of whatever numbers there are, with a ripple instead of noise."""
    numbers = [float(value) for value in params.values() if not isinstance(value, str)]
    return math.cos(sum(numbers)) / 2 + 0.1 * math.sin(1e4 * sum(numbers)) + 0.1 * (params.get("kind") == "b")


def context_of(optimizer: Optimizer) -> dict[str, Any] | None:
    """The context of the next trial, where the space has contexts."""
    number = len(optimizer.trials)
    return {"site": ("north", "south")[number % 2], "wind": (number % 5) / 4} if optimizer.space.contexts else None


def ask(optimizer: Optimizer) -> Trial:
    return optimizer.ask(context=context_of(optimizer))


def recommend(optimizer: Optimizer) -> Recommendation:
    return optimizer.recommend({"site": "south", "wind": 0.3} if optimizer.space.contexts else None)


def certificate(optimizer: Optimizer) -> CertificateReport:
    return optimizer.certificate({"site": "south", "wind": 0.3} if optimizer.space.contexts else None)


def start(make: Make, space: str, *, budget: int = 12, direction: str = "maximize", seed: int = 0) -> Optimizer:
    return Optimizer(make.spaces[space], direction=direction, method=make(budget), seed=seed)


def run(optimizer: Optimizer, n: int, outcome: Callable[[Trial], Any] = lambda trial: value_of(trial.params)) -> None:
    for _ in range(n):
        try:
            trial = ask(optimizer)
        except SpaceExhausted:  # both of two settings, again and again with the same results
            assert optimizer.space == SPACES["two"]
            return
        optimizer.tell(trial, outcome(trial))


def check_recommendation(optimizer: Optimizer) -> None:
    """It is in the space, its numbers are finite, and no interval carries the wrong name."""
    got = recommend(optimizer)
    optimizer.space.to_unit(got.params)  # refuses what is outside
    assert math.isfinite(got.value)
    assert got.certified_interval is None or got.credible_interval is None
    interval = got.certified_interval or got.credible_interval
    if interval is not None:
        assert interval[0] <= got.value <= interval[1]
    assert got.estimated_gain is None or got.estimated_gain >= 0
    report = certificate(optimizer)
    assert (report.value is None) == (report.reason is not None)
    assert report.value is None or (optimizer.method.facts.certifies and report.value >= 0)
    json.dumps(optimizer.state())


@pytest.mark.parametrize("space", SPACES)
def test_it_stays_in_the_box_and_recommends(make: Make, space: str) -> None:
    n = 8 if space == "wide" else 12
    if make.largest_dimension is not None and SPACES[space].dimension > make.largest_dimension:
        with pytest.raises(InvalidInput, match=f"at most {make.largest_dimension} dimensions"):
            start(make, space)
        return
    if make.name == "UCB1" and space == "wide":
        with pytest.raises(InvalidInput, match="expected at most 10000 points"):
            start(make, space)
        return
    optimizer = start(make, space, budget=n)
    run(optimizer, n)
    for record in optimizer.trials:
        optimizer.space.to_unit(record.params)
        assert record.why
    check_recommendation(optimizer)
    assert isinstance(optimizer.explain()["search"], dict)


def test_two_runs_are_equal_bit_for_bit(make: Make) -> None:
    first, again = (start(make, "plane", seed=1) for _ in range(2))
    for optimizer in (first, again):
        run(optimizer, 10)
    assert first.trials == again.trials
    assert recommend(first) == recommend(again)


@pytest.mark.parametrize("space", ["plane", "mixed"])
def test_a_run_rebuilt_from_its_state_goes_on_bit_for_bit(make: Make, space: str) -> None:
    """Interleaved: several pending, every fourth fails, replicates and standard errors among the others."""
    optimizer = start(make, space, budget=16)
    pending = [ask(optimizer)]
    for i in range(11):
        pending.append(ask(optimizer))
        trial = pending.pop(0 if i % 3 else -1)
        value = value_of(trial.params)
        outcomes: list[Any] = [value, [value, value + 0.1, value - 0.1], Estimate(value, 0.05), FAILED]
        optimizer.tell(trial, outcomes[i % 4])
        if i in (4, 10):
            state = json.loads(json.dumps(optimizer.state()))
            rebuilt = Optimizer.from_state(make.spaces[space], state, method=optimizer.method)
            assert rebuilt.trials == optimizer.trials
            assert recommend(rebuilt) == recommend(optimizer)
            assert certificate(rebuilt) == certificate(optimizer)
            again = ask(rebuilt)
            pending.append(ask(optimizer))
            assert again == pending[-1]
    check_recommendation(optimizer)


def test_looking_changes_nothing(make: Make) -> None:
    looked, blind = start(make, "plane"), start(make, "plane")
    for _ in range(8):
        run(looked, 1)
        run(blind, 1)
        recommend(looked)
        certificate(looked)
        looked.explain()
    assert looked.explain() == blind.explain()
    assert certificate(looked) == certificate(blind)
    assert recommend(looked) == recommend(blind)
    assert ask(looked) == ask(blind)


@pytest.mark.parametrize("space", ["plane", "mixed", "two"])
def test_failures_among_successes(make: Make, space: str) -> None:
    """Every third trial fails; on a continuous space no failed point is asked again."""
    optimizer = start(make, space)
    run(optimizer, 10, lambda trial: FAILED if trial.number % 3 == 1 else value_of(trial.params))
    check_recommendation(optimizer)
    if space == "plane":
        failed = [record for record in optimizer.trials if record.state == "failed"]
        for record in failed:
            later = [other.params for other in optimizer.trials if other.number > record.number]
            assert record.params not in later


@pytest.mark.parametrize("space", ["plane", "two"])
def test_the_first_three_fail(make: Make, space: str) -> None:
    optimizer = start(make, space)
    run(optimizer, 9, lambda trial: float("nan") if trial.number < 3 else value_of(trial.params))
    states = [record.state for record in optimizer.trials]
    assert states == (["failed"] * 3 + ["complete"] * 6)[: len(states)]
    assert len(states) == 9 or (space == "two" and "complete" in states)
    check_recommendation(optimizer)


def test_all_fail(make: Make) -> None:
    optimizer = start(make, "plane")
    run(optimizer, 8, lambda _: FAILED)
    points = [tuple(record.params.values()) for record in optimizer.trials]
    assert len(set(points)) == len(points)
    assert certificate(optimizer).value is None


def test_replicates(make: Make) -> None:
    optimizer = start(make, "plane")
    run(optimizer, 8, lambda trial: [value_of(trial.params) + 0.1 * i for i in range(1 + trial.number % 4)])
    check_recommendation(optimizer)


def test_means_with_standard_errors(make: Make) -> None:
    """Also next to plain values, and with errors far from what the method assumes."""
    optimizer = start(make, "plane")
    errors = [0.1, 1e-6, 10.0]
    run(
        optimizer,
        10,
        lambda trial: (
            value_of(trial.params) if trial.number % 2 else Estimate(value_of(trial.params), errors[trial.number % 3])
        ),
    )
    check_recommendation(optimizer)
    assert certificate(optimizer).value is None


@pytest.mark.parametrize("value", [0.0, -3.0, 1e6])
def test_a_constant_objective(make: Make, value: float) -> None:
    optimizer = start(make, "plane")
    run(optimizer, 9, lambda _: value)
    check_recommendation(optimizer)
    if certificate(optimizer).rejected is None and not optimizer.method.facts.certifies:
        assert recommend(optimizer).value == pytest.approx(value, rel=1e-3, abs=1.0)


def test_results_that_were_not_asked_for(make: Make) -> None:
    """Before the first ask, between asks, and again at a point that was asked."""
    optimizer = start(make, "plane")
    optimizer.add(make.params("plane", {"x": 0.5, "y": 1.0}), 0.4)
    run(optimizer, 4)
    optimizer.add(make.params("plane", {"x": 0.123456789, "y": 10.0}), [0.1, 0.2])
    optimizer.add(optimizer.trials[1].params, 0.3)
    optimizer.tell(optimizer.ask(make.params("plane", {"x": 1.0, "y": 1e3})), 0.2)
    run(optimizer, 4)
    check_recommendation(optimizer)


def test_constraints_are_respected_or_refused(make: Make) -> None:
    """A method that says so handles them; any other refuses them, and the trial can still be told without."""
    optimizer = start(make, "plane")
    if "constraints" not in optimizer.method.facts.handles:
        trial = ask(optimizer)
        with pytest.raises(InvalidInput, match=r"expected a method that handles them, got .* use Auto"):
            optimizer.tell(trial, 1.0, constraints={"c": -1.0})
        optimizer.tell(trial, 1.0)
        assert optimizer.trials[0].feasible is None
        return
    for _ in range(10):
        trial = ask(optimizer)
        optimizer.tell(trial, trial.params["x"], constraints={"c": trial.params["x"] - 0.4})
    check_recommendation(optimizer)
    assert recommend(optimizer).params["x"] <= 0.4 + 1e-3
    assert recommend(optimizer).best_seen.feasible is True


def test_what_a_known_constraint_forbids_is_neither_asked_nor_recommended(make: Make) -> None:
    """f grows towards the forbidden side."""
    space = make.spaces["plane"].subject_to(lambda params: params["x"] <= 0.6)
    optimizer = Optimizer(space, direction="maximize", method=make(12), seed=0)
    run(optimizer, 12, lambda trial: trial.params["x"] + 0.1 * math.sin(9 * trial.params["y"]))
    assert all(record.params["x"] <= 0.6 for record in optimizer.trials)
    assert recommend(optimizer).params["x"] <= 0.6
    check_recommendation(optimizer)


def test_a_thin_feasible_set_is_kept_to(make: Make) -> None:
    """Half a percent of the plane, between two lines; of the finite spaces, one value of five."""
    space = make.spaces["plane"].subject_to(lambda params: abs(params["x"] - 0.25) < 0.0025)
    optimizer = Optimizer(space, direction="maximize", method=make(9), seed=1)
    run(optimizer, 9)
    assert all(abs(record.params["x"] - 0.25) < 0.0025 for record in optimizer.trials)
    assert abs(recommend(optimizer).params["x"] - 0.25) < 0.0025
    check_recommendation(optimizer)


def test_the_gain_is_over_what_a_known_constraint_allows(make: Make) -> None:
    """f = x is told where x <= 0.3; on all of the plane 0.7 could be gained, where it is allowed nothing."""
    space = make.spaces["plane"].subject_to(lambda params: params["x"] <= 0.3)
    optimizer = Optimizer(space, direction="maximize", method=make(40), seed=0)
    run(optimizer, 20, lambda trial: trial.params["x"])
    gain = recommend(optimizer).estimated_gain
    assert (gain is not None) == optimizer.method.estimates_gain
    assert gain is None or gain < 0.15


def test_methods_say_whether_they_estimate_a_gain(make: Make) -> None:
    optimizer = start(make, "plane")
    run(optimizer, 12)
    got = recommend(optimizer)
    assert (got.estimated_gain_upper is not None) == optimizer.method.estimates_gain
    assert (got.estimated_gain is not None) == optimizer.method.estimates_gain
    if got.estimated_gain is not None and got.estimated_gain_upper is not None:
        assert got.estimated_gain <= got.estimated_gain_upper


def test_one_trial(make: Make) -> None:
    space = make.spaces["plane"]
    if space.contexts:
        optimizer = start(make, "plane", budget=1)
        run(optimizer, 1)
        check_recommendation(optimizer)
        return
    result = minimize(value_of, space, n_trials=1, method=make(1))
    assert result.best_seen.params == result.trials[0].params
    space.to_unit(result.params)  # refuses what is outside; it may be a point that was not tried
    assert repr(result)


@pytest.mark.parametrize("space", ["line", "plane"])
def test_pending_points_differ(make: Make, space: str) -> None:
    """Five at once from the start, and five at once after ten trials, told in reverse."""
    optimizer = start(make, space, budget=20)
    for _ in range(2):
        pending = [ask(optimizer) for _ in range(5)]
        points = [tuple(trial.params.values()) for trial in pending]
        assert len(set(points)) == 5
        for trial in reversed(pending):
            optimizer.tell(trial, value_of(trial.params))
        run(optimizer, 5)
    check_recommendation(optimizer)


def test_more_pending_than_there_are_points(make: Make) -> None:
    optimizer = start(make, "two")
    pending = [ask(optimizer) for _ in range(5)]
    if optimizer.space == TWO:
        assert {trial.params["n"] for trial in pending[:2]} == {1, 2}
    for trial in pending:
        optimizer.tell(trial, value_of(trial.params))
    check_recommendation(optimizer)


@pytest.mark.parametrize("space", ["plane", "mixed"])
def test_minimizing_f_is_maximizing_its_negative(make: Make, space: str) -> None:
    low = start(make, space, direction="minimize")
    high = Optimizer(make.spaces[space], direction="maximize", method=low.method.turned())
    run(low, 8)
    run(high, 8, lambda trial: -value_of(trial.params))
    assert [record.params for record in low.trials] == [record.params for record in high.trials]
    least, most = recommend(low), recommend(high)
    assert least.params == most.params
    assert least.value == -most.value
    assert least.estimated_gain == most.estimated_gain
    assert certificate(low).value == certificate(high).value


def test_it_beats_the_worst(make: Make) -> None:
    """Sanity, not performance: after 20 noiseless trials of a bowl the recommended point is above the median trial."""
    optimizer = start(make, "line", budget=20)
    run(optimizer, 20, lambda trial: -0.4 * (trial.params["x"] - 0.7) ** 2)
    values = sorted(record.values[0] for record in optimizer.trials)
    got = recommend(optimizer).params["x"]
    assert -0.4 * (got - 0.7) ** 2 >= values[len(values) // 2]
