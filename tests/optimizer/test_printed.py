"""What people print: numbers of Python, no types of NumPy and no giant arrays, whatever was given."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

import quadrat as qd
from quadrat import confidence, gp, kernels, methods, theory
from quadrat.kernels import Matern
from quadrat.methods.base import Method
from quadrat.methods.registry import all_methods
from quadrat.optimizer import CellReport

PLANE = qd.Space(x=qd.Float(0, 1), y=qd.Float(-1, 1))
ONE: Any = np.int64(1)
NAMES: Any = np.array(["a", "b"])
EPOCHS: Any = np.array([5, 100])
COSTS: Any = np.array([1.0, 20.0])
MIXED = qd.Space(
    x=qd.Float(np.float64(0), np.float64(1)),
    n=qd.Int(ONE, 4 * ONE),
    kind=qd.Categorical(NAMES),
    size=qd.Categorical([np.float64(1.5), 2 * ONE]),
    depth=qd.Float(0, 1, step=np.float64(0.25), when={"kind": np.str_("a")}),
    steps=qd.Fixed(np.float64(3.0)),
)
CONTEXTUAL = qd.Space(x=qd.Float(0, 1), heat=qd.Context(qd.Float(0, 30)))
FIDELITIES = qd.Space(x=qd.Float(0, 1), epochs=qd.Fidelity(EPOCHS, cost=COSTS))
ARMS = qd.Space(arm=qd.Categorical(["a", "b", "c"]))
OPTIONS: dict[str, Any] = {
    "kernel": Matern(np.float64(2.5), np.float64(0.4)),
    "norm_bound": np.float64(2.0),
    "noise": np.float64(0.1),
    "budget": np.int64(100),
    "threshold": np.float64(0.2),
    "perturbation": np.float64(0.1),
    "safe": [{"x": np.float64(x), "y": np.float64(0.5)} for x in (0.2, 0.5, 0.7)],
}
X = np.random.default_rng(0).random((14, 2))
Y = np.sin(4 * X[:, 0]) + X[:, 1]


def value_of(params: Mapping[str, Any]) -> np.float64:
    return np.float64(sum(value for value in params.values() if isinstance(value, float | int)) ** 2 / 10)


def method_of(kind: type[Method]) -> Method:
    needed = [name for name, given in inspect.signature(kind).parameters.items() if given.default is given.empty]
    needed += ["threshold"] * ("safe" in needed)
    return kind(**{name: OPTIONS[name] for name in needed})


def run_of(method: Method | None, space: qd.Space = PLANE, n: int = 11, *, constrained: bool = False) -> qd.Optimizer:
    """A run that was told numbers of NumPy, one failure and one standard error where the method takes it."""
    optimizer = qd.Optimizer(space, direction="minimize", method=method, seed=1)
    for number in range(n):
        context = {"heat": np.float64(3.0 * number)} if space.contexts else None
        trial = optimizer.ask(context=context)
        constraints = {"load": value_of(trial.params) - np.float64(0.3)} if constrained else None
        optimizer.tell(trial, qd.FAILED if number == 4 else value_of(trial.params), constraints=constraints)
    return optimizer


def space_for(method: Method) -> qd.Space:
    if "fidelities" in method.facts.handles:
        return FIDELITIES
    if type(method).__name__ in ("UCB1",):
        return ARMS
    return CONTEXTUAL if type(method).__name__ == "CGPUCB" else PLANE


def answers_of(optimizer: qd.Optimizer, context: Mapping[str, Any] | None = None) -> Iterator[object]:
    """Everything that an optimizer gives to a user."""
    yield from (optimizer, optimizer.space, optimizer.method, *optimizer.trials, optimizer.best_seen, optimizer.cost)
    yield optimizer.recommend(context)
    yield optimizer.certificate(context)
    with contextlib.suppress(qd.NotAvailable):
        yield from optimizer.predict([optimizer.trials[0].params])


def found(kind: type[Method]) -> list[object]:
    method = method_of(kind)
    space = space_for(method)
    context = {"heat": np.float64(7.5)} if space.contexts else None
    optimizer = run_of(method, space)
    answers = list(answers_of(optimizer, context))
    if "level sets" in method.facts.handles:
        report = optimizer.level_set()
        assert isinstance(report.cells[0], CellReport)
        answers += [report, report.cells[0]]
    return answers


def printed(value: object) -> str:
    return f"{value!r}\n{value}"


def assert_plain(value: object) -> None:
    text = printed(value)
    for word in ("np.float64(", "np.int64(", "np.str_(", "np.True_", "np.False_", "array(", "object at 0x"):
        assert word not in text, text[:600]
    assert len(text) < 4000, text[:600]
    assert_python_numbers(value, type(value).__name__)


def assert_python_numbers(value: object, where: str) -> None:
    """The numbers in it are Python's, so that JSON takes them and a user's own print shows them as numbers."""
    assert not isinstance(value, np.generic), f"{where} is {value!r}"
    if is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            assert_python_numbers(getattr(value, part.name), f"{where}.{part.name}")
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            assert_python_numbers(entry, f"{where}[{key!r}]")
    elif isinstance(value, tuple | list):
        for i, entry in enumerate(value):
            assert_python_numbers(entry, f"{where}[{i}]")


@pytest.mark.parametrize("name", all_methods())
def test_answers_of_every_method(name: str) -> None:
    for value in found(all_methods()[name]):
        assert_plain(value)


def test_answers_in_a_mixed_space_with_constraints() -> None:
    optimizer = run_of(None, MIXED, constrained=True)
    given = {"x": np.float64(0.3), "n": np.int64(2), "kind": np.str_("b"), "size": np.float64(1.5), "steps": 3.0}
    optimizer.add(given, np.array([1.0, 2.0]), constraints={"load": np.float64(-1)})
    optimizer.add_trials([given], [qd.Estimate(np.float64(1.0), np.float64(0.1))], constraints=[{"load": ONE}])
    trial = optimizer.ask({**given, "n": np.int64(3)})
    for value in (trial, *answers_of(optimizer), *optimizer.predict([given]), *MIXED.values()):
        assert_plain(value)


def test_results() -> None:
    for space, method in ((MIXED, None), (PLANE, method_of(qd.LPGPUCB))):
        result = qd.maximize(value_of, space, n_trials=np.int64(8), method=method, seed=2)  # type: ignore[arg-type]
        assert_plain(replace(result, trials=(), _optimizer=None))
        assert_plain(result.trials)


def test_the_worst_case_and_the_curve() -> None:
    robust = run_of(None).recommend(robust_to=np.float64(0.1))
    curve = run_of(method_of(qd.LPGPUCB)).certificate_curve(np.linspace(0.5, 4, 5))
    for value in (robust, robust.worst_case, curve.smallest_unrejected):
        assert_plain(value)
    assert "array(" not in printed(curve)
    assert repr(curve).startswith("CertificateCurve(norm_bounds=[0.5, 1.375, 2.25, 3.125, 4.0], values=[")


def test_what_is_told() -> None:
    estimate = qd.Estimate(np.float64(0.83), np.float64(0.02))
    assert repr(estimate) == "Estimate(value=0.83, sem=0.02)"
    assert (
        repr(qd.Measured(estimate, {"load": np.float64(-1.0)}))
        == f"Measured(value={estimate!r}, constraints={{'load': -1.0}})"
    )
    assert repr(qd.Measured(np.array([0.5, 0.25]), {})) == "Measured(value=[0.5, 0.25], constraints={})"
    assert "array(" not in repr(qd.Measured(np.zeros(1000), {}))


def test_what_certifies_and_what_fits() -> None:
    assumptions = qd.Assumptions(OPTIONS["kernel"], OPTIONS["norm_bound"], OPTIONS["noise"])
    band = confidence.AdaptiveBand(assumptions, 0.05)
    band.add(X, Y)
    certificate = confidence.certify(band, dimension=2)
    assert_python_numbers((certificate.value, certificate.certified_interval, certificate.maximum), "certificate")
    assert f"point={[float(f'{x:.6g}') for x in certificate.point.tolist()]}," in repr(certificate)
    data = gp.Observations.merge(X, Y)
    fit = gp.fit_map(Matern(2.5, [0.3, 0.3]), data)
    assert_python_numbers(replace(fit, parameters=np.empty(0)), "fit")
    values = [
        assumptions,
        certificate,
        confidence.certified_maximum(band, dimension=2),
        band.interval(X),
        confidence.UserHolder(np.float64(1.0), np.float64(0.5)),
        fit,
        data,
        fit.posterior(data).predict(X),
        gp.Priors(common_lengthscale=np.float64(0.5)),
        gp.LogNormal(np.float64(0.0), np.float64(1.0)),
        methods.Observation(0, X[0], Y[:2]),
        methods.Incumbent(X[0], 1.0),
        methods.Proposal(X[0], "because"),
    ]
    for value in values:
        text = printed(value)
        assert "np." not in text, text
        assert "array(" not in text, text
        assert len(text) < 1500, text


def test_kernels() -> None:
    made = [
        Matern(np.float64(1.5), np.array([0.3, 0.4]), amplitude=np.float64(2)),
        qd.SquaredExponential(np.float64(0.3)),
        kernels.RationalQuadratic(np.float64(2.0)),
        kernels.GammaExponential(np.float64(1.5)),
        kernels.PiecewisePolynomial(q=1, for_dimension=2),
        kernels.OnAxes(Matern(), np.array([0])),  # type: ignore[arg-type]
        Matern(np.float64(2.5)) + qd.SquaredExponential(np.array([0.2, 0.3])),
        Matern() * qd.SquaredExponential(np.float64(0.2)),
    ]
    for kernel in made:
        assert_plain(kernel)
        assert_plain(kernel.variance)
        with contextlib.suppress(qd.NotAvailable):
            assert_plain(kernel.information_gain_rate(2))


def test_rates() -> None:
    for kernel in (Matern(np.float64(2.5)), qd.SquaredExponential()):
        table = theory.rates(kernel, 2)
        assert "np." not in printed(table)
        for rate in table:
            assert_plain(rate)
            assert_plain(table.excess(rate))


def test_options_given_as_numbers_of_numpy_are_numbers_of_python() -> None:
    """The text of a method stands in states and studies, and is read back from there."""
    for kind in all_methods().values():
        method = method_of(kind)
        assert "np." not in repr(method)
        for part in fields(method):  # type: ignore[arg-type]
            value = getattr(method, part.name)
            if type(value) in (float, int):
                other = replace(method, **{part.name: np.asarray(value)[()]})  # type: ignore[type-var]
                assert repr(other) == repr(method)
                assert type(getattr(other, part.name)) is type(value)
