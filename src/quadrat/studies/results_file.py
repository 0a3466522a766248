"""Results in a CSV file, such as a spreadsheet writes it: read and checked as a whole, then written into a study.

The header has the names of the parameters and a column with the results. A column `number` says that a row is the
result of a trial that was asked; a column `failure` says why there is none. So what `quadrat export` wrote can be
filled in and read again: rows that the study has already, and rows without a result whose trial runs, change nothing.
Nor does a row whose column `state` says that its trial was pruned: the value in it is a report, and no result.
A parameter called `number`, `state`, `value` or `failure` is exported as `params.number` and so on, and read back.
`rows_of` and `write_csv` are what `quadrat export` writes.

A row without a number becomes a trial that keeps which row it is: the name of the file, the content of the row, and the
how manieth of that content it is in the file. So the same command again, after one that was killed or in a file that
has grown, adds the rows that the study does not have.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from quadrat._core.arrays import read_decimal
from quadrat._core.input_files import read_input
from quadrat.errors import InvalidInput
from quadrat.optimizer.outcome import Estimate, Reading, read_outcome
from quadrat.space import Categorical, Fixed, Float, Parameter, Space
from quadrat.studies.distributions import OwnSpace, distribution_of
from quadrat.studies.telling import FAILURE, TrialIsOver, ending_of
from quadrat.studies.transitions import ROW, add_trials, end_trials, rows_of_files
from quadrat.studies.trials import STANDARD_ERROR

__all__ = ["FileResult", "ResultsFile", "read_results", "rows_of", "write_csv", "write_results"]

VALUE, SEM = "value", "sem"
"""The columns with results and with their standard errors, where no others are named."""

_NUMBER, _STATE, _FAILURE = "number", "state", "failure"
_COLUMNS = (_NUMBER, _STATE, VALUE, _FAILURE)  # of every export, before those of parameters
_PREFIX = "params."
_SEPARATORS = ",;\t"
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_TOP = re.compile(r"\S.*")  # the first line with anything in it
_NEAR = 1e-3  # of the range of a parameter: spreadsheets write as many digits as they show
_SAME_VALUE = 1e-4  # relative, for the same reason
_UNMEASURED, _PRUNED = ("running", "waiting"), "pruned"


@dataclass(frozen=True, slots=True)
class FileResult:
    """One row.

    Attributes
    ----------
    params
        By name, those that exist.
    reading
        What was measured there.
    trial
        The running trial that it is the result of; None for one that was not asked.
    row
        Which row of the file it is, where it is of no trial; see `ROW`.
    """

    params: Mapping[str, Any]
    reading: Reading
    trial: FrozenTrial | None
    row: str | None = None


@dataclass(frozen=True)
class ResultsFile:
    """What a file says that the study does not have yet: results in the order of rows.

    `known` rows are in the study already, `repeated` ones of them because they were read from a file of this name
    before; `unmeasured` ones belong to trials that have no result, and the columns `ignored` mean nothing here.
    """

    results: list[FileResult]
    known: int
    repeated: int
    unmeasured: int
    ignored: tuple[str, ...]


def read_results(
    path: str,
    space: Space,
    trials: Iterable[FrozenTrial],
    *,
    value: str | None = None,
    sem: str | None = None,
    rows_known: set[str] | None = None,
) -> ResultsFile:
    """Return the results in a file; nothing is written.

    `trials` are those of the study, and `rows_known` the rows of files that these are of; where they are given, trials
    are looked at only if the file has a column with their numbers.

    The file is UTF-8, with or without a byte order mark; cells are separated by commas, semicolons or tabs. Where they
    are not separated by commas, numbers may have decimal commas. The columns `value` and `sem` have results and
    standard errors; `VALUE` and `SEM` by default. An empty result, NaN or an infinity is a failure. Errors name file,
    line and column.
    """
    header, rows, separator = _cells(path, {*space, *map(_column_of, space), VALUE, value or VALUE, SEM, _NUMBER})
    reader = _Reader(path, space, header, separator, value, sem)
    if rows_known is None:
        trials = list(trials)
        rows_known = rows_of_files(trials)
    by_number = {trial.number: trial for trial in trials} if reader.has_numbers else {}
    identities = _Identities(path)
    results: list[FileResult] = []
    told_in: dict[int, int] = {}
    known = repeated = unmeasured = 0
    for line, cells in rows:
        row = _Row(line, dict(zip(header, cells, strict=False)))
        number = reader.number(row)
        trial = None if number is None else by_number.get(number)
        reading = reader.reading(row)
        written, is_open = reader.state(row), trial is None or trial.state is TrialState.RUNNING
        state = written if trial is None else trial.state.name.lower()
        if (reading is None and state in _UNMEASURED) or (is_open and written == _PRUNED):
            unmeasured += 1
            continue
        if reading is None:
            reading = Reading(failure=reader.failure(row) or "no value")
        if trial is None:
            result = FileResult(params := reader.params(row), reading, None, identities.of(params, reading))
            if result.row in rows_known:
                repeated += 1
            else:
                results.append(result)
            continue
        if trial.number in told_in:
            raise reader.wrong(row, _NUMBER, f"each trial once, got {trial.number} as in line {told_in[trial.number]}")
        told_in[trial.number] = line
        if trial.state is TrialState.RUNNING:
            results.append(FileResult(reader.params_of_trial(row, trial), reading, trial))
        else:
            reader.check_known(row, trial, reading)
            known += 1
    return ResultsFile(results, known + repeated, repeated, unmeasured, reader.ignored)


def write_results(study: Study, results: list[FileResult], space: Space) -> int:
    """Write results into a study: into the trials that were asked, or as trials of their own; return how many are new.

    The list is emptied.

    Raises
    ------
    TrialIsOver
        Trials that somebody told since they were read; all other results are in the study.
    """
    asked = {one.trial._trial_id: one.trial.number for one in results if one.trial is not None}
    endings = {one.trial._trial_id: ending_of(one.reading) for one in results if one.trial is not None}
    refused = end_trials(study._storage, endings)
    added = add_trials(study._storage, study._study_id, _trials_of(results, space))
    if refused:
        numbers = ", ".join(str(asked[trial_id]) for trial_id in refused)
        raise TrialIsOver(
            f"number: expected trials that run, got {numbers}, which somebody told just now; what they were told then"
            " stays, and all other rows are in the study"
        )
    return added


def _trials_of(results: list[FileResult], space: Space) -> Iterator[FrozenTrial]:
    """Yield a trial for each result that was not asked for, and drop the result: there may be a million."""
    distributions: dict[tuple[str, ...], dict[str, BaseDistribution]] = {}
    results.reverse()
    while results:
        result = results.pop()
        if result.trial is not None:
            continue
        reading, names = result.reading, tuple(result.params)
        if names not in distributions:
            distributions[names] = {name: distribution_of(space[name]) for name in names}
        noted = {FAILURE: reading.failure, STANDARD_ERROR: reading.sem}
        now = datetime.now()  # as Optuna does, which adds what it needs to know of the time zone
        yield FrozenTrial(  # create_trial checks what was checked here, and takes longer than all else
            number=-1,
            trial_id=-1,
            state=TrialState.FAIL if reading.failure else TrialState.COMPLETE,
            value=None if reading.failure else reading.values[0],
            datetime_start=now,
            datetime_complete=now,
            params=dict(result.params),
            distributions=distributions[names],
            user_attrs={name: note for name, note in noted.items() if note is not None},
            system_attrs={} if result.row is None else {ROW: result.row},
            intermediate_values={},
        )


class _Identities:
    """Names the rows of a file: by the file's name, the row's content, and how often that was there before.

    Where the row stands does not count: a file may be sorted, and rows may be added anywhere. Equal rows are several
    results, in one file as in two files of different names.
    """

    def __init__(self, path: str) -> None:
        self._file = Path(path).name
        self._seen: set[bytes] = set()
        self._again: dict[bytes, int] = {}

    def of(self, params: Mapping[str, Any], reading: Reading) -> str:
        content = repr((self._file, sorted(params.items()), reading.values, reading.sem, reading.failure))
        digest = hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16)
        first = digest.digest()
        if first in self._seen:
            self._again[first] = self._again.get(first, 0) + 1
            digest.update(str(self._again[first]).encode())
        self._seen.add(first)
        return digest.hexdigest()


@dataclass(frozen=True)
class _Row:
    line: int
    cells: Mapping[str, str]

    def cell(self, name: str | None) -> str:
        """Return what stands in a column, without blanks around it; nothing where there is no such column."""
        return "" if name is None else self.cells.get(name, "").strip()


class _Reader:
    """Reads the cells of rows, and says where those that are wrong stand."""

    def __init__(
        self, path: str, space: Space, header: Sequence[str], separator: str, value: str | None, sem: str | None
    ) -> None:
        self._path, self._space, self._header, self._separator = path, space, header, separator
        # A file that people wrote has the column `number` for a parameter of that name, an export has `params.number`.
        self._columns = {name: column if (column := _column_of(name)) in header else name for name in space}
        self._taken = {*self._columns.values()}
        self._is_plain = not any(parameter.when for parameter in space.values())
        self._value = self._column(value or VALUE, "value")
        self._sem = self._column(sem, "sem") if sem is not None else SEM if SEM in {*header} - self._taken else None
        used = {self._value, self._sem, _NUMBER, _STATE, _FAILURE, *self._taken}
        self.ignored = tuple(name for name in header if name not in used and name)
        self.has_numbers = _NUMBER in {*header} - self._taken

    def _column(self, name: str, option: str) -> str:
        if name in self._taken:
            raise InvalidInput(
                f"{self._path}, line 1: expected a column of results, got {name!r}, which is a parameter; name another"
                f" with --{option}, or call the column of the parameter {_PREFIX}{name}"
            )
        if name not in self._header:
            raise InvalidInput(
                f"{self._path}, line 1: expected a column {name!r}, got {', '.join(self._header)}; say which it is with"
                f" --{option}"
            )
        return name

    def wrong(self, row: _Row, column: str, expected: str) -> InvalidInput:
        return InvalidInput(f"{self._path}, line {row.line}, column {column!r}: expected {expected}")

    def state(self, row: _Row) -> str:
        """Return the state that `quadrat export` wrote down."""
        return "" if _STATE in self._taken else row.cell(_STATE)

    def failure(self, row: _Row) -> str:
        """Return why there is no result."""
        return "" if _FAILURE in self._taken else row.cell(_FAILURE)

    def number(self, row: _Row) -> int | None:
        """Return the number of the trial; None where there is none."""
        text = "" if _NUMBER in self._taken else row.cell(_NUMBER)
        if not text:
            return None
        found = self._as_number(text)
        if found is None or not found.is_integer() or found < 0:
            raise self.wrong(row, _NUMBER, f"the number of a trial, or nothing, got {text!r}")
        return int(found)

    def reading(self, row: _Row) -> Reading | None:
        """Return what was measured; None where nothing is said of it."""
        text = row.cell(self._value)
        if not text:
            return None
        measured = self._as_number(text)
        if measured is None:
            raise self.wrong(row, self._value, f"a number, or nothing where it failed, got {text!r}")
        reason = self.failure(row) or None
        error = row.cell(self._sem)
        if not error or self._sem is None:
            return read_outcome(measured, reason=reason)
        sem = self._as_number(error)
        try:
            return read_outcome(Estimate(measured, math.nan if sem is None else sem), reason=reason)
        except InvalidInput:
            raise self.wrong(row, self._sem, f"a standard error, a positive number, got {error!r}") from None

    def params(self, row: _Row) -> dict[str, Any]:
        """Return the parameters, those that exist; cells of others are empty."""

        def read(name: str, parameter: Parameter) -> Any:
            column = self._columns[name]
            text = row.cell(column)
            if isinstance(parameter, Fixed) and not text:
                return parameter.value
            if column not in self._header:
                there = ", ".join(self._header)
                raise self.wrong(row, column, f"{parameter.expected}, got no such column; the header has {there}")
            code = parameter.read([self._as_value(text, parameter)])
            if math.isnan(code[0]):
                raise self.wrong(row, column, f"{parameter.expected}, got {repr(text) if text else 'an empty cell'}")
            return parameter.show(code)[0]

        if self._is_plain:  # in a quarter of the time
            found = {name: read(name, parameter) for name, parameter in self._space.items()}
        else:
            found = self._space.choose_each(read)
        for name, column in self._columns.items():
            if name not in found and row.cell(column):
                raise self.wrong(
                    row, column, f"an empty cell, because {name} does not exist in this row, got {row.cell(column)!r}"
                )
        return found

    def params_of_trial(self, row: _Row, trial: FrozenTrial) -> dict[str, Any]:
        """Return those of a trial that was asked; what the row says of them, if anything, must be the same."""
        asked = OwnSpace(self._space).read(trial.params)
        if asked is None:
            raise self.wrong(row, _NUMBER, f"a trial in the space, got {trial.number}, which has {trial.params}")
        if not any(row.cell(column) for column in self._taken):
            return asked
        given = self.params(row)
        for name, column in self._columns.items():
            if not _is_near(self._space[name], asked.get(name), given.get(name)):
                raise self.wrong(
                    row,
                    column,
                    f"{asked.get(name)}, which was asked as trial {trial.number}, got {row.cell(column) or 'nothing'};"
                    f" empty the cell {_NUMBER!r} if this is a trial of its own",
                )
        return asked

    def check_known(self, row: _Row, trial: FrozenTrial, reading: Reading) -> None:
        """Refuse a row with the number of a trial that is over, unless it says what the trial says."""
        state = "failed" if trial.state is TrialState.FAIL else trial.state.name.lower()
        is_same = trial.state is not TrialState.COMPLETE and not reading.values
        if trial.values and (reading.values or trial.state is TrialState.COMPLETE):
            state += f" with {trial.values[0]:g}"
            is_same = bool(reading.values) and math.isclose(trial.values[0], reading.values[0], rel_tol=_SAME_VALUE)
            is_same = is_same or (not math.isfinite(trial.values[0]) and not reading.values)
        if not is_same:
            raise self.wrong(
                row,
                _NUMBER,
                f"a trial that runs, got {trial.number}, which is {state}; empty the cell, and that of"
                f" {_STATE!r}, if this is a trial of its own",
            )
        if trial.params:  # one that was interrupted while it was asked has none
            self.params_of_trial(row, trial)

    def _as_value(self, text: str, parameter: Parameter) -> object:
        if isinstance(parameter, Categorical | Fixed):
            return _chosen(text, parameter.choices if isinstance(parameter, Categorical) else (parameter.value,), self)
        return self._as_number(text)

    def _as_number(self, text: str) -> float | None:
        if self._separator != "," and _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        return read_decimal(text)


def _chosen(text: str, choices: Sequence[object], reader: _Reader) -> object:
    """Return the choice that a cell means; NaN, which is none, where it means none."""
    for choice in choices:
        if text == ("" if choice is None else str(choice)):
            return choice
    for choice in choices:
        if isinstance(choice, bool | None):
            if text.casefold() == str(choice).casefold():  # spreadsheets write TRUE
                return choice
        elif isinstance(choice, int | float) and reader._as_number(text) == choice:
            return choice
    return math.nan


def _is_near(parameter: Parameter, one: Any, other: Any) -> bool:
    if isinstance(parameter, Float) and one is not None and other is not None:
        ends = parameter.encode(parameter.read([one, other]))
        return bool(abs(ends[0] - ends[1]) <= _NEAR)
    return bool(one == other)


def _cells(path: str, known: set[str]) -> tuple[list[str], Iterator[tuple[int, list[str]]], str]:
    """Return the names of the columns, the rows that are not empty with the lines they end in, and the separator."""
    try:
        content = read_input(path)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: expected a CSV file, got: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path}: expected UTF-8 text, got: {error}; in a spreadsheet, save it as CSV UTF-8"
        ) from None
    top = _TOP.search(text)
    lines = top[0].split("\r")[:1] if top else []
    separator = max(_SEPARATORS, key=lambda one: _familiar(lines, one, known))
    del text  # a million rows take 100 MB
    rows = _rows_in(path, content, separator)
    first = next(rows, None)
    if first is None:
        raise InvalidInput(f"{path}: expected a header with the names of columns, got an empty file")
    line, names = first
    header = [name.strip() for name in names]
    named = [name for name in header if name]
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise InvalidInput(f"{path}, line {line}: expected each column once, got {twice!r} more than once")
    return header, _not_too_long(path, rows, len(header)), separator


def _rows_in(path: str, content: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline=""), delimiter=separator)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {reader.line_num}: expected CSV, got: {error}") from None


def _not_too_long(path: str, rows: Iterator[tuple[int, list[str]]], count: int) -> Iterator[tuple[int, list[str]]]:
    for line, row in rows:
        if any(cell.strip() for cell in row[count:]):
            raise InvalidInput(
                f"{path}, line {line}: expected {count} cells, as in the header, got {len(row)}: {row!r:.120}"
            )
        yield line, row


def _familiar(lines: Sequence[str], separator: str, known: set[str]) -> tuple[int, int]:
    """Return how many names of columns are known, and how many there are, if this separates the header."""
    try:
        header = next(csv.reader(lines, delimiter=separator), [])
    except csv.Error:  # such as a name of more characters than a cell may have
        return 0, 0
    return sum(name.strip() in known for name in header), len(header)


def rows_of(study: Study) -> list[dict[str, Any]]:
    """Return a row for each trial, by number: number, state, value, failure, then its parameters.

    A parameter that is called as one of the first columns has its name after "params.", so that it replaces none. All
    rows have the same keys; what does not exist in a trial is None. Of several objectives the value is a list. The
    value of a pruned trial is its last report, as the storage has it: no result, as its state says.
    """
    trials = study.get_trials(deepcopy=False)
    names = list({name: None for trial in trials for name in trial.params})
    return [
        {
            _NUMBER: trial.number,
            _STATE: trial.state.name.lower(),
            VALUE: trial.values[0] if trial.values and len(trial.values) == 1 else trial.values,
            _FAILURE: trial.user_attrs.get(FAILURE),
            **{_column_of(name): trial.params.get(name) for name in names},
        }
        for trial in trials
    ]


def _column_of(name: str) -> str:
    """Return the column of a parameter in an export; no two parameters have the same, and none has one of `_COLUMNS`.

    Examples
    --------
    >>> _column_of("rate"), _column_of("value"), _column_of("params.value")
    ('rate', 'params.value', 'params.params.value')
    """
    inner = name
    while inner.startswith(_PREFIX):
        inner = inner.removeprefix(_PREFIX)
    return _PREFIX + name if inner in _COLUMNS else name


def write_csv(study: Study, file: TextIO) -> None:
    """Write the rows as CSV, floats with all their digits, empty cells where there is nothing."""
    rows = rows_of(study)
    writer = csv.DictWriter(file, list(rows[0]) if rows else _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
