"""What a posterior says about some points."""

from __future__ import annotations

from dataclasses import dataclass

from quadrat.arrays import Array

__all__ = ["Prediction"]


@dataclass(frozen=True)
class Prediction:
    """Posterior mean and deviation at m points, and their gradients in x where they were asked for."""

    mean: Array  # (m,)
    deviation: Array  # (m,)
    mean_gradient: Array | None = None  # (m, D)
    deviation_gradient: Array | None = None  # (m, D)
