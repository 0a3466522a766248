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
    """Return the generator of the stream named by `seed` and any further integers, none of them negative.

    Equal keys give equal streams; different keys give independent ones.

    Examples
    --------
    >>> [generator(7, 1).random() == generator(7, key).random() for key in (1, 2)]
    [True, False]
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
