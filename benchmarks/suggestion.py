"""What a suggestion costs: CPU time of ours, Optuna's and BoTorch's after the same observations, and where ours goes.

    python benchmarks/suggestion.py [--smoke] [--write]

levy8 (D = 8, noise .1). In each round every method, at its recommended settings, is told the same 45 observations at
uniform points; then the methods take turns at five more suggestions each. A suggestion is one ask and one tell,
measured in CPU time of a single thread. What a method costs in a round is the median of its five; the table has the
median over rounds, and ratios are taken within rounds. A first round warms up.

All run in one process of .venv-peers, which `make peers` makes. --write updates benchmarks/results/suggestion.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))  # the same sources in every environment

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import ParamSpec, TypeVar
from unittest.mock import patch

from regret import suite
from regret.adapter import timed_suggestion
from regret.roster import OURS, ROSTER, adapter_class
from regret.rows import stamp
from regret.run import go_where_it_is_installed

from quadrat.gp.ensemble import Ensemble
from quadrat.methods.auto.acquisition import AutoAcquisition
from quadrat.methods.auto.surrogate import LearnedModel
from quadrat.randomness import generator

PEERS = ("optuna_gp", "botorch")
TOLD, SUGGESTIONS, ROUNDS = 45, 5, 10
# Parts of our suggestion, each without those that it calls.
PARTS: dict[str, tuple[type, str]] = {
    "learning hyper-parameters": (LearnedModel, "_learn"),
    "searching the acquisition": (AutoAcquisition, "maximise"),
    "posteriors of the settings": (Ensemble, "_condition"),
}
REST = "the rest"
_HISTORY = 45  # names the stream of the points told
P = ParamSpec("P")
R = TypeVar("R")


class PartTimes:
    """CPU seconds spent in functions, each without the time of those it calls that are timed too."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inside = [0.0]  # for each timed call that is under way: seconds of those timed inside it

    def timed(self, part: str, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function with its time going to `part`."""

        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            self._inside.append(0.0)
            begin = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                whole = time.process_time() - begin
                self.seconds[part] += whole - self._inside.pop()
                self._inside[-1] += whole

        return wrapper

    @contextmanager
    def of_our_method(self) -> Iterator[None]:
        """Time `PARTS` for the length of a block."""
        with ExitStack() as stack:
            for part, (owner, name) in PARTS.items():
                stack.enter_context(patch.object(owner, name, self.timed(part, getattr(owner, name))))
            yield


def one_round(
    problem: str, seed: int, told: int, suggestions: int, parts: PartTimes
) -> tuple[dict[str, float], dict[str, float]]:
    """Tell all methods the same, let them take turns.

    Parameters
    ----------
    problem, seed
        The task; the seed also draws the points told.
    told
        Observations before the first suggestion.
    suggestions
        Of each method.
    parts
        At work: where our time goes.

    Returns
    -------
    CPU seconds of a suggestion by method, medians; and mean ones of ours by part.
    """
    task = suite.task(problem, seed)
    history = task.space.sample(told, generator(seed, _HISTORY))
    methods = {name: adapter_class(name)(task.space, told + suggestions, seed) for name in (OURS, *PEERS)}
    for adapter in methods.values():
        for number, params in enumerate(history):
            adapter.add(params, task.observe(params, number))
    parts.seconds.clear()  # what it took to take in the history does not count
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for number in range(told, told + suggestions):
        for name, adapter in methods.items():
            seconds[name].append(timed_suggestion(task, adapter, number)[2])
    whole = sum(seconds[OURS])
    shares = {**parts.seconds, REST: whole - sum(parts.seconds.values())}
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    return medians, {part: value / suggestions for part, value in shares.items()}


def tables(rounds: Sequence[tuple[dict[str, float], dict[str, float]]], what: str) -> str:
    """Return the tables of all methods and of the parts of ours.

    Parameters
    ----------
    rounds
        What `one_round` returned, at least once.
    what
        Names the measurement.
    """
    rows = []
    for name in (OURS, *PEERS):
        times = [1e3 * seconds[name] for seconds, _ in rounds]
        ratios = [seconds[name] / seconds[OURS] for seconds, _ in rounds]
        ratio = f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
        spread = f"{min(times):.0f} to {max(times):.0f}"
        rows.append((ROSTER[name].title, f"{statistics.median(times):.0f}", spread, "" if name == OURS else ratio))
    names = [*PARTS, REST]
    means = {part: statistics.fmean(shares.get(part, 0.0) for _, shares in rounds) for part in names}
    whole = sum(means.values())
    ours = [(part, f"{1e3 * means[part]:.1f}", f"{100 * means[part] / whole:.0f} %") for part in names]
    head = (
        "what",
        f"ms {what}, median of {len(rounds)} rounds",
        "lowest to highest round",
        "/ ours (lowest to highest)",
    )
    return "\n\n".join([table(head, rows), table(("part of ours", "ms, mean", "share"), ours)])


def made_with() -> str:
    """Versions of what was measured, and the commit."""
    distributions = tuple(dict.fromkeys(name for peer in PEERS for name in ROSTER[peer].distributions))
    found = stamp(distributions)
    named = (*distributions, "numpy", "scipy", "python")
    versions = ", ".join(f"{name} {found['versions'][name]}" for name in named)
    return f"Quadrat at {found['commit']}; {versions}."


def main() -> None:
    chosen = options(__doc__)
    for peer in PEERS:
        go_where_it_is_installed(peer, ())
    problem, told, suggestions = ("rastrigin3", 10, 1) if chosen.smoke else ("levy8", TOLD, SUGGESTIONS)
    warming, rounds = (0, 1) if chosen.smoke else (1, ROUNDS)
    parts = PartTimes()
    found = []
    with parts.of_our_method():
        for seed in range(warming + rounds):
            found.append(one_round(problem, seed, told, suggestions, parts))
            print(f"\rsuggestion: {seed + 1} of {warming + rounds} rounds", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    what = f"a suggestion, {problem}, n = {told} to {told + suggestions}"
    text = f"{tables(found[warming:], what)}\n\n{made_with()}"
    measured = "CPU time of one thread, methods taking turns"
    publish("suggestion", "What a suggestion costs", text, write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
