"""Spaces as data and in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Fixed, Float, Int, Space

if TYPE_CHECKING:
    from pathlib import Path

TOML = """
[lr]
type = "float"
low = 1e-6
high = 1.0
log = true

[kernel]
type = "categorical"
choices = [1, 5, 9]

[depth]
type = "int"
low = 1
high = 8
when = { kernel = [5, 9] }

[momentum]
type = "float"
low = 0
high = 1
step = 0.1
[momentum.when]
kernel = 1

[device]
type = "fixed"
value = "cpu"
"""

SPACE = Space(
    lr=Float(1e-6, 1, log=True),
    kernel=Categorical([1, 5, 9]),
    depth=Int(1, 8, when={"kernel": [5, 9]}),
    momentum=Float(0, 1, step=0.1, when={"kernel": 1}),
    device=Fixed("cpu"),
)


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text(TOML)
    assert Space.from_toml(path) == SPACE
    assert Space.from_toml(str(path)) == SPACE


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "space.json"
    path.write_text(json.dumps(SPACE.to_dict()))
    assert Space.from_json(path) == SPACE


def test_to_dict_round_trips_and_states_no_defaults() -> None:
    assert Space.from_dict(SPACE.to_dict()) == SPACE
    assert SPACE.to_dict()["lr"] == {"type": "float", "low": 1e-6, "high": 1.0, "log": True}
    assert SPACE.to_dict()["depth"] == {"type": "int", "low": 1, "high": 8, "when": {"kernel": [5, 9]}}
    assert SPACE.to_dict()["kernel"] == {"type": "categorical", "choices": [1, 5, 9]}
    assert SPACE.to_dict()["device"] == {"type": "fixed", "value": "cpu"}


def test_none_survives_json(tmp_path: Path) -> None:
    space = Space(a=Categorical([None, True, 1.5]), b=Fixed(None))
    path = tmp_path / "space.json"
    path.write_text(json.dumps(space.to_dict()))
    assert Space.from_json(path) == space


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"lr": {"type": "flaot", "low": 0, "high": 1}}, r"parameter 'lr': .* got 'flaot' \(did you mean 'float'\?\)"),
        ({"lr": {"type": 3}}, "expected type to be one of 'float', 'int', 'categorical', 'fixed', 'fidelity', got 3"),
        ({"lr": {"low": 0, "high": 1}}, "parameter 'lr': expected type to be one of .* got no key 'type'"),
        (
            {"lr": {"type": "float", "low": 0, "hihg": 1}},
            r"parameter 'lr': unknown key 'hihg' \(did you mean 'high'\?\); type 'float' takes",
        ),
        ({"n": {"type": "int", "low": 0, "high": 4, "step": 5}}, "Int: expected step to be at most high"),
        ({"n": {"type": "categorical", "choices": [1, 2], "ordered": "yes"}}, "ordered: expected True or False"),
        ({"n": {"type": "categorical", "choices": [1], "_types": 1}}, "unknown key '_types'"),
        ({"lr": {"type": "float", "low": 0}}, "parameter 'lr': missing key 'high', which type 'float' needs"),
        ({"lr": {"type": "float", "low": 2, "high": 1}}, "parameter 'lr': Float: expected low <= high"),
        ({"lr": 3}, "parameter 'lr': expected a table with a type and its arguments, .* got 3"),
        ({"lr": {"type": "float", "low": 0, "high": 1, "when": {"x": 1}}}, "parameter 'lr', when: expected the name"),
        ({}, "expected at least one parameter that can vary"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tables: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(tables))
    with pytest.raises(InvalidInput, match=f"wrong.json: {message}" if message.startswith("param") else message):
        Space.from_json(path)


def test_errors_of_the_space_name_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text('[a]\ntype = "fixed"\nvalue = 1\n')
    with pytest.raises(InvalidInput) as raised:
        Space.from_toml(path)
    assert str(raised.value).startswith(f"{path}: expected at least one parameter that can vary")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none.toml: expected a file to read the space from, got: No such file"):
        Space.from_toml(tmp_path / "none.toml")
    path = tmp_path / "bad"
    path.write_text("[lr\n")
    with pytest.raises(InvalidInput, match=r"bad: expected TOML, got a syntax error: .*line 1"):
        Space.from_toml(path)
    with pytest.raises(InvalidInput, match=r"bad: expected JSON, got a syntax error: .*line 1"):
        Space.from_json(path)
    path.write_text("[1, 2]")
    with pytest.raises(InvalidInput, match="bad: expected an object with a table for each parameter, got"):
        Space.from_json(path)
    path.write_text('{"lr": {"type": "fixed", "value": 1}, "lr": {"type": "fixed", "value": 2}}')
    with pytest.raises(InvalidInput, match="bad: expected each key once, got 'lr' more than once"):
        Space.from_json(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="bad: expected UTF-8 text"):
        Space.from_toml(path)
