"""A classification of cells: volumes by label."""

from __future__ import annotations

import numpy as np
import pytest
from tests.labels import labels_at

from quadrat.errors import InvalidInput
from quadrat.methods.base import ABOVE, BELOW, UNDECIDED, Classification


def quarters() -> Classification:
    return Classification(
        lower=np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5]]),
        upper=np.array([[0.5, 1.0], [1.0, 0.5], [1.0, 1.0]]),
        label=np.array([ABOVE, UNDECIDED, BELOW]),
        low=np.array([0.2, -1.0, -1.0]),
        high=np.array([1.0, 1.0, 0.0]),
        threshold=0.1,
        accuracy=0.0,
        delta=0.05,
    )


def test_volumes_add_up_by_label() -> None:
    found = quarters()
    assert found.volumes.tolist() == [0.5, 0.25, 0.25]
    assert [found.volume(label) for label in (ABOVE, UNDECIDED, BELOW)] == [0.5, 0.25, 0.25]


def test_every_point_has_the_label_of_its_cell() -> None:
    """Half-open cells, closed where they touch the faces at 1."""
    found = quarters()
    points = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [1.0, 1.0], [0.49, 1.0], [0.75, 0.499]])
    assert labels_at(found, points).tolist() == [ABOVE, UNDECIDED, BELOW, BELOW, ABOVE, UNDECIDED]
    with pytest.raises(InvalidInput, match="unit cube"):
        labels_at(found, [[0.5, 1.5]])
