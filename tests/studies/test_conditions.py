"""What trials show of the conditions under which parameters exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from quadrat.studies.conditions import Branch, Form, Presence, Requirement

UNIT = FloatDistribution(0, 1)
LOGICAL = CategoricalDistribution([False, True])
MODEL = CategoricalDistribution(["svm", "forest", "boosting"])
Params = Mapping[str, tuple[Any, BaseDistribution]]


def trial(number: int, params: Params, state: TrialState = TrialState.COMPLETE) -> FrozenTrial:
    made = create_trial(
        state=state,
        value=1.0 if state is TrialState.COMPLETE else None,
        params={name: value for name, (value, _) in params.items()},
        distributions={name: distribution for name, (_, distribution) in params.items()},
    )
    made.number = number
    return made


def form_of(trials: Sequence[Params], **options: bool) -> Form:
    return Presence().see([trial(i, params) for i, params in enumerate(trials)]).form(**options)


def branches(form: Form) -> dict[str, list[Branch]]:
    found: dict[str, list[Branch]] = {}
    for place in form.places:
        found.setdefault(place.name, []).append(place.when)
    return found


def drawn(ask: Callable[[Callable[..., Any]], object], n: int, seed: int = 0) -> list[dict[str, Any]]:
    """The parameters of random trials of an objective that asks for them one by one."""
    trials = []
    for number in range(n):
        rng, params = np.random.default_rng([seed, number]), dict[str, Any]()

        def suggest(name: str, distribution: BaseDistribution, rng: Any = rng, params: Any = params) -> Any:
            if isinstance(distribution, CategoricalDistribution):
                value: Any = distribution.choices[int(rng.integers(len(distribution.choices)))]
            elif isinstance(distribution, IntDistribution):
                value = int(rng.integers(distribution.low, distribution.high + 1))
            else:
                assert isinstance(distribution, FloatDistribution)
                value = float(rng.uniform(distribution.low, distribution.high))
            params[name] = value, distribution
            return value

        ask(suggest)
        trials.append(params)
    return trials


def test_what_every_trial_has_is_a_root() -> None:
    form = form_of([{"b": (0.5, UNIT), "a": (True, LOGICAL)}, {"b": (0.1, UNIT), "a": (False, LOGICAL)}])
    assert branches(form) == {"a": [()], "b": [()]}
    assert form.distributions == (("a", LOGICAL), ("b", UNIT))
    assert not form.unexplained


def test_parameters_of_one_choice() -> None:
    def ask(suggest: Any) -> None:
        model = suggest("model", MODEL)
        if model == "svm":
            suggest("c", UNIT)
        elif model == "forest":
            suggest("trees", IntDistribution(1, 9))
        if model != "forest":
            suggest("rate", UNIT)

    assert branches(form_of(drawn(ask, 12))) == {
        "c": [(Requirement("model", (0,)),)],
        "model": [()],
        "rate": [(Requirement("model", (0, 2)),)],
        "trees": [(Requirement("model", (1,)),)],
    }


def test_a_loop_over_layers_and_numbers_in_between() -> None:
    layers = IntDistribution(1, 6)

    def asked(n: int) -> Params:
        return {"n": (n, layers), **{f"width_{i}": (0.5, UNIT) for i in range(n)}}

    found = branches(form_of([asked(n) for n in (3, 1, 6)]))
    assert found["width_0"] == [()]
    assert found["width_2"] == [(Requirement("n", low=2),)], "of 2 nothing is known; it may well have it"
    assert found["width_5"] == [(Requirement("n", low=4),)]
    found = branches(form_of([asked(n) for n in range(1, 7)]))
    assert [found[f"width_{i}"] for i in range(1, 6)] == [[(Requirement("n", low=i + 1),)] for i in range(1, 6)]


def test_conditions_three_deep_are_about_the_nearest_parent() -> None:
    def ask(suggest: Any) -> None:
        suggest("rate", UNIT)
        if suggest("a", LOGICAL) and suggest("b", MODEL) == "svm" and suggest("c", LOGICAL):
            suggest("d", UNIT)
        suggest("last", UNIT)

    assert branches(form_of(drawn(ask, 30))) == {
        "a": [()],
        "b": [(Requirement("a", (1,)),)],
        "c": [(Requirement("b", (0,)),)],
        "d": [(Requirement("c", (1,)),)],
        "last": [()],
        "rate": [()],
    }


def test_several_conditions_at_once_and_several_branches() -> None:
    def ask(suggest: Any) -> None:
        first, second = suggest("first", LOGICAL), suggest("second", MODEL)
        if first and second == "svm":
            suggest("both", UNIT)
        if first or second == "forest":
            suggest("either", UNIT)

    found = branches(form_of(drawn(ask, 40)))
    [both] = found["both"]
    assert set(both) == {Requirement("first", (1,)), Requirement("second", (0,))}
    for first, second in product((0, 1), (0, 1, 2)):
        holds = [
            all(one.holds({"first": first, "second": second}[one.parent]) for one in branch)
            for branch in found["either"]
        ]
        assert any(holds) == (first == 1 or second == 1)


def test_numbers_that_are_listed_and_a_float_that_is_passed() -> None:
    def ask(suggest: Any) -> None:
        if suggest("degree", IntDistribution(0, 3)) in (0, 3):
            suggest("ends", UNIT)
        if suggest("x", UNIT) > 0.5:
            suggest("above", UNIT)

    found = branches(form_of(drawn(ask, 40)))
    assert found["ends"] == [(Requirement("degree", (0, 3)),)]
    [[above]] = found["above"]
    assert above.parent == "x"
    assert 0.5 < above.low < 0.6


def test_the_condition_that_explains_most_is_taken() -> None:
    """Both agree with what is seen; the number of layers explains the other parameters too."""
    act, layers = LOGICAL, IntDistribution(1, 4)

    def asked(n: int, on: bool) -> Params:
        return {"act": (on, act), "n": (n, layers), **{f"w{i}": (0.5, UNIT) for i in range(n)}}

    found = branches(form_of([asked(1, False), asked(2, False), asked(3, False), asked(4, True)]))
    assert found["w3"] == [(Requirement("n", low=4),)]


def test_a_trial_that_did_not_come_to_its_end_says_nothing_of_what_comes_later() -> None:
    whole = [trial(i, {"x": (0.5, UNIT), "y": (0.5, UNIT), "z": (0.5, UNIT)}) for i in range(3)]
    for state in (TrialState.FAIL, TrialState.PRUNED):
        early = trial(3, {"x": (0.9, UNIT)}, state)
        assert branches(Presence().see([*whole, early]).form()) == {"x": [()], "y": [()], "z": [()]}
        skipped = trial(3, {"x": (0.9, UNIT), "z": (0.5, UNIT)}, state)
        found = branches(Presence().see([*whole, skipped]).form())
        assert found["y"] != [()], "z comes after y: it was not asked for"
        assert found["z"] == [()]


def test_trials_that_run_count_for_now() -> None:
    presence = Presence()
    done = trial(0, {"model": ("svm", MODEL), "c": (0.5, UNIT)})
    runs = trial(1, {"model": ("forest", MODEL), "trees": (0.5, UNIT)}, TrialState.RUNNING)
    found = branches(presence.see([done, runs]).form())
    assert found["trees"] == [(Requirement("model", (1,)),)]
    assert found["c"] == [()], "it may still come"
    assert "trees" not in branches(presence.see([done]).form())
    runs.state, runs.values, runs.datetime_complete = TrialState.COMPLETE, [1.0], done.datetime_complete
    found = branches(presence.see([done, runs]).form())
    assert found["trees"] == [(Requirement("model", (1,)),)]
    assert found["c"] == [(Requirement("model", (0,)),)]


def test_what_appears_at_some_trial_is_there_from_then_on() -> None:
    trials: list[Params] = [{"x": (x, UNIT)} for x in (0.5, 0.1, 0.9, 0.3)]
    trials += [{"x": (x, UNIT), "new": (0.5, UNIT)} for x in (0.2, 0.6, 0.95)]
    form = form_of(trials)
    assert branches(form) == {"x": [()], "new": [()]}
    assert not form.unexplained


def test_what_changed_at_some_trial_is_told_of_after_ten() -> None:
    rng = np.random.default_rng(0)
    old: list[Params] = [{"x": (float(rng.random()), UNIT), "old": (0.5, UNIT)} for _ in range(6)]
    new: list[Params] = [{"x": (float(rng.random()), UNIT), "new": (0.5, UNIT)} for _ in range(6)]
    form = form_of(old + new)
    assert form.gone == (("old", 5),)
    assert form.unexplained == ("old",)
    assert form.appeared == (("new", 6),)
    assert form_of((old + new)[:9]).gone == form_of((old + new)[:9]).appeared == ()
    passed: list[Params] = [{"x": (0.1 * i, UNIT)} | ({"y": (0.5, UNIT)} if i > 4 else {}) for i in range(11)]
    assert form_of(passed).appeared == (), "a float that is passed says why"


def test_chance_is_not_explained() -> None:
    often = [i % 3 != 1 for i in range(30)]
    rng = np.random.default_rng(0)

    def asked(here: Sequence[bool]) -> list[Params]:
        return [
            {"x": (float(rng.random()), UNIT), "on": (bool(rng.integers(2)), LOGICAL)}
            | ({"odd": (0.5, UNIT)} if there else {})
            for there in here
        ]

    form = form_of(asked(often))
    assert form.unexplained == ("odd",)
    assert branches(form)["odd"] == [()], "most trials have it"
    form = form_of(asked([not there for there in often]))
    assert form.unexplained == ("odd",)
    assert "odd" not in branches(form)
    assert "odd" in dict(form.distributions)


def test_what_returns_early_does_not_hide_the_conditions_of_what_comes_later() -> None:
    """Such as a penalty for settings that a function of two floats refuses."""

    def ask(suggest: Callable[..., Any]) -> None:
        if suggest("x", UNIT) + suggest("y", UNIT) < 1.2 and suggest("model", MODEL) == "svm":
            suggest("c", UNIT)

    form = form_of(drawn(ask, 30))
    assert form.unexplained == ("model",)
    assert branches(form)["c"] == [(Requirement("model", (0,)),)]


def test_a_trial_without_parameters_shows_nothing() -> None:
    with_c: Params = {"model": ("svm", MODEL), "c": (0.5, UNIT)}
    without: Params = {"model": ("forest", MODEL)}
    shown: list[Params] = [
        {},
        with_c,
        without,
        {},
        without,
        with_c,
        with_c,
        {},
        without,
        with_c,
        without,
        with_c,
        without,
    ]
    form = form_of(shown)
    assert branches(form) == {"model": [()], "c": [(Requirement("model", (0,)),)]}
    assert not form.unexplained
    assert not form.appeared


def test_names_of_single_trials_are_left_out() -> None:
    """Such as those with a number in them: the space must not grow with every trial."""
    trials: list[Params] = [
        {"x": (float(np.random.default_rng(i).random()), UNIT), f"p{i}": (0.5, UNIT)} for i in range(12)
    ]
    names = set(branches(form_of(trials)))
    assert "x" in names
    assert len(names) <= 4


def test_bounds_of_a_branch() -> None:
    bounds = {"svm": FloatDistribution(0, 1), "forest": FloatDistribution(0, 9), "boosting": FloatDistribution(0, 9)}

    def ask(suggest: Any) -> None:
        suggest("rate", bounds[suggest("model", MODEL)])

    form = form_of(drawn(ask, 12))
    assert [(place.when, place.distribution) for place in form.places if place.name == "rate"] == [
        ((Requirement("model", (0,)),), bounds["svm"]),
        ((Requirement("model", (1, 2)),), bounds["forest"]),
    ]
    assert dict(form.distributions)["rate"] == FloatDistribution(0, 9)


def test_bounds_that_changed_at_a_trial_and_bounds_that_alternate() -> None:
    wide, narrow = FloatDistribution(0, 2), FloatDistribution(0, 1)

    def places(asked: Sequence[BaseDistribution], **options: bool) -> list[BaseDistribution]:
        return [place.distribution for place in form_of([{"x": (0.5, one)} for one in asked], **options).places]

    assert places([wide, wide, narrow, narrow]) == [narrow]
    assert places([wide, wide, narrow, narrow], widest=True) == [wide]
    assert places([wide, narrow, wide, narrow]) == [wide]


@pytest.mark.parametrize(
    ("asked", "cover"),
    [
        ([IntDistribution(1, 5, step=2), IntDistribution(3, 9, step=2)], IntDistribution(1, 9, step=2)),
        ([IntDistribution(1, 5, step=2), IntDistribution(2, 8, step=2)], IntDistribution(1, 8)),
        ([IntDistribution(1, 5, log=True), IntDistribution(2, 8, log=True)], IntDistribution(1, 8, log=True)),
        (
            [FloatDistribution(0, 1, step=0.25), FloatDistribution(0.5, 2, step=0.25)],
            FloatDistribution(0, 2, step=0.25),
        ),
        ([FloatDistribution(0, 1, step=0.25), FloatDistribution(0, 2)], FloatDistribution(0, 2)),
        ([FloatDistribution(1, 2, log=True), FloatDistribution(0.5, 3)], FloatDistribution(0.5, 3)),
        (
            [CategoricalDistribution(["a", 1]), CategoricalDistribution([True, "a"])],
            CategoricalDistribution([True, "a", 1]),
        ),
    ],
)
def test_the_widest_bounds(asked: list[BaseDistribution], cover: BaseDistribution) -> None:
    values = [one.to_external_repr(getattr(one, "low", 0)) for one in asked]
    form = form_of([{"p": pair} for pair in zip(values, asked, strict=True)], widest=True)
    assert form.distributions == (("p", cover),)


def test_choices_that_changed_are_the_same_choices() -> None:
    """A choice keeps its trials where another list has it at another place."""
    old, new = CategoricalDistribution(["a", "b"]), CategoricalDistribution(["c", "b", "a"])
    trials: list[Params] = [
        {"kind": ("a", old), "x": (0.5, UNIT)},
        {"kind": ("b", old)},
        {"kind": ("c", new)},
        {"kind": ("a", new), "x": (0.5, UNIT)},
    ]
    assert branches(form_of(trials))["x"] == [(Requirement("kind", (2,)),)]


def test_the_order_in_which_trials_are_seen_does_not_matter() -> None:
    def ask(suggest: Any) -> None:
        if suggest("model", MODEL) == "svm":
            suggest("c", UNIT)
        if suggest("on", LOGICAL):
            suggest("x", UNIT)
            if suggest("n", IntDistribution(1, 3)) > 1:
                suggest("y", UNIT)

    for n in (2, 3, 5, 9, 20):
        trials = [trial(i, params) for i, params in enumerate(drawn(ask, n, seed=3))]
        expected = Presence().see(trials).form()
        assert Presence().see(reversed(trials)).form() == expected
        pieces = Presence()
        for one in trials:
            pieces.see([one]).form()
        assert pieces.form() == expected


def test_trials_that_contradict_each_other_are_survived() -> None:
    names = "abcd"
    rng = np.random.default_rng(1)
    trials: list[Params] = []
    for _ in range(40):
        chosen = [names[i] for i in rng.permutation(4)[: rng.integers(1, 5)]]
        trials.append({name: (bool(rng.integers(2)), LOGICAL) for name in chosen})
        form = form_of(trials)
        assert set(dict(form.distributions)) >= {place.name for place in form.places}
