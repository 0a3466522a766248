"""The rules of CONTRIBUTING.md that a machine can check, beside the layers (test_layers.py)."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import SLOW, is_slow

import quadrat

PACKAGE = Path(quadrat.__file__).parent
TESTS = Path(__file__).resolve().parent
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}

MOST_LINES = 800
MOST_MODULES = 25  # of a folder, its __init__.py not counted
SMALL = 30  # lines of code up to which a module is tested with the modules that use it
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
TWINS = re.compile(r"(start|ask|tell|recommend|certificate|predict|level_set|explain)_in")


def code_lines(source: str) -> int:
    """Return how many lines hold code: blank lines, comments and docstrings are none."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def twins(source: str) -> list[str]:
    """Return the functions whose names say that they do what another does, in a context."""
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    return sorted(node.name for node in functions if TWINS.fullmatch(node.name.lstrip("_")))


def moved_domains(source: str) -> list[int]:
    """Return the lines that give another object, such as a search, its domain from outside."""
    return sorted(
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and node.attr == "domain"
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    )


def files_of(module: str) -> Iterator[Path]:
    """Yield the test files of a module by the rule: test_<module>.py or test_<module>_<aspect>.py in its folder."""
    folder, name = TESTS / Path(module).parent, Path(module).stem
    for path in sorted(folder.glob(f"test_{name}*.py")):
        rest = path.stem.removeprefix(f"test_{name}")
        other = Path(module).with_stem(f"{name}{rest}").as_posix()  # a module whose name begins alike has its own
        if not rest or (rest.startswith("_") and other not in MODULES):
            yield path


# Test files that serve modules of other names: the file, and the modules by folder.
SERVED = {
    "cli/test_cli.py": "cli: main method_list rate_list",
    "cli/test_tune_command.py": "cli: tune_screen",
    "confidence/test_certificate.py": "confidence: maximum",
    "gp/test_sketch.py": "gp: nystrom",
    "kernels/test_stationary.py": "kernels: bessel exponential matern piecewise_polynomial taylor",
    "loop/test_dask_executor.py": "loop: remote_executor",
    "loop/test_process_workers.py": "loop: executors",
    "loop/test_tuning.py": "loop: loop plan workers",
    "methods/lp/test_method.py": "methods/lp: search",
    "optimizer/test_known_constraints.py": "optimizer: incumbent",
    "partition/test_axis_rules.py": "partition: rules",
    "partition/test_partition_tree.py": "partition: ledger unit_cube",
    "plots/test_other_figures.py": "plots: active_bounds_figure compare_figure level_set_figure parallel_figure",
    "report/test_page.py": "report: figures",
    "studies/test_coordinator.py": "studies: evaluation lease telling",
    "studies/test_sampler.py": "studies: engine recommendation running_trials",
    "test_public_api.py": ".: research",
    "theory/test_exponent_formulas.py": "theory: exponents",
    "theory/test_rate_rows.py": "theory: catalogue",
    "theory/test_rate_table.py": "theory: kernel_rates matern_rates table",
}


def served() -> dict[str, str]:
    """Return the table the other way round: from a module to its test file."""
    found: dict[str, str] = {}
    for file, words in SERVED.items():
        folder, names = words.split(": ")
        found |= {(Path(folder) / f"{name}.py").as_posix(): file for name in names.split()}
    return found


