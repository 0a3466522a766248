"""The problems, as data: a fixed list.

plain     seven classics of `problems`, 3 to 8 dimensions, standardised, noise .1; some have their optimum near
          the centre of the cube
shifted   the same with the optimum moved to a place that the seed draws ("levy8~" with seed 3 is "levy8~3")
bbob      eight functions of BBOB in 5 dimensions, rescaled, noise .1 (`regret.bbob`); the seed chooses the instance
tuning    eight tunings of scikit-learn models, mixed and conditional spaces, the noise of random splits
          (`regret.tunings`)

The noise of functions is a standard deviation; another than .1 can be asked for. That of a tuning is its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import problems
from regret.bbob import FUNCTIONS, bbob_task
from regret.task import NOISE, FunctionTask, Task
from regret.tunings import TUNINGS, TuningTask

__all__ = ["ANY_NOISE", "NEEDS", "PROBLEMS", "SUITES", "chosen", "suite_of", "task"]

_CLASSICS = ("branin8", "goldstein8", "hartmann6", "ackley5", "levy8", "rosenbrock4", "rastrigin3")
SUITES: dict[str, tuple[str, ...]] = {
    "plain": _CLASSICS,
    "shifted": tuple(f"{name}~" for name in _CLASSICS),
    "bbob": tuple(FUNCTIONS),
    "tuning": tuple(TUNINGS),
}
ANY_NOISE = tuple(name for name in SUITES if name != "tuning")  # suites whose noise can be chosen
NEEDS = {"bbob": "ioh", "tuning": "sklearn"}  # modules, beyond those of the package
PROBLEMS = tuple(name for names in SUITES.values() for name in names)


def suite_of(problem: str) -> str:
    """Return the suite that a problem belongs to."""
    return next(suite for suite, names in SUITES.items() if problem in names)


def chosen(names: Sequence[str], noise: float = NOISE) -> tuple[str, ...]:
    """Return problems by their names or the names of their suites, in the order of the list.

    Raises
    ------
    ValueError
        A name is neither a problem nor a suite; or a tuning is asked for with a noise.
    """
    unknown = [name for name in names if name not in SUITES and name not in PROBLEMS]
    if unknown:
        raise ValueError(f"problems: expected some of {', '.join((*SUITES, *PROBLEMS))}, got {', '.join(unknown)}")
    found = tuple(name for name in PROBLEMS if name in names or suite_of(name) in names)
    for name in found:
        _check_noise(name, noise)
    return found


def task(problem: str, seed: int, noise: float = NOISE) -> Task:
    """Return a problem as `seed` makes it.

    Raises
    ------
    ValueError
        A tuning is asked for with a noise.
    """
    _check_noise(problem, noise)
    suite = suite_of(problem)
    if suite == "bbob":
        return bbob_task(problem, seed, noise)
    if suite == "tuning":
        return TuningTask(TUNINGS[problem], seed)
    known = problems.get(f"{problem}{seed}" if suite == "shifted" else problem)
    assert known.optimal_value is not None
    return FunctionTask(
        lambda u: float(known.values(u)[0]), known.dimension, best=known.optimal_value, seed=seed, noise=noise
    )


def _check_noise(problem: str, noise: float) -> None:
    if noise != NOISE and suite_of(problem) not in ANY_NOISE:
        raise ValueError(
            f"noise: expected problems of {', '.join(ANY_NOISE)}, got {problem}, a tuning, whose noise is that of its "
            "random splits; leave tunings out, or leave the noise out"
        )
