"""One BLAS thread and reproducible property tests, whoever starts pytest."""

from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from hypothesis import settings  # noqa: E402  # NumPy must not start its threads before this

settings.register_profile("quadrat", derandomize=True, deadline=None)
settings.load_profile("quadrat")
