"""`RunAssumptions`: length-scales in the user's units or of the cube, noise or limits, offset; nothing is guessed."""

from __future__ import annotations

import json
from math import log
from typing import Any

import pytest

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.methods.surrogate import Learned
from quadrat.optimizer import RunAssumptions

SPACE = qd.Space(temperature=qd.Float(20, 90), rate=qd.Float(1e-4, 1.0, log=True))
NAMED = {"temperature": 35.0, "rate": 10.0}


def stated(**changed: Any) -> RunAssumptions:
    return RunAssumptions(
        **{
            "kernel": qd.Matern(2.5),
            "lengthscales": NAMED,
            "norm_bound": 2.0,
            "offset": 0.5,
            "noise": 0.1,
            **changed,
        }
    )


def test_lengthscales_in_the_units_of_parameters_become_shares_of_their_ranges() -> None:
    kernel = stated().on(SPACE).kernel
    assert isinstance(kernel, qd.Matern)
    assert kernel.lengthscales == pytest.approx((0.5, 0.25))  # half of 70 degrees; one of four decades


def test_by_name_they_need_no_order_and_both_forms_are_the_same() -> None:
    turned = stated(lengthscales=dict(reversed(NAMED.items()))).on(SPACE)
    of_cube = stated(kernel=qd.Matern(2.5, [0.5, log(10) / log(1e4)]), lengthscales="unit cube").on(SPACE)
    assert stated().on(SPACE) == turned == of_cube


def test_the_words_have_both_units() -> None:
    words = stated().described(SPACE)
    assert "temperature 35 (0.5 of 20 to 90)" in words
    assert "rate a factor of 10 (0.25 of 0.0001 to 1, log scale)" in words
    assert "nu=2.5" in words
    assert "on the unit cube" in stated(kernel=qd.Matern(2.5) + qd.Matern(1.5), lengthscales="unit cube").described(
        SPACE
    )


def test_limits_of_the_values_give_noise_and_offset() -> None:
    limited = stated(noise=None, offset=None, values_within=(0, 1))
    assert (limited.sigma, limited.centre) == (0.5, 0.5)
    assert stated(noise=None, offset=0.2, values_within=(0, 1)).centre == 0.2
    assert json.loads(json.dumps(limited.to_dict()))["noise"] == 0.5


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"kernel": None}, "kernel that is learned from the results is no assumption"),
        ({"kernel": "Matern"}, "expected a kernel with stated length-scales"),
        ({"kernel": Learned()}, "is learned from the results is no assumption"),
        ({"lengthscales": 0.4}, 'lengthscales: expected "unit cube"'),
        ({"lengthscales": "cube"}, 'lengthscales: expected "unit cube"'),
        ({"lengthscales": {}}, 'lengthscales: expected "unit cube"'),
        (
            {"lengthscales": {"temperature": -1.0, "rate": 10.0}},
            "lengthscales: 'temperature': expected a finite number > 0",
        ),
        ({"kernel": qd.Matern(2.5, 0.3)}, "expected one without length-scales of its own"),
        ({"norm_bound": 0}, "norm_bound: expected a finite number"),
        ({"norm_bound": float("nan")}, "norm_bound: expected a finite number"),
        ({"noise": 0.0}, "noise: expected a finite number"),
        ({"noise": None}, "expected either noise or values_within, got neither"),
        ({"values_within": (0, 1)}, "expected either noise or values_within, got both"),
        ({"noise": None, "values_within": (1, 0)}, "with lowest < highest"),
        ({"noise": None, "values_within": (0, float("inf"))}, "values_within: expected a finite number"),
        ({"noise": None, "values_within": {0, 1}}, "expected (lowest, highest), got {0, 1}"),
        ({"noise": None, "values_within": {0: 1, 1: 2}}, "expected (lowest, highest), got {0: 1, 1: 2}"),
        ({"noise": None, "values_within": 3}, "expected (lowest, highest), got 3"),
        ({"noise": None, "values_within": (0, 1, 2)}, "expected (lowest, highest), got (0, 1, 2)"),
        ({"offset": None}, "offset: expected the value around which the objective lies, got none"),
        ({"offset": "0"}, "offset: expected a finite number"),
        ({"delta": 1.0}, "delta: expected a probability"),
    ],
)
def test_what_is_no_assumption_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        stated(**changed)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"lengthscales": {"temperature": 35.0}}, "expected one for each of temperature, rate, got temperature"),
        ({"lengthscales": {**NAMED, "x": 1.0}}, "got temperature, rate, x"),
        (
            {"lengthscales": {"temperature": 35.0, "rate": 0.25}},
            "expected a factor above 1 for the log parameter 'rate'",
        ),
        (
            {"kernel": qd.Matern(2.5, [0.1, 0.2, 0.3]), "lengthscales": "unit cube"},
            "expected points with 3 columns, one for",
        ),
    ],
)
def test_what_does_not_belong_to_the_space_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        stated(**changed).on(SPACE)
    assert sentence in str(refused.value)


def test_a_lengthscale_of_what_is_no_float_is_refused() -> None:
    with pytest.raises(NotAvailable, match="expected parameters that are Floats without steps, got 'n'"):
        stated(lengthscales={"n": 2.0}).on(qd.Space(n=qd.Int(1, 9)))
