"""Which settings are good enough: a map of a model's parameters, from noisy scores, with a guarantee.

    python examples/good_enough.py

The model is kernel ridge regression, the data are the 442 diabetes patients that come with scikit-learn. A score is the
mean R² over four random splits. Asked is not which setting is best but where the expected score is above .35: within
that region penalty and width can be chosen for other reasons. `MultiScaleLevelSet` divides the plane of both where it
pays. All its labels are right at once with probability 95 %, if the assumptions that are stated here are true.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge

import quadrat as qd
from quadrat.randomness import generator

# --- the data

X, y = load_diabetes(return_X_y=True, scaled=False)
X = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(X.shape[1])  # two patients are about one unit apart
y = (y - y.mean()) / y.std()

SPACE = qd.Space(penalty=qd.Float(0.01, 100.0, log=True), gamma=qd.Float(0.01, 10.0, log=True))

# --- the score


def score(params: dict[str, float], *stream: int, splits: int = 4) -> float:
    """Return the mean R² over random splits, 300 patients to learn from and 142 to test on; a stream names them."""
    model = KernelRidge(kernel="rbf", alpha=params["penalty"], gamma=params["gamma"])
    rng, scores = generator(0, *stream), []
    for _ in range(splits):
        order = rng.permutation(len(X))
        learned, tested = order[:300], order[300:]
        error = model.fit(X[learned], y[learned]).predict(X[tested]) - y[tested]
        scores.append(1 - np.mean(error**2) / np.mean((y[tested] - y[learned].mean()) ** 2))
    return float(np.mean(scores))


# --- the assumptions

LIMIT, ACCURACY = 0.35, 0.1  # within .1 of the limit either label is right
NOISE = 0.04  # of a score: no less than the spread of repeated scores
KERNEL = qd.Matern(2.5, 0.5)  # scores change smoothly over half of the range, on the log scale


def spread(repeats: int = 6) -> float:
    """Return the largest standard deviation of repeated scores at five settings: from data that are not used again."""
    corners = [(0.5, 0.5), (0.1, 0.1), (0.9, 0.9), (0.1, 0.8), (0.9, 0.1)]
    places = [SPACE.from_unit(np.array(corner)) for corner in corners]
    return max(float(np.std([score(p, 1, i) for i in range(repeats)], ddof=1)) for p in places)


# --- the search


def search(n_trials: int, norm_bound: float = 1.0) -> qd.Optimizer:
    """Ask and tell; return the optimizer with its map."""
    method = qd.research.MultiScaleLevelSet(
        threshold=LIMIT, accuracy=ACCURACY, kernel=KERNEL, norm_bound=norm_bound, noise=NOISE
    )
    optimizer = qd.Optimizer(SPACE, direction="maximize", method=method, seed=0)
    for i in range(n_trials):
        trial = optimizer.ask()
        optimizer.tell(trial, score(trial.params, 2, i))
    return optimizer


def show(found: qd.LevelSetReport, width: int = 48) -> None:
    """Print the shares and the map."""
    print(", ".join(f"{found.volume(label):.0%} {label}" for label in ("above", "below", "undecided")))
    signs = {"above": "+", "below": "-", "undecided": "?"}
    for row in (np.arange(width // 4)[::-1] + 0.5) / (width // 4):
        places = (SPACE.from_unit(np.array([(column + 0.5) / width, row])) for column in range(width))
        print("  " + "".join(signs[found.label_at(place)] for place in places))


# --- the check


def check(found: qd.LevelSetReport, side: int = 6, splits: int = 12) -> tuple[int, int, int]:
    """Compare labels with the mean of other splits on a grid; return how many are right, wrong and undecided."""
    right = wrong = undecided = 0
    for corner in np.ndindex(side, side):
        place = SPACE.from_unit((np.array(corner) + 0.5) / side)
        label, mean = found.label_at(place), score(place, 3, splits=splits)
        holds = {"above": mean > LIMIT - ACCURACY, "below": mean < LIMIT + ACCURACY}.get(label)
        right, wrong, undecided = right + (holds is True), wrong + (holds is False), undecided + (holds is None)
    print(f"of {side**2} places {right} have the right label, {wrong} a wrong one, {undecided} none")
    return right, wrong, undecided


# --- the run


def main(n_trials: int = 80) -> None:
    """Measure the noise, search, and compare with the truth as far as it can be known."""
    print(f"spread of repeated scores: at most {spread():.3f}; stated: {NOISE}")
    found = search(n_trials).level_set()
    show(found)
    check(found)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 80)
