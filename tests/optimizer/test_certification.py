"""Certifying a run after the fact: the band's own statement in the user's units; and each condition is checked."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrat as qd
from quadrat.confidence import AdaptiveBand, certify
from quadrat.errors import InvalidInput, NotAvailable, QuadratError
from quadrat.methods.surrogate import Learned
from quadrat.optimizer.certification import CertifiedPoint, Statements
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

SPACE = qd.Space(x=qd.Float(0, 2))
STATED = qd.RunAssumptions(kernel=qd.Matern(2.5), lengthscales={"x": 0.8}, norm_bound=1.0, offset=0.0, noise=0.05)
SAID: dict[str, Any] = {"stated_before_data": True, "every_value_counts": True}
ALL_SAID: dict[str, Any] = {**SAID, "failures_ignore_noise": True}


def objective(x: float, seed: int = 0) -> float:
    """Of norm 1 under the stated kernel."""
    function = draw_rkhs_function(qd.Matern(2.5, 0.4), 1, rng=generator(seed), norm=1.0)
    return float(function.values(np.array([[x / 2]]))[0])


def run(
    n: int = 20, direction: str = "maximize", method: str = "SobolSearch", offset: float = 0.0, sign: float = 1.0
) -> qd.Optimizer:
    optimizer = qd.Optimizer(SPACE, direction=direction, method=method, seed=0)
    for i in range(n):
        trial = optimizer.ask()
        noise = 0.05 * generator(1, i).normal()
        optimizer.tell(trial, offset + sign * (objective(trial.params["x"]) + noise))
    return optimizer


@pytest.fixture(scope="module")
def twenty() -> qd.Optimizer:
    return run()


def test_it_is_what_the_band_says(twenty: qd.Optimizer) -> None:
    found = twenty.certify(STATED, params=[{"x": 0.3}, {"x": 1.5}], **SAID)
    band = AdaptiveBand(STATED.on(SPACE), 0.05)
    band.add([[trial.params["x"] / 2] for trial in twenty.trials], [trial.values[0] for trial in twenty.trials])
    best = certify(band, dimension=1)
    assert found.best is not None
    assert found.recommended is not None
    assert found.best.params["x"] == pytest.approx(2 * best.point[0])
    assert found.best.remaining_regret == pytest.approx(best.value, abs=1e-6)
    for point in (found.recommended, *found.asked):
        of_band = certify(band, dimension=1, point=[point.params["x"] / 2])
        assert point.certified_interval == pytest.approx(of_band.certified_interval)
        assert point.remaining_regret == pytest.approx(of_band.value, abs=1e-6)
        assert point.certified_interval[0] <= objective(point.params["x"]) <= point.certified_interval[1]
    assert found.recommended.params == twenty.recommend().params
    assert [point.params["x"] for point in found.asked] == [0.3, 1.5]
    assert (found.n_values, found.n_trials, found.rejected) == (20, 20, None)


def test_minimizing_and_an_offset_are_the_same_statement_the_other_way_round(twenty: qd.Optimizer) -> None:
    up = twenty.certify(STATED, params={"x": 1.0}, **SAID)
    about_80 = qd.RunAssumptions(
        kernel=qd.Matern(2.5), lengthscales={"x": 0.8}, norm_bound=1.0, offset=80.0, noise=0.05
    )
    down = run(direction="minimize", offset=80.0, sign=-1.0).certify(about_80, params={"x": 1.0}, **SAID)
    assert up.best_possible is not None
    assert up.recommended is not None
    assert down.recommended is not None
    assert down.best_possible == pytest.approx(80 - up.best_possible)
    assert down.recommended.params == up.recommended.params
    assert down.recommended.remaining_regret == pytest.approx(up.recommended.remaining_regret, abs=1e-6)
    low, high = up.asked[0].certified_interval
    assert down.asked[0].certified_interval == pytest.approx((80 - high, 80 - low))


def test_all_of_it_holds_on_functions_of_the_stated_norm_whatever_chose_the_points() -> None:
    """16 runs of four methods; delta = .05, and the bounds are wider than that: none may fail."""
    grid = np.linspace(0, 1, 201)[:, None]
    for seed in range(4):
        function = draw_rkhs_function(qd.Matern(2.5, 0.4), 1, rng=generator(seed, 3), norm=1.0)
        top = float(function.values(grid).max())
        for method in (
            "Auto",
            "RandomSearch",
            "SobolSearch",
            "LPGPUCB(kernel=Matern(2.5, 0.4), norm_bound=1, noise=0.1, budget=20)",
        ):
            optimizer = qd.Optimizer(SPACE, direction="maximize", method=method, seed=seed)
            for i in range(12):
                trial = optimizer.ask()
                at = float(function.values(np.array([[trial.params["x"] / 2]]))[0])
                optimizer.tell(trial, at + 0.05 * generator(seed, i, 4).normal())
            found = optimizer.certify(STATED, params={"x": 0.5}, max_cells=256, **SAID)
            assert found.rejected is None
            assert found.best is not None
            assert found.recommended is not None
            assert found.best_possible is not None
            assert top <= found.best_possible
            for point in (found.best, found.recommended, *found.asked):
                value = float(function.values(np.array([[point.params["x"] / 2]]))[0])
                assert point.certified_interval[0] <= value <= point.certified_interval[1]
                assert top - value <= point.remaining_regret


def test_the_best_guaranteed_point_has_the_highest_lower_bound(twenty: qd.Optimizer) -> None:
    everywhere = [{"x": x} for x in np.linspace(0, 2, 21)]
    found = twenty.certify(STATED, params=everywhere, max_cells=256, **SAID)
    assert found.best is not None
    assert found.best.certified_interval[0] >= max(point.certified_interval[0] for point in found.asked) - 1e-3


def test_a_point_that_the_constraint_of_the_space_forbids_is_not_called_best() -> None:
    space = SPACE.subject_to(lambda params: params["x"] <= 0.5)
    optimizer = qd.Optimizer(space, direction="maximize", method="RandomSearch", seed=0)
    for i in range(20):
        trial = optimizer.ask()
        optimizer.tell(trial, -((trial.params["x"] - 1.0) ** 2) / 4 + 0.01 * generator(2, i).normal())
    found = optimizer.certify(STATED, **SAID)
    assert found.best is not None
    assert found.recommended is not None
    assert found.best.params["x"] <= 0.5
    assert found.recommended.params["x"] <= 0.5


def test_a_result_certifies_and_its_copy_says_why_it_cannot() -> None:
    result = qd.maximize(lambda params: objective(**params), SPACE, n_trials=12, method="SobolSearch")
    found = result.certify(STATED, **SAID)
    assert found.recommended is not None
    assert found.recommended.params == result.params
    with pytest.raises(NotAvailable, match="got a copy of it, which goes without its optimizer"):
        copy.copy(result).certify(STATED, **SAID)


def test_it_prints_and_is_plain_data(twenty: qd.Optimizer) -> None:
    found = twenty.certify(STATED, params={"x": 0.3}, **SAID)
    text = repr(found)
    for part in (
        "with probability 0.95",
        "recommended",
        "best guaranteed",
        "asked for",
        "x 0.8 (0.4 of 0 to 2)",
        "norm at most 1",
    ):
        assert part in text
    again = json.loads(json.dumps(found.to_dict()))
    assert found.recommended is not None
    assert again["recommended"]["remaining_regret"] == found.recommended.remaining_regret
    assert again["assumptions"]["lengthscales"] == {"x": 0.8}


def test_printed_bounds_are_rounded_outwards() -> None:
    point = CertifiedPoint({"x": 1.0}, certified_interval=(0.12345678, 12.3456712), remaining_regret=0.1000001)
    assert point._text() == "0.123456 to 12.3457; at most 0.100001 can be gained"
    below = CertifiedPoint({"x": 1.0}, certified_interval=(-0.12345612, -1e-7), remaining_regret=0.1)
    assert below._text() == "-0.123457 to -1e-07; at most 0.1 can be gained"


def test_limits_of_the_values_bound_the_objective_too() -> None:
    """A success rate: single outcomes of 0 and 1."""
    optimizer = qd.Optimizer(SPACE, direction="maximize", method="SobolSearch")
    for i in range(200):
        trial = optimizer.ask()
        optimizer.tell(trial, float(generator(5, i).random() < 0.9 - 0.2 * trial.params["x"]))
    limits = qd.RunAssumptions(kernel=qd.Matern(2.5), lengthscales={"x": 4.0}, norm_bound=3.0, values_within=(0, 1))
    found = optimizer.certify(limits, params={"x": 0.0}, **SAID)
    assert found.best is not None
    assert found.best_possible is not None
    assert found.best_possible <= 1.0
    assert 0.0 <= found.asked[0].certified_interval[0] <= 0.9 <= found.asked[0].certified_interval[1] <= 1.0
    assert found.asked[0].remaining_regret <= 1.0
    assert not found.notes  # that zeros and ones repeat is no sign of repeated random numbers


# --- what the data reject


@pytest.mark.parametrize(("direction", "offset"), [("maximize", 1.5), ("maximize", -0.5), ("minimize", 1.5)])
def test_limits_that_leave_no_value_reject_the_assumptions(direction: str, offset: float) -> None:
    """A ball that lies outside of the limits of all values: nothing is known exactly, and nothing is certified."""
    optimizer = qd.Optimizer(SPACE, direction=direction)
    optimizer.add_trials([{"x": 0.2}, {"x": 1.0}, {"x": 1.7}], [0.0, 1.0, 1.0])
    limits = qd.RunAssumptions(
        kernel=qd.Matern(2.5), lengthscales={"x": 1.0}, norm_bound=0.3, offset=offset, values_within=(0, 1)
    )
    found = optimizer.certify(limits, **SAID)
    assert found.rejected is not None
    assert "no value of the objective within values_within is left at some point" in found.rejected
    assert (found.best, found.recommended, found.best_possible) == (None, None, None)
    inside = qd.RunAssumptions(
        kernel=qd.Matern(2.5), lengthscales={"x": 1.0}, norm_bound=0.3, offset=0.5, values_within=(0, 1)
    )
    assert optimizer.certify(inside, **SAID).rejected is None


def test_a_probability_is_rounded_down(twenty: qd.Optimizer) -> None:
    sure = qd.RunAssumptions(
        kernel=qd.Matern(2.5), lengthscales={"x": 0.8}, norm_bound=1.0, offset=0.0, noise=0.05, delta=1e-9
    )
    assert "with probability 0.999999, all" in repr(twenty.certify(sure, **SAID))
    assert "with probability 0.95, all" in repr(twenty.certify(STATED, **SAID))


def test_data_can_reject_what_was_stated(twenty: qd.Optimizer) -> None:
    tame = qd.RunAssumptions(kernel=qd.Matern(2.5), lengthscales={"x": 0.8}, norm_bound=0.05, offset=0.0, noise=0.01)
    found = twenty.certify(tame, **SAID)
    assert found.rejected is not None
    assert "assumptions rejected by the data" in found.rejected
    assert (found.recommended, found.best, found.asked, found.best_possible) == (None, None, (), None)
    assert "assumptions rejected" in repr(found)
    assert repr(found).startswith("Nothing is certified of maximize: the results contradict the assumptions")
    assert "Certified of" not in repr(found)
    assert "regulariser" not in found.rejected
    assert json.loads(json.dumps(found.to_dict()))["best"] is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("large", [1e300, -1.7e308])
def test_a_value_whose_square_overflows_rejects_without_a_warning(large: float) -> None:
    found = told([0.123, large, 0.321]).certify(STATED, **SAID)
    assert found.rejected is not None
    assert "their squares overflow" in found.rejected


def test_a_value_outside_of_the_stated_limits_rejects_them(twenty: qd.Optimizer) -> None:
    limits = qd.RunAssumptions(kernel=qd.Matern(2.5), lengthscales={"x": 0.8}, norm_bound=1.0, values_within=(5, 6))
    found = twenty.certify(limits, **SAID)
    assert found.rejected is not None
    assert "stated to lie within 5 to 6" in found.rejected


# --- the conditions


def mixed(parameter: Any) -> qd.Optimizer:
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1), other=parameter), direction="maximize", method="SobolSearch")
    optimizer.tell(optimizer.ask(), 0.5)
    return optimizer


@pytest.mark.parametrize(
    "parameter",
    [qd.Int(1, 4), qd.Categorical(["a", "b"]), qd.Float(0, 1, step=0.25), qd.Fidelity([1, 10], cost=[1, 10])],
    ids=["integer", "categorical", "stepped", "fidelity"],
)
def test_parameters_between_whose_values_the_objective_jumps_are_refused(parameter: Any) -> None:
    optimizer = mixed(parameter) if not isinstance(parameter, qd.Fidelity) else with_fidelity(parameter)
    with pytest.raises(NotAvailable, match="expected Floats without steps or conditions, got other"):
        optimizer.certify(of_cube(), **SAID)


def of_cube() -> qd.RunAssumptions:
    return qd.RunAssumptions(kernel=qd.Matern(2.5, 0.3), lengthscales="unit cube", norm_bound=1, offset=0, noise=0.1)


def with_fidelity(fidelity: qd.Fidelity) -> qd.Optimizer:
    space = qd.Space(x=qd.Float(0, 1), other=fidelity)
    optimizer = qd.Optimizer(space, direction="maximize", method="MFGPUCB")
    optimizer.tell(optimizer.ask(), 0.5)
    return optimizer


def test_a_conditional_parameter_is_refused() -> None:
    space = qd.Space(kind=qd.Categorical(["a", "b"]), depth=qd.Float(0, 1, when={"kind": "a"}))
    optimizer = qd.Optimizer(space, direction="maximize", method="SobolSearch")
    optimizer.tell(optimizer.ask(), 0.5)
    with pytest.raises(NotAvailable, match="without steps or conditions, got kind, depth"):
        optimizer.certify(of_cube(), **SAID)


def test_contexts_are_refused() -> None:
    space = qd.Space(x=qd.Float(0, 1), room=qd.Context(qd.Float(10, 30)))
    optimizer = qd.Optimizer(space, direction="maximize", method="CGPUCB")
    optimizer.tell(optimizer.ask(context={"room": 20.0}), 0.5)
    with pytest.raises(
        NotAvailable, match="expected a space without contexts, got room; LPGPUCB certifies in contexts"
    ):
        optimizer.certify(of_cube(), **SAID)


def test_an_estimated_standard_error_is_refused() -> None:
    optimizer = run(3)
    optimizer.add({"x": 0.5}, 0.3, sem=0.02)
    with pytest.raises(NotAvailable, match="got a standard error: it is an estimate"):
        optimizer.certify(STATED, **SAID)


def test_a_run_without_results_is_refused() -> None:
    optimizer = qd.Optimizer(SPACE, direction="maximize")
    with pytest.raises(NotAvailable, match="at least one complete trial, got 0 complete"):
        optimizer.certify(STATED, **SAID)
    optimizer.tell(optimizer.ask(), float("nan"))
    with pytest.raises(NotAvailable, match="got 0 complete, 1 failed"):
        optimizer.certify(STATED, **ALL_SAID)


def test_one_value_is_enough() -> None:
    found = run(1).certify(STATED, **SAID)
    assert found.recommended is not None
    assert found.recommended.remaining_regret <= 2.0


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({}, "stated_before_data: expected True, which says"),
        ({"stated_before_data": True}, "every_value_counts: expected True, which says"),
        ({"every_value_counts": True}, "stated_before_data: expected True"),
        ({"stated_before_data": 1, "every_value_counts": True}, "stated_before_data: expected True or False, got 1"),
    ],
)
def test_what_results_cannot_show_has_to_be_said(twenty: qd.Optimizer, said: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        twenty.certify(STATED, **said)
    assert sentence in str(refused.value)


def failed(optimizer: qd.Optimizer) -> None:
    optimizer.tell(optimizer.ask(), qd.FAILED)


def pending(optimizer: qd.Optimizer) -> None:
    optimizer.ask()


@pytest.mark.parametrize(("happen", "words"), [(failed, "1 failed"), (pending, "1 not ended")])
def test_trials_without_a_value_must_not_depend_on_the_noise(
    happen: Callable[[qd.Optimizer], None], words: str
) -> None:
    optimizer = run(5)
    happen(optimizer)
    with pytest.raises(InvalidInput, match=f"failures_ignore_noise: expected True, because of the trials {words}"):
        optimizer.certify(STATED, **SAID)
    found = optimizer.certify(STATED, **ALL_SAID)
    assert any("stated not to depend on the noise" in note for note in found.notes)
    assert found.n_values == 5


def test_replicates_count_one_by_one_however_many_there_are() -> None:
    optimizer = qd.Optimizer(SPACE, direction="maximize", method="SobolSearch")
    told = [[0.1, 0.2, 0.15], [0.3], [0.05, 0.2]]
    for values in told:
        optimizer.tell(optimizer.ask(), values)
    found = optimizer.certify(STATED, params={"x": 1.0}, **SAID)
    assert (found.n_values, found.n_trials) == (6, 3)
    assert "6 values of 3 complete trials" in repr(found)
    one_by_one = qd.Optimizer(SPACE, direction="maximize", method="SobolSearch")
    for record in optimizer.trials:
        for value in record.values:
            one_by_one.add(record.params, value)
    again = one_by_one.certify(STATED, params={"x": 1.0}, **SAID)
    assert again.asked[0].certified_interval == pytest.approx(found.asked[0].certified_interval)


@pytest.mark.parametrize("learned", [Learned(), None])
def test_a_kernel_that_is_learned_is_no_assumption(learned: Any) -> None:
    with pytest.raises(InvalidInput, match="a kernel that is learned from the results is no assumption"):
        qd.RunAssumptions(kernel=learned, lengthscales="unit cube", norm_bound=1, offset=0, noise=0.1)


def test_lengthscales_copied_from_the_model_of_the_same_results_are_refused() -> None:
    optimizer = run(12, method="Auto")
    search: Any = optimizer.explain()["search"]
    [scale] = search["samples"][0]["lengthscales"]
    for copied in (scale, float(f"{scale:.6g}")):
        fitted = qd.RunAssumptions(
            kernel=qd.Matern(2.5, copied), lengthscales="unit cube", norm_bound=1.0, offset=0.0, noise=0.05
        )
        with pytest.raises(NotAvailable, match="which are those of the model fitted to these results"):
            optimizer.certify(fitted, **SAID)
    optimizer.certify(STATED, **SAID)


def test_rounded_values_are_refused_where_no_noise_explains_that_they_are_round() -> None:
    optimizer = qd.Optimizer(SPACE, direction="maximize", method="SobolSearch")
    for i in range(60):
        trial = optimizer.ask()
        optimizer.tell(trial, round(30 * objective(trial.params["x"]) + generator(3, i).normal()) / 2)

    def with_noise(noise: float) -> qd.RunAssumptions:
        return qd.RunAssumptions(
            kernel=qd.Matern(2.5), lengthscales={"x": 0.8}, norm_bound=20.0, offset=0.0, noise=noise
        )

    with pytest.raises(
        NotAvailable,
        match=r"got 60 values that all lie on a grid of step 0\.5, more than twice the noise of 0\.04: ",
    ):
        optimizer.certify(with_noise(0.04), **SAID)
    optimizer.certify(with_noise(0.5), **SAID)  # counts with noise of half a count are no sign of rounding


def told(values: list[float]) -> qd.Optimizer:
    optimizer = qd.Optimizer(SPACE, direction="maximize", method="RandomSearch", seed=0)
    for value in values:
        optimizer.tell(optimizer.ask(), value)
    return optimizer


def loose(noise: float, offset: float = 0.0) -> qd.RunAssumptions:
    return qd.RunAssumptions(
        kernel=qd.Matern(2.5, 0.05), lengthscales="unit cube", norm_bound=1e3, offset=offset, noise=noise
    )


@pytest.mark.parametrize("n", [2, 4, 5, 60])
@pytest.mark.parametrize(
    ("step", "offset"), [(1.0, 0.0), (0.1, 0.0), (0.001, 80.0), (0.25, 0.125), (0.5, 0.0), (2.0, 0.3), (5e4, 0.0)]
)
def test_values_on_a_coarse_grid_are_refused_however_few_points_of_it_they_take(
    step: float, offset: float, n: int
) -> None:
    values = [offset + step * int(generator(6, i).integers(0, 2)) for i in range(n - 2)] + [offset, offset + step]
    if n < 5:
        found = told(values).certify(loose(step / 10, offset), **SAID)
        assert any(f"grid of step {step:g}" in note and f"so few ({n}) do not show it" in note for note in found.notes)
    else:
        with pytest.raises(
            NotAvailable, match=f"got {n} values that all lie on a grid of step {step:g}, more than twice"
        ):
            told(values).certify(loose(step / 10, offset), **SAID)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.25])
def test_values_that_are_all_the_same_round_number_are_refused(value: float) -> None:
    with pytest.raises(NotAvailable, match="got 9 values that all lie on a grid of step"):
        told([value] * 9).certify(loose(0.01), **SAID)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("noise", [1e-7, 1e-3])
def test_other_numbers_are_not_taken_for_rounded_ones(scale: float, noise: float) -> None:
    values = [scale * float(generator(8, i).normal()) for i in range(8)]
    for given in (values, [float(np.float32(value)) for value in values]):
        assert not any("grid" in note for note in told(given).certify(loose(noise * scale), **SAID).notes)


def test_numbers_that_end_before_the_noise_begins_are_refused() -> None:
    noise = [float(generator(9, i).normal()) for i in range(20)]
    single = [float(np.float32(1e4 + value)) for value in noise]  # float32 has steps of .001 there
    with pytest.raises(
        NotAvailable, match=r"got 20 in single precision, of up to 1e\+04, whose last digit is worth 0\.00098"
    ):
        told(single).certify(loose(3e-4, 1e4), **SAID)
    told(single).certify(loose(0.01, 1e4), **SAID)
    with pytest.raises(NotAvailable, match=r"got 3 values, of up to 1e\+14, whose last digit is worth 0\.016"):
        told([1e14 + value for value in noise[:3]]).certify(loose(3e-3, 1e14), **SAID)
    told(noise).certify(loose(1e-30), **SAID)  # of an objective without noise: what rounding takes is nothing here


def test_counts_with_the_noise_of_a_count_are_not_taken_for_rounded_ones() -> None:
    for seed in range(20):
        counts = [float(2 * generator(seed, i).integers(0, 9)) for i in range(4)] + [3.0]
        told(counts).certify(loose(0.5), **SAID)


def test_values_far_from_all_that_the_assumptions_allow_are_noted() -> None:
    optimizer = told([0.8 + 0.01 * float(generator(8, i).normal()) for i in range(20)])
    percent = qd.RunAssumptions(kernel=qd.Matern(2.5), lengthscales={"x": 0.8}, norm_bound=1.23, values_within=(0, 100))
    found = optimizer.certify(percent, **SAID)
    assert any(
        "all 20 values lie below everything that the assumptions let the objective be, which is 48.77 to 51.23" in note
        for note in found.notes
    )
    assert not optimizer.certify(loose(0.02), **SAID).notes


def test_a_known_constraint_is_noted_and_so_is_a_setting_that_it_forbids() -> None:
    optimizer = qd.Optimizer(SPACE.subject_to(lambda params: params["x"] <= 1), direction="maximize", seed=0)
    for i in range(5):
        optimizer.tell(optimizer.ask(), 0.05 * float(generator(8, i).normal()))
    found = optimizer.certify(STATED, params=[{"x": 0.5}, {"x": 1.5}], **SAID)
    assert any("the known constraint of the space does not count" in note for note in found.notes)
    assert "asked for, but forbidden by the known constraint of the space: x=1.5" in found.notes
    assert not any("forbidden by" in note for note in optimizer.certify(STATED, params={"x": 0.5}, **SAID).notes)


def test_values_that_repeat_to_the_last_digit_are_noted() -> None:
    optimizer = qd.Optimizer(SPACE, direction="maximize", method="SobolSearch")
    for x in (0.1, 0.1, 0.7, 1.9):
        optimizer.add({"x": x}, objective(x))
    found = optimizer.certify(STATED, **SAID)
    assert any("1 of 4 values repeat the value of the same setting" in note for note in found.notes)


def test_measured_constraints_are_noted() -> None:
    optimizer = qd.Optimizer(SPACE, direction="maximize")
    for i in range(4):
        optimizer.tell(optimizer.ask(), qd.Measured(0.1 * i, {"memory": i - 2.0}))
    found = optimizer.certify(STATED, **SAID)
    assert any("measured constraints (memory) are not certified" in note for note in found.notes)


@pytest.mark.parametrize("wrong", [None, "Matern(2.5)", qd.Matern(2.5), 3])
def test_what_is_no_run_assumptions_is_refused(twenty: qd.Optimizer, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="assumptions: expected RunAssumptions"):
        twenty.certify(wrong, **SAID)


def test_assumptions_of_the_unit_cube_are_not_taken_for_those_of_a_run(twenty: qd.Optimizer) -> None:
    """They do not say in which unit length-scales are, and leave the offset out."""
    given: Any = qd.Assumptions(qd.Matern(2.5, 0.4), norm_bound=1.0, noise=0.05)
    with pytest.raises(InvalidInput, match="say its offset"):
        twenty.certify(given, **SAID)


@pytest.mark.parametrize("wrong", [{"x": 3.0}, {"y": 1.0}, {"x": float("nan")}, {"x": "a"}, {}, [{"x": 1.0}, None], 7])
def test_settings_that_are_not_in_the_space_are_refused(twenty: qd.Optimizer, wrong: Any) -> None:
    with pytest.raises(QuadratError):
        twenty.certify(STATED, params=wrong, **SAID)


def test_too_many_settings_are_refused(monkeypatch: pytest.MonkeyPatch, twenty: qd.Optimizer) -> None:
    monkeypatch.setattr("quadrat.optimizer.certification._MOST_POINTS", 10)
    with pytest.raises(NotAvailable, match="expected at most 10 different settings, got 20"):
        twenty.certify(STATED, **SAID)


def test_it_changes_nothing() -> None:
    one, other = run(6, method="Auto"), run(6, method="Auto")
    one.certify(STATED, **SAID)
    assert one.ask() == other.ask()


def test_statements_are_three_words() -> None:
    assert vars(Statements()) == dict.fromkeys(ALL_SAID, False)
