"""Every method, one trial after another and several at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.traces import plain as form
from tests.traces.watching import Trace, Watched, noise, tell_mean, traced

import quadrat as qd
from quadrat.methods import Agnostic, Continuous, Finite, Learned

sys.path.append(str(Path(__file__).resolve().parents[2] / "experiments"))  # not installed

from as_printed import PrintedLPGPUCB, paper_preset

Value = Callable[[Mapping[str, Any]], float]

PLANE = qd.Space(x=qd.Float(-1, 1), y=qd.Float(0, 2))
PLANE_AT = [{"x": -0.9, "y": 0.1}, {"x": 0.25, "y": 1.25}, {"x": 0.5, "y": 2.0}]
LINE = qd.Space(x=qd.Float(0, 1))
LINE_AT = [{"x": 0.0}, {"x": 0.3}, {"x": 0.875}]


def hill(params: Mapping[str, Any]) -> float:
    """Highest, 1, at x = .3 and y = 1.2."""
    x, y = float(params["x"]) - 0.3, float(params.get("y", 1.2)) - 1.2
    return 1.0 - x * x - 0.5 * y * y + 0.3 * x * y


def scripted(
    method: qd.methods.Method | str | None,
    *,
    space: qd.Space = PLANE,
    at: Sequence[Mapping[str, Any]] = PLANE_AT,
    value: Value = hill,
    direction: str = "maximize",
    n: int = 10,
    batch: int = 3,
    design: int = 5,
    seed: int = 1,
) -> Watched:
    """Run `n` trials one by one, `batch` at once, told last first, and two more; answers stand after the first two."""
    watched = Watched(qd.Optimizer(space, direction=direction, method=method, seed=seed), at)
    optimizer = watched.optimizer
    sign = 1.0 if direction == "maximize" else -1.0

    def tell(trial: qd.Trial) -> None:
        optimizer.tell(trial, sign * (value(trial.params) + noise(trial.number)))

    for _ in range(n):
        tell(watched.ask())
    watched.answer()
    for trial in [watched.ask() for _ in range(batch)][::-1]:
        tell(trial)
    watched.answer()
    for _ in range(2):
        tell(watched.ask())
    return watched


def lp(form: type[qd.LPGPUCB] = qd.LPGPUCB, **options: Any) -> qd.LPGPUCB:
    """Return LP-GP-UCB with assumptions that hold for `hill` on the line."""
    given = {"kernel": qd.Matern(2.5, 0.5), "norm_bound": 3.0, "noise": 0.05, "budget": 20, **options}
    return form(**given)


# --- LP-GP-UCB


@traced
def lp_certified() -> Trace:
    """LPGPUCB certified: suggestions one by one and in a batch, certificates, predictions, the curve over B."""
    watched = scripted(lp(), space=LINE, at=LINE_AT, n=12)
    curve = watched.optimizer.certificate_curve([0.5, 2.0, 8.0])
    said = {name: form.plain(getattr(curve, name)) for name in ("norm_bounds", "values", "rejected")}
    return watched.trace(1, curve=said)


@traced
def lp_certified_plane() -> Trace:
    """LPGPUCB certified in two dimensions, degree 2, squared exponential, a Hölder bound of the user's, minimised."""
    method = lp(kernel=qd.SquaredExponential(0.7), degree=2, holder=qd.confidence.UserHolder(4.0, 1.0), delta=0.1)
    return scripted(method, direction="minimize").trace(1)


@traced
def lp_known_constraint() -> Trace:
    """LPGPUCB where the space has a known constraint: recommended and certified points keep it."""
    space = LINE.subject_to(lambda params: params["x"] <= 0.2 or params["x"] >= 0.6)
    return scripted(lp(), space=space, at=LINE_AT).trace(1)


@traced
def lp_rejected() -> Trace:
    """LPGPUCB whose assumptions the data contradict: the certificate says so."""
    watched = Watched(qd.Optimizer(LINE, direction="maximize", method=lp(noise=0.01), seed=0), LINE_AT)
    for value in (0.0, 9.0, -9.0, 5.0):
        watched.optimizer.add({"x": 0.5}, value)
    watched.answer()
    watched.optimizer.tell(watched.ask(), 0.1)
    watched.ask()
    return watched.trace(0)


