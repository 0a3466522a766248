"""One BLAS thread, reproducible property tests, slow files, a PostgreSQL server and a browser of our own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.browser import Browser
    from tests.postgres import PostgresServer

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from hypothesis import settings  # noqa: E402  # NumPy must not start its threads before this

settings.register_profile("quadrat", derandomize=True, deadline=None)
settings.load_profile("quadrat")

TESTS = Path(__file__).resolve().parent
# `tests` is found however pytest is started; and the scripts and packages of folders that are not installed.
sys.path[:0] = [str(TESTS.parent), str(TESTS.parent / "benchmarks")]
sys.path.append(str(TESTS.parent / "experiments"))

# Files and folders, below tests/, that `make test-fast` leaves out: all that took five seconds or more, except
# the golden traces and the tests of replays and studies, which notice most mistakes.
SLOW = (
    "benchmarks_high_dimensions",
    "benchmarks_hpo",
    "benchmarks_mutation",
    "benchmarks_regret",
    "benchmarks_scaling",
    "benchmarks_soak",
    "benchmarks_studies",
    "cli/test_bench_commands.py",
    "cli/test_dashboard_command.py",
    "cli/test_show_command.py",
    "cli/test_tune_command.py",
    "confidence/test_local_band.py",
    "contracts",
    "docs/test_pages.py",
    "docs/test_site.py",
    "docs/test_start.py",
    "examples",
    "experiments",
    "extremes",
    "faults",
    "integrations/test_dashboard.py",
    "integrations/test_folds.py",
    "integrations/test_halving.py",
    "integrations/test_postgres.py",
    "integrations/test_pruned_trials.py",
    "integrations/test_ray_tune.py",
    "integrations/test_sklearn_search.py",
    "loop/test_dask_executor.py",
    "loop/test_process_workers.py",
    "loop/test_ray_executor.py",
    "methods/additive/test_method.py",
    "methods/auto/test_acquisition.py",
    "methods/auto/test_feasibility_constraints.py",
    "methods/auto/test_finite.py",
    "methods/auto/test_long_runs_auto_cells.py",
    "methods/auto/test_method.py",
    "methods/auto/test_surrogate_auto_model.py",
    "methods/auto/test_trust_region_regions.py",
    "methods/level_sets/test_search.py",
    "methods/lp/test_method.py",
    "methods/multi_fidelity/test_method.py",
    "methods/test_auto_rebuild.py",
    "methods/ucb/test_pi_gp_ucb.py",
    "paper",
    "report/test_page.py",
    "security/test_fuzz.py",
    "security/test_no_code_from_data.py",
    "space/test_constraint.py",
    "studies/test_outage.py",
    "support",
    "test_benchmarks.py",
    "test_examples.py",
    "test_readme.py",
)


def is_slow(path: Path) -> bool:
    """Return whether a test file is one of `SLOW`, or in one of its folders."""
    return any(path.is_relative_to(TESTS / name) for name in SLOW)


@pytest.hookimpl(tryfirst=True)  # before pytest reads -m
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow files."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow files unread where none of their tests is wanted: reading all of them takes longer than many tests."""
    return True if config.option.markexpr == "not slow" and is_slow(collection_path) else None


@pytest.fixture(scope="session")
def running_postgres() -> Iterator[PostgresServer]:
    """Start a PostgreSQL server."""
    from tests.postgres import PostgresServer, why_not

    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_server(running_postgres: PostgresServer) -> str:
    """Return the URL of the server, up to the name of a database."""
    return running_postgres.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run a headless Chromium; skip where none is installed."""
    from tests.browser import running_browser

    with running_browser() as found:
        yield found


@pytest.fixture
def postgres_url(running_postgres: PostgresServer) -> str:
    """Make an empty database on the server; its URL."""
    return running_postgres.new_database()
