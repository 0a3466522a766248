"""QuadratSearchCV: the default method, or any other, in the place of scikit-learn's RandomizedSearchCV."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.integrations.folds import SameFolds, fold_effects, residual_deviation
from quadrat.integrations.sklearn_space import CandidateSpace
from quadrat.methods.base import Method
from quadrat.optimizer import FAILED, Optimizer, Recommendation, Trial
from quadrat.space import Space

__all__ = ["RECOMMENDED", "QuadratSearchCV"]

RECOMMENDED = "recommended"  # the `refit` that refits the recommended candidate
_ALL_FAILED = "fits failed"  # scikit-learn says so in a ValueError
_SEEDS = 2**31 - 1
Fits = list[dict[str, Any]]  # of a candidate: scikit-learn's entry for each fold


class QuadratSearchCV(BaseSearchCV):  # type: ignore[misc]  # scikit-learn has no types
    """Search the parameters of an estimator by cross-validation, with a model of the score.

    A drop-in for `sklearn.model_selection.RandomizedSearchCV` and for scikit-optimize's `BayesSearchCV`: all else is as
    in scikit-learn. All candidates are scored on the same folds, also where `cv` shuffles. The
    optimizer is told the mean over the folds and learns how noisy it is; `quadrat.integrations.folds` says why folds
    are neither replicates nor a standard error. A candidate of which some fit fails, or whose score is not finite, is
    told as failed whatever `error_score` is (unless that is "raise"); the table has it as scikit-learn would.

    Where the space is finite and has at most `n_iter` candidates, each is tried once.

    Parameters
    ----------
    estimator
        An estimator; parameters of a step of a Pipeline are named "step__parameter".
    search_spaces, param_distributions
        A `Space`, or a dictionary from names to parameters such as ``Float(1e-3, 1e3, log=True)``, lists of choices,
        tuples (low, high) or (low, high, "log-uniform"), and frozen distributions of scipy.stats. Mind the brackets:
        (1, 9) is all integers from 1 to 9, [1, 9] is a choice of two. Give one of the two names.
    n_iter
        How many candidates are tried, failed ones included.
    scoring
        As in scikit-learn. Of several metrics, the one that `refit` names is searched for.
    n_jobs
        How many fits run at once. As many candidates are chosen together, each knowing of the others, as it takes to
        give every job a fold; so the candidates depend on `n_jobs`.
    refit
        As in scikit-learn, so that True refits the candidate with the best observed mean score, which is a lucky one.
        Or "recommended": the recommended candidate is refitted, and all of `best_*` are about that one.
    cv, verbose, pre_dispatch, error_score, return_train_score
        As in scikit-learn.
    random_state, method
        Seed of the search, an int makes it repeat; and a method, the name of one (`quadrat methods` lists them), or a
        text with its options; None is the default.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, ...
        As in scikit-learn. With refit="recommended", those of the recommended candidate: `best_score_` is the mean
        that was observed of it. If it was not tried (the default method always recommends one that was), it is
        evaluated for its row in `cv_results_`, one beyond `n_iter`.
    recommended_params_
        The candidate with the best estimate, given all results.
    recommended_score_, recommended_interval_
        That estimate of its mean score on these folds, and a 90 % interval of the fitted model (or a certified one,
        where the method certifies; None where it has no model). They are not about new data.
    recommended_index_
        Its row in `cv_results_`; None if it was not tried.
    recommendation_
        The `Recommendation`, with the best seen beside it. This and the four above are None where no candidate
        succeeded on every fold.
    optimizer_
        The `Optimizer`, with all trials. A choice that a space cannot hold is the index of a choice there.
    fold_effects_, fold_residual_deviation_
        How far the score on each fold lies above the mean for all candidates alike, shape (n_splits,); and the standard
        deviation of the residuals.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> spaces = {"C": (1e-2, 1e2, "log-uniform"), "kernel": ["linear", "rbf"]}
    >>> search = QuadratSearchCV(SVC(), spaces, n_iter=8, random_state=0).fit(X, y)
    >>> float(search.best_score_) > 0.96, len(search.cv_results_["params"])
    (True, 8)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSearchCV._parameter_constraints,
        "search_spaces": "no_validation",  # `CandidateSpace` checks it, and says more
        "param_distributions": "no_validation",
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "method": [str, Method, None],
    }

    def __init__(
        self,
        estimator: Any,
        search_spaces: Mapping[str, Any] | None = None,
        *,
        param_distributions: Mapping[str, Any] | None = None,
        n_iter: int = 50,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        method: str | Method | None = None,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.search_spaces = search_spaces
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.random_state = random_state
        self.method = method

    _optimizer: Optimizer | tuple[Space, Method, dict[str, Any]]
    recommendation_: Recommendation | None  # this and the next are None where no candidate succeeded
    recommended_params_: dict[str, Any] | None
    recommended_score_: float | None
    recommended_interval_: tuple[float, float] | None
    recommended_index_: int | None

    def _run_search(self, evaluate_candidates: Callable[..., Any], *, callback_ctx: Any = None) -> None:
        """Ask, evaluate, tell; then make the table of results."""
        wanted = CandidateSpace.of(self._given())
        seed = int(check_random_state(self.random_state).randint(_SEEDS))
        optimizer = Optimizer(wanted.space, direction="maximize", method=self.method, seed=seed)
        chosen = wanted.all_params(self.n_iter)
        n_iter = self.n_iter if chosen is None else len(chosen)
        batch = self._batch(optimizer.method, n_iter, everything=chosen is not None)
        self._evaluations = evaluations = _Evaluations(
            evaluate_candidates,
            SameFolds(self._checked_cv_orig),
            self,
            callback_ctx,
            ceil(n_iter / batch) + (self.refit == RECOMMENDED),
        )
        try:
            for first in range(0, n_iter, batch):
                numbers = range(first, min(first + batch, n_iter))
                trials = [optimizer.ask(None if chosen is None else chosen[number]) for number in numbers]
                found = evaluations.evaluate([wanted.candidate(trial.params) for trial in trials])
                for trial, fits in zip(trials, found, strict=True):
                    _tell(optimizer, trial, self._scores(fits), fits)
            self._conclude(optimizer, wanted, evaluations)
            evaluations.results.update(super()._format_results(*evaluations.table(self.error_score)))
            evaluations.end()
        finally:
            del self._evaluations

    def _given(self) -> object:
        """Return the search space, given by either name."""
        given = [one for one in (self.search_spaces, self.param_distributions) if one is not None]
        if len(given) != 1:
            raise InvalidInput(
                "QuadratSearchCV: expected either search_spaces or param_distributions, got"
                f" {'both' if given else 'neither'}; both say what to search"
            )
        return given[0]

    def _batch(self, method: Method, n_iter: int, *, everything: bool) -> int:
        """Return how many candidates to choose at once."""
        from joblib import effective_n_jobs  # type: ignore[import-untyped]

        if "pending points" not in method.facts.handles:
            return 1
        return n_iter if everything else min(ceil(effective_n_jobs(self.n_jobs) / self.n_splits_), n_iter)

    def _scores(self, fits: Fits | None) -> list[float]:
        """Return the score on each fold; nothing where a fit failed."""
        if fits is None or any(fit["fit_error"] is not None for fit in fits):
            return []
        scores = [fit["test_scores"] for fit in fits]
        if isinstance(scores[0], dict):
            self._check_refit_for_multimetric(scores[0])
            scores = [score[self.refit] for score in scores]
        return [float(score) for score in scores]

    def _check_refit_for_multimetric(self, scores: Mapping[str, Any]) -> None:
        if not (isinstance(self.refit, str) and self.refit in scores):
            raise InvalidInput(
                f"refit: expected the name of the metric to search for, one of {', '.join(scores)}, where scoring has"
                f" several, got {self.refit!r:.80}; recommended_params_ is there whatever is refitted"
            )

    def _conclude(self, optimizer: Optimizer, wanted: CandidateSpace, evaluations: _Evaluations) -> None:
        """Set the attributes of a search that has ended."""
        self._optimizer = optimizer
        if optimizer.best_seen is None:
            self._conclude_nothing(optimizer, evaluations)
            return
        found = optimizer.recommend()
        rows = [record.number for record in optimizer.trials if record.params == found.params]
        self.recommendation_ = replace(
            found,
            params=wanted.candidate(found.params),
            best_seen=replace(found.best_seen, params=wanted.candidate(found.best_seen.params)),
        )
        self.recommended_params_ = self.recommendation_.params
        self.recommended_score_ = found.value
        self.recommended_interval_ = found.certified_interval or found.credible_interval
        self.recommended_index_ = rows[0] if rows else None
        scores = [some for fits in evaluations.rows if np.isfinite(some := self._scores(fits)).all() and some]
        self.fold_effects_ = fold_effects(scores)
        self.fold_residual_deviation_ = residual_deviation(scores)
        if self.refit == RECOMMENDED and not rows:
            evaluations.evaluate([self.recommended_params_])
            self.recommended_index_ = len(evaluations.rows) - 1

    def _conclude_nothing(self, optimizer: Optimizer, evaluations: _Evaluations) -> None:
        """Leave it to scikit-learn, which refits something where all scores are NaN; nothing is recommended."""
        if evaluations.last_error is not None and all(fits is None for fits in evaluations.rows):
            raise evaluations.last_error
        if self.refit == RECOMMENDED:
            raise NotAvailable(
                "QuadratSearchCV: expected a candidate that succeeds on every fold, to recommend it, got none of"
                f" {len(optimizer.trials)}; error_score='raise' shows what goes wrong; the last failure:"
                f" {optimizer.trials[-1].failure}"
            )
        self.recommendation_ = self.recommended_params_ = self.recommended_score_ = None
        self.recommended_interval_ = self.recommended_index_ = None
        self.fold_effects_ = np.full(self.n_splits_, np.nan)
        self.fold_residual_deviation_ = float("nan")

    @property
    def optimizer_(self) -> Optimizer:
        """The optimizer, with all trials; after a trip through a pickle it is rebuilt when it is first asked for."""
        if not hasattr(self, "_optimizer"):
            raise AttributeError(f"{type(self).__name__} has no optimizer_ before it is fitted")
        if not isinstance(self._optimizer, Optimizer):
            space, method, state = self._optimizer
            self._optimizer = Optimizer.from_state(space, state, method=method)
        return self._optimizer

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the optimizer's models, which its trials rebuild, and scikit-learn's own state.

        scikit-learn sends the search to its workers while it runs.
        """
        state = dict(super().__getstate__())
        state.pop("_evaluations", None)
        run = state.get("_optimizer")
        if isinstance(run, Optimizer):
            state["_optimizer"] = run.space, run.method, run.state()
        return state

    def _format_results(
        self, candidate_params: Sequence[Any], n_splits: int, out: Fits, more_results: Any = None  # noqa: ARG002
    ) -> dict[str, Any]:  # fmt: skip
        """Take note of the fits: the table is made at the end, once."""
        return self._evaluations.note(out)

    def _select_best_index(self, refit: Any, refit_metric: str, results: dict[str, Any]) -> int:
        if isinstance(refit, str) and refit == RECOMMENDED:
            assert self.recommended_index_ is not None
            return self.recommended_index_
        index: int = super()._select_best_index(refit, refit_metric, results)
        return index


def _tell(optimizer: Optimizer, trial: Trial, scores: Sequence[float], fits: Fits | None) -> None:
    if scores:
        optimizer.tell(trial, float(np.mean(scores)))  # a mean that is not finite is a failure
        return
    errors = [str(fit["fit_error"]) for fit in fits or [] if fit["fit_error"] is not None]
    optimizer.tell(trial, FAILED, reason=errors[0].strip().splitlines()[-1] if errors else "all fits failed")


@dataclass
class _Evaluations:
    """The fits of all candidates, and the table at the end.

    scikit-learn refuses a batch of which all fits failed. In a search with small batches that is a failed candidate or
    two: their rows are filled in here.
    """

    evaluate_candidates: Callable[..., Any]  # of scikit-learn
    folds: SameFolds
    search: QuadratSearchCV
    context: Any  # of scikit-learn's callbacks; None before version 1.9
    batches: int  # at most
    candidates: list[dict[str, Any]] = field(default_factory=list)
    rows: list[Fits | None] = field(default_factory=list)  # the fits of each candidate; None where all failed
    results: dict[str, Any] = field(default_factory=dict)  # the table; scikit-learn holds on to this object
    last_error: ValueError | None = None  # of the last batch that failed
    _noted: int = 0
    _new: Fits = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.context is not None:
            whole = self.context.subcontext(task_name="search", max_subtasks=self.batches)
            self.context = whole.call_on_fit_task_begin(estimator=self.search)

    def evaluate(self, candidates: list[dict[str, Any]]) -> list[Fits | None]:
        """Return the fits of each candidate, by fold."""
        told, folds = {}, self.search.n_splits_
        if self.context is not None:
            told["callback_ctx"] = self.context.subcontext(
                task_name="batch", max_subtasks=len(candidates) * folds, sequential_subtasks=False
            ).call_on_fit_task_begin(estimator=self.search)
        found: list[Fits | None]
        try:
            self.evaluate_candidates(candidates, cv=self.folds, **told)
        except ValueError as error:
            if _ALL_FAILED not in str(error):
                raise
            self.last_error = error
            warnings.warn(str(error), FitFailedWarning, stacklevel=2)
            found = [None] * len(candidates)
        else:
            found = [self._new[first : first + folds] for first in range(0, len(self._new), folds)]
        if told:
            told["callback_ctx"].call_on_fit_task_end(estimator=self.search)
        self.candidates += candidates
        self.rows += found
        return found

    def note(self, out: Fits) -> dict[str, Any]:
        """Take note of all fits so far, as scikit-learn has them, and return the table to be."""
        self._new, self._noted = out[self._noted :], len(out)
        return self.results

    def table(self, error_score: float | str) -> tuple[list[dict[str, Any]], int, Fits]:
        """Return candidates, folds and fits for scikit-learn's table, with failed ones filled in."""
        like = next(fits for fits in self.rows if fits is not None)[0]
        failed = {name: _failed_like(name, value, error_score) for name, value in like.items()}
        folds = self.search.n_splits_
        flat = [fit for fits in self.rows for fit in (fits if fits is not None else [failed] * folds)]
        return self.candidates, folds, flat

    def end(self) -> None:
        """Let callbacks know that the search is over."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.search)


def _failed_like(name: str, value: Any, error_score: float | str) -> Any:
    """Return an entry of a fit that failed in the form of one that did not."""
    if name.endswith("_scores"):
        return dict.fromkeys(value, error_score) if isinstance(value, dict) else error_score
    return float("nan") if name.endswith("_time") else value
