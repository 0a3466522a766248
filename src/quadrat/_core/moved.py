"""Old names of modules and keywords, which still work, with a warning that says the new ones.

Names that left the package give an error that says where in the repository they are.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import ParamSpec, TypeVar

from quadrat.errors import InvalidInput

__all__ = ["AS_PRINTED", "LEFT", "MOVED", "renamed", "resolve_old_names", "warn_of"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_HERE = Path(__file__).parent

# Where a module is now: its former names; without the package.
_TABLE = """
_core.arrays: arrays growing theory.whole
_core.blas_threads: blas_threads
_core.html: heights html
_core.lazy_names: lazy_names
_core.nearest: nearest
cli.screen: cli.sparkline
cli.study_commands: cli.json_output cli.report_command cli.where
errors: space.suggestions
gp.fit: gp.priors
kernels.base: kernels.facts
kernels.composite: kernels.tied
kernels.exponential: kernels.gamma_exponential kernels.rational_quadratic kernels.squared_exponential
loop: tune
loop.dask_executor: integrations.dask_executor
loop.executors: studies.executors
loop.plan: tune.plan
loop.process_server: studies.process_server
loop.process_workers: studies.process_workers
loop.ray_executor: integrations.ray_executor
loop.remote_executor: integrations.remote_executor
loop.result: tune.result tune.result_html
loop.tuning: loop.progress tune.progress tune.tune
loop.workers: tune.workers
methods.acquisition: methods.ascent
methods.additive.groups: methods.additive_groups
methods.additive.method: methods.add_gp_ucb
methods.additive.model: methods.additive_fit methods.additive_model
methods.auto.acquisition: methods.auto_score methods.repeats
methods.auto.feasibility: methods.beliefs methods.constraints methods.feasibility
methods.auto.long_runs: methods.auto_cells methods.crowd
methods.auto.surrogate: methods.auto_model methods.averaging methods.fence methods.units
methods.auto.trust_region: methods.turns methods.zoom_cell methods.zooming
methods.base: methods.classification methods.domain
methods.design: methods.random_search methods.sobol_search
methods.level_sets.cells: methods.level_cells
methods.level_sets.method: methods.level_set methods.multi_scale_level_set
methods.level_sets.search: methods.level_search
methods.lp.cells: methods.lp_cells
methods.lp.contextual: methods.lp_contextual
methods.lp.method: methods.lp_gp_ucb
methods.lp.other_forms: methods.lp_learned methods.lp_sketched
methods.lp.search: methods.lp_search
methods.multi_fidelity.method: methods.mf_gp_ucb
methods.multi_fidelity.model: methods.fidelity_model
methods.registry: methods.method_text
methods.robust.choice: methods.robust_choice
methods.robust.method: methods.stable_opt
methods.robust.worst_case: methods.worst_case
methods.surrogate: methods.learned_kernel
methods.ucb.bkb: methods.bkb
methods.ucb.cgp_ucb: methods.cgp_ucb methods.context_kernel methods.context_slice
methods.ucb.gp_bucb: methods.gp_bucb
methods.ucb.gp_ucb: methods.gp_ucb
methods.ucb.gp_ucb_arms: methods.gp_ucb_arms
methods.ucb.gp_ucb_pe: methods.gp_ucb_pe
methods.ucb.heuristic: methods.heuristic
methods.ucb.igp_ucb: methods.igp_ucb
methods.ucb.improvement: methods.improvement
methods.ucb.pi_gp_ucb: methods.cell_maxima methods.pi_gp_ucb methods.pi_search
methods.ucb.ucb1: methods.arms methods.ucb1
optimizer.advice: report.next_step
optimizer.history: optimizer.costs
optimizer.importing: optimizer.batch optimizer.past_study optimizer.past_table optimizer.past_trials
optimizer.notebook: optimizer.best_so_far optimizer.level_set_html optimizer.optimizer_html
optimizer.outcome: optimizer.direction optimizer.measured
optimizer.reports: optimizer.certifying optimizer.predicting optimizer.recommendation optimizer.recommending
optimizer.run: optimizer.collisions optimizer.domain_of optimizer.events optimizer.proposing
optimizer.trial: optimizer.settings_text
partition.tree: partition.cell_tree
plots.cells_figure: plots.plane_cells
plots.importance_figure: plots.sobol_indices
plots.run_view: plots.partition_view plots.study_axes plots.trial_text
plots.style: plots.library
report.findings: report.interval_strip report.noise
report.source: report.reproduction report.told
space.parameter: space.choices space.conditions space.scales
space.space: space.coding space.context space.dependencies
studies.distributions: integrations.distributions
studies.engine: integrations.study_search
studies.finish_order: integrations.finish_order
studies.journal: integrations.journal
studies.notes: integrations.study_method integrations.study_space
studies.opening: studies.soundness
studies.recommendation: integrations.study_recommendation integrations.study_run
studies.results_file: studies.table
studies.running_trials: integrations.running_trials
studies.sampler: integrations.optuna_sampler
theory.kernel_rates: theory.gain_rates
theory.table: theory.survey
"""

# A folder of the repository: modules and public names that were in the package and are there now.
_LEFT_TABLE = """
benchmarks/problems: problems.catalogue problems.classics problems.noise problems.problem problems.regret
    problems.Gaussian problems.Heteroscedastic problems.NoiseLaw problems.NoisyProblem problems.Observation
    problems.Problem problems.RegretTrace problems.StudentT problems.Uniform problems.get problems.names
    problems.regrets
