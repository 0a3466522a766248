"""LP-GP-UCB end to end: validity, splitting, pending points, refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import problems
from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions, Certificate, Interval, LocalBand
from quadrat.confidence.local_band import CAPACITY
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import GammaExponential, Kernel, Matern, SquaredExponential
from quadrat.methods.base import Domain, Observation, Search
from quadrat.methods.lp.cells import BOUNDS, CellBounds, Condition
from quadrat.methods.lp.method import LP0, LPGPUCB, information_gain
from quadrat.methods.lp.search import CellOptions, CertifiedSearch
from quadrat.methods.registry import read_method
from quadrat.optimizer import Optimizer
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator
from quadrat.space import Float, Space

KERNEL = Matern(2.5, 0.3)
NONE = np.empty((0, 1))


def method(**changes: object) -> LPGPUCB:
    settings: dict[str, object] = {"kernel": KERNEL, "norm_bound": 1.0, "noise": 0.1, "budget": 40, "degree": 0}
    return LPGPUCB(**(settings | changes))  # type: ignore[arg-type]


def drive(search: Search, f: object, dimension: int, n: int, seed: int, noise: float = 0.1) -> list[Array]:
    points = []
    for i in range(n):
        x = search.ask(i, np.empty((0, dimension))).x
        search.tell(Observation(i, x, np.array([float(f(x)) + noise * generator(seed, i, 5).normal()])))  # type: ignore[operator]
        points.append(x)
    return points


@pytest.mark.parametrize(("dimension", "degree"), [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2)])
def test_certificate_covers_the_regret_at_every_step(dimension: int, degree: int) -> None:
    """Whole runs: the certificate is above the true regret of its point after every fourth evaluation, 5 runs."""
    for seed in range(5):
        f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=generator(seed, 10))
        best = f.maximum()[1]
        search = method(degree=degree).start(Domain.cube(dimension), seed)
        for i in range(40):
            x = search.ask(i, np.empty((0, dimension))).x
            search.tell(Observation(i, x, np.array([float(f(x)) + 0.1 * generator(seed, i, 5).normal()])))
            if i % 4 == 3:
                certificate = search.certificate(search.recommend().x)
                assert isinstance(certificate, Certificate)
                assert certificate.rejection is None
                assert best - float(f(certificate.point)) <= certificate.value
                assert best <= certificate.maximum
                low, high = certificate.certified_interval
                assert low <= float(f(certificate.point)) <= high
                incumbent = search.recommend()
                assert incumbent.certified
                assert incumbent.interval is not None
                assert incumbent.interval[0] <= incumbent.value <= incumbent.interval[1]


def test_it_finds_the_maximum_and_the_certificate_shrinks() -> None:
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(4, 10))
    search = method(budget=100).start(Domain.cube(1), 0)
    drive(search, f, 1, 20, 0)
    early = search.certificate(search.recommend().x)
    for i in range(20, 100):
        x = search.ask(i, NONE).x
        search.tell(Observation(i, x, np.array([float(f(x)) + 0.1 * generator(0, i, 5).normal()])))
    late = search.certificate(search.recommend().x)
    assert isinstance(early, Certificate)
    assert isinstance(late, Certificate)
    assert late.value < 0.6 * early.value
    assert f.maximum()[1] - float(f(late.point)) < 0.05


def test_a_norm_bound_too_small_is_rejected_in_the_run() -> None:
    f = draw_rkhs_function(KERNEL, 1, norm=8.0, rng=generator(1, 10))
    search = method(norm_bound=0.5, noise=0.05).start(Domain.cube(1), 0)
    points = drive(search, f, 1, 40, 0, noise=0.05)
    certificate = search.certificate(search.recommend().x)
    assert isinstance(certificate, Certificate)
    assert certificate.rejection is not None
    assert np.isnan(certificate.value)
    incumbent = search.recommend()
    assert not incumbent.certified
    assert incumbent.interval is None
    assert float(f(incumbent.x)) >= max(float(f(x)) for x in points) - 0.5, "it still recommends the best that it saw"


@pytest.mark.parametrize("degree", [0, 1])
def test_no_blow_up_in_eight_dimensions(degree: int) -> None:
    """At most 5 splits an evaluation, and the cap is not reached."""
    f = problems.get("branin8")
    search = LPGPUCB(kernel=Matern(2.5, 1.0), norm_bound=5.0, noise=0.1, budget=200, degree=degree).start(
        Domain.cube(8), 0
    )
    assert isinstance(search, CertifiedSearch)
    drive(search, f, 8, 60, 0)
    actions = Counter(entry.action for entry in search.rounds)
    assert actions["evaluate"] == 60
    assert actions["split"] <= 5 * 60
    assert not search.cells.is_full


def test_the_cap_makes_it_evaluate_and_say_so() -> None:
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(0, 10))
    search = method(max_cells=3).start(Domain.cube(1), 0)
    assert isinstance(search, CertifiedSearch)
    drive(search, f, 1, 40, 0)
    assert search.cells.tree.n_leaves <= 3
    assert any("cap" in entry.condition for entry in search.rounds)


def test_all_three_conditions_split() -> None:
    """A threshold of 0 lets the posterior and the average split; a large one leaves line 15."""
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(2, 10))
    seen: set[str] = set()
    for threshold, noise in ((0.0, 0.02), (0.0, 0.3), (9.0, 0.05)):
        search = method(threshold=threshold, noise=noise, budget=60, degree=1).start(Domain.cube(1), 0)
        assert isinstance(search, CertifiedSearch)
        drive(search, f, 1, 60, 1, noise=noise)
        seen |= {entry.condition.split(":")[0] for entry in search.rounds if entry.action == "split"}
    assert {"line 9", "line 15"} <= seen


def test_a_case_where_the_polynomial_bound_decides() -> None:
    """Many length-scales in the cube, many observations in one small cell of depth 9, k = 1.

    The posterior pays for what was learned everywhere (its log-determinant), the polynomial only for its own cell:
    after the split both children are bounded by the polynomial, and the posterior does not lower them further.
    """
    kernel = Matern(2.5, 0.01)
    rng = np.random.default_rng(0)
    f = draw_rkhs_function(kernel, 1, norm=3.0, rng=rng)
    top = float(f.maximum()[0][0])
    corner = np.floor(top * 2**9) / 2**9
    X = np.concatenate([rng.random(600), corner + rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], 1000) / 2**9])[:, None]
    y = np.asarray(f(X)) + 0.3 * rng.normal(size=1600)
    cells = CellBounds(Assumptions(kernel, 3.0, 0.3), 1, delta=0.05, degree=1)
    cells.add_many(X, y)
    node = 0
    for _ in range(9):
        cells.expand(node, Condition("test"))
        node = cells.tree.locate(np.array([top]))
    cells.refresh(np.array([node]))
    before = cells.upper[node]
    cells.expand(node, Condition("test", polynomial=True))
    children = np.array(cells.tree.children(node))
    cells.refresh(children)
    assert [BOUNDS[source] for source in cells.source[children]] == ["polynomial", "polynomial"]
    assert (cells.upper[children] < before).all()
    for child in children.tolist():
        inside = cells.tree.cell(child).sample(rng, 200)
        assert np.max(f(inside)) <= cells.upper[child]


def test_pending_points_are_not_asked_again() -> None:
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(6, 10))
    search = method().start(Domain.cube(2), 0)
    drive(search, f, 2, 10, 0)
    pending = np.empty((0, 2))
    for i in range(10, 16):
        x = search.ask(i, pending).x
        assert not (pending == x).all(1).any()
        pending = np.vstack([pending, x])


def test_stored_bounds_do_not_know_pending_points() -> None:
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(7, 10))
    one, two = method().start(Domain.cube(1), 0), method().start(Domain.cube(1), 0)
    drive(one, f, 1, 12, 0)
    drive(two, f, 1, 12, 0)
    two.ask(12, np.random.default_rng(0).random((5, 1)))
    first, second = one.certificate(one.recommend().x), two.certificate(two.recommend().x)
    assert isinstance(first, Certificate)
    assert isinstance(second, Certificate)
    assert second.value <= first.value + 1e-12, "asking may split, which only sharpens"


def test_looking_changes_nothing() -> None:
    """Certificates, recommendations and explanations between asks leave every later suggestion as it was."""
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(3, 10))
    quiet, curious = method().start(Domain.cube(2), 0), method().start(Domain.cube(2), 0)
    for i in range(30):
        x, z = quiet.ask(i, np.empty((0, 2))).x, curious.ask(i, np.empty((0, 2))).x
        np.testing.assert_array_equal(x, z)
        value = np.array([float(f(x)) + 0.1 * generator(0, i, 5).normal()])
        quiet.tell(Observation(i, x, value))
        curious.tell(Observation(i, z, value))
        curious.certificate(curious.recommend().x)
        curious.recommend()
        curious.explain()


QUESTIONS: dict[str, Callable[[Search], object]] = {
    "explain": lambda search: search.explain(),
    "predict": lambda search: search.predict(np.array([[0.1], [0.6]])),
    "recommend": lambda search: search.recommend(),
    "certificate": lambda search: search.certificate(np.array([0.3])),
}


@pytest.mark.parametrize(("norm_bound", "noise", "seed", "n"), [(0.35, 0.05, 7, 12), (0.6, 0.2, 1, 38)])
def test_an_answer_is_the_same_whichever_answers_were_given_before(
    norm_bound: float, noise: float, seed: int, n: int
) -> None:
    """The norm bound is too small, and only those who look at the right points see it.

    After n trials nothing is left at a point that `recommend` and `certificate` look at, while what was told alone
    rejects nothing.
    """
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(seed, 10))
    stated = LPGPUCB(kernel=KERNEL, norm_bound=norm_bound, noise=noise, budget=60, goal="regret", degree=1)
    found = []
    for order in (list(QUESTIONS), list(QUESTIONS)[::-1]):
        search = stated.start(Domain.cube(1), seed)
        for i in range(n):
            x = search.ask(i, NONE).x
            search.tell(Observation(i, x, np.array([float(f(x)) + 0.3 * noise * generator(seed, i, 5).normal()])))
            said = {name: repr(QUESTIONS[name](search)) for name in order}
        found.append({name: said[name] for name in QUESTIONS})
    assert found[0] == found[1]
    assert "no value of f is left at some point" in found[0]["certificate"]
    assert "interval=None" in found[0]["recommend"]
    assert search.explain()["rejection"] is None


def test_what_the_loop_sees_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left at the middle of a cell that is asked about: the next answers know, whatever they look at."""
    search = method(threshold=0.0).start(Domain.cube(1), 0)
    assert isinstance(search, CertifiedSearch)
    drive(search, draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(8, 10)), 1, 5, 0)
    assert search.explain()["rejection"] is None
    with monkeypatch.context() as patched:
        patched.setattr(search.band, "interval", lambda X: Interval(np.full(len(X), 0.5), np.full(len(X), 0.4)))
        search.ask(5, NONE)
    assert "no value of f is left at some point" in str(search.explain()["rejection"])
    assert search.recommend().interval is None
    assert search.predict(np.array([[0.5]])) is None
    assert search.band.rejection is None


