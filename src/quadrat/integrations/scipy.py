"""`minimize` with the signature and the result of SciPy's global optimisers, for functions that are noisy or slow."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from quadrat._core.arrays import Array, as_points, as_whole
from quadrat.errors import InvalidInput
from quadrat.methods.base import Method
from quadrat.optimizer import BestSeen, Optimizer, Trial
from quadrat.space import Fixed, Float, Space
from quadrat.space.parameter import Parameter

if TYPE_CHECKING:
    from scipy.optimize import Bounds, OptimizeResult

__all__ = ["minimize"]

Map: TypeAlias = Callable[[Callable[[Array], Any], Iterable[Array]], Iterable[Any]]
_AT_ONCE = 4  # points of a batch where workers are a map, which does not say how many it has


def minimize(
    fun: Callable[..., Any],
    bounds: Bounds | Sequence[tuple[float, float]],
    args: tuple[Any, ...] = (),
    *,
    maxfun: int = 100,
    x0: Sequence[float] | Array | None = None,
    callback: Callable[..., Any] | None = None,
    rng: int | np.random.Generator | None = None,
    workers: int | Map = 1,
    method: str | Method | None = None,
) -> OptimizeResult:
    """Find where a function of a vector is small; next of kin to `scipy.optimize.direct` and its like.

    Made for up to some hundred evaluations, each of which takes time or has noise. The noise is learned: `x` is the
    point with the best estimate given all evaluations, not the one with the lowest value.

    Parameters
    ----------
    fun
        ``fun(x, *args)`` with x of shape (D,), to a number. Values that are not finite count as failures: their
        surroundings are avoided. Also a list of replicates, or a `quadrat.Estimate`, which is a number with its
        standard error. What it raises is raised.
    bounds
        `scipy.optimize.Bounds`, or a pair (low, high) for each of the D axes; finite. Where both are equal, that
        coordinate is fixed.
    args, maxfun
        Further arguments of `fun`, and the number of evaluations.
    x0
        Points to begin with: one, shape (D,), or several, shape (m, D).
    callback
        Called after each batch. If its one parameter is named `intermediate_result`, with an `OptimizeResult` as
        below; else with x, the recommended point so far. It ends the run if it raises StopIteration or returns True.
    rng
        An integer or a generator to repeat a run; None is different each time.
    workers
        As in `scipy.optimize.differential_evolution`: how many processes evaluate at once, -1 is one for each core;
        `fun` must then be picklable. Or a map, such as ``pool.map`` of a pool of yours: it gets 4 points at a time.
        Points of a batch are chosen together, each knowing of the others.
    method
        A method, the name of one (`quadrat methods` lists them), or a text with its options; None is the default.

    Returns
    -------
    OptimizeResult
        `x`, `fun`: the recommended point, shape (D,), and the estimate of the function there; `credible_interval`: 90 %
        of what the fitted model believes of that value, or `certified_interval` where the method certifies, None
        otherwise; `recommendation`: all that is stated of it, with `interval(level)` and `gain`; `best_seen`: an
        OptimizeResult with the `x` and `fun` of the lowest value, noise included; `nfev`, `nit`: evaluations and
        batches; `success`, `message`; `optimizer`. Where no evaluation was finite, `success` is False and x and fun are
        NaN.

    Examples
    --------
    >>> found = minimize(lambda x: (x[0] - 0.3) ** 2 + x[1] ** 2, [(-1, 1), (-1, 1)], maxfun=15, rng=0)
    >>> bool(np.abs(found.x - [0.3, 0.0]).max() < 0.05), found.nfev, found.success
    (True, 15, True)
    """
    if not callable(fun):
        raise InvalidInput(f"fun: expected a function of a vector, got {fun!r:.80}")
    maxfun = as_whole(maxfun, name="maxfun")
    box = _Box.of(bounds)
    optimizer = Optimizer(box.space, direction="minimize", method=method, seed=_seed(rng))
    starts = box.starts(x0)
    with _mapped(workers) as (evaluate, at_once):
        if "pending points" not in optimizer.method.facts.handles:
            at_once = 1
        nfev, nit, message = 0, 0, f"all {maxfun} evaluations done"
        while nfev < maxfun:
            trials = _ask(optimizer, starts, min(at_once, maxfun - nfev))
            values = evaluate(_Objective(fun, tuple(args)), [box.point(trial.params) for trial in trials])
            for trial, value in zip(trials, values, strict=True):
                optimizer.tell(trial, _scalar(value))
            nfev, nit = nfev + len(trials), nit + 1
            if callback is not None and _says_stop(callback, optimizer, box, nit):
                message = f"stopped by the callback after {nfev} evaluations"
                break
    return _result(optimizer, box, nit, message)


def _ask(optimizer: Optimizer, starts: list[dict[str, float]], count: int) -> list[Trial]:
    """Return a batch of trials; the user's own points come first, and are used up."""
    return [optimizer.ask(starts.pop(0) if starts else None) for _ in range(count)]


