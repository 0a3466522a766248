"""Tasks: an instance of a YAHPO scenario, at full fidelity, over the space of its configurations.

The data are those of YAHPO Gym 1.0.2 [P22]: for each scenario a folder with `config_space.json` (the parameters and the
conditions under which they exist), `encoding.json` (integer codes of categorical values) and `model.onnx`, a network
that predicts what a training would have given. Values are counted in units of the instance: 0 is the median of random
configurations, 1 their 95 % quantile. `units.json` has both in what the scenario measures, and the best value known.

References
----------
[P22]  Pfisterer, Schneider, Moosbauer, Binder and Bischl (2022). YAHPO Gym: an efficient multi-objective
       multi-fidelity benchmark for hyperparameter optimization. AutoML Conference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from regret.rows import ROOT
from regret.task import Params, Task

from quadrat._core.arrays import Array, Ints
from quadrat.space import Categorical, Float, Int, Space
from quadrat.space.parameter import Parameter

__all__ = [
    "DATA", "DEVELOPMENT", "PROBLEMS", "SCENARIOS", "TABLES", "Instance", "MissingData", "Predictor", "Scenario",
    "Surrogate", "TuningTask", "Units", "chosen", "data_folder", "instance", "read_units", "space_of", "task",
]  # fmt: skip

DATA = "YAHPO_DATA"  # environment variable with the folder, so that worker processes find it
UNITS = Path(__file__).with_name("units.json")
_NOISE_STREAM = 778
_ABSENT = "#na#"

Predictor: TypeAlias = Callable[[Ints, Array], Array]
"""From codes (n, c) and numbers (n, k) to outputs (n, m)."""


class MissingData(Exception):
    """The folder with the surrogates is not there, or lacks a file."""


@dataclass(frozen=True)
class Scenario:
    """What was tuned, and how its surrogate is asked.

    Attributes
    ----------
    codes, numbers
        Inputs of the network, in its order: categorical parameters as codes, the others as numbers.
    instance
        The categorical parameter that names the instance.
    fidelity
        Parameters that say how thorough a training is, at the values of a full one.
    output
        Column of the output that is maximised.
    factor
        Times that column: accuracies are shares.
    """

    codes: tuple[str, ...]
    numbers: tuple[str, ...]
    instance: str
    fidelity: Mapping[str, float]
    output: int
    factor: float = 1.0


_RBV2: dict[str, Any] = {"instance": "task_id", "fidelity": {"trainsize": 1.0, "repl": 10.0}, "output": 0}
SCENARIOS = {
    "lcbench": Scenario(
        codes=("OpenML_task_id",),
        numbers=(
            "epoch", "batch_size", "learning_rate", "momentum", "weight_decay", "num_layers", "max_units",
            "max_dropout",
        ),
        instance="OpenML_task_id", fidelity={"epoch": 52.0}, output=1, factor=0.01,
    ),
    "rbv2_xgboost": Scenario(
        codes=("task_id", "booster", "num.impute.selected.cpo"),
        numbers=(
            "nrounds", "eta", "gamma", "lambda", "alpha", "subsample", "max_depth", "min_child_weight",
            "colsample_bytree", "colsample_bylevel", "rate_drop", "skip_drop", "trainsize", "repl",
        ),
        **_RBV2,
    ),
    "rbv2_rpart": Scenario(
        codes=("task_id", "num.impute.selected.cpo"),
        numbers=("cp", "maxdepth", "minbucket", "minsplit", "trainsize", "repl"),
        **_RBV2,
    ),
}  # fmt: skip
# Instances to develop on, and those of the tables; a problem is called scenario:instance.
DEVELOPMENT = tuple(
    f"{scenario}:{name}"
    for scenario, names in {
        "lcbench": ("3945", "7593", "34539"), "rbv2_xgboost": ("1040", "1049", "1461"), "rbv2_rpart": ("1067", "1461"),
    }.items()
    for name in names
)  # fmt: skip
TABLES = tuple(
    f"{scenario}:{name}"
    for scenario, names in {
        "lcbench": ("126025", "146212", "167104", "168329", "168908"),
        "rbv2_xgboost": ("1489", "40981", "41143", "4534", "1590"),
        "rbv2_rpart": ("1489", "41138", "40981"),
    }.items()
    for name in names
)  # fmt: skip
PROBLEMS = (*DEVELOPMENT, *TABLES)
GROUPS = {"development": DEVELOPMENT, "tables": TABLES}


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Return problems by their names, their scenarios, or "development" and "tables"; in the order of the list.

    Raises
    ------
    ValueError
        A name is none of these.
    """
    unknown = [name for name in names if name not in (*GROUPS, *SCENARIOS, *PROBLEMS)]
    if unknown:
        known = ", ".join((*GROUPS, *SCENARIOS, *PROBLEMS))
        raise ValueError(f"problems: expected some of {known}, got {', '.join(unknown)}")
    return tuple(
        p for p in PROBLEMS if p in names or p.partition(":")[0] in names or any(p in GROUPS.get(n, ()) for n in names)
    )


def data_folder(given: str | Path | None = None) -> Path:
    """Return the folder of the surrogates: the given one, else that of the environment, else ../shared/data."""
    folder = Path(given or os.environ.get(DATA) or ROOT.parent / "shared" / "data").expanduser()
    return folder / "yahpo" if (folder / "yahpo").is_dir() else folder


