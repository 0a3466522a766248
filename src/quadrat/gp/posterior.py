"""The exact Gaussian-process posterior, one observation at a time.

Notation: n merged observations y at the rows of X; A = K + diag(v), v their noise variances; A = U^T U;
z = U^-T (y - m); for a new point x, k = K(X, x) and w = U^-T k. Then

    mean(x) = m + w.z,    deviation(x)^2 = K(x, x) - w.w,    log det A = 2 sum log U_ii.

Appending an observation extends U by a column and z by an entry: one triangular solve, O(n^2).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_number, as_points, as_vector
from quadrat.errors import InvalidInput
from quadrat.gp.cholesky import GrowingCholesky, JitterPolicy
from quadrat.gp.observations import as_variances, group_rows
from quadrat.gp.prediction import Prediction
from quadrat.kernels import Kernel

__all__ = ["GaussianProcess"]

_ROUNDING = 4.0  # units of N eps s^2 that the variance of a difference is rounded up by
_FEW = 64  # rows whose covariances are kept for a twin; more would hold on to too much memory


class GaussianProcess:
    """A Gaussian process with known hyper-parameters that learns from observations as they come.

    Parameters
    ----------
    kernel
        The covariance, hyper-parameters included; `fit_map` learns those.
    noise_variance
        Variance of an observation's noise where `add` is not told otherwise, >= 0.
    mean
        The constant prior mean m.
    jitter
        False switches the jitter policy off: a matrix that cannot be factored raises. Certified bounds need that.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> gp = GaussianProcess(Matern(2.5, 0.3), noise_variance=0.01)
    >>> gp.add([[0.2], [0.7]], [1.0, -1.0])
    >>> gp.predict([[0.2]]).mean.round(2).tolist()
    [0.99]
    """

    def __init__(self, kernel: Kernel, *, noise_variance: float, mean: float = 0.0, jitter: bool = True) -> None:
        if not isinstance(kernel, Kernel):
            raise InvalidInput(f"kernel: expected a kernel such as Matern(2.5, 0.3), got {kernel!r}")
        self.kernel = kernel
        self.noise_variance = as_number(noise_variance, name="noise_variance", at_least=0.0)
        self.prior_mean = as_number(mean, name="mean")
        self._cholesky = GrowingCholesky(JitterPolicy() if jitter else JitterPolicy(relative=0.0))
        self._rows: dict[bytes, int] = {}
        self._x: Array | None = None
        self._y = np.empty(0)
        self._v = np.empty(0)
        self._count = np.empty(0)
        self._exact: dict[int, int] = {}  # rows with noise-free repeats -> how many of those
        self._z = np.empty(0)
        self._alpha: Array | None = None
        self._told = 0
        self._within_quadratic = 0.0
        self._within_logdet = 0.0
        self._densities = 0  # how many densities of replicates around their mean are in the two sums above
        self._pending = 0
        self._recent: tuple[Array, Array, Array] | None = None  # the rows added last and their covariances

    # Fields that `save` keeps; the factor is not among them, because its earlier columns never change.
    _STATE: ClassVar[tuple[str, ...]] = (
        *("_x", "_y", "_v", "_count", "_z", "_alpha", "_told"),
        *("_within_quadratic", "_within_logdet", "_densities"),
    )

    # --- observations

    def __len__(self) -> int:
        """Number of distinct observed points, n."""
        return self._told

    @property
    def n_observations(self) -> int:
        """Number of observations told, replicates counted one by one."""
        return int(self._count[: self._told].sum())

    @property
    def x(self) -> Array:
        """Distinct observed points, shape (n, D)."""
        return self._points()[: self._told]

    @property
    def y(self) -> Array:
        """Merged observations, shape (n,)."""
        return self._y[: self._told]

    @property
    def noise_variances(self) -> Array:
        """Noise variances of the merged observations, shape (n,)."""
        return self._v[: self._told]

    @property
    def counts(self) -> Array:
        """How many observations were merged at each point, shape (n,)."""
        return self._count[: self._told]

    @property
    def jitter(self) -> Array:
        """Variance that the jitter policy added to each observation, shape (n,); zeros when all went well."""
        return self._cholesky.jitter[: self._told]

    @property
    def cholesky(self) -> GrowingCholesky:
        """The factor of A, for further solves; not to be changed from outside."""
        return self._cholesky

    def _points(self) -> Array:
        return np.empty((0, self.kernel.dimension or 1)) if self._x is None else self._x

    # --- learning

    def add(
        self,
        X: ArrayLike,
        y: ArrayLike,
        noise_variance: ArrayLike | None = None,
        *,
        like: GaussianProcess | None = None,
    ) -> None:
        """Observe y (k,) at the rows of X (k, D), O(n^2) for each new point; repeated points are merged.

        `noise_variance` is a number or has shape (k,); the process's own is the default. `like` is a process with the
        same kernel that has just observed the same: its covariances are not computed again.
        """
        points, values, variances = self._as_observed(X, y, noise_variance)
        saved = self.save()
        try:
            noisier = self._take_in(points, values, variances)
            self._factor_new_rows(like)
            self._follow_diagonal(noisier)
            self._told = len(self._y)
            known = self._z[:0] if noisier else self._z
            self._z = self._cholesky.extend_half_solve(known, self._y[len(known) :] - self.prior_mean)
        except BaseException:  # after any failure, Ctrl-C included, half an observation must not stay
            self.restore(saved)
            raise
        self._alpha = None

    def save(self) -> dict[str, Any]:
        """Return the state for `restore`, in O(1): arrays are replaced by `add`, never written to."""
        return {"_exact": dict(self._exact), **{name: getattr(self, name) for name in self._STATE}}

    def restore(self, saved: dict[str, Any]) -> None:
        """Forget the observations since `saved`; the factor is computed anew if merged replicates have changed it."""
        merged = not np.array_equal(self._v[: saved["_told"]], saved["_v"][: saved["_told"]])
        vars(self).update(saved)
        self._rows = {key: row for key, row in self._rows.items() if row < self._told}
        self._cholesky.truncate(self._told)
        if merged:
            self._refactor()

    def _take_in(self, points: Array, values: Array, variances: Array) -> dict[int, float]:
        """Store and merge; return old rows that changed, with their variances before."""
        start = self._told
        fresh: list[int] = []
        repeats: list[tuple[int, int]] = []
        for row, point in enumerate(points):
            key = point.tobytes()
            index = self._rows.setdefault(key, start + len(fresh))
            if index == start + len(fresh):
                fresh.append(row)
            else:
                repeats.append((row, index))
        self._extend(points[fresh], values[fresh], variances[fresh])
        before = {index: float(self._v[index]) for _, index in repeats if index < start}
        for row, index in repeats:
            self._merge(index, float(values[row]), float(variances[row]))
        return before

    def _follow_diagonal(self, before: dict[int, float]) -> None:
        """Bring the factor to the new variances of merged rows, in place where that is stable."""
        for index, variance in before.items():
            change = float(self._v[index]) - variance
            if change and not self._cholesky.change_diagonal(index, change):
                self._refactor()
                return

    def _refactor(self) -> None:
        rebuilt = GrowingCholesky(self._cholesky.policy)
        rebuilt.append(np.zeros((0, len(self._y))), self._covariance_of_rows(0))
        self._cholesky = rebuilt

    def _as_points(self, X: ArrayLike) -> Array:
        known = self._x.shape[1] if self._x is not None else self.kernel.dimension
        points = as_points(X, dimension=known, name="X") + 0.0  # + 0.0 turns -0.0 into 0.0
        self.kernel.check_dimension(points.shape[1])
        return points

    def _as_observed(self, X: ArrayLike, y: ArrayLike, noise_variance: ArrayLike | None) -> tuple[Array, Array, Array]:
        """Check the arguments of `add`, and return points (k, D), values (k,) and noise variances (k,)."""
        if self._pending:
            raise InvalidInput("add: expected no pending points, got some; leave the `pending` block first")
        points = self._as_points(X)
        values = as_vector(y, length=len(points), name="y")
        return points, values, self._variances(noise_variance, len(points))

    def _distinct(self, X: ArrayLike, noise_variance: ArrayLike | None) -> tuple[Array, Array]:
        """Return points without repeats: r of them with variances v_i are one with 1 / sum(1 / v_i)."""
        points = self._as_points(X)
        variances = self._variances(noise_variance, len(points))
        first, group = group_rows(points)
        if len(first) == len(points):
            return points, variances
        with np.errstate(divide="ignore"):
            return points[first], 1 / np.bincount(group, 1 / variances)

    def _variances(self, given: ArrayLike | None, count: int) -> Array:
        return as_variances(self.noise_variance if given is None else given, count)

    def _extend(self, X: Array, y: Array, v: Array) -> None:
        self._x = X if self._x is None else np.vstack([self._x, X])
        self._y = np.concatenate([self._y, y])
        self._v = np.concatenate([self._v, v])
        self._count = np.concatenate([self._count, np.ones(len(y))])

    def _merge(self, index: int, value: float, variance: float) -> None:
        """Replace N(y1; f, v1) N(y2; f, v2) by N(y; f, v) N(y1 - y2; 0, v1 + v2)."""
        y, v, count = float(self._y[index]), float(self._v[index]), float(self._count[index])
        if v + variance > 0.0:
            apart = value - y
            self._within_quadratic += (apart**2 if abs(apart) < 1e150 else np.inf) / (v + variance)
            self._within_logdet += float(np.log(v + variance))
            self._densities += 1
        if variance == 0.0:  # a noise-free value outweighs noisy ones; several of them are averaged
            exact = self._exact.get(index, int(count) if v == 0.0 else 0)
            self._y[index] = (exact * y + value) / (exact + 1) if exact else value
            self._v[index] = 0.0
            self._exact[index] = exact + 1
        elif v == 0.0:
            self._exact.setdefault(index, int(count))
        else:
            share = v / (v + variance)
            self._y[index] = y + share * (value - y)
            self._v[index] = share * variance
        self._count[index] = count + 1

    def _factor_new_rows(self, like: GaussianProcess | None = None) -> None:
        old = self._cholesky.size
        X = self._points()
        if old == len(X):
            return
        recent = None if like is None or like is self else like._recent
        if recent is None or not (recent[1].shape[0] == old and np.array_equal(recent[0], X[old:])):
            cross = self.kernel(X[old:], X[:old]).T if old else np.zeros((0, len(X) - old))
            recent = X[old:].copy(), cross, self.kernel(X[old:])
        _, cross, block = recent
        self._cholesky.append(cross, block + np.diag(self._v[old:]))
        self._recent = recent if len(block) <= _FEW else None

    def _covariance_of_rows(self, start: int) -> Array:
        block = self.kernel(self._points()[start:])
        block[np.diag_indices_from(block)] += self._v[start:]
        return block

    @contextmanager
    def pending(self, X: ArrayLike, noise_variance: ArrayLike | None = None) -> Iterator[None]:
        """Within the block, deviations count the rows of X as observed, with `noise_variance`, at their own mean.

        The mean does not change; no value is invented. Leaving the block restores the process bit for bit.
        """
        points, variances = self._distinct(X, noise_variance)
        saved = self.save()
        size = self._cholesky.size
        self._extend(points, np.full(len(points), self.prior_mean), variances)
        self._pending += 1
        try:
            self._factor_new_rows()
            self._z = np.concatenate([self._z, np.zeros(len(points))])
            self._alpha = None
            yield
        finally:
            vars(self).update(saved)
            self._cholesky.truncate(size)
            self._pending -= 1

    # --- predicting

    def predict(self, X: ArrayLike) -> Prediction:
        """Return the posterior mean and standard deviation of f at the rows of X, shape (m, D)."""
        return self.predict_from_cross(self.cross(X))

    def cross(self, X: ArrayLike) -> Array:
        """Return K between the rows of X and the observed points, shape (m, n), from which every prediction starts."""
        points = self._as_points(X)
        return self.kernel(points, self._points()) if len(self._z) else np.zeros((len(points), 0))

    def predict_from_cross(self, cross: Array) -> Prediction:
        """Predict from `cross(X)`: processes that observed the same points in the same order may share it."""
        w = self._cholesky.half_solve(cross.T)
        return Prediction(self.prior_mean + w.T @ self._z, self._deviation(w))

    def predict_differences(self, cross: Array, at: Array, prior: Array) -> tuple[Prediction, Prediction]:
        """Predict f(x) at m points, and f(x) - f(z) for one more point z.

        Parameters
        ----------
        cross, at
            `cross` of the points, shape (m, n), and of z, shape (1, n).
        prior
            Prior variances K(x,x) + K(z,z) - 2 K(x,z), shape (m,), free of cancellation (`Kernel.squared_modulus`).

        Returns
        -------
        tuple of Prediction
            Of f at the m points and at z, shape (m + 1,), and of f(x) - f(z), shape (m,).
        """
        w = self._cholesky.half_solve(np.vstack([cross, at]).T)
        here = Prediction(self.prior_mean + w.T @ self._z, self._deviation(w))
        apart = w[:, :-1] - w[:, -1:]
        variance = prior - np.einsum("ij,ij->j", apart, apart)
        # Rounding must not make a bound too small where the two points are close and the variance cancels.
        variance += _ROUNDING * (len(w) + 1) * np.finfo(np.float64).eps * 2 * self.kernel.variance
        return here, Prediction(apart.T @ self._z, np.sqrt(np.maximum(variance, 0.0)))

    def predict_mean(self, X: ArrayLike) -> Array:
        """Return the posterior mean at the rows of X alone, shape (m,): O(n) a point."""
        points = self._as_points(X)
        if not len(self._z):
            return np.full(len(points), self.prior_mean)
        return self.prior_mean + self.kernel(points, self._points()) @ self._weights()

    def predict_with_gradients(self, X: ArrayLike) -> Prediction:
        """Return mean and deviation at the rows of X with their gradients; 0 for that of a deviation of 0."""
        points = self._as_points(X)
        if not len(self._z):
            flat = np.zeros_like(points)
            prior = self.predict(points)
            return Prediction(prior.mean, prior.deviation, flat, flat.copy())
        cross, pull = self.kernel.x_vjp(points, self._points())
        w = self._cholesky.half_solve(cross.T)
        deviation = self._deviation(w)
        mean_gradient = pull(np.broadcast_to(self._weights(), cross.shape))
        # d(deviation)/dx = -k'(x) A^-1 k / deviation
        variance_pull = pull(self._cholesky.back_solve(w).T)
        scale = np.divide(-1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
        return Prediction(self.prior_mean + w.T @ self._z, deviation, mean_gradient, scale[:, None] * variance_pull)

    def covariance(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        """Return the posterior covariance between the rows of X and of Z, shape (m, p); Z defaults to X."""
        left = self._as_points(X)
        right = left if Z is None else self._as_points(Z)
        prior = self.kernel(left, right)
        if not len(self._z):
            return prior
        w = self._cholesky.half_solve(self.kernel(left, self._points()).T)
        u = w if Z is None else self._cholesky.half_solve(self.kernel(right, self._points()).T)
        return prior - w.T @ u

    def _deviation(self, w: Array) -> Array:
        return np.asarray(np.sqrt(np.maximum(self.kernel.variance - np.einsum("ij,ij->j", w, w), 0.0)))

    def _weights(self) -> Array:
        """A^-1 (y - m), one back substitution after each change."""
        if self._alpha is None:
            self._alpha = self._cholesky.back_solve(self._z)
        return self._alpha

    # --- summaries of the evidence

    @property
    def logdet(self) -> float:
        """The log-determinant of I + V^-1/2 K V^-1/2 over all observations told, replicates counted.

        It is twice the information gained, and needs positive noise variances.
        """
        if (self.noise_variances <= 0).any():
            raise InvalidInput("logdet: expected positive noise variances, got an observation without noise")
        return self._logdet_without_pending() - float(np.log(self.noise_variances).sum())

    def _logdet_without_pending(self) -> float:
        return 2 * float(np.log(self._cholesky.diagonal[: self._told]).sum())

    @property
    def quadratic_form(self) -> float:
        """(y - m)^T (K + V)^-1 (y - m) over all observations told, replicates counted; infinite where it overflows."""
        with np.errstate(over="ignore"):
            return float(self._z @ self._z) + self._within_quadratic

    @property
    def log_evidence(self) -> float:
        """Log density of all observations told, replicates counted (noise-free repeats of one point only once)."""
        logdets = self._logdet_without_pending() + self._within_logdet
        count = self._told + self._densities
        return -0.5 * (self.quadratic_form + logdets + count * float(np.log(2 * np.pi)))
