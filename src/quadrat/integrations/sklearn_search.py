"""QuadratSearchCV: the default method, or any other, in the place of scikit-learn's RandomizedSearchCV."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples

from quadrat.errors import InvalidInput, NotAvailable, QuadratWarning, did_you_mean
from quadrat.integrations.folds import SameFolds, Subsampled, fold_effects, residual_deviation
from quadrat.integrations.halving import Results, best_of, rungs_of
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
    in scikit-learn, but for `refit` where there are several metrics. All candidates are scored on the same folds, also
    where `cv` shuffles. The optimizer is told the mean over the folds and learns how noisy it is;
    `quadrat.integrations.folds` says why folds are neither replicates nor a standard error. A candidate of which some
    fit fails, or whose score is not finite, is told as failed whatever `error_score` is (unless that is "raise"); the
    table has it as scikit-learn would.

    Where the space is finite and has at most `n_iter` candidates, each is tried once, or with `resource` begun once.

    With `resource`, bad candidates are stopped early, by successive halving: `n_iter` candidates begin with part of the
    samples, or of another resource, and the best 1/`factor` of them go on with `factor` times as much, until some have
    all of it (see `quadrat.integrations.halving`). Scores with different resources are never compared: `best_*` and
    `recommended_*` are about candidates that had all of it, and the model that recommends has seen these alone. Each
    bracket of candidates is chosen by a model of the results with the most resources of which there are enough, two
    more than parameters.

    Parameters
    ----------
    estimator
        An estimator; parameters of a step of a Pipeline are named "step__parameter".
    search_spaces, param_distributions
        A `Space`, or a dictionary from names to parameters such as ``Float(1e-3, 1e3, log=True)``, lists of choices,
        tuples (low, high) or (low, high, "log-uniform"), and frozen distributions of scipy.stats. Mind the brackets:
        (1, 9) is all integers from 1 to 9, [1, 9] is a choice of two. Three or more numbers in a list that rise or fall
        are choices with an order, and so is ``Categorical(["low", "high"], ordered=True)``. A dictionary from texts to
        choices, ``{"shallow": tree, "deep": forest}``, names them. A list of dictionaries is a choice among these, as
        in scikit-learn: a candidate has the parameters of one of them. Give one of the two names.
    n_iter
        How many candidates are tried, failed ones included; with `resource`, how many begin.
    scoring
        As in scikit-learn. Of several metrics, the one that `refit` names is searched for; so `refit` has to be the
        name of one there, and False, a callable and "recommended" are refused.
    n_jobs
        How many fits run at once, as in scikit-learn: None is 1 unless a `joblib.parallel_config` says otherwise, -1 is
        all processors. As many candidates are chosen together, each knowing of the others, as it takes to give every
        job a fold; so the candidates depend on the number of jobs, and the same seed with as many of them repeats a
        search, whatever the backend. With `resource` a bracket is chosen together, and `n_jobs` changes nothing.
    refit
        As in scikit-learn, so that True refits the candidate with the best observed mean score, which is a lucky one.
        Or "recommended": the recommended candidate is refitted, and all of `best_*` are about that one.
    cv, verbose, pre_dispatch, error_score, return_train_score
        As in scikit-learn. With `verbose` each batch of candidates is announced, with the best score so far.
    random_state, method
        Seed of the search, an int makes it repeat; and a method, the name of one (`quadrat methods` lists them), or a
        text with its options; None is the default.
    resource
        As in `HalvingRandomSearchCV`: "n_samples", or a parameter of the estimator that is an integer, such as
        "n_estimators". None gives all resources to every candidate.
    min_resources, max_resources, factor
        The least that a candidate begins with, an integer, "smallest" as in `HalvingRandomSearchCV`, or "exhaust",
        which makes brackets so short that there are at least `factor` of them; the most, an integer or "auto", which is
        all samples, or the estimator's own value of the parameter; and an integer >= 2.

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
        where the method certifies; None where it has no model, or too few candidates to say). They are not about new
        data.
    recommended_index_
        Its row in `cv_results_`; None if it was not tried.
    recommendation_
        The `Recommendation`, with the best seen beside it. This and the four above are None where no candidate
        succeeded on every fold.
    optimizer_
        The `Optimizer`, with all trials, or those that had all resources. A choice that a space cannot hold is called
        by its text there. A distribution of scipy.stats that is neither uniform, log-uniform nor of integers, such as
        `norm`, is searched by its quantiles: its values there are probabilities, and those of `recommended_params_` are
        its own. Of a list of dictionaries, "case" is the place of one.
    n_resources_, n_candidates_, n_iterations_, min_resources_, max_resources_
        With `resource`: what each iteration, a rung of a bracket, gave to how many candidates, and how many there were.
        `cv_results_` has the columns "bracket", "iter" and "n_resources".
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
        "resource": [str, None],
        "min_resources": [Interval(Integral, 1, None, closed="left"), StrOptions({"smallest", "exhaust"})],
        "max_resources": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "factor": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any,
        search_spaces: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
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
        resource: str | None = None,
        min_resources: int | str = "exhaust",
        max_resources: int | str = "auto",
        factor: int = 3,
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
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.factor = factor

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
        if self.resource is not None:
            self._run_halving(evaluate_candidates, callback_ctx, wanted, seed)
            return
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
                which = f"candidates {first + 1} to {numbers[-1] + 1}" if batch > 1 else f"candidate {first + 1}"
                self._say(f"{which} of {n_iter}", optimizer)
                trials = [optimizer.ask(None if chosen is None else chosen[number]) for number in numbers]
                found = evaluations.evaluate([wanted.candidate(trial.params) for trial in trials])
                for trial, fits in zip(trials, found, strict=True):
                    _tell(optimizer, trial, self._scores(fits), fits)
            self._conclude(optimizer, wanted, evaluations, range(len(optimizer.trials)))
            evaluations.results.update(super()._format_results(*evaluations.table(self.error_score)))
            evaluations.end()
        finally:
            del self._evaluations

    def _run_halving(
        self, evaluate_candidates: Callable[..., Any], callback_ctx: Any, wanted: CandidateSpace, seed: int
    ) -> None:
        """Choose, evaluate and halve bracket after bracket; then make the table of results."""
        rungs = self._rungs(wanted)
        results, folds = Results(wanted.space, self.method, seed), SameFolds(self._checked_cv_orig)
        size = self.factor ** (len(rungs) - 1)
        batches = ceil(self.n_iter / size) * len(rungs) + (self.refit == RECOMMENDED)
        self.min_resources_, self.max_resources_ = rungs[0], rungs[-1]
        self.n_resources_: list[int] = []
        self.n_candidates_: list[int] = []
        self._evaluations = evaluations = _Evaluations(evaluate_candidates, folds, self, callback_ctx, batches)
        if "pending points" not in results.at(0)[0].method.facts.handles:
            raise InvalidInput(
                "QuadratSearchCV: resource: expected a method that chooses several candidates together, got"
                f" {results.at(0)[0].method!r:.80}, which takes one at a time; the default method does"
            )
        try:
            for bracket, first in enumerate(range(0, self.n_iter, size)):
                alive = results.choose(min(size, self.n_iter - first))
                for rung, resource in enumerate(rungs):
                    if not alive:
                        break
                    self._say(
                        f"bracket: {bracket}, n_candidates: {len(alive)}, n_resources: {resource}", results.at(rung)[0]
                    )
                    iteration = len(self.n_resources_)
                    self.n_resources_.append(resource)
                    self.n_candidates_.append(len(alive))
                    rows = range(len(evaluations.rows), len(evaluations.rows) + len(alive))
                    found = evaluations.evaluate(
                        [self._with_resource(wanted.candidate(one.params), resource) for one in alive],
                        self._folds_with(folds, resource, seed),
                        {"bracket": bracket, "iter": iteration, "n_resources": resource},
                    )
                    for one, row, fits in zip(alive, rows, found, strict=True):
                        scores = self._scores(fits)
                        one.scores[rung], one.rows[rung] = float(np.mean(scores)) if scores else float("nan"), row
                    alive = [alive[place] for place in best_of([one.scores[rung] for one in alive], self.factor)]
            self.n_iterations_ = len(self.n_resources_)
            optimizer, rows_at_last = results.at(len(rungs) - 1)
            self._conclude(optimizer, wanted, evaluations, rows_at_last)
            evaluations.results.update(super()._format_results(*evaluations.table(self.error_score)))
            evaluations.end()
        finally:
            del self._evaluations

    def _check_input_parameters(self, X: Any, y: Any, split_params: Any) -> None:
        """Find the least and the most that a fit can have of the resource."""
        super()._check_input_parameters(X, y, split_params)
        if self.resource is None:
            return
        self._samples = _num_samples(X)
        if self.resource == "n_samples":
            count, per_fold = self._samples, 2 * int(self._checked_cv_orig.get_n_splits(X, y, **split_params))
            least, most = per_fold * (len(np.unique(y)) if is_classifier(self.estimator) else 1), count
            if self.max_resources != "auto" and self.max_resources > count:
                raise InvalidInput(f"max_resources: expected at most the {count} samples, got {self.max_resources}")
        else:
            known = self.estimator.get_params()
            if self.resource not in known:
                raise InvalidInput(
                    f"resource: expected 'n_samples' or a parameter of {type(self.estimator).__name__}, got"
                    f" {self.resource!r}{did_you_mean(self.resource, known)}"
                )
            least, most = 1, known[self.resource]
            if self.max_resources == "auto" and (not _is_whole(most) or most < 1):
                raise InvalidInput(
                    f"max_resources: expected an integer, since the estimator has {self.resource}={most!r:.40}, which"
                    " is none; give max_resources= too"
                )
        most = int(most if self.max_resources == "auto" else self.max_resources)
        least = min(least, most) if isinstance(self.min_resources, str) else int(self.min_resources)
        if least > most:
            raise InvalidInput(f"min_resources: expected at most max_resources, {most}, got {least}")
        self._resources = least, most

    def _rungs(self, wanted: CandidateSpace) -> tuple[int, ...]:
        """Return the resources of a bracket's rungs, ascending."""
        names = {wanted.names.get(name, name) for name in wanted.space}
        if self.resource in names:
            raise InvalidInput(
                f"resource: expected one that is not searched, got {self.resource!r}, which search_spaces has too;"
                " leave it out there"
            )
        exhaust = self.min_resources == "exhaust"
        rungs = rungs_of(*self._resources, self.factor, self.n_iter // self.factor if exhaust else self.n_iter)
        if len(rungs) == 1:
            least, most = self._resources
            enough = self.factor ** (1 + exhaust)
            cure = (
                f"expected n_iter of at least {enough}, got {self.n_iter}"
                if least * self.factor <= most
                else f"expected at least {self.factor} times as much as the least, {least}, got {most}"
            )
            warnings.warn(
                f"resource: nothing is halved, every candidate gets all of {self.resource}: {cure}",
                QuadratWarning,
                stacklevel=2,
            )
        return rungs

    def _with_resource(self, candidate: dict[str, Any], resource: int) -> dict[str, Any]:
        """Return a candidate that has so much of the resource, where this is a parameter of the estimator."""
        return candidate if self.resource in (None, "n_samples") else {**candidate, str(self.resource): resource}

    def _folds_with(self, folds: SameFolds, resource: int, seed: int) -> SameFolds | Subsampled:
        """Return the folds, or so many samples of them where these are the resource."""
        if self.resource != "n_samples":
            return folds
        return folds if resource >= self._samples else Subsampled(folds, resource / self._samples, seed)

    def _say(self, text: str, optimizer: Optimizer) -> None:
        """Print what is evaluated next, and the best so far, where the user wants to see that."""
        if self.verbose > 0:
            best = optimizer.best_seen
            sys.stdout.write(f"{text}{'' if best is None else f', best score so far {best.value:.6g}'}\n")

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

    def _conclude(
        self, optimizer: Optimizer, wanted: CandidateSpace, evaluations: _Evaluations, at: Sequence[int]
    ) -> None:
        """Set the attributes of a search that has ended; `at` are the rows of the optimizer's trials in the table."""
        self._optimizer = optimizer
        if optimizer.best_seen is None:
            self._conclude_nothing(optimizer, evaluations)
            return
        found = optimizer.recommend()
        rows = [at[record.number] for record in optimizer.trials if record.params == found.params]
        self.recommendation_ = replace(
            found,
            params=self._whole(wanted, found.params),
            best_seen=replace(found.best_seen, params=self._whole(wanted, found.best_seen.params)),
        )
        self.recommended_params_ = self.recommendation_.params
        self.recommended_score_ = found.value
        fitted = found.credible_interval if found.too_few is None else None
        self.recommended_interval_ = found.certified_interval or fitted
        self.recommended_index_ = rows[0] if rows else None
        scores = [some for row in at if np.isfinite(some := self._scores(evaluations.rows[row])).all() and some]
        self.fold_effects_ = fold_effects(scores)
        self.fold_residual_deviation_ = residual_deviation(scores)
        if self.refit == RECOMMENDED and not rows:
            more = {} if self.resource is None else {"bracket": -1, "iter": -1, "n_resources": self.max_resources_}
            evaluations.evaluate([self.recommended_params_], more=more)
            self.recommended_index_ = len(evaluations.rows) - 1

    def _whole(self, wanted: CandidateSpace, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of the space as the estimator gets them, with all of the resource."""
        candidate = wanted.candidate(params)
        return candidate if self.resource is None else self._with_resource(candidate, self.max_resources_)

    def _conclude_nothing(self, optimizer: Optimizer, evaluations: _Evaluations) -> None:
        """Leave it to scikit-learn, which refits something where all scores are NaN; nothing is recommended."""
        if evaluations.last_error is not None and all(fits is None for fits in evaluations.rows):
            raise evaluations.last_error
        if self.refit == RECOMMENDED:
            last = f"; the last failure: {optimizer.trials[-1].failure}" if optimizer.trials else ""
            raise NotAvailable(
                "QuadratSearchCV: expected a candidate that succeeds on every fold, to recommend it, got none of"
                f" {len(evaluations.rows)}; error_score='raise' shows what goes wrong{last}"
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
        if self.resource is not None and not callable(refit):
            whole = np.flatnonzero(np.asarray(results["n_resources"]) == self.max_resources_)
            scores = np.asarray(results[f"mean_test_{refit_metric}"])[whole]
            if len(whole):
                return int(whole[0 if np.isnan(scores).all() else np.nanargmax(scores)])
        index: int = super()._select_best_index(refit, refit_metric, results)
        return index


def _is_whole(value: object) -> bool:
    """Whether a value is an integer and no bool."""
    return type(value) is not bool and isinstance(value, Integral)


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
    more: dict[str, list[int]] = field(default_factory=dict)  # columns of the table beside scikit-learn's
    _noted: int = 0
    _new: Fits = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.context is not None:
            whole = self.context.subcontext(task_name="search", max_subtasks=self.batches)
            self.context = whole.call_on_fit_task_begin(estimator=self.search)

    def evaluate(
        self, candidates: list[dict[str, Any]], folds_here: Any = None, more: Mapping[str, int] | None = None
    ) -> list[Fits | None]:
        """Return the fits of each candidate, by fold; `more` are what all of them have in further columns."""
        for name, entry in (more or {}).items():
            self.more.setdefault(name, []).extend([entry] * len(candidates))
        told, folds = {}, self.search.n_splits_
        if self.context is not None:
            told["callback_ctx"] = self.context.subcontext(
                task_name="batch", max_subtasks=len(candidates) * folds, sequential_subtasks=False
            ).call_on_fit_task_begin(estimator=self.search)
        found: list[Fits | None]
        try:
            self.evaluate_candidates(candidates, cv=folds_here or self.folds, **told)
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

    def table(self, error_score: float | str) -> tuple[list[dict[str, Any]], int, Fits, dict[str, list[int]]]:
        """Return candidates, folds, fits and columns for scikit-learn's table, with failed ones filled in."""
        like = next(fits for fits in self.rows if fits is not None)[0]
        failed = {name: _failed_like(name, value, error_score) for name, value in like.items()}
        folds = self.search.n_splits_
        flat = [fit for fits in self.rows for fit in (fits if fits is not None else [failed] * folds)]
        return self.candidates, folds, flat, self.more

    def end(self) -> None:
        """Let callbacks know that the search is over."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.search)


def _failed_like(name: str, value: Any, error_score: float | str) -> Any:
    """Return an entry of a fit that failed in the form of one that did not."""
    if name.endswith("_scores"):
        return dict.fromkeys(value, error_score) if isinstance(value, dict) else error_score
    return float("nan") if name.endswith("_time") else value
