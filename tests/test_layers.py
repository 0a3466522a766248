"""Imports only go down the list of layers, and importing the package stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import quadrat

PACKAGE = Path(quadrat.__file__).parent
# From the bottom up. Modules on one line do not import each other, except those that are one layer in two names.
LAYERS = [
    {"errors"},
    {"_core"},
    {"randomness"},
    {"space"},
    {"kernels"},
    {"gp", "partition"},
    {"confidence"},
    {"methods"},
    {"research"},
    {"optimizer"},
    {"loop"},
    {"problems"},
    {"theory"},
    {"studies"},
    {"integrations"},
    {"plots"},
    {"report"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
HEAVY = ["sklearn", "optuna", "plotly", "pandas", "torch", "rich", "typer", "scipy.optimize", "scipy.stats"]


def imports(path: Path) -> set[str]:
    """Every layer of the package that a module imports, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, f"{path}: imports are written in full"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        names.update(module.split(".")[1] for module in modules if module.startswith("quadrat."))
    return names


def test_every_module_belongs_to_a_layer() -> None:
    found = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir() if path.name != "__init__.py"}
    known = set(RANK) | {"py.typed", "py", "__pycache__"}
    assert found <= known, f"give these a place in the list of layers: {found - known}"


def test_imports_go_down() -> None:
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        relative = path.relative_to(PACKAGE)
        layer = relative.parts[0].removesuffix(".py")
        if layer == "__init__":
            continue
        wrong += [
            f"{relative} imports {other}"
            for other in imports(path)
            if other != layer and RANK.get(other, len(RANK)) >= RANK[layer]
        ]
    assert not wrong, "\n".join(wrong)


def test_the_check_itself_sees_an_upward_import(tmp_path: Path) -> None:
    source = tmp_path / "bad.py"
    source.write_text("def f():\n    from quadrat.gp.posterior import GaussianProcess\n    import quadrat.cli.main\n")
    assert imports(source) == {"gp", "cli"}


def test_importing_quadrat_loads_nothing_heavy() -> None:
    code = f"import sys, quadrat; print([name for name in {HEAVY!r} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
