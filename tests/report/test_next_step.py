"""What to do next: each rule, and their order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quadrat.optimizer import BestSeen, CertificateReport, Recommendation
from quadrat.report.next_step import Situation, next_step

FOUND = Recommendation(
    params={"x": 1.0},
    value=2.0,
    certified_interval=None,
    credible_interval=(1.9, 2.1),
    estimated_gain=0.5,
    best_seen=BestSeen(3, {"x": 1.0}, 2.2),
    why="",
    estimated_gain_upper=1.5,
)
NOW = Situation(
    recommendation=FOUND,
    certificate=CertificateReport(None, "this method does not certify"),
    noise=0.2,
    ended=40,
    failures=(),
    running=0,
    why_ended="",
    method="Auto",
)


def test_much_to_gain_means_going_on() -> None:
    assert next_step(NOW) == "Go on if you can: 0.5 could still be gained, perhaps 1.5."
    assert next_step(replace(NOW, running=1)).endswith("perhaps 1.5; 1 trial is still running.")
    assert next_step(replace(NOW, why_ended="timeout")).endswith("perhaps 1.5 (the run ended: timeout).")


def test_a_gain_below_the_noise_means_stopping() -> None:
    little = replace(FOUND, estimated_gain=0.01, estimated_gain_upper=0.15)
    assert next_step(replace(NOW, recommendation=little)).startswith("Stop: at most 0.15 could still be gained (90 %)")
    perhaps = replace(little, estimated_gain_upper=0.3)
    assert next_step(replace(NOW, recommendation=perhaps)) == (
        "Little is expected of more trials, but up to 0.3 is not excluded."
    )


def test_without_a_known_noise_the_width_of_the_interval_counts() -> None:
    little = replace(FOUND, estimated_gain=0.01, estimated_gain_upper=0.09)
    said = next_step(replace(NOW, noise=None, recommendation=little))
    assert said.startswith("Stop searching: at most 0.09")
    assert not next_step(
        replace(NOW, noise=None, recommendation=replace(little, estimated_gain_upper=0.11))
    ).startswith("Stop")


def test_an_expected_gain_alone_is_no_reason_to_stop() -> None:
    little = replace(FOUND, estimated_gain=0.01, estimated_gain_upper=None)
    said = next_step(replace(NOW, recommendation=little))
    assert said == "Go on if you can: 0.01 could still be gained, perhaps more."


@pytest.mark.parametrize(("failed", "of", "many"), [(2, 4, False), (3, 12, True), (9, 40, False), (10, 40, True)])
def test_many_failures_come_first(failed: int, of: int, many: bool) -> None:
    said = next_step(replace(NOW, ended=of, failures=("no memory",) * (failed - 1) + ("other",)))
    assert said.startswith(f"Look at failures first: {failed} of {of}") == many
    assert (f"{failed - 1} times: no memory" in said) == many


def test_rejected_assumptions_come_before_all_else() -> None:
    certificate = CertificateReport(None, "too far", rejected="too far")
    said = next_step(replace(NOW, certificate=certificate, failures=("x",) * 30))
    assert said.startswith("Do not rely on bounds of this run")


def test_a_certificate_is_compared_with_the_noise() -> None:
    assert next_step(replace(NOW, certificate=CertificateReport(0.19))).startswith("Stop: nothing is more than 0.19")
    assert next_step(replace(NOW, certificate=CertificateReport(0.21))).startswith("Stop if 0.21 is little to you")


def test_a_point_that_may_break_constraints_is_not_to_be_used() -> None:
    unlikely = replace(FOUND, estimated_feasibility=0.4)
    assert next_step(replace(NOW, recommendation=unlikely)).startswith("Do not use it yet")
    likely = replace(FOUND, estimated_feasibility=0.9)
    assert next_step(replace(NOW, recommendation=likely)).startswith("Go on")
    never_met = replace(likely, best_seen=replace(FOUND.best_seen, feasible=False))
    assert next_step(replace(NOW, recommendation=never_met)).startswith("Do not use it yet")


def test_a_method_without_a_model_says_so() -> None:
    nothing = replace(FOUND, estimated_gain=None, estimated_gain_upper=None, credible_interval=None)
    said = next_step(replace(NOW, recommendation=nothing, method="RandomSearch"))
    assert "RandomSearch has no estimate" in said
    said = next_step(replace(NOW, recommendation=nothing, method="Auto"))
    assert said == "Nobody knows what is left to gain: too few settings that meet the space's constraint are known."
