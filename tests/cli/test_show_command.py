"""`quadrat show`: what is recommended, how sure that is, progress and cells, in terminals, in pipes and as JSON."""

from __future__ import annotations

import json
import math
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.study import Study, StudyDirection
from optuna.trial import TrialState, create_trial

import quadrat as qd
from quadrat.cli import main
from quadrat.cli.screen import ASCII, BLOCKS

LP = "LPGPUCB(kernel=Matern(2.5, 0.4), norm_bound=2, noise=0.05, budget=60)"
LEVEL = "MultiScaleLevelSet(kernel=Matern(2.5, 0.5), norm_bound=2, noise=0.05, threshold=-0.4, accuracy=0.1)"
EVIL = "[bold red]rate[/] \x1b[31m"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield tmp_path
    optuna.logging.set_verbosity(optuna.logging.INFO)


def study_of(name: str = "bowl", direction: str = "minimize") -> Study:
    which = StudyDirection[direction.upper()]
    return optuna.create_study(storage=qd.journal_storage("quadrat.journal"), study_name=name, direction=which)


def fill(study: Study, n: int, f: Callable[[float, float], float]) -> None:
    """With trials on a lattice: x from 0 to 1, y from 0.001 to 10."""
    distributions: dict[str, Any] = {"x": FloatDistribution(0, 1), "y": FloatDistribution(1e-3, 10, log=True)}
    for i in range(n):
        x, v = (i * 0.618) % 1, (i * 0.414) % 1
        study.add_trial(
            create_trial(params={"x": x, "y": 10 ** (4 * v - 3)}, distributions=distributions, value=f(x, v))
        )


def bump(x: float, v: float) -> float:
    return -math.exp(-8 * ((x - 0.3) ** 2 + (v - 0.6) ** 2))


def out_of(capsys: Capture, *arguments: str) -> str:
    assert main(["show", *arguments]) == 0, capsys.readouterr().err
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def as_json(capsys: Capture, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out_of(capsys, "--json", *arguments), parse_constant=pytest.fail)
    return found


def labelled(out: str) -> dict[str, str]:
    """What stands behind each label, in one line."""
    found: dict[str, str] = {}
    label = ""
    for line in out.splitlines()[3:]:
        if not line:
            break
        label = line[:13].strip() or label
        found[label] = f"{found.get(label, '')} {line[13:].strip()}".strip()
    return found


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_summary_says_what_best_says(direction: str, capsys: Capture) -> None:
    sign = 1 if direction == "minimize" else -1
    study = study_of(direction=direction)
    fill(study, 12, lambda x, v: sign * (1 + (x - 0.3) ** 2 + v))
    out = out_of(capsys)
    assert out.splitlines()[0] == f"Study bowl in quadrat.journal: {direction}."
    found, said = qd.recommend(study), labelled(out)
    assert found.credible_interval is not None
    low, high = found.credible_interval
    value = f"{found.value:.6g} ({low:.4g} to {high:.4g}, 90 %)"
    assert said["recommended"] == f"{value}  x={found.params['x']:.6g}, y={found.params['y']:.6g}"
    assert said["could gain"].startswith(f"{found.estimated_gain:.3g} on average, at most ")
    best = found.best_seen
    seen = f"{best.value:.6g} in trial {best.number}  x={best.params['x']:.6g}, y={best.params['y']:.6g}"
    assert said["best seen"].startswith(seen)
    assert said["best seen"].endswith(found.why)
    values = [trial.value for trial in study.trials]
    best_of = min if direction == "minimize" else max
    drawn, words = said["progress"].split("  ")
    assert words == f"{values[0]:.6g} to {best_of(values):.6g} in 12 trials"  # type: ignore[type-var]
    assert len(drawn) == 12
    assert list(drawn) == sorted(drawn, reverse=direction == "minimize")
    assert set(drawn) <= set(BLOCKS)


