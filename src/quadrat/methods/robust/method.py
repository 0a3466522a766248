"""StableOpt: the point whose value is best after the worst perturbation.

[B18]: Bogunovic, Scarlett, Jegelka and Cevher (2018). Adversarially robust optimization with Gaussian processes.
NeurIPS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.methods.acquisition import Score, expected_gain, top_points, upper_bound
from quadrat.methods.base import Domain, Incumbent, MethodFacts, Proposal, as_coordinates, refuse_context
from quadrat.methods.robust.worst_case import Robust, as_radius, bound, lowest, most_robust, worst_value
from quadrat.methods.surrogate import ModelBased, ModelSearch, Surrogate
from quadrat.randomness import generator

__all__ = ["StableOpt", "StableSearch"]

_ACQUISITION, _GAIN, _ROBUST, _WORST = 1, 2, 31, 32  # names of streams
_SAME = 1e-6  # of the cube's side: points so near are one evaluation
_TOP = 48  # told points of highest mean that are candidates


@dataclass(frozen=True, kw_only=True)
class StableOpt(ModelBased):
    """Seek the x that maximises min f over all perturbations of x within a box [B18].

    Each round takes x~, the point with the largest worst-case upper bound, max_x min_d ucb(x + d), then the
    perturbation d with the least lower bound, min_d lcb(x~ + d), and evaluates x~ + d: where f would hurt most if x~
    were used. The bounds are mu(x) -+ b sigma(x). The theorem of [B18] holds for any b with which they contain f.

    The recommended point is the x of the cube with the largest worst-case lower bound. The theorem takes the best of
    the x~ of all rounds, each by the bounds of its own round; those of the last round know more, and with them there is
    no need to keep to the x~. Its value and interval are those of f at the point itself; those of the worst case are in
    `explain()` as "worst case".

    Parameters
    ----------
    perturbation
        Half-sides of the box, in units of the cube's side (of the parameter's range, on its own scale): a number for
        all axes or one for each. Perturbed points are clipped to the cube. Integers, choices, steps and parameters that
        exist only under a condition are not perturbed.
    multiplier
        b, the square root of their beta_t; 2, as in their experiments. None takes a valid one from
        `norm_bound` and `delta`, b^2 = B^2 + 2 log(1/delta) + 2 gamma, gamma the information gained so far: the
        band of `quadrat.confidence.SimpleBand` with lambda = sigma^2.
    norm_bound
        B >= ||f||_K, in model units; used only without a multiplier.
    delta
        Probability with which the bounds may fail; used only without a multiplier.
    kernel, noise, n_initial, standardise, sketch
        As of `GPUCB`.

    Examples
    --------
    >>> search = StableOpt(perturbation=0.1).start(Domain.cube(1), seed=0)
    >>> search.ask(0, np.empty((0, 1))).why
    'uniform: 0 of 5 initial trials told'
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="StableOpt: robust to perturbations of the point",
        paper="Bogunovic, Scarlett, Jegelka and Cevher 2018, Adversarially robust optimization with Gaussian"
        " processes, NeurIPS",
        assumes="norm of f at most B in the RKHS of the kernel; whoever uses the point misses it by at most a box",
        best_for="a setting that stays good when it is missed a little",
    )

    perturbation: float | Sequence[float]
    multiplier: float | None = 2.0
    norm_bound: float = 1.0
    delta: float = 0.001

    def check(self) -> None:
        sides = as_radius(self.perturbation, np.size(self.perturbation)).tolist()
        object.__setattr__(self, "perturbation", sides[0] if np.ndim(self.perturbation) == 0 else tuple(sides))
        if self.multiplier is not None:
            object.__setattr__(self, "multiplier", as_number(self.multiplier, name="multiplier", above=0.0))
        object.__setattr__(self, "norm_bound", as_number(self.norm_bound, name="norm_bound", above=0.0))
        object.__setattr__(self, "delta", as_probability(self.delta))

    def start(self, domain: Domain, seed: int) -> StableSearch:
        return StableSearch(self, domain, seed)

    def width(self, model: Surrogate) -> float:
        """Return b after what the model was told."""
        if self.multiplier is not None:
            return self.multiplier
        return sqrt(self.norm_bound**2 + 2 * log(1 / self.delta) + 2 * model.gain)

    def score(self, model: Surrogate) -> tuple[Score, str]:
        return upper_bound(self.width(model)), "largest upper confidence bound"


