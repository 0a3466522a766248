"""Scores of candidates on the same folds: fold effects and residuals.

The score of candidate i on fold j is modelled as

    y_ij = f(x_i) + b_j + r_ij,    sum_j b_j = 0:

some folds are harder than others, for all candidates. The spread of one candidate's scores is therefore mostly
that of the fold effects b_j, which all candidates share, and says little about how well two of them can be told apart.
Every candidate has a score on every fold, so that the effects cancel in the mean over folds, to which they add the same
for all. The optimizer is told that mean alone:

- Told as replicates, the scores would be taken for measurements with the noise of b_j + r_ij, and differences between
  candidates that are real would be smoothed away.
- Told with a standard error, from the residuals r_ij, they would be taken for measurements whose errors
  are independent. They are not: neighbouring candidates are fitted to the same training sets and err alike. The smooth
  part of the r_ij belongs to the function that is searched. And as an error on new data, that standard
  error is too small: training sets overlap, and no estimate of it from the scores of one cross-validation is unbiased
  [BG04].
- The mean alone leaves the noise to be learned: the change that another fit on the same folds, or of a near neighbour,
  would make. Where an estimator is deterministic it is next to nothing, and learned as such.

The estimate for the recommended candidate is therefore of its mean score on these folds, not on new data.

References
----------
[BG04]  Bengio and Grandvalet (2004). No unbiased estimator of the variance of K-fold cross-validation. JMLR 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat.randomness import generator

__all__ = ["SameFolds", "Subsampled", "fold_effects", "residual_deviation"]

_SUBSAMPLED = 0x5AB  # names the stream


@dataclass
class SameFolds:
    """A splitter of scikit-learn's, asked once: a shuffling one would give every batch of candidates other folds."""

    splitter: Any
    _splits: list[tuple[Any, Any]] | None = field(default=None, repr=False)

    def split(self, X: object, y: object = None, **more: object) -> Iterator[tuple[Any, Any]]:
        """Yield (train, test) of each fold, those of the first call."""
        if self._splits is None:
            self._splits = list(self.splitter.split(X, y, **more))
        yield from self._splits

    def get_n_splits(self, X: object = None, y: object = None, **more: object) -> int:
        """Return how many folds there are."""
        return int(self.splitter.get_n_splits(X, y, **more))


@dataclass
class Subsampled:
    """A share of the samples of each fold, train and test alike: the same for all, and part of every larger share."""

    folds: SameFolds
    share: float
    seed: int

    def split(self, X: object, y: object = None, **more: object) -> Iterator[tuple[Any, Any]]:
        """Yield (train, test) of each fold."""
        for fold, sides in enumerate(self.folds.split(X, y, **more)):
            rng = generator(self.seed, _SUBSAMPLED, fold)
            train, test = (rng.permutation(side)[: max(1, int(self.share * len(side)))] for side in sides)
            yield train, test

    def get_n_splits(self, X: object = None, y: object = None, **more: object) -> int:
        """Return how many folds there are."""
        return self.folds.get_n_splits(X, y, **more)


def fold_effects(scores: Sequence[Sequence[float] | Array] | Array) -> Array:
    """Return the estimate of each b_j, shape (k,), from the `scores` of m candidates on k folds, shape (m, k).

    It is the mean over candidates of the score on a fold less the candidate's mean. The sum is 0.
    """
    table = np.asarray(scores, dtype=np.float64)
    effects: Array = (table - table.mean(axis=1, keepdims=True)).mean(axis=0)
    return effects


def residual_deviation(scores: Sequence[Sequence[float] | Array] | Array) -> float:
    """Return the standard deviation of the r_ij, from scores of shape (m, k).

    NaN where m or k is 1. Divided by the square root of k, it would be the standard error of a candidate's mean if
    residuals were independent, which they are not.
    """
    table = np.asarray(scores, dtype=np.float64)
    candidates, folds = table.shape
    if min(candidates, folds) < 2:
        return float("nan")
    residuals = table - table.mean(axis=1, keepdims=True) - fold_effects(table)
    return float(np.sqrt((residuals**2).sum() / ((candidates - 1) * (folds - 1))))