def test_replicates_and_standard_errors() -> None:
    search = method().start(Domain.cube(1), 0)
    x = search.ask(0, NONE).x
    search.tell(Observation(0, x, np.array([0.1, 0.2, 0.3])))
    assert isinstance(search, CertifiedSearch)
    assert len(search.cells.values) == 3
    assert isinstance(search.certificate(search.recommend().x), Certificate)
    search.tell(Observation(1, np.array([0.3]), np.array([0.2]), variance=0.01))
    reason = search.certificate(search.recommend().x)
    assert isinstance(reason, str)
    assert "sub-Gaussian" in reason


def test_explanation_is_plain_data_that_adds_up() -> None:
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(8, 10))
    search = method().start(Domain.cube(2), 0)
    drive(search, f, 2, 30, 0)
    found = search.explain()
    cells: list[dict[str, object]] = found["cells"]  # type: ignore[assignment]
    assert sum(int(cell["points"]) for cell in cells) == 30  # type: ignore[call-overload]
    assert {"lower", "upper", "bound", "active", "depth"} <= set(cells[0])
    assert sorted(row for cell in cells for row in cell["observations"]) == list(range(30))  # type: ignore[attr-defined]
    for cell in cells:
        now = [cell[name] for name in ("posterior", "average", "polynomial") if cell[name] is not None]
        assert all(isinstance(bound, float) for bound in now)
    rounds: list[dict[str, object]] = found["rounds"]  # type: ignore[assignment]
    assert sum(entry["action"] == "evaluate" for entry in rounds) == 30