def _file(folder: Path, scenario: str, name: str) -> Path:
    path = folder / scenario / name
    if not path.is_file():
        raise MissingData(
            f"expected the surrogates of YAHPO Gym, a folder for each scenario, in {folder}, got no {scenario}/{name};"
            " say where they are with --data FOLDER"
        )
    return path


def space_of(scenario: Scenario, config: Mapping[str, Any]) -> Space:
    """Return what is tuned: the parameters of a `config_space.json`, without instance and fidelity, with conditions."""
    when: dict[str, dict[str, list[object]]] = {}
    for condition in config["conditions"]:
        values = [condition["value"]] if condition["type"] == "EQ" else condition["values"]
        when.setdefault(condition["child"], {})[condition["parent"]] = values
    tables = {one["name"]: one for one in config["hyperparameters"]}
    free = [name for name in tables if name != scenario.instance and name not in scenario.fidelity]
    # Parents first, as an objective function would ask for them.
    order = sorted(free, key=lambda name: (name in when, not any(name in parents for parents in when.values())))
    return Space.from_dict({name: _parameter(tables[name], when.get(name)) for name in order})


def _parameter(table: Mapping[str, Any], when: dict[str, list[object]] | None) -> Parameter:
    if table["type"] == "categorical":
        return Categorical(table["choices"], when=when)
    if table["type"] == "uniform_int":
        return Int(table["lower"], table["upper"], log=table["log"], when=when)
    return Float(table["lower"], table["upper"], log=table["log"], when=when)


@dataclass(frozen=True)
class Surrogate:
    """A scenario with its network.

    Parameters
    ----------
    scenario
        What it is asked.
    space
        What is tuned.
    encoding
        Codes of the values of each categorical input.
    predict
        The network.
    """

    scenario: Scenario
    space: Space
    encoding: Mapping[str, Mapping[str, int]]
    predict: Predictor

    def values(self, instance: str, configurations: Sequence[Params]) -> Array:
        """Return what is maximised, for each of the configurations, shape (n,), at full fidelity."""
        full = {self.scenario.instance: instance, **self.scenario.fidelity}
        every = [{**params, **full} for params in configurations]
        codes = [[self.encoding[name][one.get(name, _ABSENT)] for name in self.scenario.codes] for one in every]
        numbers = [[float(one.get(name, 0.0)) for name in self.scenario.numbers] for one in every]
        found = self.predict(np.array(codes), np.array(numbers))
        return self.scenario.factor * np.asarray(found, dtype=np.float64)[:, self.scenario.output]


@cache
def read_surrogate(name: str, folder: Path) -> Surrogate:
    """Return a scenario from the files in `folder`.

    Raises
    ------
    MissingData
        A file is not there.
    """
    config, encoding, model = (
        _file(folder, name, file) for file in ("config_space.json", "encoding.json", "model.onnx")
    )
    scenario = SCENARIOS[name]
    space = space_of(scenario, json.loads(config.read_text()))
    return Surrogate(scenario, space, json.loads(encoding.read_text()), _network(model))


def _network(path: Path) -> Predictor:
    """Return the network in a file, run by one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    codes_name, numbers_name = (given.name for given in session.get_inputs())

    def predict(codes: Ints, numbers: Array) -> Array:
        given = {codes_name: codes.astype(np.int32), numbers_name: numbers.astype(np.float32)}
        return np.asarray(session.run(None, given)[0])

    return predict


@dataclass(frozen=True)
class Units:
    """Median and 95 % quantile of random configurations of an instance, and the best value known, as measured."""

    median: float
    high: float
    best: float

    @property
    def scale(self) -> float:
        """One unit."""
        return self.high - self.median


def read_units(path: Path = UNITS) -> dict[str, Units]:
    """Return the committed table, by problem."""
    return {name: Units(**numbers) for name, numbers in json.loads(path.read_text()).items()}


@dataclass(frozen=True)
class Instance:
    """An instance and its units."""

    surrogate: Surrogate
    name: str
    units: Units


class TuningTask(Task):
    """An instance with the noise of one seed; values are in units, see the head of this module.

    Parameters
    ----------
    instance
        What is tuned.
    seed
        Names the noise.
    noise
        Its standard deviation, in units.
    """

    def __init__(self, instance: Instance, seed: int, noise: float) -> None:
        units = instance.units
        super().__init__(instance.surrogate.space, best=(units.best - units.median) / units.scale, cheap=True)
        self.instance, self.seed, self.noise = instance, seed, noise
        self._known: dict[str, float] = {}

    def observe(self, params: Params, number: int) -> float:
        drawn = np.random.default_rng([self.seed, _NOISE_STREAM, number]).normal()
        return self.value(params) + self.noise * float(drawn)

    def value(self, params: Params) -> float:
        key = json.dumps(params, sort_keys=True)
        if key not in self._known:
            self.space.to_unit(params)  # refuses what is not complete: the network would take it
            (measured,) = self.instance.surrogate.values(self.instance.name, [params])
            self._known[key] = (float(measured) - self.instance.units.median) / self.instance.units.scale
        return self._known[key]


def instance(problem: str, folder: Path | None = None) -> Instance:
    """Return the instance that a problem names, with its units from the committed table."""
    scenario, _, name = problem.partition(":")
    return Instance(read_surrogate(scenario, folder or data_folder()), name, read_units()[problem])


def task(problem: str, seed: int, noise: float) -> TuningTask:
    """Return a problem with the noise of a seed."""
    return TuningTask(instance(problem), seed, noise)
