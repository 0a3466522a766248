"""What is said of trials that another version of a method chose."""

from __future__ import annotations

import pytest

from quadrat.methods import Auto, RandomSearch
from quadrat.optimizer.method_choice import what_changed


@pytest.mark.parametrize("version", [None, 1, 0, "2", 2.0, True])
def test_an_older_version_or_none_is_told_of(version: object) -> None:
    before = version if type(version) is int else 1
    assert what_changed(Auto(), version) == (
        f"these trials were chosen by version {before} of Auto; suggestions now come from version {Auto.version}"
    )


def test_nothing_is_told_of_the_same_version_or_a_newer_one() -> None:
    assert what_changed(Auto(), Auto.version) is None
    assert what_changed(Auto(), Auto.version + 1) is None
    assert what_changed(RandomSearch(), None) is None, "a method that never changed has version 1"
