"""One BLAS thread while Quadrat computes.

Its matrices are small: several threads gain nothing, and on a busy machine they wait for each other. And the sums of
one thread come in one order, so that the same history gives the same suggestion on any number of cores.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["on_one_blas_thread"]

P = ParamSpec("P")
T = TypeVar("T")


def on_one_blas_thread(call: Callable[P, T]) -> Callable[P, T]:
    """Make a function compute on one BLAS thread.

    Examples
    --------
    >>> import numpy as np
    >>> on_one_blas_thread(np.linalg.det)(np.eye(2))
    np.float64(1.0)
    """

    @wraps(call)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        controller = _blas()
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
