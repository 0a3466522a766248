"""Functions of exactly the stated norm: the table says what is true of each, and none exceeds what the ball allows."""

from __future__ import annotations

import json

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.optimizer import assumptions_from
from quadrat.problems import prior_check

SPACE = qd.Space(temperature=qd.Float(20, 90), rate=qd.Float(1e-4, 1.0, log=True))
STATED = qd.RunAssumptions(
    kernel=qd.Matern(2.5), lengthscales={"temperature": 35.0, "rate": 10.0}, norm_bound=2.0, offset=5.0, noise=0.05
)


def test_draws_have_the_stated_norm_and_lie_in_the_ball() -> None:
    found = prior_check(STATED, SPACE, n=6)
    assert [function.norm for function in found.functions] == pytest.approx([2.0] * 6)
    points = np.random.default_rng(0).random((500, 2))
    values = found.values(points)
    assert values.shape == (6, 500)
    assert ((values >= 3.0) & (values <= 7.0)).all()  # |f - 5| <= B
    for name, change in found.changes.items():
        assert (change > 0).all()
        assert (change <= found.most[name]).all()


def test_the_table_says_what_an_amplitude_allows() -> None:
    """|f - offset| is at most B s."""
    stated = qd.RunAssumptions(
        kernel=qd.Matern(2.5, 0.3, amplitude=2.0), lengthscales="unit cube", norm_bound=1.0, offset=0.0, noise=0.05
    )
    rows = [line.split() for line in repr(prior_check(stated, qd.Space(x=qd.Float(0, 1)), n=2)).splitlines()]
    assert rows[0][:5] == ["2", "functions", "of", "norm", "1:"]
    assert [row[-1] for row in rows[2:5]] == ["2", "-2", "4"]


def test_changes_are_read_over_the_distance_that_was_named() -> None:
    found = prior_check(STATED, SPACE, n=2, distances={"temperature": 7.0, "rate": 10.0})
    begin = np.random.default_rng(1).random((400, 2)) * [0.9, 1.0]
    end = begin + np.array([0.1, 0.0])
    for function, most in zip(found.functions, found.changes["temperature"], strict=True):
        at_random = np.abs(function.values(begin) - function.values(end)).max()
        assert at_random <= 1.2 * most  # the search is over lines, and misses little
    assert found.distances == {"temperature": 7.0, "rate": 10.0}


def test_distances_come_with_the_choice_or_are_a_tenth_of_the_range() -> None:
    choice = assumptions_from(SPACE, changes={"temperature": (5, 0.2), "rate": (2, 0.1)}, values=(0, 2), noise=0.1)
    assert prior_check(choice, SPACE, n=1).distances == {"temperature": 5.0, "rate": 2.0}
    tenths = prior_check(STATED, SPACE, n=1).distances
    assert tenths == pytest.approx({"temperature": 7.0, "rate": 10**0.4})


def test_the_table_and_the_data_say_the_same() -> None:
    found = prior_check(STATED, SPACE, n=4)
    text = repr(found)
    assert text.startswith("4 functions of norm 2: Matern(nu=2.5)")
    assert f"{found.highest.max():.4g}" in text
    assert "change within a factor of 2.512 of rate" in text
    again = json.loads(json.dumps(found.to_dict()))
    assert again["highest"] == found.highest.tolist()
    assert repr(prior_check(STATED, SPACE, n=4)) == text  # drawn from the seed alone
    assert repr(prior_check(STATED, SPACE, n=4, seed=1)) != text


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InvalidInput, match="distances: expected one for each of temperature, rate, got rate"):
        prior_check(STATED, SPACE, distances={"rate": 2.0})
    with pytest.raises(InvalidInput, match="expected a factor above 1 for the log parameter 'rate'"):
        prior_check(STATED, SPACE, distances={"temperature": 1.0, "rate": 0.5})
    with pytest.raises(InvalidInput, match="assumptions: expected RunAssumptions"):
        prior_check(qd.Matern(2.5), SPACE)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="n: expected"):
        prior_check(STATED, SPACE, n=0)
