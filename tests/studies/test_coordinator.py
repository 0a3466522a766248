"""The coordinator of a study: what it begins it ends, whatever happens in between."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.study import Study
from optuna.trial import TrialState

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.loop.workers import ExecutorGone, Finished, Here, OnExecutor, WorkerDied, Workers
from quadrat.studies import Coordinator, telling
from quadrat.studies.lease import ASKED, Lease, note_asking
from quadrat.studies.notes import METHOD
from quadrat.studies.telling import FAILURE
from quadrat.studies.trials import REPLICATES, STANDARD_ERROR

SPACE = qd.Space(x=qd.Float(-1, 1), kind=qd.Categorical(["a", "b"]), n=qd.Int(1, 5, when={"kind": "b"}))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def value_of(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2 + (params["kind"] == "a") + 0.1 * params.get("n", 0))


def dies_at_first(params: dict[str, Any]) -> float:
    """Ends its process when it is called for the first time in a folder."""
    mark = Path(os.environ["QUADRAT_TEST_FOLDER"]) / "died"
    if not mark.exists():
        mark.touch()
        os._exit(1)
    return value_of(params)


def always_dies(params: dict[str, Any]) -> float:
    os._exit(1)


def study_at(path: Path) -> Study:
    sampler = qd.QuadratSampler(seed=0, search_space=SPACE)
    return optuna.create_study(
        storage=qd.journal_storage(path), study_name="s", sampler=sampler, load_if_exists=True, direction="minimize"
    )


def run(study: Study, objective: Callable[[dict[str, Any]], object] = value_of, n_trials: int = 8, **more: Any) -> str:
    return Coordinator(study, SPACE, lambda: Here(objective), n_trials=n_trials, **more).run()


def params_of(study: Study) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


def test_one_after_another_it_does_what_an_optimizer_does(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    told: list[int] = []
    assert run(study, on_told=lambda number, _: told.append(number)) == "all 8 trials done"
    assert told == list(range(8))
    optimizer = qd.Optimizer(SPACE, direction="minimize", seed=0)
    for trial in study.trials:
        asked = optimizer.ask()
        assert asked.params == trial.params
        assert trial.value == value_of(asked.params)
        optimizer.tell(asked, value_of(asked.params))


def test_trials_of_earlier_runs_count(tmp_path: Path) -> None:
    run(study_at(tmp_path / "log"), n_trials=3)
    study = study_at(tmp_path / "log")
    run(study, n_trials=8)
    assert len(study.trials) == 8
    whole = study_at(tmp_path / "other")
    run(whole)
    assert params_of(study) == params_of(whole)
    assert run(study, n_trials=8) == "all 8 trials done"
    assert len(study.trials) == 8


class Killed(BaseException):
    """As a process that is killed in the middle of an evaluation: nothing is told."""


@pytest.fixture(autouse=True)
def killed_is_not_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    collect = Here.collect

    def collected(self: Here, timeout: float | None) -> list[Finished]:
        finished = collect(self, timeout)
        for one in finished:
            if isinstance(one.error, Killed):
                raise one.error
        return finished

    monkeypatch.setattr(Here, "collect", collected)


@pytest.mark.parametrize(
    "error", [asyncio.CancelledError("too late"), GeneratorExit("too late"), SystemExit("too late")]
)
def test_whatever_an_objective_raises_fails_its_trial(error: BaseException, tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")

    def objective(params: dict[str, Any]) -> float:
        if len(study.get_trials(deepcopy=False)) == 2:
            raise error
        return value_of(params)

    assert run(study, objective, n_trials=3) == "all 3 trials done"
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "FAIL", "COMPLETE"]
    assert study.trials[1].user_attrs[FAILURE] == f"{type(error).__name__}: too late"


@pytest.mark.parametrize("at", [0, 3, 7])
def test_what_was_begun_and_not_ended_is_evaluated_again(at: int, tmp_path: Path) -> None:
    """With the same number and parameters; the study is that of a run that was not interrupted."""
    calls = 0

    def interrupted(params: dict[str, Any]) -> float:
        nonlocal calls
        calls += 1
        if calls == at + 1:
            raise Killed
        return value_of(params)

    with pytest.raises(Killed):
        run(study_at(tmp_path / "log"), interrupted)
    study = study_at(tmp_path / "log")
    assert study.trials[at].state is TrialState.RUNNING
    run(study)
    whole = study_at(tmp_path / "whole")
    run(whole)
    assert params_of(study) == params_of(whole)
    assert all(trial.state is TrialState.COMPLETE for trial in study.trials)


def interrupted_at_the_second_trial(study: Study, error: type[BaseException]) -> None:
    def objective(params: dict[str, Any]) -> float:
        if len(study.get_trials(deepcopy=False)) == 2:
            raise error
        return value_of(params)

    with pytest.raises(error):
        run(study, objective)


def test_a_trial_that_kills_this_process_again_and_again_has_failed_and_the_study_goes_on(tmp_path: Path) -> None:
    """Each coordinator stands for a process: nothing is known but what is in the study."""
    for _ in range(3):
        interrupted_at_the_second_trial(study_at(tmp_path / "log"), Killed)
    study = study_at(tmp_path / "log")
    calls: list[dict[str, Any]] = []

    def noted(params: dict[str, Any]) -> float:
        calls.append(params)
        return value_of(params)

    assert run(study, noted, n_trials=4) == "all 4 trials done"
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "FAIL", "COMPLETE", "COMPLETE"]
    assert study.trials[1].user_attrs[FAILURE] == (
        "WorkerDied: its process ended 3 times, and it is not evaluated again"
    )
    assert study.trials[1].params not in calls


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_pool_of_an_objective_ends_its_processes(tmp_path: Path) -> None:
    """By SIGTERM, which they would take for a wish that the run ends, and go on."""

    def with_a_process(params: dict[str, Any]) -> float:
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writes, b"ready")
            time.sleep(60)
            os._exit(0)
        os.read(reads, 5)
        os.kill(child, signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
        return value_of(params)

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    study = study_at(tmp_path / "log")
    try:
        assert run(study, with_a_process, n_trials=2) == "all 2 trials done"
    finally:
        signal.signal(signal.SIGTERM, before)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 2


def test_a_trial_that_has_failed_is_told_before_the_next_one_kills_this_process(tmp_path: Path) -> None:
    """Or else an objective that always kills its process would have its first trial running for ever."""

    def killing(params: dict[str, Any]) -> float:
        raise Killed

    for killed in range(7):
        study = study_at(tmp_path / "log")
        with pytest.raises(Killed):
            run(study, killing, n_trials=4)
        assert [trial.state.name for trial in study.trials] == ["FAIL"] * (killed // 3) + ["RUNNING"]


def test_a_trial_that_somebody_interrupted_is_evaluated_however_often(tmp_path: Path) -> None:
    for _ in range(5):
        interrupted_at_the_second_trial(study_at(tmp_path / "log"), KeyboardInterrupt)
    study = study_at(tmp_path / "log")
    run(study, n_trials=3)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 3


def test_deaths_of_workers_and_of_this_process_are_counted_together(tmp_path: Path) -> None:
    interrupted_at_the_second_trial(study_at(tmp_path / "log"), Killed)
    study, made = study_at(tmp_path / "log"), []  # type: ignore[var-annotated]
    Coordinator(study, SPACE, pools(always_dies, made), n_trials=2).run()
    assert len(made) == 3, "two that died, and a new one"
    assert study.trials[1].user_attrs[FAILURE].endswith(", 3 times")
    for executor in made:
        executor.shutdown()


def test_a_trial_that_was_asked_but_has_no_owner_yet_is_taken_over(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    study.ask()
    run(study, n_trials=2)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="needs to know which processes live")
def test_a_trial_that_is_being_asked_is_left_to_whom_asked_it(tmp_path: Path) -> None:
    """`quadrat ask` in the moment in which its trial has no parameters; one of a process that is dead is taken over."""
    study = study_at(tmp_path / "log")
    for _ in range(4):
        note_asking(study, study.ask()._trial_id)
    changes: tuple[dict[str, Any], ...] = ({"pid": 1}, {"pid": "../etc"}, {"kernel": "other"})
    for trial, change in zip(study.trials[1:], changes, strict=True):
        study._storage.set_trial_system_attr(trial._trial_id, ASKED, {**trial.system_attrs[ASKED], **change})
    run(study, n_trials=4)
    assert [trial.state.name for trial in study.trials] == ["RUNNING", "COMPLETE", "COMPLETE", "RUNNING"]


def test_a_trial_that_somebody_else_evaluates_is_left_to_them(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    other = study.ask()
    qd.suggest(other, SPACE)
    run(study, n_trials=3)
    assert [trial.state for trial in study.trials] == [TrialState.RUNNING, TrialState.COMPLETE, TrialState.COMPLETE]


def test_a_trial_that_somebody_else_tells_meanwhile_is_theirs(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")

    def overtaken(params: dict[str, Any]) -> float:
        running = study.get_trials(states=(TrialState.RUNNING,))
        if running[0].number == 1:
            study.tell(1, 77.0)
        return value_of(params)

    assert run(study, overtaken, n_trials=3) == "all 3 trials done"
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 3
    assert study.trials[1].value == 77.0
    assert study.trials[2].value == value_of(study.trials[2].params)


@pytest.mark.parametrize(
    ("outcome", "value", "attributes"),
    [
        (2.0, 2.0, {}),
        ([1.0, 3.0], 2.0, {REPLICATES: [1.0, 3.0]}),
        (qd.Estimate(2.0, 0.5), 2.0, {STANDARD_ERROR: 0.5}),
        (qd.FAILED, None, {FAILURE: "told FAILED"}),
        (float("nan"), None, {FAILURE: "told nan"}),
        ("text", None, {FAILURE: "InvalidInput: outcome: expected"}),
        (None, None, {FAILURE: "InvalidInput: outcome: expected"}),
        (qd.Measured(qd.Estimate(2.0, 0.5), {"c": 1.0}), 2.0, {STANDARD_ERROR: 0.5}),
    ],
    ids=str,
)
def test_outcomes(outcome: object, value: float | None, attributes: dict[str, object], tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    run(study, lambda _: outcome, n_trials=1)
    [trial] = study.trials
    assert trial.value == value
    for name, expected in attributes.items():
        got = trial.user_attrs[name]
        assert got.startswith(expected) if isinstance(expected, str) else got == expected


@pytest.mark.parametrize("pair", [(2.0, 0.5), qd.Measured((2.0, 0.5), {"c": 1.0})], ids=str)
def test_a_pair_ends_the_run_at_once_and_loses_nothing(pair: object, tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    run(study, value_of, n_trials=2)
    with pytest.raises(InvalidInput, match=r"^objective: trial 2: outcome: expected one outcome, got a tuple of 2"):
        run(study, lambda _: pair, n_trials=9)
    states = [trial.state for trial in study.trials]
    assert states == [TrialState.COMPLETE, TrialState.COMPLETE, TrialState.FAIL]
    assert study.trials[2].user_attrs[FAILURE].startswith("InvalidInput: outcome: expected one outcome, got a tuple")


def test_constraints_and_exceptions(tmp_path: Path) -> None:
    def objective(params: dict[str, Any]) -> qd.Measured:
        if params["kind"] == "a":
            raise ValueError("no such kind")
        return qd.Measured(1.0, {"size": params["x"] - 0.5})

    study = study_at(tmp_path / "log")
    run(study, objective)
    for trial in study.trials:
        if trial.params["kind"] == "a":
            assert trial.user_attrs[FAILURE] == "ValueError: no such kind"
        else:
            named = getattr(trial, "constraints", None) or {"size": trial.system_attrs["constraints"][0]}  # Optuna 4
            assert named == {"size": trial.params["x"] - 0.5}


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors(kind: type[ThreadPoolExecutor] | type[ProcessPoolExecutor], tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    with kind(2) as executor:
        Coordinator(study, SPACE, lambda: OnExecutor(value_of, executor, 2), n_trials=10).run()
    assert [trial.number for trial in study.trials] == list(range(10))
    assert all(trial.value == value_of(trial.params) for trial in study.trials)


def pools(objective: Callable[[dict[str, Any]], float], made: list[Executor]) -> Callable[[], Workers]:
    def make() -> Workers:
        made.append(ProcessPoolExecutor(1))
        return OnExecutor(objective, made[-1], 1)

    return make


def test_a_trial_whose_worker_died_is_evaluated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUADRAT_TEST_FOLDER", str(tmp_path))
    study, made = study_at(tmp_path / "log"), []  # type: ignore[var-annotated]
    Coordinator(study, SPACE, pools(dies_at_first, made), n_trials=3).run()
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 3
    assert len(made) == 2
    for executor in made:
        executor.shutdown()


def test_a_trial_that_kills_every_worker_fails_after_some_tries(tmp_path: Path) -> None:
    study, made = study_at(tmp_path / "log"), []  # type: ignore[var-annotated]
    Coordinator(study, SPACE, pools(always_dies, made), n_trials=1, retries=1).run()
    assert study.trials[0].state is TrialState.FAIL
    assert study.trials[0].user_attrs[FAILURE].startswith("WorkerDied: ")
    assert study.trials[0].user_attrs[FAILURE].endswith(", 2 times")
    for executor in made:
        executor.shutdown()


def test_an_executor_that_is_gone_ends_the_run_and_fails_nothing(tmp_path: Path) -> None:
    class Gone(ThreadPoolExecutor):
        calls = 0

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            Gone.calls += 1
            if Gone.calls <= 3:
                return super().submit(fn, *args, **kwargs)
            future: Future[Any] = Future()
            future.set_exception(ExecutorGone("the scheduler went away"))
            return future

    study = study_at(tmp_path / "log")
    with Gone(1) as executor, pytest.raises(NotAvailable, match="the scheduler went away"):
        Coordinator(study, SPACE, lambda: OnExecutor(value_of, executor, 1), n_trials=20).run()
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 3 + [TrialState.RUNNING]
    run(study, n_trials=5)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 5


@pytest.mark.skipif(not hasattr(optuna.Trial, "set_constraint"), reason="Optuna 4 keeps no names of constraints")
def test_constraints_of_other_names_fail_their_trial_and_nothing_else(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")

    def objective(params: dict[str, Any]) -> qd.Measured:
        name = "other" if len(study.trials) == 2 else "size"
        return qd.Measured(value_of(params), {name: -1.0})

    assert run(study, objective, n_trials=4) == "all 4 trials done"
    states = [trial.state for trial in study.trials]
    assert states == [TrialState.COMPLETE, TrialState.FAIL, TrialState.COMPLETE, TrialState.COMPLETE]


class _Stuck(ThreadPoolExecutor):
    """Workers of which the first call never ends, until it is given up."""

    def __init__(self) -> None:
        super().__init__(1)
        self.abandoned = 0

    def submit(self, function: Any, *args: Any) -> Future[Any]:  # type: ignore[override]
        return super().submit(function, *args) if self.abandoned else Future()

    def abandon(self, future: Future[Any]) -> None:
        self.abandoned += 1
        future.set_exception(WorkerDied("it was given up"))


@pytest.mark.parametrize("name", ["trial_timeout", "overdue"])
def test_an_evaluation_has_a_limit_of_its_own(name: str, tmp_path: Path) -> None:
    """By the name of today, and by the former one with a warning."""
    study = study_at(tmp_path / "j.log")
    limit: dict[str, Any] = {name: 0.05}
    with _Stuck() as executor, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DeprecationWarning)
        run = Coordinator(study, SPACE, lambda: OnExecutor(value_of, executor, 1), n_trials=2, **limit)
        assert run.run() == "all 2 trials done"
    assert executor.abandoned == 1
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 2
    said = [str(warning.message) for warning in caught if warning.category is DeprecationWarning]
    assert said == ([] if name == "trial_timeout" else ["overdue= is now trial_timeout="])


def test_a_timeout_lets_what_runs_finish(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")

    def slow(params: dict[str, Any]) -> float:
        time.sleep(0.2)
        return value_of(params)

    assert run(study, slow, n_trials=50, timeout=0.3) == "timeout"
    assert 1 <= len(study.trials) < 10
    assert all(trial.state is TrialState.COMPLETE for trial in study.trials)


def test_a_study_ends_when_little_is_left_to_gain(tmp_path: Path) -> None:
    """Not before five results; the same study then begins nothing more, and one that leaves nothing goes on."""
    study = study_at(tmp_path / "log")
    said = run(study, value_of, n_trials=9, stop_at_gain=1e6)
    assert said.startswith("with more than 99 % at most 1e+06 is left to gain, and with 90 % at most ")
    assert said.endswith(" (stop-at-gain) after 5 results")
    assert len(study.trials) == 5
    assert run(study, value_of, n_trials=9, stop_at_gain=1e6) == said
    assert len(study.trials) == 5
    assert run(study, value_of, n_trials=7, stop_at_gain=0.0) == "all 7 trials done"


def test_a_method_without_an_estimate_of_the_gain_does_not_stop_by_it(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    study.set_user_attr(METHOD, "LPGPUCB(kernel=Matern(2.5, 0.5), norm_bound=2, noise=0.1, budget=20)")
    with pytest.raises(
        InvalidInput, match=r"stop-at-gain: expected a method that estimates .* such as Auto, got LPGPUCB"
    ):
        run(study, value_of, n_trials=9, stop_at_gain=0.1)
    assert not study.trials


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_interrupt_drains_and_the_second_stops(number: int, tmp_path: Path) -> None:
    before = signal.getsignal(number)

    def interrupts(times: int) -> Callable[[dict[str, Any]], float]:
        def objective(params: dict[str, Any]) -> float:
            for _ in range(times):
                os.kill(os.getpid(), number)
            return value_of(params)

        return objective

    study = study_at(tmp_path / "log")
    assert run(study, interrupts(1)) == f"interrupted by {signal.Signals(number).name}"
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE]
    with pytest.raises(KeyboardInterrupt):
        run(study, interrupts(2))
    assert study.trials[1].state is TrialState.RUNNING, "the next coordinator evaluates it again"
    assert signal.getsignal(number) is before


# --- leases


def test_a_study_has_one_coordinator_at_a_time(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    with Lease(study), pytest.raises(InvalidInput, match=f"which process {os.getpid()} on"), Lease(study):
        pass
    with Lease(study):
        pass


def lease_of(study: Study) -> dict[str, Any]:
    """Return the lease of a study, as this process would write it."""
    with Lease(study):
        return dict(study.user_attrs["quadrat:coordinator"], owner="x")


linux_only = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the kernel's word on processes")


@linux_only
@pytest.mark.parametrize("change", [{"pid": 2**22 + 1}, {"started": 1}], ids=["ended", "its number is another's now"])
def test_a_lease_of_a_process_that_died_here_is_void_at_once(change: dict[str, int], tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    study.set_user_attr("quadrat:coordinator", {**lease_of(study), **change})
    with Lease(study, seconds=1000):
        pass


@linux_only
def test_a_lease_of_a_process_that_runs_here_holds_without_signs_of_life(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    study.set_user_attr("quadrat:coordinator", lease_of(study))
    with pytest.raises(InvalidInput, match=f"which process {os.getpid()} on"), Lease(study, seconds=0.01):
        pass


def test_a_lease_of_another_machine_holds_as_long_as_there_are_signs_of_life(tmp_path: Path) -> None:
    """No clock is compared: what matters is that something changes."""
    study = study_at(tmp_path / "log")
    other = {**lease_of(study), "host": "elsewhere", "kernel": "another"}
    study.set_user_attr("quadrat:coordinator", other)
    renewal = threading.Timer(0.2, lambda: study.set_user_attr("quadrat:coordinator", {**other, "signs": 2}))
    renewal.start()
    with pytest.raises(InvalidInput, match="on elsewhere does"), Lease(study, seconds=60):
        pass
    renewal.join()
    with Lease(study, seconds=0.3):
        pass


def test_a_lease_is_renewed_while_it_is_held(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")
    with Lease(study, seconds=0.3):
        first = study.user_attrs["quadrat:coordinator"]["signs"]
        deadline = time.monotonic() + 10
        while study.user_attrs["quadrat:coordinator"]["signs"] == first:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    assert study.user_attrs["quadrat:coordinator"] is None
    assert not any(thread.name == "quadrat-lease" for thread in threading.enumerate())


def test_a_coordinator_whose_study_was_taken_over_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was suspended for long, on another machine, when it wakes up; the lease stays with the other one."""
    study = study_at(tmp_path / "log")
    other = {**lease_of(study), "host": "elsewhere"}
    monkeypatch.setattr(Lease.__init__, "__kwdefaults__", {"seconds": 0.03})

    def taken_over(params: dict[str, Any]) -> float:
        study.set_user_attr("quadrat:coordinator", other)
        time.sleep(0.3)
        return value_of(params)

    with pytest.raises(InvalidInput, match="on elsewhere does"):
        run(study, taken_over)
    assert study.user_attrs["quadrat:coordinator"] == other
    assert len(study.trials) == 1


def test_constraints_where_optuna_keeps_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With Optuna 4 every trial but the first failed, because its constraints had no names in the study."""
    monkeypatch.setattr(telling, "_HAS_NAMES", False)

    def objective(params: dict[str, Any]) -> qd.Measured:
        return qd.Measured(value_of(params), {"size": params["x"] - 0.5, **{f"c{i:02}": float(i) for i in range(11)}})

    study = study_at(tmp_path / "log")
    run(study, objective, n_trials=4)
    for trial in study.trials:
        assert trial.system_attrs["constraints"] == [*map(float, range(11)), trial.params["x"] - 0.5]