@traced
def lp_printed() -> Trace:
    """LPGPUCB as printed: Algorithm 1 line by line, of degree 1 and of degree 2; long enough for polynomials."""
    first = scripted(lp(PrintedLPGPUCB, threshold=3.0), space=LINE, at=LINE_AT, n=50)
    method = lp(PrintedLPGPUCB, degree=2, norm_bound=0.5)
    second = scripted(method, space=LINE, at=LINE_AT, n=40, direction="minimize")
    return both(first.trace(1), second.trace(1))


@traced
def lp_long() -> Trace:
    """LPGPUCB certified with much noise: cells divide by polynomials; 9 trials at once."""
    method = lp(noise=0.3, norm_bound=1.5, threshold=2.0, budget=80, degree=1)
    return scripted(method, space=LINE, at=LINE_AT, n=70, batch=9).trace(1)


@traced
def lp_learned() -> Trace:
    """LPGPUCB whose kernel is learned from the first trials."""
    return scripted(lp(kernel=None, norm_bound=1.0, noise=0.1, degree=1), n=12).trace(5)


@traced
def lp_sketched() -> Trace:
    """LPGPUCB with a sketched posterior."""
    return scripted(lp(sketch=qd.gp.Sketch(epsilon=0.5, q=3.0), degree=1), space=LINE, at=LINE_AT).trace(1)


@traced
def lp_local_band() -> Trace:
    """LPGPUCB with a budget so large that the band is made of local ones: 140 results added, then asked."""
    method = lp(budget=300, kernel=qd.kernels.PiecewisePolynomial(1, 1, 0.8), noise=0.1)
    watched = Watched(qd.Optimizer(LINE, direction="maximize", method=method, seed=2), LINE_AT)
    points = [{"x": (0.7548776662466927 * k) % 1.0} for k in range(140)]
    watched.optimizer.add_trials(points, [hill(point) + noise(k) for k, point in enumerate(points)])
    watched.answer()
    for _ in range(3):
        trial = watched.ask()
        watched.optimizer.tell(trial, hill(trial.params) + noise(trial.number))
    for trial in [watched.ask(), watched.ask()][::-1]:
        watched.optimizer.tell(trial, hill(trial.params) + noise(trial.number))
    watched.answer()
    return watched.trace(0)


@traced
def lp_contextual() -> Trace:
    """LPGPUCB with a context of choices: suggestions, recommendations and certificates in each context."""
    space = qd.Space(x=qd.Float(0, 1), site=qd.Context(qd.Categorical(["north", "south"])))
    method = lp(kernel=qd.Matern(1.5, (0.5, 0.8)), budget=30)
    return _in_contexts(space, method, [{"site": "north"}, {"site": "south"}], 1)


@traced
def lp_contextual_rejected() -> Trace:
    """LPGPUCB with a context, whose assumptions the data contradict."""
    space = qd.Space(x=qd.Float(0, 1), site=qd.Context(qd.Categorical(["north", "south"])))
    method = lp(kernel=qd.Matern(1.5, (0.5, 0.8)), noise=0.01)
    watched = Watched(qd.Optimizer(space, direction="minimize", method=method, seed=0))
    for value in (0.0, 9.0, -9.0, 5.0):
        watched.optimizer.add({"x": 0.5, "site": "north"}, value)
    watched.answer({"site": "north"})
    watched.answer({"site": "south"})
    watched.ask(context={"site": "south"})
    return watched.trace(0)


def _in_contexts(space: qd.Space, method: qd.methods.Method, contexts: Sequence[dict[str, Any]], design: int) -> Trace:
    """Ask in the contexts in turn, then twice at once; answer in each."""
    at = [{"x": 0.1, **contexts[0]}, {"x": 0.3, **contexts[-1]}, {"x": 0.9, **contexts[0]}]
    watched = Watched(qd.Optimizer(space, direction="maximize", method=method, seed=4), at)

    def tell(trial: qd.Trial) -> None:
        shift = 0.4 if trial.params == {**trial.params, **contexts[0]} else 0.0
        value = hill({"x": trial.params["x"] - shift})
        watched.optimizer.tell(trial, value + noise(trial.number))

    for turn in range(10):
        tell(watched.ask(context=contexts[turn % len(contexts)]))
    for trial in [watched.ask(context=context) for context in contexts][::-1]:
        tell(trial)
    for context in contexts:
        watched.answer(context)
    watched.ask(context=contexts[0])
    return watched.trace(design)


