"""What a model states of f at a point and of what is left to gain, against draws and sums by hand."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import norm

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import CREDIBLE, Incumbent
from quadrat.methods.statements import Affine, Gain, Mixture

LEVELS = (0.01, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999)
MEANS, DEVIATIONS = np.array([-2.0, 0.0, 0.5, 4.0]), np.array([0.1, 1.0, 2.0, 0.5])


@dataclass(frozen=True)
class Cubed:
    """A monotone transform that moves means: told values are cubes of model units."""

    def apply(self, values: Array) -> Array:
        return np.cbrt(values)

    def undo(self, seen: Array) -> Array:
        return np.asarray(seen**3)


BELIEFS = [
    Mixture(MEANS, DEVIATIONS),
    Mixture(MEANS, DEVIATIONS, Affine(3.0, 0.1)),
    Mixture(MEANS, DEVIATIONS, Cubed()),
    Mixture(MEANS[:1], DEVIATIONS[:1], Cubed()),
    Mixture(MEANS, DEVIATIONS, Cubed()).turned(),
]


def drawn(belief: Mixture, count: int = 400_000) -> Array:
    """Draw values as told, one of the normals after the other, in the direction of the belief."""
    rng = np.random.default_rng(0)
    member = rng.integers(len(belief.means), size=count)
    seen = belief.means[member] + belief.deviations[member] * rng.standard_normal(count)
    told = seen if belief.transform is None else belief.transform.undo(seen)
    return -told if belief.negated else told


@pytest.mark.parametrize("belief", BELIEFS)
def test_a_belief_states_what_draws_of_it_show(belief: Mixture) -> None:
    """The share of draws below a quantile is its level, within four standard errors; the chance is its inverse."""
    values = drawn(belief)
    for level in LEVELS:
        at = belief.quantile(level)
        error = 4 * np.sqrt(level * (1 - level) / len(values))
        assert np.mean(values <= at) == pytest.approx(level, abs=error)
        assert belief.chance_at_most(at) == pytest.approx(level, abs=1e-9)
        low, high = belief.interval(level)
        error = 4 * np.sqrt(level * (1 - level) / len(values))
        assert np.mean((low <= values) & (values <= high)) == pytest.approx(level, abs=error)
        assert belief.chance_at_most(low) == pytest.approx((1 - level) / 2, abs=1e-9)
    assert belief.value == pytest.approx(belief.quantile(0.5))
    assert np.median(values) == pytest.approx(belief.value, abs=0.05)


def test_one_normal_is_itself_to_the_last_bit() -> None:
    mean, deviation = 0.1, 0.7
    belief = Mixture(np.array([mean]), np.array([deviation]))
    assert belief.value == mean
    assert belief.interval() == (mean - CREDIBLE * deviation, mean + CREDIBLE * deviation)
    assert belief.chance_at_most(1.0) == pytest.approx(norm.cdf(1.0, mean, deviation))


def test_turning_mirrors_everything_and_twice_is_nothing() -> None:
    for belief in BELIEFS:
        turned = belief.turned()
        assert turned.turned() == belief
        assert turned != belief
        assert turned.value == -belief.value
        low, high = belief.interval(0.8)
        assert turned.interval(0.8) == (-high, -low)
        assert turned.quantile(0.2) == pytest.approx(-belief.quantile(0.8))
        assert turned.chance_at_most(-1.0) == pytest.approx(1 - belief.chance_at_most(1.0))


def test_a_deviation_of_nothing_is_a_known_value() -> None:
    known = Mixture(np.array([1.0]), np.array([0.0]))
    assert (known.value, known.interval(0.99)) == (1.0, (1.0, 1.0))
    assert (known.chance_at_most(0.999), known.chance_at_most(1.001)) == (0.0, 1.0)
    either = Mixture(np.array([1.0, 2.0]), np.array([0.0, 0.0]))
    assert either.interval(0.9) == pytest.approx((1.0, 2.0))
    assert either.chance_at_most(1.5) == 0.5


def test_a_gain_states_what_its_draws_show() -> None:
    rng = np.random.default_rng(1)
    draws = rng.exponential(size=501)
    gain = Gain(draws, scale=2.0)
    assert gain.mean == pytest.approx(2 * draws.mean())
    assert gain.quantile(0.5) == pytest.approx(2 * np.median(draws))
    assert gain.upper == gain.quantile(0.9)
    for x in (0.0, 0.3, 2.0, 100.0):
        assert gain.chance_at_most(x) == sum(2 * one <= x for one in draws) / 501


def test_the_upper_value_of_a_gain_is_never_below_its_mean() -> None:
    rare = Gain(np.array([0.0] * 95 + [2.0] * 5))
    assert (rare.mean, rare.quantile(0.9), rare.upper) == (0.1, 0.0, 0.1)


def test_a_gain_of_joint_draws_by_hand() -> None:
    """Forty draws at three points: in the four highest the maximum is at the last point twice, at the second twice."""
    drawn_f = np.zeros((3, 40))
    drawn_f[0] = 0.5
    drawn_f[1, :2] = 10.5
    drawn_f[2, 2:4] = 20.5
    gain = Gain.of(drawn_f, np.array([False, True, False]))
    assert np.sort(gain.draws)[-5:].tolist() == [0.0, 10.0, 10.0, 20.0, 20.0]
    assert gain.unvisited == 0.5
    assert not gain.rests_on_unvisited
    assert Gain.of(drawn_f, np.array([False, True, True])).unvisited == 1.0
    assert Gain.of(drawn_f, np.array([True, False, False]), scale=3.0).quantile(0.99) == pytest.approx(60.0)


def test_statements_are_values() -> None:
    belief, gain = BELIEFS[2], Gain(np.array([0.0, 1.0]), 0.3, 2.0)
    for one, other in ((belief, Mixture(MEANS, DEVIATIONS)), (gain, Gain(np.array([0.0, 1.0])))):
        for made in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):  # noqa: S301
            assert made == one
            assert hash(made) == hash(one)
        assert one != other
        assert one != 1
    with pytest.raises(ValueError, match="read-only"):
        gain.draws[0] = 1.0
    assert repr(gain) == "<Gain: 1 on average, at most 1.8 with 90 %, 2 draws>"
    assert repr(Mixture([0.0], [1.0])) == "<Mixture of 1: median 0, 90 % from -1.64485 to 1.64485>"  # type: ignore[arg-type]  # lists are read too


def test_an_incumbent_that_a_model_believes_in() -> None:
    belief, gain = BELIEFS[0], Gain(np.array([0.5]))
    found = Incumbent.believed(np.array([0.5]), belief, gain, 0.9)
    assert (found.value, found.interval, found.certified) == (belief.value, belief.interval(0.9), False)
    assert (found.distribution, found.gain, found.feasibility) == (belief, gain, 0.9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Mixture(np.zeros(2), np.ones(3)), "shapes (2,) and (3,)"),
        (lambda: Mixture(np.zeros(0), np.zeros(0)), "M >= 1"),
        (lambda: Mixture(np.zeros(1), -np.ones(1)), "deviations >= 0"),
        (lambda: Gain(np.array([-0.1])), "draws >= 0"),
        (lambda: Gain(np.zeros(0)), "count >= 1"),
        (lambda: Gain(np.zeros(2), 1.5), "unvisited: expected a finite number >= 0 and <= 1, got 1.5"),
        (lambda: Gain(np.zeros(2), scale=0.0), "scale: expected a finite number > 0, got 0.0"),
        (lambda: BELIEFS[0].interval(1.0), "level: expected a chance between 0 and 1, got 1"),
        (lambda: BELIEFS[0].quantile(0.0), "level: expected a finite number > 0"),
        (lambda: Gain(np.zeros(2)).quantile(90), "level: expected a finite number > 0 and <= 1, got 90"),
    ],
)
def test_bad_input_says_what_was_expected_and_what_came(make: object, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()  # type: ignore[operator]
    assert words in str(caught.value)


@pytest.mark.parametrize("negated", [False, True])
def test_what_is_known_has_an_interval_of_no_width(negated: bool) -> None:
    for value in (0.0, 0.1, -1e300, 1e-300):
        known = Mixture(np.array([value, value]), np.zeros(2), negated=negated)
        truth = -value if negated else value
        assert known.is_certain
        assert known.value == truth
        assert known.interval(0.99) == (truth, truth)
        assert known.quantile(0.2) == truth
        assert known.chance_at_most(truth + 1e-9 * max(abs(truth), 1.0)) == 1.0
        assert known.chance_at_most(truth - 1e-9 * max(abs(truth), 1.0)) == 0.0
    assert not Mixture(np.array([0.0, 1.0]), np.zeros(2)).is_certain
    assert not Mixture(np.array([0.0]), np.ones(1)).is_certain
