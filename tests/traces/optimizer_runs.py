"""The default method on every kind of space and outcome; what users do with an optimizer; `maximize`, `minimize`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
import optuna
from tests.traces import plain as form
from tests.traces.method_runs import LINE, PLANE, PLANE_AT, both, hill, lp, scripted
from tests.traces.plain import plain
from tests.traces.watching import Trace, Watched, estimate, noise, tell_mean, traced

import quadrat as qd

DESIGN = 5  # points of the default method before its model decides

MIXED = qd.Space(
    rate=qd.Float(1e-4, 1.0, log=True),
    drop=qd.Float(0.0, 0.5, step=0.125),
    layers=qd.Int(1, 6),
    width=qd.Int(8, 512, log=True),
    kind=qd.Categorical(["relu", "tanh", "gelu"]),
    classes=qd.Fixed(10),
)
MIXED_AT = [
    {"rate": 1e-3, "drop": 0.0, "layers": 1, "width": 8, "kind": "relu", "classes": 10},
    {"rate": 0.02, "drop": 0.25, "layers": 3, "width": 60, "kind": "tanh", "classes": 10},
    {"rate": 1.0, "drop": 0.5, "layers": 6, "width": 512, "kind": "gelu", "classes": 10},
]


def mixed_value(params: Mapping[str, Any]) -> float:
    """Highest at a rate of .01, 3 layers, width 64 and tanh."""
    value = -((math.log10(params["rate"]) + 2.0) ** 2) - 0.2 * abs(params["layers"] - 3) - params["drop"]
    return float(value - 0.1 * abs(math.log2(params["width"]) - 6.0) - 0.5 * (params["kind"] != "tanh"))


@traced
def auto_continuous() -> Trace:
    """Auto on two Floats: 16 trials one by one and a batch."""
    return scripted(None, n=16).trace(DESIGN)


@traced
def auto_minimise() -> Trace:
    """Auto, minimised, with a design of 3 and another seed."""
    return scripted("Auto(n_initial=3)", direction="minimize", seed=11, n=12).trace(3)


@traced
def auto_mixed() -> Trace:
    """Auto on Float with a log scale, steps, Int, Int with a log scale, Categorical and Fixed."""
    return scripted(None, space=MIXED, at=MIXED_AT, value=mixed_value, n=14).trace(DESIGN)


CONDITIONAL = qd.Space(
    model=qd.Categorical(["tree", "net"]),
    depth=qd.Int(1, 8, when={"model": "tree"}),
    rate=qd.Float(1e-3, 1.0, log=True, when={"model": "net"}),
    shrink=qd.Float(0, 1),
)
CONDITIONAL_AT = [
    {"model": "tree", "depth": 4, "shrink": 0.5},
    {"model": "net", "rate": 0.1, "shrink": 0.2},
    {"model": "net", "rate": 1.0, "shrink": 1.0},
]


def conditional_value(params: Mapping[str, Any]) -> float:
    """Highest for a tree of depth 5."""
    inner = 0.1 * abs(params["depth"] - 5) if params["model"] == "tree" else 0.3 + abs(params["rate"] - 0.1)
    return float(-inner - (params["shrink"] - 0.6) ** 2)


@traced
def auto_conditional() -> Trace:
    """Auto where parameters exist only for one choice."""
    return scripted(None, space=CONDITIONAL, at=CONDITIONAL_AT, value=conditional_value, n=14).trace(DESIGN)


@traced
def auto_known_constraint() -> Trace:
    """Auto where the space has a constraint that is known beforehand."""
    space = PLANE.subject_to(lambda params: params["x"] + params["y"] <= 1.0)
    return scripted(None, space=space, n=14).trace(DESIGN)


@traced
def auto_measured_constraints() -> Trace:
    """Auto with two constraints that are measured with each trial, told in two forms; one trial fails."""
    watched = Watched(qd.Optimizer(PLANE, direction="maximize", seed=5), PLANE_AT)
    optimizer = watched.optimizer
    optimizer.add({"x": 0.9, "y": 0.2}, 0.1)  # before constraints are known
    for _ in range(14):
        trial = watched.ask()
        x, y = trial.params["x"], trial.params["y"]
        limits = {"memory": x + y - 1.0, "time": 0.2 - y}
        value = hill(trial.params) + noise(trial.number)
        if trial.number == 6:
            optimizer.tell(trial, qd.FAILED)
        elif trial.number % 2:
            optimizer.tell(trial, value, constraints=limits)
        else:
            optimizer.tell(trial, qd.Measured(value, limits))
    watched.answer()
    for trial in [watched.ask() for _ in range(2)][::-1]:
        optimizer.tell(trial, hill(trial.params), constraints={"memory": -0.1, "time": -0.1})
    watched.answer()
    watched.ask()
    return watched.trace(4)


@traced
def auto_never_feasible() -> Trace:
    """Auto where the constraint holds in no trial."""
    watched = Watched(qd.Optimizer(LINE, direction="minimize", seed=0))
    for _ in range(8):
        trial = watched.ask()
        x = trial.params["x"]
        watched.optimizer.tell(trial, x, constraints={"c": 0.2 + (x - 0.7) ** 2})
    watched.answer()
    watched.ask()
    return watched.trace(DESIGN)


@traced
def auto_failures() -> Trace:
    """Auto with failures: FAILED with a reason, NaN, infinity, a replicate that is NaN."""
    watched = Watched(qd.Optimizer(PLANE, direction="maximize", seed=2), PLANE_AT)
    bad: list[Any] = [qd.FAILED, math.nan, math.inf, [0.5, math.nan]]
    failed = 0
    for _ in range(16):
        trial = watched.ask()
        if trial.params["x"] > 0.4 or trial.number == 1:
            reason = "diverged" if failed % 4 == 0 else None
            watched.optimizer.tell(trial, bad[failed % 4], reason=reason)
            failed += 1
        else:
            watched.optimizer.tell(trial, hill(trial.params) + noise(trial.number))
    watched.answer()
    watched.ask()
    return watched.trace(DESIGN, fails_by_place=True)


@traced
def auto_replicates() -> Trace:
    """Auto told lists and vectors of replicates, whose noise differs from place to place."""
    watched = Watched(qd.Optimizer(PLANE, direction="minimize", seed=3), PLANE_AT)
    for _ in range(12):
        trial = watched.ask()
        mean, size = -hill(trial.params), 0.1 + 0.4 * abs(trial.params["x"])
        values = [mean + noise(7 * trial.number + k, size) for k in range(1 + trial.number % 3)]
        watched.optimizer.tell(trial, np.array(values) if trial.number % 2 else values)
    watched.answer()
    watched.ask()
    return watched.trace(DESIGN)


@traced
def auto_standard_errors() -> Trace:
    """Auto told means with their standard errors, and plain values among them."""
    watched = Watched(qd.Optimizer(PLANE, direction="maximize", seed=3), PLANE_AT)
    for _ in range(12):
        trial = watched.ask()
        value = hill(trial.params) + noise(trial.number)
        if trial.number % 3:
            tell_mean(watched.optimizer, trial, value, 0.02 * (1 + trial.number % 4))
        else:
            watched.optimizer.tell(trial, value)
    watched.answer()
    watched.ask()
    return watched.trace(DESIGN)


@traced
def auto_outliers() -> Trace:
    """Auto and GPUCB told values that are absurdly far from all others, below and above."""
    traces = []
    for method in (None, qd.research.GPUCB()):
        watched = Watched(qd.Optimizer(PLANE, direction="maximize", method=method, seed=3), PLANE_AT)
        for _ in range(14):
            trial = watched.ask()
            absurd = {4: -1e6, 7: 1e12, 9: -3e5}
            watched.optimizer.tell(trial, absurd.get(trial.number, hill(trial.params) + noise(trial.number)))
        watched.answer()
        watched.ask()
        traces.append(watched.trace(DESIGN))
    return both(*traces)


@traced
def auto_four_at_once() -> Trace:
    """Auto with four trials pending all the time, told out of order by their numbers."""
    watched = Watched(qd.Optimizer(PLANE, direction="maximize", seed=8), PLANE_AT)
    pending = [watched.ask() for _ in range(4)]
    for turn in range(14):
        trial = pending.pop((3 * turn + 2) % 4)
        watched.optimizer.tell(trial.number, hill(trial.params) + noise(trial.number))
        pending.append(watched.ask())
    watched.answer()
    return watched.trace(3)


@traced
def auto_crowd() -> Trace:
    """Auto with more than 128 trials pending: suggestions come from draws of f."""
    watched = Watched(qd.Optimizer(PLANE, direction="maximize", seed=8), PLANE_AT)
    rng = np.random.default_rng(5)
    for _ in range(8):
        trial = watched.ask()
        watched.optimizer.tell(trial, hill(trial.params) + noise(trial.number))
    for x, y in rng.random((127, 2)).tolist():
        watched.optimizer.ask({"x": 2.0 * x - 1.0, "y": 2.0 * y})
    for _ in range(5):
        watched.ask()
    return watched.trace(DESIGN)


@traced
def auto_eight_dimensions() -> Trace:
    """Auto in eight dimensions."""
    space = qd.Space(**{f"x{k}": qd.Float(0, 1) for k in range(8)})
    at = [{f"x{k}": level for k in range(8)} for level in (0.1, 0.5, 0.9)]
    return scripted(
        None, space=space, at=at, value=lambda p: -sum((p[f"x{k}"] - 0.1 * k) ** 2 for k in range(8)), n=14
    ).trace(DESIGN)


def _earlier(n: int) -> tuple[list[dict[str, float]], list[float]]:
    """Return `n` points of the plane and their values."""
    points = np.random.default_rng(9).random((n, 2)).tolist()
    params = [{"x": 2.0 * x - 1.0, "y": 2.0 * y} for x, y in points]
    return params, [hill(one) + noise(k) for k, one in enumerate(params)]


@traced
def auto_trust_region() -> Trace:
    """Auto past 100 trials: the trust region and the search of the whole space take turns."""
    watched = Watched(qd.Optimizer(PLANE, direction="maximize", seed=0), PLANE_AT)
    params, values = _earlier(98)
    watched.optimizer.add_trials(params, values)
    for _ in range(20):
        trial = watched.ask()
        watched.optimizer.tell(trial, hill(trial.params) + noise(trial.number))
    watched.answer()
    for trial in [watched.ask() for _ in range(3)][::-1]:
        watched.optimizer.tell(trial, hill(trial.params) + noise(trial.number))
    watched.answer()
    return watched.trace(0)


@traced
def auto_long() -> Trace:
    """Auto whose trust regions end and begin again, because many results are added in them; rebuilt."""
    watched = Watched(qd.Optimizer(LINE, direction="minimize", seed=0), [{"x": 0.1}, {"x": 0.3}, {"x": 0.9}])
    optimizer = watched.optimizer
    places = [{"x": 0.5 + noise(k, 0.99)} for k in range(260)]
    optimizer.add_trials(places, [-hill(place) + noise(k) for k, place in enumerate(places)])
    for turn in range(4):
        for k in range(100):
            place = {"x": 0.5 + noise(300 + 100 * turn + k, 0.99)}
            optimizer.add(place, -hill(place) + noise(7 * k))
        for _ in range(3):
            trial = watched.ask()
            optimizer.tell(trial, -hill(trial.params))
    watched.answer()
    again = qd.Optimizer.from_state(LINE, json.loads(json.dumps(optimizer.state())))
    return watched.trace(0, rebuilt=form.suggestion(again.ask()))


@traced
def auto_many_trials() -> Trace:
    """Auto past 256 trials: models of the trials near a place; 300 added, then asked, one failed, rebuilt."""
    watched = Watched(qd.Optimizer(PLANE, direction="minimize", seed=0), PLANE_AT)
    optimizer = watched.optimizer
    params, values = _earlier(300)
    optimizer.add_trials(params, [-value for value in values])
    for _ in range(14):
        trial = watched.ask()
        optimizer.tell(trial, qd.FAILED if trial.number == 304 else -hill(trial.params) + noise(trial.number))
    watched.answer()
    again = qd.Optimizer.from_state(PLANE, json.loads(json.dumps(optimizer.state())))
    return watched.trace(0, rebuilt=form.suggestion(again.ask()))


@traced
def auto_many_mixed_trials() -> Trace:
    """Auto past 256 trials on a space with choices and steps; the last of them have a measured constraint."""
    rng = np.random.default_rng(3)
    space = qd.Space(
        kind=qd.Categorical(["a", "b"]), level=qd.Int(0, 40), x=qd.Float(0, 1, step=0.01), y=qd.Float(0, 1)
    )
    params: list[dict[str, Any]] = [
        {"kind": "ab"[k % 2], "level": k % 41, "x": round(float(a), 2), "y": float(b)}
        for k, (a, b) in enumerate(rng.random((270, 2)))
    ]

    def value(one: Mapping[str, Any]) -> float:
        return float(-abs(one["level"] - 30) / 40 - (one["x"] - 0.2) ** 2 + (one["kind"] == "b") * one["y"])

    def limits(one: Mapping[str, Any]) -> dict[str, float]:
        return {"sum": one["x"] + one["y"] - 1.2}

    at = [params[0], params[1], params[100]]
    watched = Watched(qd.Optimizer(space, direction="maximize", seed=1), at)
    told = [None if k < 250 else limits(one) for k, one in enumerate(params)]
    watched.optimizer.add_trials(params, [value(one) for one in params], constraints=told)
    for _ in range(8):
        trial = watched.ask()
        watched.optimizer.tell(trial, value(trial.params), constraints=limits(trial.params))
    watched.answer()
    watched.ask()
    return watched.trace(0)


@traced
def auto_robust() -> Trace:
    """Auto's recommendation that is robust to being missed, by one radius and by one for each parameter."""
    watched = Watched(qd.Optimizer(PLANE, direction="maximize", seed=0), PLANE_AT)
    watched.optimizer.add_trials(*_earlier(25))
    watched.answer(robust_to=0.1)
    watched.answer(robust_to={"x": 0.2})
    watched.ask()
    return watched.trace(0)