def test_a_method_with_assumptions_shows_its_certificate_and_cells(capsys: Capture) -> None:
    fill(study_of(), 20, bump)
    out = out_of(capsys, "--method", LP, "--last", "2")
    said = labelled(out)
    assert re.search(r"^-0\.\d+ \(-[\d.]+ to -?[\d.]+, certified\)  x=", said["recommended"])
    assert re.fullmatch(r"within [\d.]+ of the optimum, under the stated assumptions", said["certificate"])
    assert "could gain" not in said
    assert re.search(r"^The 5 most promising of \d+ cells; a parameter without a range is not cut:$", out, re.M)
    lines = out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("depth"))
    assert re.fullmatch("depth +points +lower bound +x +y", lines[start])
    bounds = [float(line.split()[2]) for line in lines[start + 2 : start + 7]]
    assert bounds == sorted(bounds)  # smaller is better
    assert min(bounds) < -0.5
    found = as_json(capsys, "--method", LP)
    assert len(found["cells"]) == int(re.findall(r"of (\d+) cells", out)[0])
    assert [f"{cell['bound']:.4g}" for cell in found["cells"][:5]] == [f"{bound:.4g}" for bound in bounds]
    assert sum(cell["points"] for cell in found["cells"]) == 20
    assert found["recommended"]["certified_interval"] == found["certificate"]["certified_interval"]
    assert found["certificate"]["value"] > 0
    # What is certified is that of an optimizer with the same results.
    run = qd.Optimizer(
        qd.Space(x=qd.Float(0, 1), y=qd.Float(1e-3, 10, log=True)),
        direction="minimize",
        method=qd.LPGPUCB(kernel=qd.Matern(2.5, 0.4), norm_bound=2, noise=0.05, budget=60),
    )
    run.add_trials([trial["params"] for trial in found["trials"]], [trial["value"] for trial in found["trials"]])
    assert found["certificate"]["value"] == run.certificate().value
    assert found["recommended"]["params"] == run.recommend().params


def test_a_method_kept_with_its_options_needs_not_be_stated(capsys: Capture) -> None:
    study = study_of()
    fill(study, 12, bump)
    stated = as_json(capsys, "--method", LP)
    study.set_user_attr("quadrat:method", LP)
    kept = as_json(capsys)
    assert kept.pop("method") == LP
    stated.pop("method")
    assert kept == stated


def test_a_level_set_shows_its_shares_and_labels(capsys: Capture) -> None:
    fill(study_of(), 30, bump)
    out = out_of(capsys, "--method", LEVEL)
    shares = re.fullmatch(
        r"threshold -0\.4: ([\d.]+) % above, ([\d.]+) % below, ([\d.]+) % undecided", labelled(out)["level set"]
    )
    assert shares is not None
    assert abs(sum(map(float, shares.groups())) - 100) < 0.2
    assert "certificate" not in labelled(out)
    assert re.search("^label +depth +points +bounds +x +y$", out, re.M)
    found = as_json(capsys, "--method", LEVEL)
    assert found["level_set"]["certified"] is True
    assert "cells" not in found["level_set"]
    above = sum(2.0 ** -cell["depth"] for cell in found["cells"] if cell["label"] == "above")
    assert above == pytest.approx(found["level_set"]["volumes"]["above"])
    assert float(shares[1]) == pytest.approx(100 * above, rel=0.01)


def test_a_safe_search_shows_what_is_certified(capsys: Capture) -> None:
    """And where the kept trials are pruned, or a fitted model is asked, that nothing is."""
    study = study_of()
    fill(study, 20, bump)
    first = study.trials[0].params
    safe = f"Safe(threshold=2.0, safe=[{first!r}], kernel=Matern(2.5, 0.4), norm_bound=2, noise=0.05)"
    said = labelled(out_of(capsys, "--method", safe))
    shares = re.match(r"([\d.]+) % of the space certified, at most ([\d.]+) % within reach", said["safe region"])
    assert shares is not None
    assert 0 < float(shares[1]) <= float(shares[2]) <= 100
    assert "certificate" not in said
    found = as_json(capsys, "--method", safe)
    assert found["safe_region"]["certified"] is True
    assert float(shares[1]) == pytest.approx(100 * found["safe_region"]["share"], rel=0.01)
    fitted = f"FittedSafe(threshold=2.0, safe=[{first!r}])"
    assert "nothing is certified" in labelled(out_of(capsys, "--method", fitted))["safe region"]
    assert as_json(capsys, "--method", fitted)["safe_region"]["certified"] is False


