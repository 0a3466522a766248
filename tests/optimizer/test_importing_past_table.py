"""Results in a table: a column for each parameter, an empty cell where it does not exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from quadrat.errors import InvalidInput
from quadrat.optimizer import FAILED, Estimate, Optimizer, TrialRecord
from quadrat.optimizer.importing import is_missing, is_table
from quadrat.space import Categorical, Fixed, Float, Int, Space

SPACE = Space(
    x=Float(0, 1),
    kind=Categorical(["a", "b", None]),
    n=Int(1, 9, when={"kind": ["a", None]}),
    note=Categorical([None, "q"], when={"kind": "b"}),
    device=Fixed(None),
)
COLUMNS: dict[str, list[Any]] = {
    "x": [0.1, 0.2, 0.3, 0.4, 0.5],
    "kind": ["a", "b", None, "b", "a"],
    "n": [1, None, 3, None, 9],
    "note": [None, None, None, "q", None],
    "device": [None] * 5,
    "score": [1.0, 2.0, None, 4.0, 5],
}
PARAMS: list[dict[str, Any]] = [
    {"x": 0.1, "kind": "a", "n": 1, "device": None},
    {"x": 0.2, "kind": "b", "note": None, "device": None},
    {"x": 0.3, "kind": None, "n": 3, "device": None},
    {"x": 0.4, "kind": "b", "note": "q", "device": None},
    {"x": 0.5, "kind": "a", "n": 9, "device": None},
]


class Index:
    """Labels of rows."""

    def __init__(self, labels: Sequence[int]) -> None:
        self.labels = list(labels)

    def equals(self, other: Index) -> bool:
        return self.labels == other.labels


class Column:
    """What of a pandas Series is used."""

    def __init__(self, entries: list[Any], index: Index) -> None:
        self.entries, self.index = entries, index

    def tolist(self) -> list[Any]:
        return list(self.entries)


class Frame:
    """What of a pandas DataFrame is used."""

    def __init__(self, columns: dict[str, list[Any]], labels: Sequence[int] | None = None) -> None:
        self._columns = columns
        self.columns = list(columns)
        self.index = Index(range(max(map(len, columns.values()))) if labels is None else labels)

    def __getitem__(self, name: str) -> Column:
        return Column(self._columns[name], self.index)


class NA:
    """A mark for what is missing that is neither equal nor unequal to anything, as pandas has one."""

    def __eq__(self, other: object) -> Any:
        return self

    def __ne__(self, other: object) -> Any:
        return self

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")


def optimizer_of(space: Space = SPACE) -> Optimizer:
    return Optimizer(space, direction="maximize", method="RandomSearch")


def without(*names: str, columns: dict[str, list[Any]] = COLUMNS) -> dict[str, list[Any]]:
    return {name: column for name, column in columns.items() if name not in names}


def expected() -> tuple[TrialRecord, ...]:
    optimizer = optimizer_of()
    for params, value in zip(PARAMS, [1.0, 2.0, float("nan"), 4.0, 5.0], strict=True):
        optimizer.add(params, value)
    return optimizer.trials


@pytest.mark.parametrize("missing", [None, float("nan"), NA()])
def test_a_table_with_its_column_of_values(missing: object) -> None:
    columns = {name: [missing if cell is None else cell for cell in column] for name, column in COLUMNS.items()}
    optimizer = optimizer_of()
    assert optimizer.add_trials(Frame(columns), "score") == range(5)
    assert optimizer.trials == expected()


def test_integers_that_a_table_made_floats_are_integers_again() -> None:
    floats = [1.0, float("nan"), 3.0, float("nan"), 9.0]
    optimizer = optimizer_of()
    optimizer.add_trials(Frame({**COLUMNS, "n": floats}), "score")
    assert optimizer.trials == expected()
    assert type(optimizer.trials[0].params["n"]) is int


@pytest.mark.parametrize("series", [True, False])
def test_values_beside_the_table(series: bool) -> None:
    table = Frame(without("score"))
    optimizer = optimizer_of()
    values: Any = Column(COLUMNS["score"], table.index) if series else [1.0, 2.0, FAILED, 4.0, 5.0]
    optimizer.add_trials(table, values)
    assert [record.values for record in optimizer.trials] == [record.values for record in expected()]


def test_a_parameter_that_exists_nowhere_needs_no_column() -> None:
    columns = {name: [column[0], column[4]] for name, column in without("note").items()}
    optimizer = optimizer_of()
    optimizer.add_trials(Frame(columns), "score")
    assert [record.params for record in optimizer.trials] == [PARAMS[0], PARAMS[4]]


def test_a_table_may_have_columns_that_a_study_has() -> None:
    space = Space(trials=Int(1, 9), direction=Float(0, 1))
    table = Frame({"trials": [1, 2], "direction": [0.1, 0.2], "score": [1.0, 2.0]})
    table.trials = table["trials"]  # type: ignore[attr-defined]  # pandas has its columns as attributes, too
    table.direction = table["direction"]  # type: ignore[attr-defined]
    optimizer = optimizer_of(space)
    assert optimizer.add_trials(table, "score") == range(2)


@pytest.mark.parametrize(
    ("table", "values", "message"),
    [
        (Frame({**COLUMNS, "when": [0] * 5, "who": [1] * 5}), "score", "got also 'when', 'who'; drop these"),
        (Frame(COLUMNS), [1.0] * 5, r"got also 'score'; drop these, or name .* add_trials\(table, 'its name'\)"),
        (Frame(COLUMNS), "loss", "values: expected outcomes, or the name of the column .* got 'loss'; .* 'score'"),
        (Frame(without("x")), "score", "expected a column for every parameter, got none for 'x'; the table has 'kind'"),
        (Frame(without("n")), "score", "row 0: params: expected a value for 'n'"),
        (Frame({**COLUMNS, "n": [1, 2, 3, None, 9]}), "score", "row 1: params: 'n' exists only when kind = 'a'"),
        (Frame({**COLUMNS, "x": [0.1, 0.2, None, 0.4, 0.5]}), "score", "row 2: params: expected a value for 'x'"),
        (Frame({**COLUMNS, "n": [1, None, 99, None, 9]}), "score", "row 2: params: parameter 'n': expected an integer"),
        (Frame({**COLUMNS, "score": [1.0, "2", 3.0, 4.0, 5.0]}), "score", "row 1: outcome: expected a number"),
        (
            Frame({**COLUMNS, "score": [1.0, 2.0, None, (0.9, 12.0), 5.0]}),
            "score",
            r"^row 3: outcome: expected one outcome, got a tuple of 2, \(0.9, 12.0\). If these are two objectives",
        ),
        (Frame(without("score")), [1.0, 2.0, (0.9, 12.0), 4.0, 5.0], "^row 2: outcome: .* mean and its standard error"),
        (Frame(COLUMNS), ["score", "x"], "got also 'score'"),
        (Frame(without("score")), [1.0], "values: expected 5, one for each trial in params, got 1"),
        (Frame(without("score")), None, "values: expected a list of outcomes"),
    ],
)  # fmt: skip
def test_what_is_refused(table: Frame, values: Any, message: str) -> None:
    optimizer = optimizer_of()
    with pytest.raises(InvalidInput, match=message):
        optimizer.add_trials(table, values)
    assert not optimizer.state()["events"]


def test_estimates_may_stand_in_a_column_or_beside_the_table() -> None:
    scores: list[Any] = [Estimate(1.0, 0.1), 2.0, None, Estimate(float("nan"), 0.1), [4.0, 5.0]]
    in_column, beside = optimizer_of(), optimizer_of()
    in_column.add_trials(Frame({**COLUMNS, "score": scores}), "score")
    beside.add_trials(Frame(without("score")), [float("nan") if score is None else score for score in scores])
    assert in_column.state() == beside.state()
    assert [(record.values, record.sem) for record in in_column.trials] == [
        ((1.0,), 0.1),
        ((2.0,), None),
        ((), None),
        ((), None),
        ((4.0, 5.0), None),
    ]


def test_two_columns_of_one_name_are_refused() -> None:
    table = Frame(COLUMNS)
    table.columns.append("x")
    with pytest.raises(InvalidInput, match=r"expected one column for each parameter, got 'x', .*, 'x'"):
        optimizer_of().add_trials(table, "score")


def test_a_series_in_another_order_is_refused() -> None:
    table = Frame(without("score"))
    values: Any = Column(COLUMNS["score"], Index([4, 3, 2, 1, 0]))
    with pytest.raises(InvalidInput, match=r"expected a Series with the index of the table.*values\.to_numpy\(\)"):
        optimizer_of().add_trials(table, values)


def test_a_table_of_constraints_is_refused_with_the_remedy() -> None:
    with pytest.raises(InvalidInput, match=r"constraints: expected a list of mappings .* got a Frame; to_dict"):
        optimizer_of().add_trials(Frame(COLUMNS), "score", constraints=Frame({"c": [1.0] * 5}))  # type: ignore[arg-type]


def test_rows_outside_the_space_can_be_left_out() -> None:
    optimizer = optimizer_of()
    optimizer.add_trials(Frame({**COLUMNS, "x": [0.1, 7.0, 0.3, None, 0.5]}), "score", skip_outside=True)
    assert [record.params for record in optimizer.trials] == [PARAMS[0], PARAMS[2], PARAMS[4]]


def test_a_table_without_rows() -> None:
    assert optimizer_of().add_trials(Frame({name: [] for name in COLUMNS}), "score") == range(0)


@pytest.mark.parametrize(
    ("cell", "missing"),
    [(None, True), (float("nan"), True), (NA(), True), (0, False), ("", False), (False, False), ([], False)],
)
def test_what_is_missing(cell: object, missing: bool) -> None:
    assert is_missing(cell) is missing


def test_what_is_a_table() -> None:
    assert is_table(Frame(COLUMNS))
    others: list[object] = [[], {}, {"columns": []}, None, "table"]
    assert not any(is_table(other) for other in others)


def test_a_pandas_dataframe() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS)
    for table in (frame, frame.convert_dtypes(), frame.astype(object), frame.set_index("x", drop=False)):
        optimizer = optimizer_of()
        assert optimizer.add_trials(table, "score") == range(5)
        assert optimizer.trials == expected()
    beside = optimizer_of()
    beside.add_trials(frame.drop(columns="score"), frame["score"])
    assert beside.trials == expected()
    with pytest.raises(InvalidInput, match="expected a Series with the index of the table"):
        beside.add_trials(frame.drop(columns="score"), frame["score"].sort_values(ascending=False))
