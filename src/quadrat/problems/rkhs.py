"""Functions with a known norm in the reproducing-kernel Hilbert space of a kernel.

The guarantees of the package assume that f lies in the RKHS of the kernel with norm at most B. A finite sum
f(x) = sum_i w_i K(x, c_i) does, and its norm is sqrt(w' K w), K the matrix of the kernel between the centres
[BT04, section 1.3]; drawn at random and scaled, it is a test function for which B is not an assumption but a fact.

References
----------
[BT04]  Berlinet and Thomas-Agnan (2004). Reproducing Kernel Hilbert Spaces in Probability and Statistics. Kluwer.
[CG17]  Chowdhury and Gopalan (2017). On kernelized multi-armed bandits. ICML. Its experiments draw in this way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_number, as_points, as_vector
from quadrat.errors import InvalidInput, NumericalFailure
from quadrat.kernels import Kernel
from quadrat.partition.unit_cube import as_count

__all__ = ["RKHSFunction", "draw_rkhs_function"]

# The norm of a sum in which large weights cancel is known only to about (unit roundoff) / (what is left after
# cancelling, as a share). A share of at least 1e-4 leaves it twelve digits.
_LEAST_SHARE = 1e-4
_ATTEMPTS = 100


@dataclass(frozen=True, eq=False)
class RKHSFunction:
    """f(x) = sum_i weights_i K(x, centres_i), on all of R^D.

    Calling it with points of shape (n, D) gives a vector of n values; with one point of shape (D,), a float.

    Parameters
    ----------
    kernel
        Any kernel of `quadrat.kernels`.
    centres
        Shape (m, D).
    weights
        Shape (m,).

    Examples
    --------
    >>> from quadrat.kernels import SquaredExponential
    >>> f = RKHSFunction(SquaredExponential(0.2), np.array([[0.3], [0.7]]), np.array([1.0, -0.5]))
    >>> round(f.norm, 4)
    1.0558
    >>> point, value = f.maximum()
    >>> point.round(3), round(value, 4)
    (array([0.277]), 0.94)
    """

    kernel: Kernel
    centres: Array = field(repr=False)
    weights: Array = field(repr=False)

    def __post_init__(self) -> None:
        centres = as_points(self.centres, dimension=self.kernel.dimension, name="centres").copy()
        self.kernel.check_dimension(centres.shape[1])
        if centres.shape[0] == 0:
            raise InvalidInput("centres: expected at least one, got none")
        weights = as_vector(self.weights, length=centres.shape[0], name="weights").copy()
        for name, array in (("centres", centres), ("weights", weights)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def dimension(self) -> int:
        """The number D of coordinates."""
        return int(self.centres.shape[1])

    @property
    def norm(self) -> float:
        """The RKHS norm sqrt(w' K w).

        Exact up to rounding relative to |w|' |K| |w|. Weights that all but cancel, as only hand-made ones do, can
        leave a squared norm below zero by rounding; it counts as zero.
        """
        squared, _ = _squared_norm(self.kernel(self.centres), self.weights)
        return float(np.sqrt(max(squared, 0.0)))

    def __call__(self, points: ArrayLike) -> Array | float:
        """Values: a vector of n for points of shape (n, D), a float for one point of shape (D,)."""
        values = self.values(points)
        return float(values[0]) if np.ndim(points) == 1 and values.size == 1 else values

    def values(self, points: ArrayLike) -> Array:
        """Values at points of shape (n, D), as a vector of n."""
        return self.kernel(as_points(points, dimension=self.dimension), self.centres) @ self.weights

    def gradient(self, points: ArrayLike) -> Array:
        """Gradients at points of shape (n, D), one a row.

        Where the kernel has a kink (a centre, for the roughest kernels), the kink counts for zero.
        """
        return self._with_gradient(as_points(points, dimension=self.dimension))[1]

    def _with_gradient(self, points: Array) -> tuple[Array, Array]:
        matrix, pull = self.kernel.x_vjp(points, self.centres)
        return matrix @ self.weights, pull(np.broadcast_to(self.weights, matrix.shape))

    def maximum(
        self, rng: np.random.Generator | None = None, *, candidates: int = 4096, starts: int = 16
    ) -> tuple[Array, float]:
        """Search for the maximum on the unit cube.

        A numerical search and not a proof: the best of a Sobol sequence and the centres, of which a number that lie
        apart are climbed with L-BFGS-B. More candidates and starts make it surer; many bumps in many dimensions
        need more. Equal arguments give equal answers.

        Parameters
        ----------
        rng
            Moves the Sobol sequence by a random offset, modulo 1; None leaves it where it is.
        candidates
            Points of the sequence, >= 1, rounded up to a power of two.
        starts
            Climbs, >= 1.

        Returns
        -------
        point
            Shape (D,).
        value
            The value there.
        """
        from scipy.optimize import minimize
        from scipy.stats import qmc

        candidates = as_count(candidates, name="candidates", at_least=1)
        starts = as_count(starts, name="starts", at_least=1)
        sequence = qmc.Sobol(self.dimension, scramble=False).random_base2(int(np.ceil(np.log2(candidates))))
        if rng is not None:
            sequence = (sequence + rng.random(self.dimension)) % 1.0
        points = np.concatenate([np.clip(self.centres, 0.0, 1.0), sequence])
        values = self.values(points)
        unit = float(np.abs(values).max()) or 1.0  # brings the tolerances of the climb to the scale of f

        def downhill(x: Array) -> tuple[float, Array]:
            value, slope = self._with_gradient(x[None, :])
            return -float(value[0]) / unit, -slope[0] / unit

        best = points[values.argmax()]
        peaks = [best]
        for start in _highest_apart(points, values, starts):
            climb = minimize(
                downhill,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * self.dimension,
                options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500},
            )
            peaks.append(np.clip(climb.x, 0.0, 1.0))
        heights = self.values(np.array(peaks))
        best = peaks[int(heights.argmax())]
        return best, float(self.values(best[None, :])[0])


def draw_rkhs_function(
    kernel: Kernel,
    dimension: int,
    *,
    rng: np.random.Generator,
    norm: float = 1.0,
    n_centres: int | None = None,
    style: Literal["bumpy", "rough"] = "bumpy",
) -> RKHSFunction:
    """Draw a function of the kernel's RKHS whose norm is `norm` to rounding (1e-12 of it).

    Centres are uniform on the cube. Two styles, for the two ways in which a budget of norm can be spent:

    bumpy
        Weights w ~ N(0, I), few centres [CG17]: most of the norm goes into the directions that the kernel likes
        best, so that f is smooth for its norm. One centre gives a single bump, +-B K(x, c) / s: no function of the
        ball exceeds its height B s.
    rough
        Weights w = K^-1/2 z, z ~ N(0, I), many centres: f runs through a sample path of the Gaussian process with this
        kernel at the centres, K^1/2 z, and every direction that the centres span gets the same share of the norm.
        Wigglier, with more local maxima. Directions with eigenvalues below 1e-4 of the largest are left out: they
        hardly show in f, and their weights would drown the norm in rounding.

    A draw in which the weights all but cancel, so that the norm would be known to fewer than twelve digits, is thrown
    away and drawn anew.

    Parameters
    ----------
    kernel
        Any kernel of `quadrat.kernels` for this dimension.
    dimension
        The number D of coordinates.
    rng
        Where the draw comes from.
    norm
        B > 0.
    n_centres
        How many centres; 5 D unless given for bumpy, 20 D for rough.
    style
        "bumpy" or "rough".

    Returns
    -------
    RKHSFunction
        f, with its norm known.

    Raises
    ------
    InvalidInput
        An argument out of range, or a kernel of another dimension.
    NumericalFailure
        A hundred draws in a row were degenerate.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> from quadrat.randomness import generator
    >>> f = draw_rkhs_function(Matern(2.5, 0.3), 2, norm=3.0, rng=generator(0))
    >>> abs(f.norm - 3.0) <= 1e-12 * 3.0
    True
    """
    dimension = as_count(dimension, name="dimension", at_least=1)
    kernel.check_dimension(dimension)
    norm = as_number(norm, name="norm", above=0.0)
    if style not in ("bumpy", "rough"):
        raise InvalidInput(f'style: expected "bumpy" or "rough", got {style!r}')
    default = (5 if style == "bumpy" else 20) * dimension
    count = default if n_centres is None else as_count(n_centres, name="n_centres", at_least=1)
    for _ in range(_ATTEMPTS):
        centres = rng.random((count, dimension))
        weights = rng.standard_normal(count)
        matrix = kernel(centres)
        if style == "rough":
            weights = _inverse_root(matrix, weights)
        squared, size = _squared_norm(matrix, weights)
        if squared > _LEAST_SHARE * size:
            return RKHSFunction(kernel, centres, weights * (norm / np.sqrt(squared)))
    raise NumericalFailure(
        f"{_ATTEMPTS} draws from {kernel!r} in {dimension} dimensions were all degenerate; take fewer centres or "
        "shorter length-scales"
    )


def _squared_norm(matrix: Array, weights: Array) -> tuple[float, float]:
    """Return w' K w, and |w|' |K| |w|, the scale of its rounding errors."""
    sizes = np.abs(weights)
    return float(weights @ matrix @ weights), float(sizes @ np.abs(matrix) @ sizes)


def _inverse_root(matrix: Array, z: Array) -> Array:
    """K^-1/2 z without the directions whose eigenvalues are below 1e-4 of the largest."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    kept = eigenvalues > _LEAST_SHARE * eigenvalues[-1]
    return np.asarray(vectors[:, kept] @ (z[kept] / np.sqrt(eigenvalues[kept])))


def _highest_apart(points: Array, values: Array, count: int) -> list[Array]:
    """The highest points, each at least 0.05 sqrt(D) from those before it, so that climbs do not share a hill."""
    apart = 0.05 * np.sqrt(points.shape[1])
    order = np.argsort(-values, kind="stable")
    chosen: list[Array] = []
    while order.size and len(chosen) < count:
        top = points[order[0]]
        chosen.append(top)
        order = order[np.linalg.norm(points[order] - top, axis=1) >= apart]
    return chosen
