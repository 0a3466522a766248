"""The space of a study, kept with it."""

from __future__ import annotations

import optuna
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.studies.notes import keep_space, kept_space

TREE = qd.Space(kind=qd.Categorical(["linear", "tree"]), depth=qd.Int(1, 9, when={"kind": "tree"}))


def test_it_comes_back_and_another_one_is_refused() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(study_name="trees")
    assert kept_space(study) is None
    keep_space(study, TREE)
    keep_space(study, TREE)
    assert kept_space(study) == TREE
    with pytest.raises(InvalidInput, match="'trees', which has another: Space"):
        keep_space(study, qd.Space(kind=qd.Categorical(["linear", "tree"])))
    assert kept_space(study) == TREE


def test_what_is_recommended_then_includes_parameters_that_not_all_trials_have() -> None:
    study = optuna.create_study(study_name="trees", sampler=qd.QuadratSampler(seed=0, search_space=TREE))
    keep_space(study, TREE)
    study.optimize(lambda trial: -float(qd.suggest(trial, TREE).get("depth", 0)), n_trials=12)
    assert qd.recommend(study).params == {"kind": "tree", "depth": 9}
