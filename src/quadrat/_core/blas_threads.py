"""One BLAS thread, and NumPy's usual error states, while Quadrat computes.

Its matrices are small: several threads gain nothing, and on a busy machine they wait for each other. And the sums of
one thread come in one order, so that the same history gives the same suggestion on any number of cores.

A user who looks for mistakes in an objective calls `np.seterr(all="raise")`. Exponentials that underflow to 0 are no
mistake here, so what the user set applies to the user's code only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["with_own_numerics"]

P = ParamSpec("P")
T = TypeVar("T")


def with_own_numerics(call: Callable[P, T]) -> Callable[P, T]:
    """Make a function compute on one BLAS thread and with the error states that NumPy starts with.

    Examples
    --------
    >>> with_own_numerics(np.linalg.det)(np.eye(2))
    np.float64(1.0)
    >>> with np.errstate(all="raise"):
    ...     with_own_numerics(np.exp)(-1000.0)
    np.float64(0.0)
    """

    @wraps(call)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        controller = _blas()
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            if all(library.num_threads == 1 for library in controller.lib_controllers):
                return call(*args, **kwargs)
            with controller.limit(limits=1):
                return call(*args, **kwargs)

    return limited


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of NumPy and SciPy: both are loaded first, or they would not be found."""
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