@traced
def lp0() -> Trace:
    """LP0: cell averages, with a gamma-exponential kernel."""
    method = qd.research.LP0(kernel=qd.kernels.GammaExponential(1.5, 0.5), norm_bound=3.0, noise=0.05, budget=20)
    return scripted(method, space=LINE, at=LINE_AT, n=14).trace(1)


# --- upper confidence bounds


@traced
def gp_ucb() -> Trace:
    """GPUCB in its finite form with a learned kernel, and its agnostic form with a rational quadratic one."""
    first = scripted(qd.research.GPUCB()).trace(5)
    method = qd.research.GPUCB(kernel=qd.kernels.RationalQuadratic(2.0, 0.6), form=Agnostic(norm_bound=2.0), scale=0.2)
    second = scripted(method, direction="minimize", seed=3).trace(5)
    return both(first, second)


def both(*traces: Trace) -> Trace:
    """Return several traces as one."""
    return {part: {str(k): one[part] for k, one in enumerate(traces)} for part in ("settled", "computed")}


@traced
def gp_ucb_sketched() -> Trace:
    """GPUCB in its continuous form, its posterior sketched, its length-scale learned again and again."""
    method = qd.research.GPUCB(
        kernel=Learned(nu=1.5, refit_every=4), form=Continuous(), sketch=qd.gp.Sketch(), standardise=False, scale=0.1
    )
    return scripted(method).trace(5)


ARMS = qd.Space(kind=qd.Categorical(["a", "b", "c"]), level=qd.Int(0, 3))
ARMS_AT = [{"kind": "a", "level": 0}, {"kind": "b", "level": 2}, {"kind": "c", "level": 3}]


def best_arm(params: Mapping[str, Any]) -> float:
    """Highest at kind b, level 2."""
    return float(params["kind"] == "b") + 0.1 * min(int(params["level"]), 2)


@traced
def gp_ucb_on_arms() -> Trace:
    """GPUCB on a finite space, without predictions: version 0.1.0 has none there."""
    return scripted(qd.research.GPUCB(form=Finite(arms=12)), space=ARMS, at=(), value=best_arm).trace(1)


@traced
def ucb1() -> Trace:
    """UCB1 on a finite space, past its first round of all arms."""
    return scripted(qd.research.UCB1(noise=0.2), space=ARMS, at=ARMS_AT, value=best_arm, n=20).trace(4)


@traced
def igp_ucb() -> Trace:
    """IGPUCB with a learned kernel."""
    return scripted(qd.research.IGPUCB(budget=15)).trace(5)


@traced
def gp_bucb() -> Trace:
    """GPBUCB: a batch of 4, widened by information."""
    return scripted(qd.research.GPBUCB(information=0.5, scale=0.2), batch=4).trace(5)


@traced
def gp_ucb_pe() -> Trace:
    """GPUCBPE: a batch of 4 of which 3 explore."""
    return scripted(qd.research.GPUCBPE(scale=0.2), batch=4).trace(5)


@traced
def cgp_ucb() -> Trace:
    """CGPUCB with a context that is a number, product kernel; and with choices, sum of kernels."""
    space = qd.Space(x=qd.Float(0, 1), load=qd.Context(qd.Float(0, 10)))
    first = _in_contexts(space, qd.CGPUCB(), [{"load": 2.5}, {"load": 7.5}], 5)
    chosen = qd.Space(x=qd.Float(0, 1), site=qd.Context(qd.Categorical(["north", "south"])))
    second = _in_contexts(chosen, qd.CGPUCB(composition="sum"), [{"site": "north"}, {"site": "south"}], 5)
    return both(first, second)


@traced
def bkb() -> Trace:
    """BKB on its sketched posterior."""
    return scripted(qd.research.BKB(noise=0.2), n=14).trace(5)


@traced
def pi_gp_ucb() -> Trace:
    """PiGPUCB with cells so small that they are divided."""
    watched = scripted(qd.research.PiGPUCB(kernel=qd.Matern(1.5, 0.4), capacity=4.0, scale=0.3, budget=40), n=20)
    return watched.trace(5)


