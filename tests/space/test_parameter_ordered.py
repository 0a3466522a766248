"""Ordered choices: positions along one axis, wherever a space goes, and nothing that can be certified."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.optimizer.run import domain_of
from quadrat.space import Categorical, Context, Int, Space
from quadrat.studies.distributions import OwnSpace, distribution_of

SIZES = Categorical(["S", "M", "L"], ordered=True)


def test_it_says_so_and_is_another_parameter() -> None:
    assert repr(SIZES) == "Categorical(('S', 'M', 'L'), ordered=True)"
    assert eval(repr(SIZES)) == SIZES  # noqa: S307
    assert Categorical(["S", "M", "L"]) != SIZES
    assert pickle.loads(pickle.dumps(SIZES)) == copy.deepcopy(SIZES) == SIZES  # noqa: S301
    assert SIZES.to_dict() == {"type": "categorical", "choices": ["S", "M", "L"], "ordered": True}
    assert Context(SIZES).ordered
    with pytest.raises(InvalidInput, match=r"^Categorical: ordered: expected True or False, got 1$"):
        Categorical(["S", "M"], ordered=1)  # type: ignore[arg-type]


def test_files_keep_it(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text('[size]\ntype = "categorical"\nchoices = ["S", "M", "L"]\nordered = true\n')
    path.with_suffix(".json").write_text(
        '{"size": {"type": "categorical", "choices": ["S", "M", "L"], "ordered": true}}'
    )
    assert Space.from_file(path) == Space.from_file(path.with_suffix(".json")) == Space(size=SIZES)


def test_a_model_sees_places_at_equal_distances() -> None:
    """Numbers too: 1, 2 and 100 are as far apart as small, medium and large."""
    for choices in (["S", "M", "L"], [1, 2, 100]):
        space = Space(size=Categorical(choices, ordered=True))
        domain = domain_of(space)
        seen = domain.features(space.to_units([{"size": choice} for choice in choices]))
        assert seen.ravel().tolist() == [1 / 6, 0.5, 5 / 6]
        assert not domain.axes[0].is_choice
    assert domain_of(Space(size=Categorical(["S", "M", "L"]))).features(np.array([[0.5]])).shape == (1, 3)


def test_neighbours_of_ordered_choices_are_searched_first() -> None:
    space = Space(size=Categorical(list("abcdefghi"), ordered=True))
    near = domain_of(space).neighbours(space.to_unit({"size": "d"}), np.random.default_rng(0))
    assert [params["size"] for params in space.from_units(near)] == ["c", "e"]


def test_many_ordered_choices_are_as_many_integers() -> None:
    many = domain_of(Space(size=Categorical(list(range(100)), ordered=True)))
    assert many.axes == domain_of(Space(size=Int(0, 99))).axes


def test_a_study_holds_the_choices_and_reads_them_back() -> None:
    distribution = distribution_of(SIZES)
    assert distribution == CategoricalDistribution(("S", "M", "L"))
    assert OwnSpace(Space(size=SIZES)).read({"size": "M"}) == {"size": "M"}


def test_it_is_no_continuum_so_that_nothing_is_certified() -> None:
    method = qd.LPGPUCB(kernel=Matern(2.5, 0.3), norm_bound=1.0, noise=0.1, budget=10)
    optimizer = qd.Optimizer(Space(x=qd.Float(0, 1), size=SIZES), direction="maximize", method=method)
    optimizer.tell(optimizer.ask(), 1.0)
    assert optimizer.certificate().value is None
    assert "space of Floats without steps or conditions, got size" in str(optimizer.certificate().reason)
    whole = qd.Optimizer(Space(x=qd.Float(0, 1), n=Int(0, 90, step=10)), direction="maximize", method=method)
    assert "got n: the assumptions" in str(whole.certificate().reason)


def test_an_order_is_learned_from_fewer_trials() -> None:
    """What the order is for: 12 trials of 20 choices that rise and fall find the peak more often, seeds 0 to 4."""

    def nearness(params: dict[str, str]) -> float:
        return -abs(int(params["level"][1:]) - 13.0)

    found = {}
    for ordered in (True, False):
        space = Space(level=Categorical([f"v{i}" for i in range(20)], ordered=ordered))
        runs = [qd.maximize(nearness, space, n_trials=8, seed=seed) for seed in range(5)]
        found[ordered] = sum(run.best_seen.value == 0 for run in runs)
    assert found[True] > found[False]