@traced
def auto_of_users() -> Trace:
    """What users add: single results, lists, a failed one, replicates, standard errors, trials of their own."""
    watched = Watched(qd.Optimizer(PLANE, direction="maximize", seed=6), PLANE_AT)
    optimizer = watched.optimizer
    optimizer.add({"x": 0.0, "y": 0.0}, 0.2)
    optimizer.add({"x": 0.1, "y": 0.3}, [0.4, 0.5])
    optimizer.add({"x": -0.4, "y": 1.9}, estimate(0.3, 0.05))
    own = watched.ask({"x": 0.5, "y": 0.5})
    first = watched.ask()
    values: list[Any] = [0.1, qd.FAILED, [0.2, 0.25], estimate(0.6, 0.1), math.nan]
    places = [{"x": 0.2 * k - 0.5, "y": 0.3 * k} for k in range(len(values))]
    numbers = optimizer.add_trials(places, values)
    outside = optimizer.add_trials([{"x": 7.0, "y": 0.0}, {"x": 0.7, "y": 0.7}], [1.0, 0.9], skip_outside=True)
    optimizer.tell(own, 0.7)
    watched.ask()
    optimizer.tell(first, 0.5)
    for _ in range(3):
        trial = watched.ask()
        optimizer.tell(trial, hill(trial.params))
    watched.answer()
    added = [numbers.start, numbers.stop, outside.start, outside.stop]
    return watched.trace(2, added=added, records=[form.record(one) for one in optimizer.trials])


