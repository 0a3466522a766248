from __future__ import annotations

import ast
import dataclasses
import subprocess
import sys
from typing import Any

import pytest

from quadrat.errors import InvalidInput
from quadrat.methods import registry
from quadrat.methods.base import Method, MethodFacts
from quadrat.methods.design import RandomSearch


def test_every_method_is_a_documented_frozen_dataclass() -> None:
    found = registry.all_methods()
    assert tuple(found) == registry.names()
    for name, method in found.items():
        assert method.__name__ == name
        assert issubclass(method, Method)
        assert isinstance(method.facts, MethodFacts)
        assert method.__doc__
        options = dataclasses.fields(method)  # type: ignore[arg-type]  # that it is a dataclass is what is tested
        assert all(option.kw_only for option in options)
        with pytest.raises(dataclasses.FrozenInstanceError):
            object.__new__(method).anything = 1  # type: ignore[attr-defined]


def test_a_method_is_returned_as_it_is_and_a_name_gives_the_defaults() -> None:
    method = RandomSearch()
    assert registry.get(method) is method
    assert registry.get("RandomSearch") == method


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("GPUBC", "did you mean 'GPUCB'"),
        ("randomsearch", "did you mean 'RandomSearch'"),
        ("zzz", "expected one of Auto, LPGPUCB, LP0, .*, got 'zzz'$"),
        (RandomSearch, "with its parentheses"),
        (3, "got 3"),
    ],
)
def test_unknown_methods(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        registry.get(wrong)


def test_a_method_that_needs_assumptions_says_which() -> None:
    with pytest.raises(InvalidInput, match=r"cannot guess kernel, norm_bound, noise.*LPGPUCB\(kernel=\.\.\."):
        registry.get("LPGPUCB")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Safe()", "safe, kernel, norm_bound, noise"),
        ("Safe(safe=[{'x': 1}], noise=0.1)", "kernel, norm_bound"),
        ("LPGPUCB(norm_bound=1)", "kernel, noise, budget"),
        ("FittedSafe(threshold=0)", "safe"),
        ("Safe(constraints={'a': Assumptions()})", "kernel, norm_bound, noise"),
    ],
)
def test_a_description_that_lacks_options_says_which(text: str, missing: str) -> None:
    with pytest.raises(InvalidInput, match=rf"expected \w+ with values for {missing}, got .*; give it as") as why:
        registry.read_method(text)
    assert "__init__" not in str(why.value)


def test_importing_the_package_or_the_registry_loads_no_method() -> None:
    code = (
        "import sys, quadrat.methods, quadrat.methods.registry;"
        "print([m for m in sys.modules if m.startswith('quadrat.methods.') or m.startswith('sklearn')"
        " or m in ('scipy.optimize', 'scipy.stats')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    light = {"base", "registry", "statements"}  # what every method is, and what it may say; none is a method
    assert set(ast.literal_eval(out.stdout)) == {f"quadrat.methods.{name}" for name in light}
