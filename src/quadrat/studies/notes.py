"""What is kept with a study beside its trials: its method, with options, and its space."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from optuna.study import Study
from optuna.trial import TrialState

from quadrat.errors import InvalidInput
from quadrat.methods.base import Method
from quadrat.optimizer.method_choice import resolve, what_changed
from quadrat.space import Space
from quadrat.studies.running_trials import version_of

__all__ = [
    "METHOD",
    "VERSION",
    "count_pruned",
    "keep_space",
    "keep_version",
    "kept_method",
    "kept_space",
    "read_in",
    "why_uncertified",
]

_ATTRIBUTE = "quadrat:space"
_READ_IN: WeakKeyDictionary[Study, Space] = WeakKeyDictionary()
METHOD = "quadrat:method"
"""The user attribute of a study with its method: a name, or a text with options."""


VERSION = "quadrat:version"
"""The user attribute of a study with the version of the method that chose its last trials, by the method's name."""


def keep_version(study: Study, method: Method) -> str | None:
    """Keep the version of the method that makes suggestions with the study.

    Return what is to be told, once, where an older version has chosen trials of the study; None where none has.
    """
    kept, name = study.user_attrs.get(VERSION), type(method).__name__
    versions = kept if isinstance(kept, dict) else {}
    if what_changed(method, versions.get(name)) is None:
        return None
    study.set_user_attr(VERSION, {**versions, name: method.version})
    chosen = [version_of(trial, name) for trial in study.get_trials(deepcopy=False)]
    # Trials that were added from another study say themselves which version chose them.
    return what_changed(method, min((version for version in chosen if version is not None), default=method.version))


def kept_method(study: Study) -> Method | None:
    """Return the method of a study where it is kept with options; None where the default's model serves."""
    text = study.user_attrs.get(METHOD)
    return resolve(text) if isinstance(text, str) and "(" in text else None


def why_uncertified(study: Study, method: Method | None) -> str | None:
    """Return why a method that certifies does not certify a study; None where it may, or where it never certifies.

    A pruner stops trials by the values that it sees. What is left is a choice of the luckier ones, and a certificate
    holds only where every value counts.
    """
    pruned = count_pruned(study)
    if not pruned or method is None or not method.facts.certifies:
        return None
    were = "trial was" if pruned == 1 else "trials were"
    return f"{pruned} {were} pruned: a pruner goes by the values seen, and a certificate needs all of them"


def count_pruned(study: Study) -> int:
    """Return how many trials were pruned: they have no result, whatever they reported."""
    return len(study.get_trials(deepcopy=False, states=(TrialState.PRUNED,)))


def keep_space(study: Study, space: Space) -> None:
    """Keep the space with the study; nothing is written where it is there already, and another one is refused."""
    before = kept_space(study)
    if before is None:
        study.set_user_attr(_ATTRIBUTE, space.to_dict())
    elif before.to_dict() != space.to_dict():
        raise InvalidInput(
            f"study: expected one of this space, got {study.study_name!r}, which has another: {before!r:.300}; name a"
            " new study, or use the space that it has"
        )


def read_in(study: Study, space: Space) -> None:
    """Let this object of a study have a space; nothing is written to the storage, and other objects do not have it."""
    _READ_IN[study] = space


def kept_space(study: Study) -> Space | None:
    """Return the space that was kept with a study; None where there is none. Known constraints are not part of it."""
    if study in _READ_IN:
        return _READ_IN[study]
    kept = study.user_attrs.get(_ATTRIBUTE)
    return None if kept is None else Space.from_dict(kept, source=f"study {study.study_name!r}")
