"""A posterior in the span of a few kernel functions: the arithmetic of Nyström's approximation.

Notation: m inducing points S; z(x) = R^T k_S(x) with R R^T = K_SS^+, so that z(x).z(x') = Q(x, x') is K(x, x')
projected on the span of k(., s), s in S [C19]. With observations y_i of noise variance v_i at
x_i and z_i = z(x_i),

    H = (I + sum_i z_i z_i^T / v_i)^-1,    c = H sum_i z_i (y_i - m) / v_i,
    mean(x) = m + z.c,    variance(x) = K(x, x) - z.(I - H) z.

These are equations 4 and 5 of [C19] for v_i = lambda, their variance times lambda. Outside of the span the prior
variance, K - Q, stays, so that nothing unknown passes for known.

One more observation changes H by a matrix of rank one: O(m^2). Arrays are replaced, never written to, so that an
earlier posterior does not change.

[C19]: Calandriello, Carratino, Lazaric, Valko and Rosasco (2019). Gaussian process optimization with adaptive
sketching: scalable and no regret. COLT.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack

from quadrat._core.arrays import Array
from quadrat.errors import NumericalFailure
from quadrat.gp.prediction import Prediction
from quadrat.kernels import Kernel

__all__ = ["NystromPosterior"]

_SMALLEST = 1e-11  # of the largest eigenvalue of K_SS: directions below it are rounding, and are left out of the span
_LEAST_OUTSIDE = 1e-9  # of the prior variance: a point that the span leaves less of adds nothing but rounding
_ROWS = 4096  # points predicted at a time: their cross-covariances stay small


@dataclass(frozen=True)
class NystromPosterior:
    """The posterior in the span of some inducing points."""

    kernel: Kernel
    prior_mean: float  # m
    inducing: Array  # S, shape (m, D)
    root: Array  # R, shape (m, r), r <= m
    inverse: Array  # H, shape (r, r)
    weights: Array  # c, shape (r,)
    projected: Array  # sum_i z_i (y_i - m) / v_i, shape (r,)
    logdet: float = 0.0  # -log det H, which is log det(I + V^-1/2 Q V^-1/2)
    outside: float = 0.0  # sum_i (K(x_i, x_i) - Q(x_i, x_i)) / v_i: the part of the observed points outside of the span

    @classmethod
    def prior(cls, kernel: Kernel, prior_mean: float, inducing: Array) -> NystromPosterior:
        """Return the posterior of nothing, with these inducing points (m, D)."""
        root = _inverse_root(kernel(inducing)) if len(inducing) else np.zeros((0, 0))
        size = root.shape[1]
        return cls(kernel, prior_mean, inducing, root, np.eye(size), np.zeros(size), np.zeros(size))

    def observing(self, X: Array, y: Array, variances: Array) -> NystromPosterior:
        """Return the posterior of these observations alone, (n, D), (n,) and (n,): O(n m^2)."""
        z = self.features(X)
        weighted = z / variances[:, None]
        if not z.shape[1]:  # LAPACK takes no empty matrices
            return replace(self, outside=float((self.kernel.variance / variances).sum()))
        factor, info = lapack.dpotrf(np.eye(z.shape[1]) + weighted.T @ z, lower=0)
        if info != 0:  # I plus a Gram matrix: only numbers that are not finite come here
            raise NumericalFailure("the sketched precision matrix has no factor: expected finite kernel values")
        half, _ = lapack.dpotri(factor, lower=0)
        inverse = np.triu(half) + np.triu(half, 1).T
        projected = weighted.T @ (y - self.prior_mean)
        left = np.maximum(self.kernel.variance - np.einsum("ij,ij->i", z, z), 0.0)
        return replace(
            self,
            inverse=inverse,
            weights=lapack.dpotrs(factor, projected, lower=0)[0],
            projected=projected,
            logdet=2 * float(np.log(np.diagonal(factor)).sum()),
            outside=float((left / variances).sum()),
        )

    def after(self, z: Array, y: float, variance: float) -> NystromPosterior:
        """Return the posterior after one more observation at a point with features z, shape (r,): O(m^2)."""
        direction = self.inverse @ z
        known = float(z @ direction)
        total = variance + known
        left = max(float(self.kernel.variance - z @ z), 0.0)
        return replace(
            self,
            inverse=self.inverse - np.outer(direction, direction / total),
            weights=self.weights + direction * ((y - self.prior_mean - float(z @ self.weights)) / total),
            projected=self.projected + z * ((y - self.prior_mean) / variance),
            logdet=self.logdet + float(np.log1p(known / variance)),
            outside=self.outside + left / variance,
        )

    def with_point(self, x: Array, X: Array, y: Array, variances: Array) -> NystromPosterior:
        """Return the posterior with one more inducing point x, shape (1, D): O(n m) kernel values and O(m^2) more.

        The new feature is e(x') = (K - Q)(x', x)/sqrt((K - Q)(x, x)). H grows by the row of e, as an inverse does whose
        matrix grows by one. X, y and `variances` are all observations so far, (n, D), (n,) and (n,).
        """
        z = self.features(x)[0]
        left = float(self.kernel.variance - z @ z)
        if left <= _LEAST_OUTSIDE * self.kernel.variance:  # it is in the span already, up to rounding
            return self
        scale = float(np.sqrt(left))
        back = self.root @ z
        cross = self.cross(X)
        feature = (self.kernel(X, x)[:, 0] - cross @ back) / scale
        weighted = feature / variances
        shared = self.root.T @ (cross.T @ weighted)  # sum_i z_i e_i / v_i
        across = self.inverse @ shared
        length = float(feature @ weighted)
        pivot = 1 + length - float(across @ shared)
        r, m = len(self.weights), len(self.inducing)
        root = np.zeros((m + 1, r + 1))
        root[:m, :r], root[:m, r], root[m, r] = self.root, -back / scale, 1 / scale
        inverse = np.empty((r + 1, r + 1))
        inverse[:r, :r] = self.inverse + np.outer(across, across / pivot)
        inverse[:r, r] = inverse[r, :r] = -across / pivot
        inverse[r, r] = 1 / pivot
        projected = np.append(self.projected, float(weighted @ (y - self.prior_mean)))
        innovation = (projected[r] - float(across @ self.projected)) / pivot
        return replace(
            self,
            inducing=np.vstack([self.inducing, x]) if m else x.copy(),
            root=root,
            inverse=inverse,
            weights=np.append(self.weights - across * innovation, innovation),
            projected=projected,
            logdet=self.logdet + float(np.log(pivot)),
            outside=max(self.outside - length, 0.0),
        )

    def believing(self, X: Array, variances: Array) -> NystromPosterior:
        """Return the posterior as if distinct points (p, D) had been observed at their own mean.

        It is conditioned on them as the process that it is, with covariance K - z.(I - H) z': p features are added,
        U^-T cov(X, x) with U^T U = cov(X, X) + diag(variances), of which nothing is left unknown. So deviations shrink
        at points outside of the span too, where another term in H would say nothing.
        """
        z = self.features(X)
        taken = z - z @ self.inverse
        matrix = self.kernel(X) - taken @ z.T
        matrix[np.diag_indices_from(matrix)] += variances
        factor, info = lapack.dpotrf(matrix, lower=0, clean=1)
        if info != 0:
            raise NumericalFailure(
                "the pending points cannot be told apart: expected a positive noise variance, or points further apart"
            )
        half, _ = lapack.dtrtri(factor)  # U^-1
        p, r = len(X), len(self.weights)
        root = np.block([[self.root, -self.root @ taken.T @ half], [np.zeros((p, r)), half]])
        inverse = np.zeros((r + p, r + p))
        inverse[:r, :r] = self.inverse
        return replace(
            self,
            inducing=np.vstack([self.inducing, X]) if len(self.inducing) else X,
            root=root,
            inverse=inverse,
            weights=np.concatenate([self.weights, np.zeros(p)]),
            projected=np.concatenate([self.projected, np.zeros(p)]),
        )

    # --- reading

    def cross(self, points: Array) -> Array:
        """Return K between points (p, D) and the inducing ones, shape (p, m)."""
        return self.kernel(points, self.inducing) if len(self.inducing) else np.zeros((len(points), 0))

    def features(self, points: Array) -> Array:
        """Return z at points (p, D), shape (p, r)."""
        return self.cross(points) @ self.root

    @property
    def dimension_inside(self) -> float:
        """Return r - tr H = sum_i z_i.H z_i / v_i: the part of the effective dimension that lies in the span."""
        return len(self.weights) - float(np.trace(self.inverse))

    def variance(self, z: Array) -> Array:
        """Return the variance at points with features (p, r), shape (p,)."""
        return np.asarray(np.maximum(self.kernel.variance - np.einsum("ij,ij->i", z, z - z @ self.inverse), 0.0))

    def predict(self, points: Array) -> Prediction:
        """Return mean and deviation at points (p, D): O(m^2) a point."""
        mean, deviation = np.empty((2, len(points)))
        for start in range(0, len(points), _ROWS):
            rows = slice(start, start + _ROWS)
            z = self.features(points[rows])
            mean[rows], deviation[rows] = self.prior_mean + z @ self.weights, np.sqrt(self.variance(z))
        return Prediction(mean, deviation)

    def mean(self, points: Array) -> Array:
        """Return the mean at points (p, D), shape (p,): O(m) a point."""
        return self.prior_mean + self.cross(points) @ (self.root @ self.weights)

    def predict_with_gradients(self, points: Array) -> Prediction:
        """Return mean and deviation with their gradients; the deviation's is 0 where the deviation is 0."""
        if not len(self.inducing):
            flat = np.zeros_like(points)
            prior = self.predict(points)
            return Prediction(prior.mean, prior.deviation, flat, flat.copy())
        cross, pull = self.kernel.x_vjp(points, self.inducing)
        z = cross @ self.root
        deviation = np.sqrt(self.variance(z))
        mean_gradient = pull(np.broadcast_to(self.root @ self.weights, cross.shape))
        # d(deviation)/dx = -z'(x) (I - H) z / deviation
        variance_pull = pull((z - z @ self.inverse) @ self.root.T)
        scale = np.divide(-1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
        return Prediction(self.prior_mean + z @ self.weights, deviation, mean_gradient, scale[:, None] * variance_pull)

    def covariance(self, left: Array, right: Array) -> Array:
        """Return the posterior covariance between points (p, D) and (q, D), shape (p, q)."""
        z = self.features(left)
        return self.kernel(left, right) - (z - z @ self.inverse) @ self.features(right).T


def _inverse_root(matrix: Array) -> Array:
    """R with R R^T = A^+, shape (m, r), without the directions that are rounding."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    kept = eigenvalues > _SMALLEST * eigenvalues[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(eigenvalues[kept]))