@pytest.mark.parametrize("module", MODULES)
def test_a_file_is_at_most_800_lines_long(module: str) -> None:
    lines = len(MODULES[module].read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{module} has {lines} lines: it is more than one idea"


def test_a_folder_has_at_most_25_modules() -> None:
    folders: dict[str, int] = {}
    for module in MODULES:
        folder = Path(module).parent.as_posix()
        folders[folder] = folders.get(folder, 0) + (Path(module).name != "__init__.py")
    assert len(folders) > 20, "the folders of the package were not found"
    assert {folder: count for folder, count in folders.items() if count > MOST_MODULES} == {}


def test_every_module_has_a_test_file() -> None:
    """Those with more than 30 lines of code, except `__init__.py`; the table names what the rule does not find."""
    table = served()
    missing = [
        module
        for module, path in MODULES.items()
        if not path.stem.startswith("__")
        and code_lines(path.read_text(encoding="utf-8")) > SMALL
        and module not in table
        and not any(files_of(module))
    ]
    assert not missing, f"write tests/<folder>/test_<module>.py, or add to SERVED in {Path(__file__).name}: {missing}"


def test_the_table_of_test_files_has_nothing_that_is_not_needed() -> None:
    table = served()
    assert [file for file in SERVED if not (TESTS / file).is_file()] == []
    assert [module for module in table if module not in MODULES] == []
    assert [module for module in table if any(files_of(module))] == [], "these are found by their names now"
    small = [module for module in table if code_lines(MODULES[module].read_text(encoding="utf-8")) <= SMALL]
    assert small == [], "these are small, and need no test file"


@pytest.mark.parametrize("module", MODULES)
def test_there_is_one_way_to_ask_and_a_search_keeps_its_domain(module: str) -> None:
    source = MODULES[module].read_text(encoding="utf-8")
    assert twins(source) == [], "a context is an argument: ask(number, pending, context)"
    assert moved_domains(source) == [], "a search is given its domain where it is made: start(domain, seed)"


def test_twins_and_moved_domains_are_seen() -> None:
    source = "class A:\n    def ask_in(self):\n        self.domain = 1\n        self.search.domain = 2\n"
    assert twins(source + "def _start_in(): ...\ndef progress_in(): ...\n") == ["_start_in", "ask_in"]
    assert moved_domains(source + "search.domain, x = 1, 2\ny = search.domain\n") == [4, 5]


def generators_made(source: str) -> list[int]:
    """Return the lines that make a random generator from a seed."""
    makers = {"default_rng", "RandomState", "PCG64"}
    return sorted(
        node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute) and node.attr in makers
    )


def test_seeds_become_generators_in_one_module() -> None:
    """One other keeps the stream of results that were recorded with it."""
    found = {module for module, path in MODULES.items() if generators_made(path.read_text(encoding="utf-8"))}
    assert found == {"randomness.py", "plots/importance_figure.py"}


# Where other packages may be imported at the head of a module; everywhere else, inside the function that uses them.
AT_THE_HEAD = {
    "numpy": None,  # anywhere
    "scipy.linalg": None,
    "scipy.special": {"methods"},
    "threadpoolctl": {"loop"},
    "sklearn": {"integrations"},
    "optuna": {"studies", "integrations", "plots", "cli"},
    "rich": {"cli"},
    "typer": {"cli"},
}


def head_imports(source: str) -> set[str]:
    """Return the packages, other than Python's and this one, that are imported as soon as a module is."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    others = {name for name in names if name.split(".")[0] not in {*sys.stdlib_module_names, "quadrat"}}
    return {name if name.startswith("scipy") else name.split(".")[0] for name in others}


@pytest.mark.parametrize("module", MODULES)
def test_other_packages_are_imported_where_they_are_used(module: str) -> None:
    layer = Path(module).parts[0]
    for name in head_imports(MODULES[module].read_text(encoding="utf-8")):
        assert name in AT_THE_HEAD, f"{module} imports {name} at its head"
        layers = AT_THE_HEAD[name]
        assert layers is None or layer in layers, f"{module} imports {name} at its head"


def test_imports_at_the_head_are_seen() -> None:
    source = "import re\nimport torch.nn\nfrom scipy.optimize import minimize\ndef f():\n    import plotly\n"
    assert head_imports(source) == {"torch", "scipy.optimize"}


def bases_of(sources: list[str]) -> dict[str, set[str]]:
    """Return the names of the classes that each class inherits from."""
    found: dict[str, set[str]] = {}
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                plain = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
                found.setdefault(node.name, set()).update(ast.unparse(base).split(".")[-1] for base in plain)
    return found


def depth(name: str, bases: dict[str, set[str]]) -> int:
    """Return how many levels of classes of the package are above a class."""
    return max((1 + depth(base, bases) for base in bases[name] if base in bases and base != name), default=0)


def test_there_are_at_most_two_levels_of_inheritance() -> None:
    """Classes are told apart by their names; errors, which inherit from Python's as well, count like all others."""
    bases = bases_of([path.read_text(encoding="utf-8") for path in MODULES.values()])
    assert depth("Matern", bases) == 2, "the check sees Matern -> Stationary -> Kernel"
    assert {name: depth(name, bases) for name in bases if depth(name, bases) > 2} == {}