experiments: problems.contextual problems.multi_fidelity
experiments/as_printed: paper_preset methods.paper_preset methods.preset methods.lp_printed partition.printed
    partition.printed_partition theory.lemmas
    theory.covering_radius theory.deviation_sum_bound theory.evaluations_per_cell_bound theory.splits_bound
    theory.uncovered_probability confidence.printed_polynomials confidence.interpolation_weights
    confidence.local_poly confidence.max_err
"""


def _read(table: str) -> dict[str, str]:
    found: dict[str, str] = {}
    now = ""
    for word in table.split():
        if word.endswith(":"):
            now = word[:-1]
        else:
            found[f"quadrat.{word}"] = now
    return found


MOVED = {old: f"quadrat.{now}" for old, now in _read(_TABLE).items()}
"""From the names of modules in version 0.1 to those of today, in full."""

LEFT = {
    old: f"{old} left the package: it is in {folder}/ of Quadrat's repository"
    for old, folder in _read(_LEFT_TABLE).items()
}
"""What to say of modules and public names of version 0.1 that are no longer installed, by their full names."""
LEFT |= {
    f"quadrat.partition.{name}": f"quadrat.partition.{name} left the package: {instead}"
    for name, instead in {
        **dict.fromkeys(("draw", "draw_plane", "drawing", "plane"), "quadrat.plots.cells draws the cells of a run"),
        **dict.fromkeys(("DyadicAddress", "address"), "nothing used addresses of cells"),
    }.items()
}

AS_PRINTED = "is in experiments/as_printed/ of Quadrat's repository"
"""Where the paper's algorithm as printed went."""


def warn_of(old: str, new: str) -> None:
    """Warn that a name is now another one, at the line that uses it."""
    level, frame = 2, sys._getframe(1)  # Python itself does not count frames of the import system
    while frame.f_back is not None and (_is_import(frame) or Path(frame.f_code.co_filename).parent == _HERE):
        level, frame = level + (not _is_import(frame)), frame.f_back
    warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=level)


def renamed(old: str, new: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Let a function still be called with the `old` name of its keyword `new`, with a warning."""
    from inspect import signature  # here: `import quadrat` should not pay for it

    def with_old_name(function: Callable[_P, _T]) -> Callable[_P, _T]:
        place = list(signature(function).parameters).index(new)

        @wraps(function)
        def called(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            if old in kwargs:
                if new in kwargs or len(args) > place:
                    raise InvalidInput(
                        f"{old}: expected {new} alone, got both; {old} is the former name of {new}: leave it out"
                    )
                warn_of(f"{old}=", f"{new}=")
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return called

    return with_old_name


def _is_import(frame: FrameType) -> bool:
    return "importlib" in frame.f_code.co_filename


class _OldNames(MetaPathFinder, Loader):
    """Finds modules by their old names: each is a shell that looks everything up where it is now."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname in LEFT:  # without `name`: Python would say of `from package import it` only that there is none
            raise ModuleNotFoundError(LEFT[fullname])
        if fullname not in MOVED:
            return None
        return ModuleSpec(fullname, self, is_package=any(other.startswith(f"{fullname}.") for other in MOVED))

    def exec_module(self, module: ModuleType) -> None:
        new = MOVED[module.__name__]
        warn_of(module.__name__, new)
        home = import_module(new)
        module.__doc__ = home.__doc__
        module.__dict__["__getattr__"] = lambda name: getattr(home, name)
        module.__dict__["__all__"] = getattr(home, "__all__", [])


def resolve_old_names() -> None:
    """Let modules be imported by their old names."""
    if not any(isinstance(finder, _OldNames) for finder in sys.meta_path):
        sys.meta_path.append(_OldNames())  # last: after all other finders
