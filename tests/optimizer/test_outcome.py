"""What may be told of a trial."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.optimizer.outcome import FAILED, Reading, read_outcome


@pytest.mark.parametrize(
    ("outcome", "values", "sem"),
    [
        (1, (1.0,), None),
        (0.5, (0.5,), None),
        (np.float32(0.5), (0.5,), None),
        (np.int64(3), (3.0,), None),
        (np.array(2.5), (2.5,), None),
        (np.array([2.5]), (2.5,), None),
        (Fraction(1, 4), (0.25,), None),
        ([1, 2], (1.0, 2.0), None),
        ([np.float64(1), 2], (1.0, 2.0), None),
        (np.array([1, 2, 3]), (1.0, 2.0, 3.0), None),
        ((1, 2), (1.0,), 2.0),
        ((np.float64(1), np.float32(0.5)), (1.0,), 0.5),
    ],
)
def test_what_is_a_value(outcome: object, values: tuple[float, ...], sem: float | None) -> None:
    reading = read_outcome(outcome)
    assert reading == Reading(values, sem)
    assert all(type(value) is float for value in reading.values)


def test_a_tuple_is_a_mean_with_its_error_and_a_list_is_replicates() -> None:
    assert read_outcome((1.0, 2.0)) == Reading((1.0,), 2.0)
    assert read_outcome([1.0, 2.0]) == Reading((1.0, 2.0))


@pytest.mark.parametrize(
    ("outcome", "failure"),
    [
        (FAILED, "told FAILED"),
        (float("nan"), "told nan"),
        (-np.inf, "told -inf"),
        (np.float32("nan"), "told nan"),
        ([1.0, np.nan, 2.0], "told nan among 3 replicates"),
        ((np.nan, np.nan), "told nan"),
        ((np.inf, 1.0), "told inf"),
    ],
)
def test_what_is_a_failure(outcome: object, failure: str) -> None:
    assert read_outcome(outcome) == Reading(failure=failure)
    assert read_outcome(outcome, reason="it crashed") == Reading(failure="it crashed")


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (None, "got None"),
        (True, "got True"),
        (np.bool_(False), "got np.False_"),
        ("0.5", "got '0.5'"),
        (b"1", "got b'1'"),
        (1j, "got 1j"),
        (np.complex128(1), "got np.complex128"),
        (np.array(1j), "got np.complex128"),
        ([], "got nothing"),
        (np.array([]), "got nothing"),
        ([1.0, None], r"outcome\[1\]: expected .* got None"),
        ([True, False], r"outcome\[0\]"),
        (np.array([True, False]), r"outcome\[0\]"),
        (np.ones((2, 2)), r"shape \(2, 2\); flatten it"),
        ((1.0,), "1 entries: .*; replicates go in a list"),
        ((1.0, 2.0, 3.0), "3 entries: .*; replicates go in a list"),
        ((1.0, 0.0), "standard error: expected a finite number"),
        ((1.0, -1.0), "standard error: expected"),
        ((1.0, float("nan")), "standard error: expected"),
        ((1.0, 1e-200), "standard error: expected"),
        ((1.0, None), "standard error: expected"),
        ({"value": 1.0}, "expected a number, a list of replicates"),
        ({1.0, 2.0}, "expected a number, a list of replicates"),
        (10**400, "expected a number"),
    ],
)
def test_what_is_refused(outcome: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_outcome(outcome)


def test_failed_is_one_object_wherever_it_travels() -> None:
    assert repr(FAILED) == "FAILED"
    assert pickle.loads(pickle.dumps(FAILED)) is FAILED  # noqa: S301  # our own bytes
    assert copy.deepcopy(FAILED) is FAILED
