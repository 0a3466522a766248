"""Optuna's own tests of samplers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from optuna.samplers import BaseSampler

from quadrat.integrations import QuadratSampler

pytest.importorskip("optuna.testing.pytest_samplers", reason="Optuna 4 has no such suite")
from optuna.testing.pytest_samplers import BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase


# Some of the suite's objectives have conditional parameters and changing bounds without a search space, on purpose.
@pytest.mark.filterwarnings("ignore:study .* settings evaluated:quadrat.errors.QuadratWarning")
@pytest.mark.filterwarnings("ignore:parameter .* is drawn at random:quadrat.errors.QuadratWarning")
class TestQuadratSampler(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    """The default method."""

    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: QuadratSampler(seed=0)
