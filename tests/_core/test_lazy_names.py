from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from quadrat._core.lazy_names import lazy_names

PACKAGES = ["quadrat", "quadrat.integrations", "quadrat.methods", "quadrat.research"]


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_resolve_are_documented_and_known_to_type_checkers(package: str) -> None:
    module = import_module(package)
    for name in module.__all__:
        assert getattr(module, name).__doc__, name
        assert name in dir(module)
    assert module.__file__ is not None
    typed = {
        alias.name
        for node in ast.walk(ast.parse(Path(module.__file__).read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quadrat.")
        for alias in node.names
        if alias.name not in ("AS_PRINTED", "lazy_names", "resolve_old_names")
    }
    assert typed == set(module.__all__) == set(module._MODULE_OF)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Nonsense'"):
        _ = module.Nonsense


def test_modules_are_attributes_without_an_import_of_their_own() -> None:
    code = "import sys, quadrat; assert 'quadrat.plots' not in sys.modules; print(quadrat.plots.progress.__name__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "progress"


def test_a_name_is_loaded_once() -> None:
    module_of, load, listed = lazy_names("quadrat.space", {"numeric": "Float"}, modules="fidelity")
    assert module_of == {"Float": "numeric"}
    assert load("Float") is import_module("quadrat.space.numeric").Float
    assert load("fidelity") is import_module("quadrat.space.fidelity")
    assert {"Float", "fidelity"} <= set(listed())
