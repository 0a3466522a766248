"""Functions of exactly known RKHS norm, for which a certificate can be checked against the truth.

Examples
--------
>>> from quadrat import problems
>>> from quadrat.kernels import Matern
>>> from quadrat.randomness import generator
>>> f = problems.draw_rkhs_function(Matern(2.5, 0.3), 2, norm=1.0, rng=generator(0))
>>> point, value = f.maximum()
>>> f(point) == value <= f.norm
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat._core.lazy_names import lazy_names
from quadrat.problems.prior_draws import PriorCheck, prior_check
from quadrat.problems.rkhs import RKHSFunction, draw_rkhs_function

if not TYPE_CHECKING:  # names that left the package say where they are
    _, __getattr__, _ = lazy_names(__name__, {})

__all__ = ["PriorCheck", "RKHSFunction", "draw_rkhs_function", "prior_check"]
