"""The methods, as data: entries like those of `regret.roster`, some of them the same."""

from __future__ import annotations

from regret.roster import OURS, ROSTER, Entry

from high_dimensions.batches import BATCH

__all__ = ["BASE", "CONTENDERS", "OURS"]

BASE = "random"
_SEEDS = tuple(range(0, 10, 2))
CONTENDERS = {
    OURS: Entry(ROSTER[OURS].title, ROSTER[OURS].adapter, seeds=_SEEDS),
    f"quadrat_{BATCH}": Entry(
        f"Quadrat, batches of {BATCH}", "high_dimensions.batches:QuadratInBatches", seeds=_SEEDS
    ),
    f"turbo_{BATCH}": Entry(
        f"TuRBO-1, batches of {BATCH}", "high_dimensions.turbo_peer:BatchedTuRBO",
        ROSTER["turbo"].distributions, ROSTER["turbo"].module, ROSTER["turbo"].environment, _SEEDS,
    ),
    "cma": ROSTER["cma"],
    BASE: ROSTER[BASE],
}  # fmt: skip
