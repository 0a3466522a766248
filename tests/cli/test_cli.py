"""The command line: what it prints, on terminals and in pipes, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import typer

import quadrat
from quadrat.cli import main
from quadrat.cli.main import app
from quadrat.cli.rate_list import kernel_of
from quadrat.cli.screen import refold
from quadrat.errors import InvalidInput
from quadrat.kernels import Kernel
from quadrat.methods import registry
from quadrat.theory import rates

KERNELS = ["matern", "squared-exponential", "rational-quadratic", "gamma-exponential", "piecewise-polynomial"]
Capture = pytest.CaptureFixture[str]


def out_of(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_version_and_help(capsys: Capture) -> None:
    assert out_of(capsys, "--version") == f"quadrat {quadrat.__version__}\n"
    assert out_of(capsys) == out_of(capsys, "--help")
    assert "methods" in out_of(capsys, "-h")


def options_with_a_value() -> list[tuple[str, str]]:
    """The name of every command with each of its options that takes one value, and not several."""
    group: Any = typer.main.get_command(app)
    return [
        (name, option.opts[0])
        for name, command in group.commands.items()
        for option in command.params
        if option.param_type_name == "option" and not (option.is_flag or option.multiple)
    ]


def test_there_are_options_to_try() -> None:
    assert {("tell", "--value"), ("tell", "--direction"), ("tune", "--space"), ("rates", "--dimension")} <= {
        *options_with_a_value()
    }


@pytest.mark.parametrize(("command", "option"), options_with_a_value())
def test_an_option_is_not_given_twice(command: str, option: str, capsys: Capture) -> None:
    """The last one would count, and nobody would hear of the first."""
    assert main([command, option, "1", f"{option}=1"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"quadrat: {option}: expected it once, got it 2 times; ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["tell", "--csv", "a.csv", "--direction", "maximize", "--direction", "minimize"],
            "--direction: expected it once, got it 2 times; several objectives are not supported yet, so name one"
            " direction",
        ),
        (
            ["tell", "--csv", "a.csv", "--value", "accuracy", "--value=latency"],
            "--value: expected it once, got it 2 times; several objectives are not supported yet, so name one column",
        ),
        (["tell", "0", "-0.5", "--sem", "0.1", "-0.7", "--sem", "0.2"], "--sem: expected it once, got it 2 times"),
        (["rates", "-d", "1", "--dimension", "2"], "--dimension: expected it once, got it 2 times; keep one of them"),
        (["ask", "-n3", "-n", "4", "--n", "5"], "--n: expected it once, got it 3 times"),
    ],
)
def test_an_option_that_is_given_twice_is_named(arguments: list[str], said: str, capsys: Capture) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_a_flag_may_be_given_twice_and_help_needs_nothing_else(capsys: Capture) -> None:
    assert out_of(capsys, "methods", "--json", "--json") == out_of(capsys, "methods", "--json")
    for command, _ in options_with_a_value():
        assert f"quadrat {command}" in out_of(capsys, command, "--help")


def test_methods_lists_every_method_within_80_columns(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = out_of(capsys, "methods")
    assert all(name in shown for name in registry.names())
    assert "certifies" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b" not in shown
    assert "…" not in shown  # nothing is cut off


def test_methods_as_json(capsys: Capture) -> None:
    rows = json.loads(out_of(capsys, "methods", "--json"))
    assert [row["name"] for row in rows] == list(registry.names())
    assert set(rows[0]) == {"name", "title", "paper", "best_for", "assumes", "certifies", "handles", "default"}
    assert [row["name"] for row in rows if row["default"]] == ["Auto"]


@pytest.mark.parametrize("width", ["80", "200"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_rates_fit_the_screen_and_say_what_the_table_says(
    kernel: str, width: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    shown = out_of(capsys, "rates", "--kernel", kernel, "--dimension", "2", "--explain")
    assert max(map(len, shown.splitlines())) <= min(int(width), 120)
    words = shown.split()
    table = rates(kernel_of(kernel, 2), 2)
    for row in table:
        assert all(word in words for word in f"{row.method.title} {row.simple} {row.remark}".split())
    assert "Columns" in words


def test_rates_as_json(capsys: Capture) -> None:
    got = json.loads(out_of(capsys, "rates", "-k", "matern", "--nu", "1.5", "-d", "2", "--json"))
    rows = {row["key"]: row for row in got["rows"]}
    assert got["dimension"] == 2
    assert rows["lp-gp-ucb"]["cumulative_exponent"] == 0.75
    assert rows["gp-ucb"]["vacuous"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rates"], "dimension"),
        (["rates", "-d", "0"], "--dimension: expected an integer >= 1, got 0"),
        (["rates", "-d", "two"], "dimension"),
        (["rates", "-d", "2", "--kernel", "cubic"], "--kernel: expected matern, "),
        (["rates", "-d", "2", "--kernel", "squared-exponential", "--nu", "2"], "--nu: expected with matern only"),
        (["rates", "-d", "2", "--nu", "-1"], "nu: expected"),
        (["rates", "-d", "2", "--q", "1"], "--q: expected with piecewise-polynomial only"),
        (["rates", "-d", "2", "--kernel", "piecewise-polynomial", "--q", "9"], "q: expected 0, 1, 2 or 3"),
        (["rates", "-d", "2", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_input_is_one_line_on_stderr_and_status_2(arguments: list[str], message: str, capsys: Capture) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("quadrat: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_in_a_pipe_and_without_unicode() -> None:
    command = [sys.executable, "-m", "quadrat.cli", "rates", "-d", "2", "-k", "rational-quadratic"]
    done = subprocess.run(command, capture_output=True, check=True, env={"PYTHONIOENCODING": "ascii"})
    assert b"LP-GP-UCB" in done.stdout
    assert b"\x1b" not in done.stdout
    assert done.stderr == b""


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "quadrat.cli", "rates", "-d", "2", "--explain"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_by_name(name: str) -> None:
    assert isinstance(kernel_of(name, 3), Kernel)
    assert kernel_of(name.upper().replace("-", "_"), 3) == kernel_of(name, 3)


def test_a_shape_that_belongs_to_two_kernels_names_both() -> None:
    with pytest.raises(InvalidInput, match="--a: expected with rational-quadratic and gamma-exponential only"):
        kernel_of("matern", 2, a=1.0)


def test_refold_keeps_the_words_and_the_width() -> None:
    text = rates(kernel_of("matern", 2), 2).explain()
    folded = refold(text, 60)
    assert folded.split() == text.split()
    assert max(map(len, folded.splitlines())) <= 60
    assert refold(folded, 110) == text
