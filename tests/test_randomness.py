from __future__ import annotations

import itertools

import pytest

from quadrat.errors import InvalidInput
from quadrat.randomness import generator


def test_streams_are_named_by_their_whole_key() -> None:
    keys = [(7,), (7, 0), (7, 0, 0), (7, 1), (1, 7), (7, 1, 0), (8,), (2**70, 1)]
    draws = {key: generator(*key).random(4).tobytes() for key in keys}
    for one, other in itertools.combinations(keys, 2):
        assert draws[one] != draws[other], (one, other)
    assert generator(7, 1).random(4).tobytes() == draws[7, 1]


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
def test_a_seed_is_a_count(seed: object) -> None:
    with pytest.raises(InvalidInput, match="seed: expected non-negative integers"):
        generator(seed)  # type: ignore[arg-type]
