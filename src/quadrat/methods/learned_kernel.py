"""A kernel whose length-scale is learned by maximum likelihood, as in the paper's experiments.

The paper (appendix "Details of Experiments") learns the length-scale of a Matérn kernel with nu = 2.5 from the first 5
points and fixes it from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from quadrat.arrays import as_number
from quadrat.errors import InvalidInput
from quadrat.gp import Bounds, Observations, Priors, fit_map
from quadrat.kernels import Kernel, Matern

__all__ = ["Learned", "is_due", "learn_kernel"]


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A Matérn kernel with one length-scale for all axes, learned by maximum likelihood.

    Parameters
    ----------
    nu
        Smoothness, > 0.
    amplitude
        Prior standard deviation s > 0, in model units; not learned.
    lengthscales
        The range (low, high) that is searched, in units of the cube's side. Five points often have a likelihood that
        grows all the way to 0 or to infinity; the paper does not say what it did then.
    refit_every
        None learns once, from the first `n_initial` trials, as in the paper. A number k learns again, from everything
        told, k, 2k, ... trials later; "doubling" whenever the number of trials has doubled. Each fit starts from
        the one before.

    Raises
    ------
    InvalidInput
        A number that is not positive, or a range that is none.

    Examples
    --------
    >>> import quadrat as qd
    >>> qd.GPUCB(kernel=Learned(nu=1.5, refit_every="doubling"), noise=0.05).kernel.refit_every
    'doubling'
    """

    nu: float = 2.5
    amplitude: float = 1.0
    lengthscales: tuple[float, float] = (0.1, 2.0)
    refit_every: int | Literal["doubling"] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "nu", as_number(self.nu, name="nu", above=0.0))
        object.__setattr__(self, "amplitude", as_number(self.amplitude, name="amplitude", above=0.0))
        low, high = self.lengthscales
        if not 0 < low < high < np.inf:
            raise InvalidInput(f"lengthscales: expected a range 0 < low < high, got {self.lengthscales!r}")
        every = self.refit_every
        if not (every is None or every == "doubling" or (isinstance(every, int) and every is not True and every > 0)):
            raise InvalidInput(f'refit_every: expected None, "doubling" or a number of trials >= 1, got {every!r}')

    def start(self) -> Matern:
        """Return the kernel with the length-scale in the middle of the range."""
        return Matern(self.nu, float(np.sqrt(np.prod(self.lengthscales))), amplitude=self.amplitude)

    def due(self, trials: int, n_initial: int) -> bool:
        """Whether the kernel is learned when this many trials are told, `n_initial` of them at first."""
        if trials <= n_initial or self.refit_every is None:
            return trials == n_initial
        if self.refit_every == "doubling":
            share, rest = divmod(trials, n_initial)
            return rest == 0 and share.bit_count() == 1
        return (trials - n_initial) % self.refit_every == 0


def learn_kernel(form: Learned, data: Observations, previous: Kernel | None = None) -> Matern:
    """Return the kernel of this form whose length-scale has the highest likelihood, with prior mean 0.

    Parameters
    ----------
    form
        Smoothness, amplitude and the range of length-scales.
    data
        Merged observations in model units, noise variances known.
    previous
        The fit before, where the search then starts; otherwise it starts from five length-scales of the range.

    Examples
    --------
    >>> data = Observations.merge([[0.1], [0.3], [0.6], [0.8]], [0.0, 0.8, 0.9, 0.2], 0.01)
    >>> round(float(np.max(learn_kernel(Learned(), data).lengthscales)), 2)
    0.42
    """
    low, high = form.lengthscales
    grid = np.geomspace(low, high, 5)
    start = form.start() if previous is None else previous
    logs = [np.log([scale, form.amplitude]) for scale in grid] if previous is None else []
    fit = fit_map(
        start,
        data,
        noise_variance=0.0,  # every observation brings its own
        mean=0.0,
        priors=Priors.flat(),
        # An interval of no width: the amplitude is configured, not learned.
        bounds=Bounds(lengthscale=(low, high), amplitude=(form.amplitude, form.amplitude * (1 + 1e-12))),
        starts=logs,
        standardise=False,
    )
    return Matern(form.nu, float(np.exp(fit.parameters[0])), amplitude=form.amplitude)


def is_due(form: Kernel | Learned, trials: int, n_initial: int) -> bool:
    """Whether a model learns when this many trials are told; one with a stated kernel learns its units, once."""
    return form.due(trials, n_initial) if isinstance(form, Learned) else trials == n_initial
