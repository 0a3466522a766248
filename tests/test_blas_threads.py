"""One BLAS thread while Quadrat computes, and what was set before afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import ThreadpoolController

from quadrat import Float, Optimizer, Space
from quadrat.blas_threads import _blas, on_one_blas_thread
from quadrat.methods.auto import method as auto


def threads() -> list[int]:
    return [library.num_threads for library in _blas().lib_controllers]


@pytest.fixture
def two_threads() -> Iterator[None]:
    with ThreadpoolController().limit(limits=2):
        yield


def test_the_libraries_of_numpy_and_scipy_are_known() -> None:
    assert len(threads()) >= 1
    assert all(library.user_api == "blas" for library in _blas().lib_controllers)


@pytest.mark.usefixtures("two_threads")
def test_one_thread_within_and_as_many_as_before_afterwards() -> None:
    if set(threads()) != {2}:
        pytest.skip("this BLAS does not take a number of threads")
    assert set(on_one_blas_thread(threads)()) == {1}
    assert set(threads()) == {2}

    @on_one_blas_thread
    def fails() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert set(threads()) == {2}
    assert on_one_blas_thread(on_one_blas_thread(threads))() == [1] * len(threads())


@pytest.mark.usefixtures("two_threads")
def test_an_optimizer_computes_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()

    def spied(name: str) -> None:
        original = getattr(auto.AutoSearch, name)

        def wrapped(*args: object) -> object:
            seen.update(threads())
            return original(*args)

        monkeypatch.setattr(auto.AutoSearch, name, wrapped)

    for name in ("ask", "tell", "tell_many", "recommend", "rebuild"):
        spied(name)
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize")
    optimizer.add_trials([{"x": 0.1}, {"x": 0.6}], [0.0, 1.0])
    optimizer.tell(optimizer.ask(), 0.5)
    optimizer.recommend()
    Optimizer.from_state(optimizer.space, optimizer.state())
    assert seen == {1}
    assert set(threads()) == {2}