@traced
def auto_of_a_study() -> Trace:
    """An Optuna study added to an optimizer: failed and pruned trials come along."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    distributions: dict[str, optuna.distributions.BaseDistribution] = {
        "x": optuna.distributions.FloatDistribution(-1, 1),
        "y": optuna.distributions.FloatDistribution(0, 2),
    }
    optuna.logging.set_verbosity(before)
    states = optuna.trial.TrialState
    for k, params in enumerate(_earlier(12)[0]):
        given: dict[str, Any] = {"state": states.COMPLETE, "value": hill(params) + noise(k)}
        if k in (3, 7):
            given = {"state": states.FAIL}
        if k == 5:
            given = {"state": states.PRUNED, "intermediate_values": {0: 0.1, 1: 0.2}}
        study.add_trial(optuna.trial.create_trial(params=params, distributions=distributions, **given))
    watched = Watched(qd.Optimizer(PLANE, direction="maximize", seed=0), PLANE_AT)
    watched.optimizer.add_trials(study)
    watched.answer()
    watched.ask()
    return watched.trace(0, records=[form.record(one) for one in watched.optimizer.trials])


@traced
def auto_of_a_table() -> Trace:
    """A table with a column for each parameter added to an optimizer: cells without a value, a failed row."""
    nothing = float("nan")
    table = _Table(
        model=["tree", "net", "tree", "net", "tree", "tree"],
        depth=[3, nothing, 5, nothing, 8, 1],
        rate=[nothing, 0.1, nothing, 0.5, nothing, nothing],
        shrink=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        score=[-0.3, -0.5, -0.1, -0.8, nothing, -0.4],
    )
    watched = Watched(qd.Optimizer(CONDITIONAL, direction="maximize", seed=0), CONDITIONAL_AT)
    watched.optimizer.add_trials(table, "score")
    watched.answer()
    watched.ask()
    return watched.trace(0, records=[form.record(one) for one in watched.optimizer.trials])


class _Table:
    """Columns by name, as a DataFrame has them."""

    def __init__(self, **columns: list[Any]) -> None:
        self.columns = list(columns)
        self._columns = columns

    def __getitem__(self, name: Any, /) -> Any:
        return np.array(self._columns[name], dtype=object)


@traced
def state_rebuilt() -> Trace:
    """`state` and `from_state` of Auto and of LPGPUCB, trials pending: the next suggestions are those of the run."""
    settled, computed = {}, {}
    for name, method in (("auto", None), ("lp", lp())):
        space = PLANE if method is None else LINE
        optimizer = qd.Optimizer(space, direction="maximize", method=method, seed=7)
        for _ in range(9):
            trial = optimizer.ask()
            optimizer.tell(trial, hill(trial.params) + noise(trial.number))
        optimizer.ask()
        state = json.loads(json.dumps(optimizer.state()))
        again = qd.Optimizer.from_state(space, state, method=method)
        nexts = [[form.suggestion(one.ask()) for _ in range(2)] for one in (optimizer, again)]
        settled[name] = {"same": nexts[0] == nexts[1], "states": [one.state for one in again.trials]}
        computed[name] = {"state": plain(state), "next": nexts[1]}
    return {"settled": settled, "computed": computed}


# --- maximize and minimize


def _of_result(found: qd.Result, design: int) -> Trace:
    trials = [{**form.record(one), "why": one.why} for one in found.trials]
    return {
        "settled": {
            "message": found.message,
            "states": [one.state for one in found.trials],
            "failures": [one.failure for one in found.trials if one.failure is not None],
            "design": [[one["params"], one["why"]] for one in trials[:design]],
        },
        "computed": {"result": form.result(found), "trials": trials[design:]},
    }


@traced
def minimize_here() -> Trace:
    """`minimize` in this process; the objective raises sometimes, and returns replicates and standard errors."""
    calls: list[int] = []

    def objective(params: dict[str, Any]) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise ValueError("no convergence")
        value = -hill(params) + noise(len(calls))
        return [[value, value + 0.01], estimate(value, 0.05), value][len(calls) % 3]

    return _of_result(qd.minimize(objective, PLANE, n_trials=12, seed=4), DESIGN)


@traced
def maximize_certified() -> Trace:
    """`maximize` that stops at a certificate."""
    method = lp(budget=40, norm_bound=1.5)
    found = qd.maximize(hill, LINE, n_trials=40, method=method, seed=0, stop_at_certificate=0.6)
    return {"settled": {"direction": found.direction}, "computed": _of_result(found, 0)["computed"]}


@traced
def maximize_stopped() -> Trace:
    """`maximize` that a callback stops, and one that stops at an estimated gain."""
    seen: list[int] = []

    def enough(optimizer: qd.Optimizer, record: qd.TrialRecord) -> bool:
        seen.append(record.number)
        return len(optimizer.trials) >= 7

    first = _of_result(qd.maximize(hill, PLANE, n_trials=30, seed=0, callbacks=[enough]), DESIGN)
    found = qd.maximize(hill, LINE, n_trials=30, seed=0, stop_at_gain=0.01)
    return {
        "settled": {**first["settled"], "seen": seen},
        "computed": {"callback": first["computed"], "gain": _of_result(found, 0)["computed"]},
    }


@traced
def maximize_at_a_cost() -> Trace:
    """`maximize` of two fidelities until a cost is spent."""
    space = qd.Space(x=qd.Float(-1, 1), epochs=qd.Fidelity([1, 5], cost=[1, 5]))
    found = qd.maximize(lambda p: hill(p) + 0.02 * p["epochs"], space, max_cost=45, method="MFGPUCB", seed=0)
    return {"settled": {"direction": found.direction}, "computed": _of_result(found, 0)["computed"]}


class _Ordered(Executor):
    """An executor that finishes, with every second call, the call that a script names; with the last one all of them.

    Parameters
    ----------
    script
        Which of the calls that wait is finished next: 0 the oldest, 1 the newest of two. One entry for each call from
        the second to the last but one.
    """

    def __init__(self, script: list[int]) -> None:
        self._script = script
        self._waiting: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, lambda: fn(*args, **kwargs)))
        if len(self._waiting) == 2:
            if self._script:
                self._finish(self._script.pop(0))
            else:
                self._finish(1)
                self._finish(0)
        return future

    def _finish(self, which: int) -> None:
        future, call = self._waiting.pop(which)
        try:
            value = call()
        except ValueError as error:
            future.set_exception(error)
        else:
            future.set_result(value)


@traced
def maximize_two_at_once() -> Trace:
    """`maximize` on an executor with two trials at once that finish in a scripted order; one raises."""
    calls: list[int] = []

    def objective(params: dict[str, Any]) -> float:
        calls.append(1)
        if len(calls) == 6:
            raise ValueError("no convergence")
        return hill(params) + noise(len(calls))

    executor = _Ordered([1, 0, 0, 1, 1, 1, 0, 1, 0, 0])
    return _of_result(qd.maximize(objective, PLANE, n_trials=12, seed=4, executor=executor, workers=2), 3)


@traced
def minimize_with_constraints() -> Trace:
    """`minimize` of an objective that measures constraints, on a mixed space."""

    def objective(params: dict[str, Any]) -> qd.Measured:
        return qd.Measured(-mixed_value(params), {"size": params["layers"] * params["width"] / 512 - 1.0})

    return _of_result(qd.minimize(objective, MIXED, n_trials=12, seed=1), DESIGN)