def test_lp0_is_algorithm_1_of_degree_zero() -> None:
    lp0 = LP0(kernel=KERNEL, norm_bound=1.0, noise=0.1, budget=10)
    default = LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=0.1, budget=10)
    assert (lp0.degree, lp0.goal) == (0, "regret")
    assert (default.degree, default.goal) == (0, "certificate")


def test_information_gain_says_what_it_is() -> None:
    assert information_gain(KERNEL, 50, 0.01, 2).rigorous
    assert not information_gain(KERNEL, 50, 0.01, 8).rigorous


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"degree": 3}, InvalidInput, "degree: expected 0, 1 or 2, got 3"),
        ({"budget": 0}, InvalidInput, "budget: expected a number of evaluations >= 1, got 0"),
        ({"budget": 10.5}, InvalidInput, "budget: expected"),
        ({"norm_bound": -1.0}, InvalidInput, "norm_bound: expected"),
        ({"noise": 0.0}, InvalidInput, "noise: expected"),
        ({"delta": 1.5}, InvalidInput, "delta: expected"),
        ({"threshold": -1.0}, InvalidInput, "threshold: expected"),
        ({"kernel": None, "n_initial": 0}, InvalidInput, "n_initial: expected at least 1"),
        ({"kernel": Matern(0.5, 0.3), "degree": 1}, NotAvailable, "degree 1"),
        ({"kernel": GammaExponential(1.0, 0.3), "degree": 1}, NotAvailable, "degree 1"),
    ],
)
def test_bad_settings(changes: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        method(**changes).start(Domain.cube(1), 0)


def test_a_kernel_of_other_axes_is_refused() -> None:
    with pytest.raises(InvalidInput, match="expected points with 2 columns"):
        method(kernel=Matern(2.5, [0.3, 0.4])).start(Domain.cube(3), 0)


def test_the_printed_form_is_refused_and_its_absence_is_read() -> None:
    """Version 0.1.0 wrote as_printed=False in every state and study of this method."""
    text = repr(method())
    assert "as_printed=False" in text
    assert read_method(text) == method()
    where = "is in experiments/as_printed/ of Quadrat's repository"
    for form in (LPGPUCB, LP0):
        with pytest.raises(InvalidInput, match=f"^as_printed: expected False, got True; .* {where}$"):
            form(kernel=KERNEL, norm_bound=1.0, noise=0.1, budget=40, as_printed=True)
    printed = text.replace("as_printed=False", "as_printed=True")
    with pytest.raises(InvalidInput, match=where):
        read_method(printed)
    space = Space(x=Float(0, 1))
    state = {**Optimizer(space, direction="maximize", method=method()).state(), "method": printed}
    for given in (None, method(), "RandomSearch"):
        with pytest.raises(InvalidInput, match=f"^state: .*{where}$"):
            Optimizer.from_state(space, state, method=given)


@pytest.mark.parametrize(
    "kernel", [SquaredExponential(0.3), Matern(0.5, 0.3), Matern(1.5, 0.2) + SquaredExponential(0.5)]
)
def test_other_kernels_run(kernel: Kernel) -> None:
    search = method(kernel=kernel).start(Domain.cube(1), 0)
    drive(search, np.sum, 1, 10, 0)
    assert isinstance(search.certificate(search.recommend().x), Certificate)


# --- bands of cells


def certified(dimension: int, *, budget: int, capacity: int | None, degree: int = 0, seed: int = 0) -> CertifiedSearch:
    """A search whose bands are divided beyond a capacity."""
    return CertifiedSearch(
        Assumptions(KERNEL, 1.0, 0.1), Domain.cube(dimension), seed,
        CellOptions(budget=budget, degree=degree, delta=0.05, threshold=0.2, max_cells=10_000), capacity=capacity,
    )  # fmt: skip


def cells_of(search: CertifiedSearch) -> int:
    """How many bands it has."""
    return search.band.cells if isinstance(search.band, LocalBand) else 1


def test_bands_are_divided_where_more_is_planned_than_twice_what_they_hold() -> None:
    """Decided by the budget, before the data."""
    assert isinstance(certified(2, budget=80, capacity=40).band, AdaptiveBand)
    assert isinstance(certified(2, budget=9999, capacity=None).band, AdaptiveBand)
    band = certified(2, budget=81, capacity=40).band
    assert isinstance(band, LocalBand)
    assert band.capacity == 40
    assert band.delta == pytest.approx(0.0375)
    for budget, kind in ((2 * CAPACITY, AdaptiveBand), (2 * CAPACITY + 1, LocalBand)):
        search = method(budget=budget, threshold=0.2).start(Domain.cube(2), 0)
        assert isinstance(search, CertifiedSearch)
        assert isinstance(search.band, kind)


@pytest.mark.parametrize(("dimension", "degree"), [(1, 1), (2, 0)])
def test_up_to_twice_the_capacity_nothing_is_different(dimension: int, degree: int) -> None:
    """Bit for bit, and also beyond the budget: a run that goes on keeps its one band."""
    f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=generator(5, 10))
    one = certified(dimension, budget=30, capacity=None, degree=degree)
    other = certified(dimension, budget=30, capacity=15, degree=degree)
    points = [drive(search, f, dimension, 40, 0) for search in (one, other)]
    np.testing.assert_array_equal(points[0], points[1])
    first, second = one.certificate(one.recommend().x), other.certificate(other.recommend().x)
    assert isinstance(first, Certificate)
    assert isinstance(second, Certificate)
    assert (first.value, first.maximum, first.certified_interval) == (
        second.value, second.maximum, second.certified_interval,
    )  # fmt: skip
    assert one.explain() == other.explain()
    assert one.recommend().interval == other.recommend().interval


