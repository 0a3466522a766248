"""The method that is kept with a study: a name, or a text with options such as stated assumptions."""

from __future__ import annotations

from optuna.study import Study
from optuna.trial import TrialState

from quadrat.integrations.study_trials import values_of
from quadrat.methods.base import Method
from quadrat.optimizer.method_choice import resolve

__all__ = ["METHOD", "count_pruned", "kept_method", "model_method"]

METHOD = "quadrat:method"
"""The user attribute of a study with its method: a name, or a text with options."""


def kept_method(study: Study) -> Method | None:
    """Return the method of a study where it is kept with options; None where the default's model serves.

    Raises
    ------
    InvalidInput
        What is kept is no method.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study()
    >>> study.set_user_attr(METHOD, "LP0(kernel=Matern(2.5, 0.3), norm_bound=2, noise=0.1, budget=50)")
    >>> kept_method(study).budget
    50
    """
    text = study.user_attrs.get(METHOD)
    return resolve(text) if isinstance(text, str) and "(" in text else None


def model_method(study: Study) -> Method | None:
    """Return the method whose model a study is shown with: the one kept, unless it would certify what cannot be.

    What pruned trials reported last is not what they were to measure.
    """
    method = kept_method(study)
    return None if method is not None and method.facts.certifies and count_pruned(study) else method


def count_pruned(study: Study) -> int:
    """Return how many trials were pruned that count with what they reported last."""
    pruned = study.get_trials(deepcopy=False, states=(TrialState.PRUNED,))
    return sum(values_of(trial) is not None for trial in pruned)
