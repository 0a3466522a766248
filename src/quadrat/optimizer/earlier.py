"""A run as it was earlier: what was recommended after so many trials, which nobody had asked for then.

The log of the run happens again, once, in an optimizer of its own, which stops on the way. Where asking leaves no trace
it is not asked, so that this takes as long as telling alone; otherwise as long as the run itself took, without its
evaluations. What was added at once is added in pieces, one at each stop: as if it had been read then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from quadrat._core.blas_threads import with_own_numerics
from quadrat.errors import InvalidInput
from quadrat.optimizer.optimizer import Optimizer
from quadrat.optimizer.replay import Replay

__all__ = ["earlier", "finished_order"]


def finished_order(optimizer: Optimizer) -> tuple[int, ...]:
    """Return the numbers of the trials that are complete or failed, in the order in which they were told."""
    numbers: list[int] = []
    for event in optimizer._run.events:
        if event["event"] == "tell":
            numbers.append(event["number"])
        elif event["event"] == "add_many":
            numbers.extend(range(event["number"], event["number"] + len(event["values"])))
    return tuple(numbers)


def earlier(optimizer: Optimizer, finished: Sequence[int]) -> Iterator[tuple[int, Optimizer]]:
    """Yield the run as it was when so many trials had finished: the number, and an optimizer to ask for answers.

    It is the same optimizer each time, which has moved on; the one that is given stays as it is. The numbers in
    `finished` ascend, each from 1 to as many as there are.

    Examples
    --------
    >>> from quadrat.space import Float, Space
    >>> optimizer = Optimizer(Space(x=Float(-1, 1)), direction="maximize", method="RandomSearch", seed=0)
    >>> for value in (0.1, 0.7, 0.3):
    ...     optimizer.tell(optimizer.ask(), value)
    >>> [(n, then.recommend().value) for n, then in earlier(optimizer, [1, 3])]
    [(1, 0.1), (3, 0.7)]
    """
    total = len(finished_order(optimizer))
    stops = list(finished)
    if any(a >= b for a, b in pairwise(stops)) or (stops and not 1 <= stops[0] <= stops[-1] <= total):
        raise InvalidInput(f"finished: expected ascending numbers from 1 to {total}, got {stops!r:.80}")
    again = Optimizer(optimizer.space, direction=optimizer.direction, method=optimizer.method, seed=optimizer._seed)
    log = Replay(again._run, optimizer._run.events)
    for stop in stops:
        _go_on(log, stop)
        yield stop, again


@with_own_numerics
def _go_on(log: Replay, stop: int) -> None:
    log.until(stop)