@pytest.mark.parametrize(("dimension", "degree"), [(1, 0), (2, 0), (2, 1)])
def test_certificates_from_bands_of_cells_hold(dimension: int, degree: int) -> None:
    """Capacity 8, 60 evaluations: after every sixth the certificate is above the regret of its point, 3 functions."""
    for seed in range(3):
        f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=generator(seed, 10))
        best = f.maximum()[1]
        search = certified(dimension, budget=60, capacity=8, degree=degree, seed=seed)
        values = []
        for i in range(60):
            x = search.ask(i, np.empty((0, dimension))).x
            assert x.shape == (dimension,)
            assert ((x >= 0) & (x <= 1)).all()
            search.tell(Observation(i, x, np.array([float(f(x)) + 0.1 * generator(seed, i, 5).normal()])))
            if i % 6 == 5:
                certificate = search.certificate(search.recommend().x)
                assert isinstance(certificate, Certificate)
                assert certificate.rejection is None
                assert best - float(f(certificate.point)) <= certificate.value
                assert best <= certificate.maximum
                low, high = certificate.certified_interval
                assert low <= float(f(certificate.point)) <= high
                incumbent = search.recommend()
                assert incumbent.certified
                assert incumbent.interval is not None
                assert incumbent.interval[0] <= float(f(incumbent.x)) <= incumbent.interval[1]
                values.append(certificate.value)
        assert cells_of(search) > 3
        assert values[-1] < 0.8 * values[0]


