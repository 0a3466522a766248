"""How noisy a single result is, as far as the run says."""

from __future__ import annotations

import math
from typing import Any

from quadrat.optimizer import Optimizer

__all__ = ["noise_of"]


def noise_of(optimizer: Optimizer) -> float | None:
    """Return the standard deviation of one result in the user's units: stated, or else fitted; None where neither is.

    Examples
    --------
    >>> from quadrat.space import Float, Space
    >>> noise_of(Optimizer(Space(x=Float(0, 1)), direction="maximize", method="RandomSearch")) is None
    True
    """
    stated = getattr(optimizer.method, "noise", None)
    if isinstance(stated, int | float) and not isinstance(stated, bool):
        return float(stated)
    search: Any = optimizer.explain()["search"]
    settings, scale = search.get("settings"), search.get("scale")
    # Compressed values have another noise in every place.
    if not settings or not isinstance(scale, float) or search.get("low values compressed"):
        return None
    variances = [float(one["noise_variance"]) for one in settings if "noise_variance" in one]
    return scale * math.sqrt(sum(variances) / len(variances)) if variances else None
