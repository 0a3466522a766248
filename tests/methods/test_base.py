"""What a search knows of the space: features, slopes, neighbours, rounding; and the hooks that hand it over."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array, Bools
from quadrat.errors import InvalidInput
from quadrat.methods.base import Axis, Domain, Incumbent, MethodFacts, Observation, Proposal, Search
from quadrat.methods.design import RandomSearch

COLOURS = Axis((1 / 6, 0.5, 5 / 6), ordered=False)
SIZES = Axis((0.125, 0.375, 0.625, 0.875))
SWITCH = Axis((0.25, 0.75), ordered=False)
AXES = (Axis(), COLOURS, SIZES, SWITCH, Axis())


def to_nearest(points: Array) -> Array:
    """Rounding by brute force: on each axis the value at the smallest distance."""
    rounded = points.copy()
    for i, axis in enumerate(AXES):
        if axis.values is not None:
            values = np.array(axis.values)
            rounded[:, i] = values[np.abs(points[:, i : i + 1] - values).argmin(axis=1)]
    return rounded


def there(points: Array) -> Bools:
    """The colour and the last number exist only where the switch is on."""
    mask = np.ones(points.shape, dtype=np.bool_)
    mask[:, [1, 4]] = points[:, 3:4] > 0.5
    return mask


def to_setting(points: Array) -> Array:
    """Rounding that also moves what does not exist to the middle."""
    rounded = to_nearest(points)
    return np.where(there(rounded), rounded, 0.5)


DOMAIN = Domain(AXES, to_nearest)
CONDITIONAL = Domain(AXES, to_setting, there)


def rounded_points(n: int, seed: int = 0) -> Array:
    return to_nearest(np.random.default_rng(seed).random((n, 5)))


def test_the_cube_is_its_own_domain() -> None:
    cube, points = Domain.cube(3), np.random.default_rng(0).random((4, 3))
    assert cube.dimension == 3
    assert cube.smooth.all()
    assert cube.groups == (0, 1, 2)
    assert cube.columns.tolist() == [0, 1, 2]
    for same in (cube.rounded(points), cube.features(points), cube.slopes(points)):
        np.testing.assert_array_equal(same, points)
    assert cube.allowed(points).all()
    assert cube.neighbours(points[0], np.random.default_rng(0)).shape == (0, 3)


def test_each_column_of_the_features_belongs_to_an_axis() -> None:
    assert DOMAIN.groups == (0, 1, 1, 1, 2, 3, 3, 4)
    assert DOMAIN.columns.tolist() == [0, 1, 4, 5, 7]
    assert DOMAIN.smooth.tolist() == [True, False, False, False, True]
    assert DOMAIN.features(rounded_points(9)).shape == (9, 8)
    assert DOMAIN.features(np.empty((0, 5))).shape == (0, 8)


@pytest.mark.parametrize("domain", [DOMAIN, CONDITIONAL], ids=["everywhere", "conditional"])
def test_squared_distances_of_features_are_counts_of_different_choices(domain: Domain) -> None:
    """Over pairs of points: 1 for a choice that differs, 1/2 for one that exists on one side, numbers as they are."""
    points = domain.rounded(rounded_points(30))
    exists = np.ones_like(points, dtype=np.bool_) if domain.exists is None else domain.exists(points)
    features = domain.features(points)
    for p, q, here, other, a, b in zip(
        points, points[::-1], exists, exists[::-1], features, features[::-1], strict=True
    ):
        numbers = float(((p - q)[[0, 2, 4]] ** 2).sum())
        choices = sum(float(p[i] != q[i]) if here[i] and other[i] else 0.5 * float(here[i] != other[i]) for i in (1, 3))
        assert ((a - b) ** 2).sum() == pytest.approx(numbers + choices, abs=1e-14)


@pytest.mark.parametrize("n", [2, 3, 50])
def test_any_two_choices_are_at_distance_one(n: int) -> None:
    """However many there are, also two."""
    values = tuple(((np.arange(n) + 0.5) / n).tolist())
    domain = Domain((Axis(values, ordered=False),))
    features = domain.features(np.array(values)[:, None])
    distances = np.linalg.norm(features[:, None] - features[None], axis=2)
    np.testing.assert_allclose(distances, 1 - np.eye(n), atol=1e-14)


def test_index_is_that_of_the_nearest_value() -> None:
    coordinates = np.random.default_rng(0).random(200)
    for axis in (COLOURS, SIZES, SWITCH, Axis((0.5,), ordered=False)):
        values = np.array(axis.values)
        np.testing.assert_array_equal(axis.index(coordinates), np.abs(coordinates[:, None] - values).argmin(1))
        np.testing.assert_array_equal(axis.index(values), np.arange(len(values)))


def test_features_by_brute_force() -> None:
    """A column for each value, sqrt(1/2) where it is the nearest and the choice exists; borders belong to the lower."""
    points = np.vstack([rounded_points(30), np.random.default_rng(2).random((30, 5))])
    points[:4, 1], points[4:6, 3] = [1 / 3, 2 / 3, 0.0, 1.0], [0.5, 0.0]
    for domain in (DOMAIN, CONDITIONAL):
        exists = np.ones(points.shape, dtype=np.bool_) if domain is DOMAIN else there(points)
        for point, exist, found in zip(points, exists, domain.features(points), strict=True):
            wanted = []
            for i, axis in enumerate(AXES):
                if axis.is_choice:
                    level = int(axis.index(point[i : i + 1])[0])
                    wanted += [np.sqrt(0.5) * (j == level and exist[i]) for j in range(len(axis.values or ()))]
                else:
                    wanted.append(point[i])
            assert found.tolist() == wanted


def test_slopes_exist_along_smooth_axes_only() -> None:
    gradients = np.random.default_rng(0).normal(size=(6, 8))
    slopes = DOMAIN.slopes(gradients)
    assert slopes.shape == (6, 5)
    np.testing.assert_array_equal(slopes[:, [0, 4]], gradients[:, [0, 7]])
    assert not slopes[:, 1:4].any()


def test_slopes_are_those_of_a_function_of_the_features() -> None:
    """Chain rule by finite differences along the smooth axes of g(features) = sin(w . features)."""
    weights, points, step = np.random.default_rng(1).normal(size=8), rounded_points(5), 1e-6
    gradients = np.cos(DOMAIN.features(points) @ weights)[:, None] * weights
    slopes = DOMAIN.slopes(gradients)
    for axis in (0, 4):
        move = step * np.eye(5)[axis]
        up, down = (np.sin(DOMAIN.features(points + side * move) @ weights) for side in (1, -1))
        np.testing.assert_allclose(slopes[:, axis], (up - down) / (2 * step), atol=1e-8)


def test_neighbours_differ_on_one_axis_that_is_not_smooth() -> None:
    """All of them, by brute force: sizes one step up and down, every other colour, the other position of the switch."""
    for point in rounded_points(20):
        found = DOMAIN.neighbours(point, np.random.default_rng(0))
        wanted = set()
        for i, axis in enumerate(AXES):
            values = axis.values or ()
            for j, value in enumerate(values):
                here = values.index(point[i])
                if j != here and (not axis.ordered or abs(j - here) == 1):
                    moved = point.copy()
                    moved[i] = value
                    wanted.add(moved.tobytes())
        assert {row.tobytes() for row in found} == wanted
        assert len(found) == len(wanted)
        np.testing.assert_array_equal(DOMAIN.rounded(found), found)


def test_what_does_not_exist_has_no_neighbours() -> None:
    """By brute force: every one-step move is rounded, and what comes back to the point itself is left out."""
    points = CONDITIONAL.rounded(rounded_points(20))
    assert (~there(points)).any(), "the colour is missing somewhere"
    for point in points:
        wanted = set()
        for i, axis in enumerate(AXES):
            for j, value in enumerate(axis.values or ()):
                if not axis.ordered or abs(j - (axis.values or ()).index(point[i])) == 1:
                    wanted.add(to_setting(np.where(np.arange(5) == i, value, point)[None, :])[0].tobytes())
        found = CONDITIONAL.neighbours(point, np.random.default_rng(0))
        assert not (found == point).all(axis=1).any()
        assert {row.tobytes() for row in found} == wanted - {point.tobytes()}
        assert len(found) == len(wanted - {point.tobytes()})


def test_of_many_choices_some_neighbours_are_drawn() -> None:
    values = tuple(((np.arange(50) + 0.5) / 50).tolist())
    domain, point = Domain((Axis(values, ordered=False), Axis())), np.array([values[7], 0.3])
    draws = [domain.neighbours(point, np.random.default_rng(seed), most=6) for seed in range(20)]
    for draw in draws:
        assert 5 <= len(draw) <= 6
        assert len(np.unique(draw[:, 0])) == len(draw)
        assert set(draw[:, 0]) <= set(values) - {values[7]}
        assert (draw[:, 1] == 0.3).all()
    assert len({value for draw in draws for value in draw[:, 0]}) > 30, "other draws, other choices"
    np.testing.assert_array_equal(domain.neighbours(point, np.random.default_rng(0), most=6), draws[0])


def test_rounding_and_permission_are_asked_of_the_space() -> None:
    domain = Domain(AXES, to_nearest, feasible=lambda points: points[:, 0] < 0.5)
    points = np.random.default_rng(0).random((10, 5))
    np.testing.assert_array_equal(domain.rounded(points), to_nearest(points))
    np.testing.assert_array_equal(domain.allowed(to_nearest(points)), points[:, 0] < 0.5)
    assert domain.rounded(np.empty((0, 5))).shape == (0, 5)
    assert DOMAIN.allowed(points).all()


# --- hooks of every search and method


class Still(Search):
    """A search that does only what it must."""

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:  # noqa: ARG002
        return Proposal(np.zeros(1), "still")

    def tell(self, observation: Observation) -> None:
        """Nothing."""

    def recommend(self, context: Array | None = None) -> Incumbent:  # noqa: ARG002
        return Incumbent(np.zeros(1), 0.0)


def test_a_search_need_not_care_for_failures() -> None:
    assert Still().fail(0, np.zeros(1)) is None  # type: ignore[func-returns-value]


def test_a_method_that_sees_the_cube_alone_starts_the_same_search_in_any_domain() -> None:
    inside, plain = RandomSearch().start(DOMAIN, 3), RandomSearch().start(Domain.cube(5), 3)
    np.testing.assert_array_equal(inside.ask(2, np.empty((0, 5))).x, plain.ask(2, np.empty((0, 5))).x)


def test_continua_are_the_smooth_axes_unless_said_otherwise() -> None:
    assert DOMAIN.continua.tolist() == DOMAIN.smooth.tolist()
    assert Domain((Axis(), Axis()), continuous=(True, False)).continua.tolist() == [True, False]


def test_axes_are_called_by_their_names() -> None:
    assert Domain((Axis(), Axis()), names=("heat", "time")).called(1) == "'time'"
    assert Domain.cube(2).called(1) == "axis 1"


@pytest.mark.parametrize("share", [0.005, 0.002])
def test_of_a_thin_feasible_set_a_sample_is_kept(share: float) -> None:
    start = 0.4
    domain = Domain((Axis(), Axis()), feasible=lambda points: np.abs(points[:, 0] - start - share / 2) < share / 2)
    sample = domain.thin_sample
    assert sample is not None
    assert len(sample) >= 32
    assert domain.allowed(sample).all()
    assert np.ptp(sample[:, 1]) > 0.8, "uniform along the other axis"
    again = Domain(domain.axes, feasible=domain.feasible).thin_sample
    assert again is not None
    np.testing.assert_array_equal(again, sample)


def test_no_sample_where_candidates_meet_the_feasible_set() -> None:
    for domain in (Domain.cube(3), Domain((Axis(),), feasible=lambda points: points[:, 0] < 0.015)):
        sample = domain.thin_sample
        assert sample is not None
        assert sample.shape == (0, domain.dimension)


def test_a_set_of_which_too_little_is_known() -> None:
    assert Domain((Axis(),), feasible=lambda points: points[:, 0] < 1e-4).thin_sample is None
    assert Domain((Axis(),), feasible=lambda points: points[:, 0] < 0).thin_sample is None


def test_a_method_handles_what_there_is_a_word_for() -> None:
    with pytest.raises(InvalidInput, match=r"handles: expected some of 'pending points', .* got 'nonsense'"):
        MethodFacts("A method", "nobody", "nothing", handles=("nonsense",))  # type: ignore[arg-type]
