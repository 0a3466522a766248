"""The examples in the docstrings hold; pytest itself looks for them only in src."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["", ".catalogue", ".classics", ".noise", ".problem", ".regret"])
def test_examples_are_true(name: str) -> None:
    module = import_module(f"problems{name}")
    ran = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert ran.attempted > 0
    assert ran.failed == 0
