"""Keywords that have another name now: the former one works with a warning, and is refused beside the new one."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest

from quadrat._core.moved import renamed
from quadrat.errors import InvalidInput
from quadrat.integrations import DaskExecutor, RayExecutor
from quadrat.loop import maximize, minimize
from quadrat.studies import Coordinator, ProcessWorkers


@renamed(old="n_workers", new="workers")
def evaluated(objective: str, workers: int = 1, *, seed: int = 0) -> tuple[str, int, int]:
    """Return the arguments."""
    return objective, workers, seed


def test_the_former_name_works_and_the_warning_names_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match="^n_workers= is now workers=$") as caught:
        assert evaluated("f", n_workers=3, seed=2) == ("f", 3, 2)  # type: ignore[call-arg]
    assert [warning.filename for warning in caught] == [__file__]  # the line to mend, not one of the package


def test_the_new_name_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluated("f", workers=3) == evaluated("f", 3) == ("f", 3, 0)
        assert evaluated("f") == ("f", 1, 0)


def test_both_names_are_refused() -> None:
    given: list[tuple[tuple[int, ...], dict[str, Any]]] = [((), {"workers": 2}), ((2,), {})]
    for args, more in given:
        with pytest.raises(InvalidInput, match=r"^n_workers: expected workers alone, got both"):
            evaluated("f", *args, n_workers=2, **more)  # type: ignore[call-arg]


def test_other_misspelt_names_are_refused_as_ever() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_worker'"):
        evaluated("f", n_worker=2)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("function", "new"),
    [
        (maximize, "workers"),
        (minimize, "workers"),
        (ProcessWorkers, "workers"),
        (DaskExecutor, "workers"),
        (RayExecutor, "workers"),
        (Coordinator, "trial_timeout"),
    ],
)
def test_editors_see_the_new_name_alone(function: object, new: str) -> None:
    seen = inspect.signature(function).parameters  # type: ignore[arg-type]
    assert new in seen
    assert not {"n_parallel", "n_workers", "overdue"} & set(seen)
