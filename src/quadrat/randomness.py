"""The one place where seeds become generators.

A stream is keyed by integers, such as (seed, trial number), so that the order in which work completes cannot
change what any piece of it draws. There is no global random state anywhere in the package.
"""

from __future__ import annotations

import operator

import numpy as np

from quadrat.errors import InvalidInput

__all__ = ["generator"]


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return the generator of the stream named by `seed` and any further integers.

    Equal keys give equal streams; different keys give independent ones.

    Parameters
    ----------
    seed, *key
        Non-negative integers.

    Raises
    ------
    InvalidInput
        A key that is not a non-negative integer.

    Examples
    --------
    >>> float(generator(7, 1).random()) == float(generator(7, 1).random())
    True
    >>> float(generator(7, 1).random()) == float(generator(7, 2).random())
    False
    """
    entropy = []
    for part in (seed, *key):
        try:
            number = operator.index(part)
        except TypeError:
            number = -1
        if number < 0 or isinstance(part, bool):
            raise InvalidInput(f"seed: expected non-negative integers, got {part!r}")
        entropy.append(number)
    # As spawn_key, not as entropy: entropy is padded with zeros, so that (7,) and (7, 0) would be one stream.
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy[0], spawn_key=tuple(entropy[1:]))))