def test_looking_changes_nothing_with_bands_of_cells() -> None:
    """Neither while there is one, nor when it is divided, nor after."""
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(3, 10))
    quiet, curious = (certified(2, budget=40, capacity=8) for _ in range(2))
    for i in range(40):
        x, z = quiet.ask(i, np.empty((0, 2))).x, curious.ask(i, np.empty((0, 2))).x
        np.testing.assert_array_equal(x, z)
        value = np.array([float(f(x)) + 0.1 * generator(0, i, 5).normal()])
        for search in (quiet, curious):
            search.tell(Observation(i, x, value))
        curious.certificate(curious.recommend().x)
        curious.recommend()
        curious.explain()
    assert cells_of(quiet) == cells_of(curious) > 3


def test_pending_points_are_not_asked_again_with_bands_of_cells() -> None:
    """And what is certified does not know of them."""
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(6, 10))
    one, two = (certified(2, budget=40, capacity=8) for _ in range(2))
    for search in (one, two):
        drive(search, f, 2, 30, 0)
    assert cells_of(one) > 3
    pending = np.empty((0, 2))
    for i in range(30, 38):
        x = one.ask(i, pending).x
        assert ((x >= 0) & (x <= 1)).all()
        assert not (pending == x).all(1).any()
        pending = np.vstack([pending, x])
    assert len(np.unique(pending, axis=0)) == 8
    first, second = one.certificate(one.recommend().x), two.certificate(two.recommend().x)
    assert isinstance(first, Certificate)
    assert isinstance(second, Certificate)
    assert first.value == pytest.approx(second.value, rel=0.05), "asking may split, which only sharpens"
    np.testing.assert_array_equal(one.band.interval(pending).upper, two.band.interval(pending).upper)