def class_names(sources: dict[str, str]) -> dict[str, list[str]]:
    """Return the modules in which each class without an underscore is defined."""
    found: dict[str, list[str]] = {}
    for module, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(module)
    return found


def test_a_name_is_one_class() -> None:
    names = class_names({module: path.read_text(encoding="utf-8") for module, path in MODULES.items()})
    assert len(names) > 150
    twice = {name: modules for name, modules in names.items() if len(modules) > 1}
    assert twice == {}, "a reader who knows one of them takes the other for it"


# The field says observation, incumbent, surrogate or posterior, trust region, winsorize.
OTHER_WORDS = re.compile(r"told|guess|happened|belief|crowd|fence|zoom|doubt", re.IGNORECASE)


def named_otherwise(source: str) -> list[str]:
    """Return the classes, functions and methods whose names have a word for which the field has another one."""
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    names = (node.name for node in ast.walk(ast.parse(source)) if isinstance(node, kinds))
    return sorted(name for name in names if OTHER_WORDS.search(name))


@pytest.mark.parametrize("module", MODULES)
def test_names_are_the_field_s(module: str) -> None:
    assert named_otherwise(MODULES[module].read_text(encoding="utf-8")) == []


def test_names_of_the_house_are_seen() -> None:
    assert named_otherwise("class ZoomCell:\n    def told(self): ...\ndef tell(): ...\n") == ["ZoomCell", "told"]


def test_no_module_is_a_drawer() -> None:
    drawers = {"util", "utils", "helper", "helpers", "common", "misc", "tools"}
    assert [module for module in MODULES if Path(module).stem in drawers] == []


def test_lines_of_code_are_counted() -> None:
    source = '"""Text."""\n\nimport ast  # one\n\n# none\n\ndef f(\n    x,\n):  # three\n    """Text.\n\n    More."""\n'
    assert code_lines(source + "    # none\n    y = (\n        x\n    )\n    return y\n") == 1 + 3 + 3 + 1
    assert code_lines("class A:\n    '''Text.'''\n    x: int = 1\n\n\nif x:\n    y = 1\nelse:\n    y = 2\n") == 6


def test_a_module_whose_name_begins_alike_does_not_count() -> None:
    """`gp_ucb_arms` has its own test file, which is not one of `gp_ucb`."""
    names = [path.name for path in files_of("methods/ucb/gp_ucb.py")]
    assert "test_gp_ucb.py" in names
    assert "test_gp_ucb_arms.py" not in names
    assert [path.name for path in files_of("optimizer/run.py")] == ["test_run.py", "test_run_collisions.py"]


def test_slow_files_are_there() -> None:
    assert [name for name in SLOW if not (TESTS / name).exists()] == []
    assert len(set(SLOW)) == len(SLOW)
    nested = [name for name in SLOW if any(parent.as_posix() in SLOW for parent in Path(name).parents)]
    assert nested == [], "their folders are slow as a whole"
    assert is_slow(TESTS / SLOW[0])
    assert not is_slow(Path(__file__))


def test_slow_files_are_left_out_and_can_be_run_alone() -> None:
    """Both halves together are everything: of one slow file and one quick test, each is collected by one of them."""
    slow = next(name for name in SLOW if name.endswith(".py"))
    quick = f"{Path(__file__).relative_to(TESTS).as_posix()}::test_slow_files_are_there"

    def collected(expression: str) -> set[str]:
        names = [str(TESTS / slow), str(TESTS / quick)]
        command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", "-m", expression]
        ran = subprocess.run([*command, *names], cwd=TESTS.parent, capture_output=True, text=True)
        return {line.partition("::")[0] for line in ran.stdout.splitlines() if "::" in line}

    assert collected("slow") == {f"tests/{slow}"}
    assert collected("not slow") == {"tests/test_house.py"}
