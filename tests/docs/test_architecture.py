"""The kernel and the method of docs/architecture.md pass the checks that the library's own have to pass."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from blocks import blocks_of

import quadrat as qd
from quadrat.confidence import Assumptions, certify
from quadrat.loop.loop import Loop
from quadrat.methods import Search
from quadrat.optimizer import Optimizer
from quadrat.optimizer.replay import Replay
from quadrat.optimizer.run import Run
from quadrat.studies import Coordinator
from quadrat.studies.conditions import Presence
from quadrat.studies.engine import StudyEngine

ROOT = Path(__file__).resolve().parents[2]


def defined(name: str) -> Any:
    """What the page defines under a name; blocks that print are left out."""
    module = ModuleType("architecture_page")
    sys.modules[module.__name__] = module
    blocks = [
        block for block in blocks_of((ROOT / "docs" / "architecture.md").read_text()) if block.language == "python"
    ]
    for block in blocks:
        code = "\n".join(block.lines)
        if "print(" not in code:
            exec(code, module.__dict__)
    return getattr(module, name)


def kernel_checks() -> dict[str, Callable[..., None]]:
    """The tests of tests/kernels/test_base.py that take a kernel and nothing else."""
    spec = importlib.util.spec_from_file_location("kernel_checks", ROOT / "tests" / "kernels" / "test_base.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    tests = {name: value for name, value in vars(module).items() if name.startswith("test_")}
    return {name: value for name, value in tests.items() if list(inspect.signature(value).parameters) == ["kernel"]}


@pytest.mark.parametrize("name", kernel_checks())
def test_the_kernel_passes_the_checks_of_kernels(name: str) -> None:
    kernel_checks()[name](defined("LongMemory")((0.3, 0.7, 1.4), amplitude=1.3))


def test_there_are_checks_to_pass() -> None:
    assert len(kernel_checks()) >= 9


def named_attributes() -> list[str]:
    """What the walks through one trial name, such as Run.propose."""
    text = (ROOT / "docs" / "architecture.md").read_text().split("## A kernel")[0]
    return sorted(set(re.findall(r"`([A-Z]\w+\.\w+)", text)))


@pytest.mark.parametrize("name", named_attributes())
def test_the_steps_of_a_trial_are_those_of_the_code(name: str) -> None:
    owner, attribute = name.split(".")
    homes = {kind.__name__: kind for kind in (Optimizer, Run, Search, StudyEngine, Presence, Loop, Coordinator, Replay)}
    assert hasattr(homes[owner], attribute)


def test_the_walks_name_their_steps() -> None:
    assert {"Run.propose", "Search.ask", "Run.finish", "Run.restore", "Loop.step"} <= set(named_attributes())


def test_the_method_keeps_away_from_what_is_pending_or_failed_on_a_continuum() -> None:
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", method=defined("Shrinking")(), seed=0)
    first = [optimizer.ask() for _ in range(4)]
    assert len({trial.params["x"] for trial in first}) == 4
    for trial in first:
        optimizer.tell(trial, qd.FAILED)
    assert optimizer.ask().params["x"] not in [trial.params["x"] for trial in first]


def test_the_band_says_what_it_does_not_know_and_rejects_what_cannot_be() -> None:
    given = Assumptions(qd.Matern(2.5, 0.3), norm_bound=1.0, noise=0.05)
    empty, band = (defined("NeighbourBand")(given, 0.05) for _ in range(2))
    assert empty.rejection is None
    at = empty.interval(np.array([[0.5]]))
    assert (at.lower[0], at.upper[0]) == (-1.0, 1.0)
    band.add([[0.5], [0.51]], [5.0, 5.0])
    assert band.rejection is not None
    assert certify(band, dimension=1).rejection is not None


def test_the_method_survives_what_a_run_brings() -> None:
    """Failures, replicates, standard errors, pending trials and old results; and a copy from its log goes on alike."""
    method = defined("Shrinking")()
    space = qd.Space(x=qd.Float(0, 1), n=qd.Int(1, 5), kind=qd.Categorical(["a", "b"]))
    optimizer = qd.Optimizer(space, direction="minimize", method=method, seed=3)
    for outcome in (qd.FAILED, [0.4, 0.6], qd.Estimate(0.3, 0.1), 0.7):
        optimizer.tell(optimizer.ask(), outcome)
    pending = [optimizer.ask() for _ in range(3)]
    optimizer.tell(pending[1], 0.2)
    optimizer.add({"x": 0.5, "n": 2, "kind": "b"}, 0.1)
    assert optimizer.recommend().params == {"x": 0.5, "n": 2, "kind": "b"}
    again = qd.Optimizer.from_state(space, optimizer.state(), method=method)
    assert again.ask().params == optimizer.ask().params
