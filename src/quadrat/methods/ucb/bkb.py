"""BKB: GP-UCB on a sketched posterior, whose cost does not grow with the number of trials.

[C19]: Calandriello, Carratino, Lazaric, Valko and Rosasco (2019). Gaussian process optimization with adaptive
sketching: scalable and no regret. COLT.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, sqrt
from typing import ClassVar, Literal

from quadrat._core.arrays import as_number
from quadrat.confidence.budget import as_probability
from quadrat.confidence.sketched_band import theorem_multiplier
from quadrat.errors import InvalidInput
from quadrat.gp.sketch import Sketch, SketchedProcess
from quadrat.methods.acquisition import Score, upper_bound
from quadrat.methods.base import MethodFacts
from quadrat.methods.surrogate import ModelBased, Surrogate

__all__ = ["BKB"]

_REGULARISER = 16.0  # lambda B^2 / sigma^2, as of the certified bands (`confidence.bands.default_regulariser`)


@dataclass(frozen=True, kw_only=True)
class BKB(ModelBased):
    """Evaluate where mu~(x) + beta_t sigma~(x) is largest [C19].

    lambda = 16 sigma^2/B^2, which [C19] leaves free. The recommended point is the evaluated one of highest mean under
    the stated noise, with the same dictionary.

    Parameters
    ----------
    sketch
        Accuracy epsilon and oversampling q. The default is a practical one; `Sketch.of_theorem` has the q for which
        [C19] proves that variances are accurate.
    form
        "realised", the default: beta_t = B + (sigma/sqrt(lambda)) sqrt(log det(I + Q/lambda) + 2 log(1/delta)), the
        multiplier of an exact posterior with the sketched gain for the exact one; nothing is proven of it. "theorem":
        beta~_t of [C19], with the sum of sketched variances for the gain; with the theorem's q its regret
        is bounded.
    norm_bound
        B > 0, in model units.
    delta
        Probability with which the bound may fail.
    kernel, noise, n_initial, standardise
        As of `GPUCB`.

    Examples
    --------
    >>> from quadrat.gp.sketch import Sketch
    >>> BKB(sketch=Sketch.of_theorem(budget=1000, delta=0.05), form="theorem").sketch.alpha
    3.0
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="BKB: GP-UCB on a sketched posterior",
        paper="Calandriello, Carratino, Lazaric, Valko and Rosasco 2019, COLT",
        assumes="norm of f at most B in the RKHS of the kernel; sub-Gaussian noise",
        best_for="thousands of trials with a kernel that fits",
    )

    sketch: Sketch | None = field(default=Sketch())
    form: Literal["realised", "theorem"] = "realised"
    norm_bound: float = 1.0
    delta: float = 0.05

    def check(self) -> None:
        if self.sketch is None:
            raise InvalidInput("sketch: expected Sketch(...), got None; GPUCB has the exact posterior")
        if self.form not in ("realised", "theorem"):
            raise InvalidInput(f'form: expected "realised" or "theorem", got {self.form!r}')
        object.__setattr__(self, "norm_bound", as_number(self.norm_bound, name="norm_bound", above=0.0))
        object.__setattr__(self, "delta", as_probability(self.delta))

    def regulariser(self, noise_variance: float) -> float:
        return _REGULARISER * noise_variance / self.norm_bound**2

    def multiplier(self, model: Surrogate) -> float:
        """Return what the deviation is multiplied by after what the model was told."""
        gp = model.gp
        assert isinstance(gp, SketchedProcess)
        if self.form == "theorem":
            return theorem_multiplier(
                gp, norm_bound=self.norm_bound, noise=model.noise, delta=self.delta, observations=gp.n_observations
            )
        gained = gp.logdet + 2 * log(1 / self.delta)
        return self.norm_bound + model.noise / sqrt(gp.noise_variance) * sqrt(gained)

    def score(self, model: Surrogate) -> tuple[Score, str]:
        beta = self.multiplier(model)
        gp = model.gp
        assert isinstance(gp, SketchedProcess)
        words = f"beta = {beta:.3g}, {len(gp.dictionary)} of {len(gp)} points remembered"
        return upper_bound(beta), f"largest sketched upper confidence bound, {words}"
