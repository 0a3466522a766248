"""The rules of CONTRIBUTING.md that a machine can check, beside the layers (test_layers.py)."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    "kernels/test_base.py": "kernels: composite",
    "kernels/test_stationary.py": "kernels: bessel gamma_exponential matern piecewise_polynomial rational_quadratic"
    " squared_exponential taylor",
    "loop/test_dask_executor.py": "loop: remote_executor",
    "loop/test_process_workers.py": "loop: executors",
    "loop/test_tuning.py": "loop: loop plan workers",
    "contracts/test_methods_contract.py": "methods: base",
    "methods/lp/test_method.py": "methods/lp: printed search",
    "optimizer/test_replay.py": "optimizer: events",
    "partition/test_axis_rules.py": "partition: rules",
    "partition/test_cell_boxes.py": "partition: address",
    "partition/test_drawn_partition.py": "partition: drawing plane",
    "partition/test_partition_tree.py": "partition: cell_tree ledger tree unit_cube",
    "partition/test_printed_partition.py": "partition: tiling",
    "plots/test_cells_figure.py": "plots: partition_view plane_cells",
    "plots/test_other_figures.py": "plots: active_bounds_figure compare_figure importance_figure level_set_figure"
    " parallel_figure",
    "report/test_page.py": "report: figures reproduction",
    "studies/test_coordinator.py": "studies: evaluation lease telling",
    "studies/test_sampler.py": "studies: engine recommendation running_trials trials",
    "test_public_api.py": ".: research",
    "theory/test_exponent_formulas.py": "theory: exponents lemmas",
    "theory/test_rate_rows.py": "theory: catalogue",
    "theory/test_rate_table.py": "theory: gain_rates kernel_rates matern_rates table",
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
