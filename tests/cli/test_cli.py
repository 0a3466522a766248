"""The command line: what it prints, on terminals and in pipes, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import quadrat
from quadrat.cli import main
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
