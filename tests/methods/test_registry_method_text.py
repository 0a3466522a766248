"""Methods from text: what Python shows can be read again, and nothing else is."""

from __future__ import annotations

import pytest

from quadrat.confidence import Assumptions, UserHolder
from quadrat.errors import InvalidInput
from quadrat.gp import Sketch
from quadrat.kernels import GammaExponential, Matern, OnAxes, PiecewisePolynomial
from quadrat.methods import GPUCB, LP0, LPGPUCB, Auto, LevelSet, MultiScaleLevelSet, Safe
from quadrat.methods.base import Method
from quadrat.methods.registry import read_method


@pytest.mark.parametrize(
    "method",
    [
        Auto(n_initial=7),
        LPGPUCB(kernel=Matern(2.5, [0.2, 0.4]), norm_bound=2, noise=0.1, budget=50),
        LP0(kernel=None, norm_bound=1.0, noise=0.1, budget=9, holder=UserHolder(1.5, 0.5)),
        LP0(kernel=Matern() + GammaExponential(), norm_bound=1.0, noise=0.1, budget=9, sketch=Sketch(epsilon=0.25)),
        LP0(kernel=OnAxes(Matern(), [0]) * PiecewisePolynomial(1, 2), norm_bound=1e-3, noise=0.1, budget=9),
        LevelSet(kernel=Matern(1.5), norm_bound=1, noise=0.1, threshold=-0.5),
        Safe(
            threshold=0.5,
            safe=[{"x": 1.0, "y": 2}],
            kernel=Matern(1.5),
            norm_bound=1,
            noise=0.1,
            constraints={"load": Assumptions(Matern(2.5, 0.3), 1.0, 0.1)},
        ),
        MultiScaleLevelSet(kernel=Matern(1.5), norm_bound=1, noise=0.1, threshold=0.5, accuracy=0.1),
    ],
)
def test_what_python_shows_is_read_again(method: Method) -> None:
    assert read_method(repr(method)) == method


def test_a_name_stands_for_its_defaults() -> None:
    assert read_method("Auto") == Auto()
    assert read_method(" GPUCB ") == read_method("GPUCB()") == GPUCB()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Nonsense", "method: expected one of Auto"),
        ("LP0", "cannot guess kernel, norm_bound, noise, budget"),
        ("LP0(", "method: expected a name, or a description such as 'LPGPUCB"),
        ("LP0(kernel=None)", "expected LP0 with values for norm_bound"),
        ("LP0(kernel=Matern(), norm_bound=1, noise=0.1, budget=9, colour=3)", "unexpected keyword argument 'colour'"),
        ("LP0(kernel=Matern(), norm_bound=-1, noise=0.1, budget=9)", "expected"),
        ("LP0(kernel=3, norm_bound=1, noise=0.1, budget=9)", "expected"),
        ("LP0(kernel=Sum(1, 2), norm_bound=1, noise=0.1, budget=9)", "expected"),
        ("Matern(2.5)", "expected a description of a method"),
        ("(1, 2)", "expected a description of a method"),
        ("__import__('os').system('true')", "method: expected one of Auto"),
        ("open('secret')", "method: expected one of Auto"),
        ("Auto(n_initial=open)", "expected a number or a description, got 'open'"),
        ("Auto(n_initial=(lambda: 3)())", "method: expected one of Auto"),
        ("Auto(n_initial=[x for x in (1, 2)])", "expected a number or a description"),
        ("Auto(**{'n_initial': 3})", "expected options that Auto takes"),
        ("Auto(*[3])", "expected"),
        ("Kernel()", "method: expected one of Auto"),
    ],
)
def test_what_is_no_method_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_method(text)