@traced
def add_gp_ucb() -> Trace:
    """AddGPUCB in four dimensions: groups learned, and groups given."""
    space = qd.Space(**{f"x{k}": qd.Float(0, 1) for k in range(4)})
    at = [{f"x{k}": level for k in range(4)} for level in (0.1, 0.5, 0.9)]

    def value(params: Mapping[str, Any]) -> float:
        a, b, c, d = (float(params[f"x{k}"]) for k in range(4))
        return -((a - 0.2) ** 2) - (b - a) ** 2 - abs(c - d)

    first = scripted(qd.research.AddGPUCB(n_initial=8), space=space, at=at, value=value, n=12)
    given = qd.research.AddGPUCB(groups=((0, 1), (2, 3)), n_initial=6, noise=0.1)
    second = scripted(given, space=space, at=at, value=value)
    return both(first.trace(5), second.trace(5))


@traced
def stable_opt() -> Trace:
    """StableOpt: robust to a box around the point."""
    return scripted(qd.StableOpt(perturbation=0.1)).trace(5)


@traced
def mf_gp_ucb() -> Trace:
    """MFGPUCB: two fidelities, costs counted."""
    space = qd.Space(x=qd.Float(-1, 1), epochs=qd.Fidelity([1, 8], cost=[1, 8]))
    at = [{"x": -0.5, "epochs": 8}, {"x": 0.3, "epochs": 1}, {"x": 0.3, "epochs": 8}]

    def value(params: Mapping[str, Any]) -> float:
        return hill(params) - (0.1 if params["epochs"] == 1 else 0.0)

    return scripted(qd.MFGPUCB(noise=0.05), space=space, at=at, value=value, n=20).trace(4)


# --- improvement, the paper's heuristic, and searches without a model


@traced
def expected_improvement() -> Trace:
    """ExpectedImprovement with a kernel that is a product on two axes."""
    kernel = qd.kernels.OnAxes(qd.Matern(2.5, 0.5), (0,)) * qd.kernels.OnAxes(qd.SquaredExponential(0.8), (1,))
    return scripted(qd.research.ExpectedImprovement(kernel=kernel)).trace(5)


@traced
def probability_of_improvement() -> Trace:
    """ProbabilityOfImprovement, minimised."""
    return scripted(qd.research.ProbabilityOfImprovement(xi=0.05), direction="minimize").trace(5)


@traced
def heuristic() -> Trace:
    """Heuristic: the leaves of a regression tree."""
    return scripted(qd.research.Heuristic(budget=20), n=12).trace(5)


@traced
def sobol_search() -> Trace:
    """SobolSearch on a space of every kind of parameter."""
    space = qd.Space(rate=qd.Float(1e-4, 1.0, log=True), layers=qd.Int(1, 6), kind=qd.Categorical(["a", "b"]))
    at = [{"rate": 0.01, "layers": 2, "kind": "a"}]
    return scripted("SobolSearch", space=space, at=at, value=lambda p: float(p["layers"])).trace(15)


@traced
def random_search() -> Trace:
    """RandomSearch, minimised."""
    return scripted("RandomSearch", direction="minimize").trace(15)


@traced
def other_outcomes() -> Trace:
    """Methods other than the default told failures, replicates and standard errors."""
    traces = []
    for method in (
        lp(),
        qd.research.GPUCB(),
        qd.research.ExpectedImprovement(),
        qd.research.BKB(),
        qd.research.Heuristic(budget=20),
    ):
        watched = Watched(qd.Optimizer(LINE, direction="minimize", method=method, seed=2), LINE_AT)
        for _ in range(10):
            trial = watched.ask()
            value = -hill(trial.params) + noise(trial.number)
            outcome: list[Any] = [value, [value, value + 0.02, value - 0.01], value, qd.FAILED]
            watched.optimizer.tell(trial, outcome[trial.number % 4])
        watched.answer()
        trial = watched.ask()
        if "standard errors" in method.facts.handles or isinstance(method, qd.LPGPUCB):
            tell_mean(watched.optimizer, trial, 0.1, 0.05)
            watched.answer()
        traces.append(watched.trace(1 if isinstance(method, qd.LPGPUCB) else 5))
    return both(*traces)


