"""Certified bands of every kernel, at numerical extremes: `benchmarks/extremes.py` runs many more of these cases."""

from __future__ import annotations

import extreme_cases
import pytest
from hypothesis import HealthCheck, given, settings


@pytest.mark.parametrize("name", extreme_cases.KERNELS)
@settings(max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(case=extreme_cases.designs(largest=20))
def test_bounds_are_in_order_and_leaving_pending_points_is_exact(name: str, case: extreme_cases.Design) -> None:
    extreme_cases.check_band(name, case)