def test_a_norm_bound_too_small_is_rejected_by_a_band_of_a_cell() -> None:
    """The recommendation is then the best seen, without an interval, and nothing is certified."""
    f = draw_rkhs_function(KERNEL, 2, norm=8.0, rng=generator(1, 10))
    search = CertifiedSearch(
        Assumptions(KERNEL, 0.5, 0.05), Domain.cube(2), 0,
        CellOptions(budget=60, degree=0, delta=0.05, threshold=0.2, max_cells=10_000), capacity=8,
    )  # fmt: skip
    points = generator(1, 6).random((60, 2))
    for i, x in enumerate(points):
        search.tell(Observation(i, x, np.array([float(f(x)) + 0.05 * generator(1, i, 5).normal()])))
    certificate = search.certificate(search.recommend().x)
    assert isinstance(certificate, Certificate)
    assert certificate.rejection is not None
    assert np.isnan(certificate.value)
    assert cells_of(search) > 3
    incumbent = search.recommend()
    assert not incumbent.certified
    assert incumbent.interval is None
    assert float(f(incumbent.x)) >= max(float(f(x)) for x in points) - 0.5


def test_replicates_are_told_to_bands_of_cells_one_by_one() -> None:
    search = certified(2, budget=40, capacity=8)
    for i in range(20):
        x = search.ask(i, np.empty((0, 2))).x
        search.tell(Observation(i, x, 0.1 * generator(i, 3).normal(size=1 + i % 3)))
    assert len(search.cells.values) == sum(1 + i % 3 for i in range(20))
    assert isinstance(search.certificate(search.recommend().x), Certificate)
    assert cells_of(search) > 1
    assert len(search.band.x) <= 20


def test_every_second_trial_sharpens_the_certificate() -> None:
    """The others are those of Algorithm 1. How much it is worth: experiments/certificates.py."""
    for goal in ("certificate", "regret"):
        f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(7, 10))
        search = LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=0.1, budget=40, goal=goal).start(Domain.cube(1), 7)
        why = []
        for i in range(12):
            proposal = search.ask(i, NONE)
            why.append(proposal.why == "sharpens the certificate most")
            y = float(f(proposal.x)) + 0.1 * generator(7, i, 5).normal()
            search.tell(Observation(i, proposal.x, np.array([y])))
        assert why == [goal == "certificate" and i % 2 == 1 for i in range(12)]


def test_a_batch_that_sharpens_repeats_no_pending_point() -> None:
    search = LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=0.1, budget=40).start(Domain.cube(1), 7)
    for i in range(6):
        search.tell(Observation(i, np.array([i / 5]), np.array([0.1 * i])))
    pending = NONE
    for i in range(6, 14):
        pending = np.vstack([pending, search.ask(i, pending).x])
    assert len(np.unique(pending, axis=0)) == len(pending)


def test_the_goal_is_one_of_two() -> None:
    with pytest.raises(InvalidInput, match='goal: expected "certificate" or "regret", got \'speed\''):
        LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=0.1, budget=40, goal="speed")  # type: ignore[arg-type]