@traced
def other_options() -> Trace:
    """Options of methods that no other run has: stated kernels in contexts, named groups, bounds from a norm."""
    wide = qd.Space(**{f"x{k}": qd.Float(0, 1) for k in range(4)})

    def value(params: Mapping[str, Any]) -> float:
        return -sum((float(params[f"x{k}"]) - 0.3) ** 2 for k in range(4))

    site = qd.Space(x=qd.Float(0, 1), site=qd.Context(qd.Categorical(["north", "south"])))
    stated = qd.CGPUCB(kernel=qd.Matern(2.5, 0.4), context_kernel=qd.SquaredExponential(0.9), form="agnostic")
    named = qd.research.AddGPUCB(groups=(("x0", "x2"), ("x1", "x3")), n_initial=6)
    drawn = qd.research.AddGPUCB(learning="random", n_initial=6)
    return both(
        _in_contexts(site, stated, [{"site": "north"}, {"site": "south"}], 5),
        scripted(named, space=wide, at=(), value=value, n=8).trace(5),
        scripted(drawn, space=wide, at=(), value=value, n=8).trace(5),
        scripted(qd.StableOpt(perturbation=(0.1, 0.0), multiplier=None, norm_bound=0.5), n=7).trace(5),
        scripted(
            qd.research.PiGPUCB(kernel=qd.kernels.GammaExponential(1.2, 0.5), all_axes=True, budget=20), n=8
        ).trace(5),
        scripted(qd.research.BKB(form="theorem"), n=8).trace(5),
        scripted(qd.research.GPUCBPE(batch_size=3, region_scale=0.2), n=8).trace(5),
    )


# --- level sets


@traced
def level_sets() -> Trace:
    """LevelSet with both of its rules, the second one minimised, and where all is decided; its classification."""
    fixed: dict[str, Any] = {"threshold": 0.6, "kernel": qd.Matern(2.5, 0.5), "norm_bound": 2.0, "noise": 0.05}
    first = scripted(qd.LevelSet(**fixed, cells=16, accuracy=0.05), space=LINE, at=LINE_AT, n=14)
    turned = {**fixed, "threshold": -0.6}
    second = scripted(
        qd.LevelSet(**turned, cells=16, rule="ambiguity"), space=LINE, at=LINE_AT, n=14, direction="minimize"
    )
    decided = {**fixed, "threshold": -9.0}
    third = scripted(qd.LevelSet(**decided, cells=8), space=LINE, at=LINE_AT, n=3)
    return both(*(one.trace(1, level_set=form.level_set(one.optimizer.level_set())) for one in (first, second, third)))


@traced
def multi_scale_level_set() -> Trace:
    """MultiScaleLevelSet and its classification."""
    method = qd.research.MultiScaleLevelSet(
        threshold=0.6, kernel=qd.Matern(1.5, 0.5), norm_bound=2.0, noise=0.05, accuracy=0.05, max_cells=64
    )
    watched = scripted(method, space=LINE, at=LINE_AT, n=20)
    return watched.trace(1, level_set=form.level_set(watched.optimizer.level_set()))


# --- safe search


@traced
def safe_search() -> Trace:
    """Safe, maximised and minimised; and FittedSafe."""
    fixed: dict[str, Any] = {"kernel": qd.Matern(2.5, 0.5), "norm_bound": 6.0, "noise": 0.05}
    at = LINE.from_unit([0.5])
    first = scripted(qd.Safe(threshold=0.2, safe=[at], **fixed), space=LINE, at=LINE_AT, n=14)
    second = scripted(qd.Safe(threshold=1.2, safe=[at], **fixed), space=LINE, at=LINE_AT, n=14, direction="minimize")
    third = scripted(qd.FittedSafe(threshold=0.2, safe=[at]), space=LINE, at=LINE_AT, n=10)
    return both(*(one.trace(1) for one in (first, second, third)))


# --- the paper's settings


@traced
def paper_presets() -> Trace:
    """Every preset of the paper's experiments."""
    names = ("LP0", "LPGPUCB", "Heuristic", "IGPUCB", "GPUCB", "ExpectedImprovement", "ProbabilityOfImprovement")
    return both(*(scripted(paper_preset(name, 20), n=6, batch=2).trace(5) for name in names))
