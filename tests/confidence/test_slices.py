from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import AdaptiveBand, Assumptions, UserHolder, certified_maximum
from quadrat.confidence.slices import SliceAssumptions, SliceBand
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern

KERNEL = Matern(2.5, [0.3, 0.5, 0.4])
CONTEXT = np.array([np.nan, 0.7, np.nan])


def band() -> AdaptiveBand:
    made = AdaptiveBand(Assumptions(KERNEL, 4.0, 0.05), 0.05)
    rng = np.random.default_rng(0)
    X = rng.random((40, 3))
    X[:10, 1] = 0.7
    made.add(X, 0.4 * np.sin(3 * X.sum(1)))
    return made


def test_variation_is_that_of_joint_differences_with_the_context_held() -> None:
    given = Assumptions(KERNEL, 2.0, 0.1)
    view = SliceAssumptions.of(given, np.isnan(CONTEXT))
    offsets = np.array([[0.1, 0.3], [0.0, 0.2]])
    joint = np.array([[0.1, 0.0, 0.3], [0.0, 0.0, 0.2]])
    np.testing.assert_array_equal(view.variation(offsets), given.variation(joint))
    assert float(view.variation([0.1, 0.3])) < float(given.variation([0.1, 0.1, 0.3]))
    assert view.ceiling == given.ceiling


def test_a_users_own_bound_is_kept() -> None:
    given = Assumptions(KERNEL, 2.0, 0.1, UserHolder(0.1))
    view = SliceAssumptions.of(given, np.isnan(CONTEXT))
    assert float(view.variation([0.3, 0.4])) == pytest.approx(0.05)


def test_the_view_says_what_the_band_says() -> None:
    whole = band()
    view = SliceBand(whole, CONTEXT)
    within = np.random.default_rng(1).random((5, 2))
    joint = np.column_stack([within[:, 0], np.full(5, 0.7), within[:, 1]])
    np.testing.assert_array_equal(view.joint(within), joint)
    np.testing.assert_array_equal(view.interval(within).upper, whole.interval(joint).upper)
    assert len(view.x) == 10
    view.add([[0.5, 0.5]], [0.1])
    assert whole.x[-1].tolist() == [0.5, 0.7, 0.5]
    assert (view.rejection, view.delta) == (None, whole.delta)
    assert view.rejected_because("for a test") == whole.rejected_because("for a test")
    hallucinating = [view.is_hallucinating]
    with whole.pending(joint):
        hallucinating.append(view.is_hallucinating)
    assert [*hallucinating, view.is_hallucinating] == [False, True, False]
    whole.add(joint, np.full(5, 9.0))
    assert view.rejection == whole.rejection is not None


def test_the_certified_maximum_of_a_slice_bounds_the_band_there_and_is_below_that_of_the_cube() -> None:
    whole = band()
    view = SliceBand(whole, CONTEXT)
    top = certified_maximum(view, dimension=2, max_cells=2048)
    line = np.linspace(0, 1, 41)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    upper = view.interval(grid).upper.max()
    slack = 0.01 * whole.assumptions.ceiling
    assert top.resolved
    assert upper - slack <= top.value <= upper + 3 * slack
    assert top.value < certified_maximum(whole, dimension=3, max_cells=4096).value
    assert top.centres.shape[1] == 2


def test_a_context_that_fixes_everything_has_no_slice() -> None:
    with pytest.raises(InvalidInput, match="at least one axis that is free"):
        SliceBand(band(), np.array([0.1, 0.2, 0.3]))