class _Objective:
    """A function with its arguments; a class, so that it can be sent to another process."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._fun, self._args = fun, args

    def __call__(self, x: Array) -> Any:
        return self._fun(x, *self._args)


class _Box:
    """Bounds, each of shape (D,), as a space."""

    def __init__(self, low: Array, high: Array) -> None:
        self._names = [f"x{axis}" for axis in range(len(low))]
        pairs = zip(self._names, low.tolist(), high.tolist(), strict=True)
        axes: dict[str, Parameter] = {n: Fixed(a) if a == b else Float(a, b) for n, a, b in pairs}
        self.space = Space(**axes)

    @classmethod
    def of(cls, bounds: object) -> _Box:
        """Read bounds in any form of SciPy's."""
        expected = "bounds: expected scipy.optimize.Bounds or finite pairs (low, high), one for each axis, low <= high"
        try:
            if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
                low, high = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
                pairs = np.column_stack([low, high]).astype(np.float64)
            else:
                pairs = np.asarray(bounds, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"{expected}, got {bounds!r:.80}") from None
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
            raise InvalidInput(f"{expected}, got an array of shape {pairs.shape}")
        wrong = np.flatnonzero(~(np.isfinite(pairs).all(axis=1) & (pairs[:, 0] <= pairs[:, 1])))
        if len(wrong):
            raise InvalidInput(f"{expected}, got {tuple(pairs[wrong[0]].tolist())} for axis {wrong[0]}")
        if (pairs[:, 0] == pairs[:, 1]).all():
            raise InvalidInput("bounds: expected low < high for at least one axis, got equal bounds for all")
        return cls(pairs[:, 0], pairs[:, 1])

    def point(self, params: dict[str, Any]) -> Array:
        """Return parameters as a vector, shape (D,)."""
        return np.array([params[name] for name in self._names], dtype=np.float64)

    def starts(self, x0: object) -> list[dict[str, float]]:
        """Return the points to begin with as parameters; refuses those outside."""
        if x0 is None:
            return []
        points = as_points(np.atleast_2d(np.asarray(x0, dtype=np.float64)), dimension=len(self._names), name="x0")
        starts = [dict(zip(self._names, point.tolist(), strict=True)) for point in points]
        for start in starts:
            try:
                self.space.to_unit(start)
            except InvalidInput as error:
                raise InvalidInput(f"x0: expected points within the bounds, got one outside: {error}") from None
        return starts


def _seed(rng: object) -> int:
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**32))
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    raise InvalidInput(f"rng: expected a non-negative integer, a numpy.random.Generator or None, got {rng!r:.80}")


@contextmanager
def _mapped(workers: object) -> Iterator[tuple[Map, int]]:
    """Give a map for the time of a run, and how many points to hand it at once."""
    if callable(workers):
        yield workers, _AT_ONCE
        return
    if isinstance(workers, bool) or not isinstance(workers, int | np.integer) or (workers < 1 and workers != -1):
        raise InvalidInput(f"workers: expected a positive integer, -1 or a map such as pool.map, got {workers!r:.80}")
    if workers == 1:
        yield map, 1
        return
    import os
    from concurrent.futures import ProcessPoolExecutor

    count = (os.cpu_count() or 1) if workers == -1 else int(workers)
    with ProcessPoolExecutor(count) as pool:
        yield pool.map, count


def _scalar(value: Any) -> Any:
    """Return a vector with one entry as that entry, as SciPy does; anything else as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _says_stop(callback: Callable[..., Any], optimizer: Optimizer, box: _Box, nit: int) -> bool:
    """Call the callback in the form that its signature asks for, as SciPy does."""
    so_far = _result(optimizer, box, nit, "running")
    try:
        if set(inspect.signature(callback).parameters) == {"intermediate_result"}:
            return bool(callback(intermediate_result=so_far))
        return bool(callback(so_far.x.copy()))
    except StopIteration:
        return True


def _result(optimizer: Optimizer, box: _Box, nit: int, message: str) -> OptimizeResult:
    found = {"nfev": len(optimizer.trials), "nit": nit, "optimizer": optimizer}
    best: BestSeen | None = optimizer.best_seen
    if best is None:
        nowhere = np.full(len(optimizer.space), np.nan)
        why = f"no evaluation gave a finite value; the last failure: {optimizer.trials[-1].failure}"
        return _made(x=nowhere, fun=np.nan, success=False, message=why, **found)
    point = optimizer.recommend()
    return _made(
        x=box.point(point.params),
        fun=point.value,
        credible_interval=point.credible_interval,
        certified_interval=point.certified_interval,
        recommendation=point,
        best_seen=_made(x=box.point(best.params), fun=best.value),
        success=True,
        message=message,
        **found,
    )


def _made(**entries: Any) -> OptimizeResult:
    from scipy.optimize import OptimizeResult

    result = OptimizeResult()
    result.update(entries)
    return result
