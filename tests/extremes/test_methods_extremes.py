"""Every method at numerical extremes, through the optimizer: `benchmarks/extremes.py` runs many more of these cases."""

from __future__ import annotations

import extreme_cases
import pytest
from hypothesis import HealthCheck, given, settings


@pytest.mark.parametrize("name", extreme_cases.METHODS)
@settings(max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(case=extreme_cases.run_cases())
def test_what_is_asked_and_recommended_is_finite_and_in_the_space(name: str, case: extreme_cases.RunCase) -> None:
    extreme_cases.check_run(name, case)