class StableSearch(ModelSearch):
    """StableOpt at work."""

    def __init__(self, method: StableOpt, domain: Domain, seed: int) -> None:
        super().__init__(method, domain, seed)
        self.robust = method
        self.cube = as_coordinates(domain)
        self.radius = np.where(domain.continua, as_radius(method.perturbation, domain.dimension), 0.0)
        if not self.radius.any():
            axes = ", ".join(map(domain.called, range(domain.dimension)))
            raise InvalidInput(
                "perturbation: expected a half-side > 0 on a Float without steps or conditions, got "
                f"{method.perturbation} and {axes}, none of which is perturbed; without perturbations use GPUCB"
            )

    def decide(self, number: int, pending: Array) -> Proposal:
        width = self.robust.width(self.model)
        with self.model.pending(pending) as gp:
            aim = self._most_robust(gp, width, generator(self.seed, number, _ACQUISITION))
            x = lowest(bound(gp, -width, self.cube), aim.point[None, :], self.radius)[0][0]
            if len(pending) and (np.abs(pending - x).max(axis=1) < _SAME).any():
                x = self._least_known(gp, aim.point)
        around = ", ".join(f"{coordinate:.3g}" for coordinate in aim.point)
        why = f"where the value could be worst near ({around}), whose worst case may be the best ({aim.value:.4g})"
        return Proposal(x, why)

    def _least_known(self, gp: GaussianProcess, point: Array) -> Array:
        """Return where f is least known in the box of a point: its lowest bound is being evaluated already."""
        only = bound(gp, -1e6, self.cube)  # the mean does not count beside so many deviations
        return np.asarray(lowest(only, point[None, :], self.radius)[0][0])

    def _most_robust(self, gp: GaussianProcess, multiplier: float, rng: np.random.Generator) -> Robust:
        top = top_points(gp, self.dimension, _TOP)
        return most_robust(bound(gp, multiplier, self.cube), self.radius, rng, centres=top)

    def _choice(self) -> Robust:
        width, rng = self.robust.width(self.model), generator(self.seed, self.model.trials, _ROBUST)
        found = self._most_robust(self.model.posterior, -width, rng)
        # Integers so many that they are climbed along stand for themselves only where they are rounded.
        return replace(found, point=self.domain.rounded(found.point[None, :])[0])

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the point of the largest worst-case lower bound, with f there and its 90 % credible interval."""
        refuse_context(self, context)
        gp, frame = self.model.posterior, self.model.frame
        point = self._choice().point
        at = gp.predict(point[None, :])
        mean, deviation = float(at.mean[0]), float(at.deviation[0])
        gain = expected_gain(gp, point, generator(self.seed, self.model.trials, _GAIN), self.domain)
        return frame.incumbent(point.copy(), mean, deviation, gain)

    def explain(self) -> dict[str, object]:
        said = super().explain()
        if not self.model.trials:
            return said
        gp, frame, choice = self.model.posterior, self.model.frame, self._choice()
        at, _ = lowest(bound(gp, 0.0, self.cube), choice.point[None, :], self.radius)
        rng = generator(self.seed, self.model.trials, _WORST)
        worst = worst_value(gp, choice.point, self.radius, rng, domain=self.cube, also=[at[0]])
        said["worst case"] = {
            "of": choice.point.tolist(),
            "perturbation": self.radius.tolist(),
            "value": frame.to_values(worst.value),
            "credible interval": [frame.to_values(side) for side in worst.interval],
            "at": at[0].tolist(),
        }
        return said