@pytest.mark.parametrize("width", [80, 120])
def test_names_and_values_stand_as_they_are_and_everything_fits(
    width: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    study = study_of(name="[bold]wine[/]")
    distributions: dict[str, Any] = {
        EVIL: FloatDistribution(1e-150, 1e-3, log=True),
        "kind": CategoricalDistribution(["[/red]", "two\nlines", "<b>" * 50]),
        **{f"concentration_of_{i}": IntDistribution(1, 10**12) for i in range(3)},
    }
    for i in range(6):
        params = {EVIL: 10.0 ** (-20 * i - 5), "kind": ["[/red]", "two\nlines", "<b>" * 50][i % 3]}
        params |= {f"concentration_of_{j}": 10**12 - i - j for j in range(3)}
        study.add_trial(
            create_trial(params=params, distributions=distributions, value=1.23456789 * 10.0 ** (100 - i * 40))
        )
    out = out_of(capsys)
    assert max(map(len, out.splitlines())) <= width
    assert "Study [bold]wine[/] in" in out
    assert "[bold red]rate[/] \\x1b[31m" in " ".join(out.split())
    assert "\x1b" not in out
    assert "two\\nlines" in out
    assert "(log)" in labelled(out)["progress"]
    assert labelled(out)["progress"].startswith("█▇▅▄▂▁  1.23457e+100 to 1.23457e-100 in 6 trials")


def test_before_a_trial_is_complete(capsys: Capture) -> None:
    study = study_of()
    assert out_of(capsys).splitlines()[1:] == ["0 trials.", "", "Nothing was asked yet: quadrat ask"]
    study.add_trial(create_trial(state=TrialState.FAIL))
    study.ask()
    for options in ([], ["--method", LP]):
        assert labelled(out_of(capsys, *options)) == {"recommended": "nothing: no trial is complete"}
        found = as_json(capsys, *options)
        assert (found["recommended"], found["reason"]) == (None, "no trial is complete")
        assert found["progress"] == []


def test_trials_outside_the_space_of_the_study_are_said_to_be(capsys: Capture) -> None:
    study = study_of()
    study.set_user_attr("quadrat:space", qd.Space(z=qd.Float(0, 1)).to_dict())
    fill(study, 2, bump)
    for options in ([], ["--method", LP]):
        said = labelled(out_of(capsys, *options))["recommended"]
        assert re.fullmatch(r"nothing: \w+: expected a complete trial in the search space, got none of \d+: .*", said)


def test_why_nothing_is_recommended_is_said(capsys: Capture) -> None:
    study = study_of()
    study.add_trial(create_trial(value=1.0))
    study.add_trial(create_trial(value=3.0, params={"x": 0.0}, distributions={"x": FloatDistribution(0, 5e-324)}))
    said = labelled(out_of(capsys))
    assert said["recommended"].startswith("nothing: study: expected parameters that can be searched, got 'x'")
    assert said["best seen"] == "1 in trial 0"
    assert said["progress"] == f"{BLOCKS[4] * 2}  1 to 1 in 2 trials"
    with_method = labelled(out_of(capsys, "--method", LP))["recommended"]
    assert with_method.startswith("nothing: study: expected parameters that can be searched")


def test_pruned_trials_are_counted_and_have_no_value(capsys: Capture) -> None:
    study = study_of()
    fill(study, 6, bump)
    for report in (-5.0, None, float("nan")):
        trial = study.ask({"x": FloatDistribution(0, 1), "y": FloatDistribution(1e-3, 10, log=True)})
        if report is not None:
            trial.report(report, 1)
        study.tell(trial, state=TrialState.PRUNED)
    out = out_of(capsys)
    assert "9 trials: 6 complete, 3 pruned.\n3 of 9 trials were pruned: they have no result and do not count." in out
    assert re.search(r"^6 +pruned +last report -5 ", out, re.MULTILINE)
    assert "in 6 trials" in out
    found = json.loads(out_of(capsys, "--json"))
    assert found["best_value"] == found["recommended"]["best_seen"]["value"] > -1
    assert [trial["value"] for trial in found["trials"][6:]] == [None] * 3
    assert len(found["progress"]) == 6
    assert main(["best"]) == 0
    assert "3 of 9 trials were pruned: they have no result and do not count." in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["best", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pruned"] == 3


def test_a_study_without_a_complete_trial_is_refused_in_a_line(capsys: Capture) -> None:
    study = study_of()
    trial = study.ask({"x": FloatDistribution(0, 1)})
    trial.report(1.0, 1)
    study.tell(trial, state=TrialState.PRUNED)
    assert labelled(out_of(capsys).replace("\n1 of 1 trials was pruned: it has no result and does not count.", ""))[
        "recommended"
    ] == ("nothing: no trial is complete")
    for command in (["best"], ["best", "--json"], ["report", "--output", "page.html"]):
        assert main(command) == 2
        seen = capsys.readouterr()
        assert seen.out == ""
        assert seen.err.count("\n") == 1
        assert (
            "expected at least one complete trial, got 0 that failed, 1 that were pruned and have no result" in seen.err
        )


def conditional_study() -> Study:
    study = study_of(direction="maximize")
    for number, (kind, value) in enumerate([("a", 1.0), ("b", 3.0), ("a", 2.0), ("b", 2.5), ("a", 1.5), ("b", 2.8)]):
        own = f"of_{kind}"
        distributions: dict[str, Any] = {"kind": CategoricalDistribution(["a", "b"]), own: IntDistribution(0, 9)}
        params = {"kind": kind, own: number}
        study.add_trial(create_trial(params=params, distributions=distributions, value=value))
    return study


@pytest.mark.parametrize("method", [[], ["--method", "GPUCB"]])
def test_trials_that_do_not_have_the_same_parameters_have_a_complete_recommendation(
    method: list[str], capsys: Capture
) -> None:
    conditional_study()
    said = labelled(out_of(capsys, *method))
    assert re.search(r"  kind=b, of_b=\d$", said["recommended"])
    assert said["best seen"].startswith("3 in trial 1  kind=b, of_b=1")
    found = json.loads(out_of(capsys, "--json", *method))["recommended"]["params"]
    assert found.keys() == {"kind", "of_b"}


def test_best_report_and_export_of_a_space_that_was_learned(tmp_path: Path, capsys: Capture) -> None:
    conditional_study()
    assert main(["best", "--json"]) == 0
    best = json.loads(capsys.readouterr().out)
    assert best["params"].keys() == {"kind", "of_b"}
    assert best["best_seen"]["params"] == {"kind": "b", "of_b": 1}
    assert main(["best"]) == 0
    lines = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert {"kind", "of_b"} <= lines
    page = tmp_path / "page.html"
    assert main(["report", "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "of_a" in text
    assert "of_b" in text
    capsys.readouterr()
    assert main(["export"]) == 0
    assert [row["of_b"] for row in json.loads(capsys.readouterr().out)] == [None, 1, None, 3, None, 5]


def test_trials_whose_constraints_do_not_hold_are_no_progress(capsys: Capture) -> None:
    study = study_of()
    for value, held in [(3.0, -1.0), (1.0, 2.0), (2.0, 0.0), (5.0, -1.0)]:
        trial = study.ask({"x": FloatDistribution(0, 1)})
        if hasattr(trial, "set_constraint"):
            trial.set_constraint("c", held)
        else:  # Optuna 4 has a list without names
            study._storage.set_trial_system_attr(trial._trial_id, "constraints", [held])
        study.tell(trial, value)
    assert as_json(capsys)["progress"] == [3.0, 2.0, 2.0]
    assert re.fullmatch(r"met with a chance of [\d.]+ %", labelled(out_of(capsys))["constraints"])


def test_standard_errors_and_replicates_reach_a_stated_method(capsys: Capture) -> None:
    study = study_of()
    fill(study, 6, bump)
    trial = study.ask({"x": FloatDistribution(0, 1), "y": FloatDistribution(1e-3, 10, log=True)})
    trial.set_user_attr("quadrat:values", [-0.5, -0.7, -0.9])
    study.tell(trial, -0.7)
    assert sum(cell["points"] for cell in as_json(capsys, "--method", LP)["cells"]) == 9
    trial = study.ask({"x": FloatDistribution(0, 1), "y": FloatDistribution(1e-3, 10, log=True)})
    trial.set_user_attr("quadrat:sem", 0.1)
    study.tell(trial, -0.7)
    out = out_of(capsys, "--method", LP)
    assert labelled(out)["certificate"].startswith("none: expected plain values, got a standard error")
    assert re.search("^depth +points +index ", out, re.M)


def test_json_has_all_trials_and_a_terminal_the_last(capsys: Capture) -> None:
    fill(study_of(), 30, bump)
    assert len(as_json(capsys)["trials"]) == 30
    assert len(as_json(capsys, "--last", "3")["trials"]) == 3
    assert len(re.findall(r"^\d+ +complete", out_of(capsys), re.M)) == 20


def test_a_bad_method_is_refused_before_anything_is_read(capsys: Capture) -> None:
    assert main(["show", "--method", "LP0"]) == 2
    assert "cannot guess kernel" in capsys.readouterr().err
    assert main(["show", "--method", "open('x')"]) == 2
    assert "method: expected one of" in capsys.readouterr().err


def run(command: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "quadrat.cli", *command],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "COLUMNS": "80", **environment},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_a_pipe_without_unicode(folder: Path) -> None:
    fill(study_of(), 6, bump)
    out = run(["show", "--last", "1", "--method", "RandomSearch"], folder, {"PYTHONIOENCODING": "ascii"})
    assert out.isascii()
    assert "\x1b" not in out
    drawn = labelled(out)["progress"].split("  ")[0]
    assert len(drawn) == 6
    assert set(drawn) <= set(ASCII)
    assert (drawn[0], drawn[-1]) == ("#", "_")


def test_a_terminal_has_bold_labels_and_no_wider_lines(folder: Path) -> None:
    fill(study_of(), 6, bump)
    reader, writer = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "quadrat.cli", "show", "--method", "RandomSearch"],
        stdout=writer,
        cwd=folder,
        env={**environment, "TERM": "xterm-256color", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
    )
    os.close(writer)
    parts = []
    while True:
        try:
            part = os.read(reader, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(reader)
    assert process.wait() == 0
    out = b"".join(parts).decode()
    assert "\x1b[1mprogress" in out
    plain = re.sub(r"\x1b\[[\d;]*m", "", out)
    assert max(len(line.rstrip("\r")) for line in plain.split("\n")) <= 80
    assert set(BLOCKS) & set(plain)
