"""Speed of the numerical core, as ratios within one run.

    python benchmarks/gp.py [--smoke] [--write]

Each figure is the median over interleaved repeats, one BLAS thread, of our time over that of the bare LAPACK and
kernel calls, or of a peer's time over ours. Peers (scikit-learn in our own environment; GPyTorch in .venv-peers,
made by `make peers`) must reach our objective value. --write updates benchmarks/results/gp.md.
"""

from __future__ import annotations

from timing import ROOT, medians, options, publish, table  # isort: skip  # sets the number of BLAS threads

import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import lapack

from quadrat._core.arrays import Array
from quadrat.gp import GaussianProcess, GrowingCholesky, Observations, Priors, fit_map
from quadrat.kernels import Matern

PEER_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
PEER_SCRIPT = Path(__file__).with_name("gp_peer.py")


def appending(n: int, repeats: int) -> list[tuple[str, float, str]]:
    rng = np.random.default_rng(0)
    kernel = Matern(2.5, np.full(8, 0.7))
    X, y = rng.random((n + 1, 8)), rng.normal(size=n + 1)
    gp = GaussianProcess(kernel, noise_variance=0.01)
    gp.add(X[:n], y[:n])
    factor = np.asfortranarray(gp.cholesky.factor)
    right = rng.normal(size=n)
    fresh = rng.random((3 * repeats + 3, 8))
    counter = iter(range(len(fresh)))

    def append() -> None:
        gp.add(fresh[next(counter)][None], 0.1)

    def refactor() -> None:
        matrix = kernel(X[:n])
        matrix.flat[:: n + 1] += 0.01
        lapack.dpotrf(matrix.T, lower=0, overwrite_a=1)

    found = medians({"append": append, "solve": lambda: lapack.dtrtrs(factor, right, trans=1)}, 3 * repeats)
    slow = medians({"refactor": refactor}, max(repeats // 3, 1))
    return [
        (f"append one observation at n = {n:,} / one triangular solve", found["append"] / found["solve"], "<= 3"),
        (f"refactor at n = {n:,} / append one observation", slow["refactor"] / found["append"], ">= 30"),
    ]


def predicting(n: int, m: int, repeats: int) -> list[tuple[str, float, str]]:
    rng = np.random.default_rng(1)
    kernel = Matern(2.5, np.full(8, 0.7))
    X, y, query = rng.random((n, 8)), rng.normal(size=n), rng.random((m, 8))
    gp = GaussianProcess(kernel, noise_variance=0.01)
    gp.add(X, y)
    factor = np.asfortranarray(gp.cholesky.factor)

    def bare() -> None:
        lapack.dtrtrs(factor, kernel(query, X).T, trans=1, overwrite_b=1)

    found = medians({"predict": lambda: gp.predict(query), "bare": bare}, repeats)
    name = f"mean and deviation of {m:,} points at n = {n:,} / kernel matrix + triangular solve"
    return [(name, found["predict"] / found["bare"], "<= 1.5")]


def problem(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(2)
    X = rng.random((n, 8))
    y = np.sin(5 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=n)
    return X, (y - y.mean()) / y.std()


def fitting(n: int, repeats: int) -> list[tuple[str, float, str]]:
    """All start at length-scales 1/2, amplitude 1, noise variance 0.1, zero mean, no priors."""
    import sklearn.gaussian_process as skgp
    import sklearn.gaussian_process.kernels as sk

    X, y = problem(n)
    data = Observations.merge(X, y)

    def ours() -> float:
        fit = fit_map(Matern(2.5, np.full(8, 0.5)), data, mean=0.0, priors=Priors.flat(), standardise=False)
        return fit.log_evidence

    def theirs() -> float:
        kernel = sk.ConstantKernel(1.0, (1e-4, 1e4)) * sk.Matern(np.full(8, 0.5), (5e-3, 1e2), nu=2.5)
        model = skgp.GaussianProcessRegressor(kernel + sk.WhiteKernel(0.1, (1e-8, 1e2)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns when a length-scale ends on its bound
            return float(model.fit(X, y).log_marginal_likelihood_value_)

    reached = {"ours": ours(), "sklearn": theirs()}
    found = medians({"ours": ours, "sklearn": theirs}, max(repeats // 2, 1))
    label = f"MAP fit, n = {n}, D = 8: "
    note = f">= 10 (log evidence {reached['sklearn']:.2f}, ours {reached['ours']:.2f})"
    rows = [(label + "scikit-learn / ours", found["sklearn"] / found["ours"], note)]
    for peer in gpytorch_times(X, y, reached["ours"], max(repeats // 3, 1)):
        # A speed ratio across two processes: ours is timed again right beside the peer's run.
        again = medians({"ours": ours}, repeats)["ours"]
        note = f">= 10 (log evidence {peer['reached']:.2f}, {peer['evaluations']} evaluations)"
        rows.append((f"{label}GPyTorch ({peer['optimiser']}) / ours", peer["seconds"] / again, note))
    return rows


def gpytorch_times(X: Array, y: Array, target: float, repeats: int) -> list[dict[str, float]]:
    if not PEER_PYTHON.exists():
        print("GPyTorch is not installed; `make peers` installs it. Its row is left out.", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y)
        run = subprocess.run(
            [str(PEER_PYTHON), str(PEER_SCRIPT), str(path), str(target), str(repeats)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    rows: list[dict[str, float]] = json.loads(run.stdout.splitlines()[-1])
    return rows


def storage(n: int) -> list[tuple[str, float, str]]:
    """A bulk load, then single appends: the largest ratio on the way."""
    factor = GrowingCholesky()
    factor.append(np.zeros((0, n - 10)), np.eye(n - 10))
    worst = 0.0
    while factor.size < n:
        factor.append(np.zeros((factor.size, 1)), np.eye(1))
        worst = max(worst, factor.nbytes / (8 * factor.size**2))
    return [(f"bytes of the factor at n = {n:,} / 8 n^2", worst, "<= 1.25")]


def importing(repeats: int) -> list[tuple[str, float, str]]:
    def run(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    actions = {
        "quadrat": run("import quadrat"),
        "bare": run("import numpy, scipy.linalg"),
        "python": run("pass"),
    }
    found = medians(actions, 3 * repeats)
    ratio = (found["quadrat"] - found["python"]) / (found["bare"] - found["python"])
    return [("import quadrat / import numpy, scipy.linalg (interpreter start taken off both)", ratio, "<= 1.5")]


def main() -> None:
    chosen = options(__doc__)
    n, m, fit_n, store, repeats = (60, 20, 20, 100, 1) if chosen.smoke else (2000, 1000, 200, 10_000, 15)
    rows = [*appending(n, repeats), *predicting(n, m, repeats), *fitting(fit_n, repeats), *storage(store)]
    rows += importing(repeats)
    text = table(("what", "ratio", "aim"), [(what, f"{ratio:.2f}", aim) for what, ratio, aim in rows])
    publish("gp", "The numerical core: ratios within one run", text, write=chosen.write)


if __name__ == "__main__":
    main()
