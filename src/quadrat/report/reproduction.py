"""What is needed to do a run again: the space, the method, the seed, versions, commands."""

from __future__ import annotations

import json
from collections.abc import Sequence

from quadrat.report.told import Told

__all__ = ["commands_of", "settings_of", "space_json"]


def settings_of(told: Told) -> list[tuple[str, str]]:
    """Return what was set, each with its label."""
    view = told.view
    model = repr(view.optimizer.method)
    rows = [
        ("direction", view.direction),
        ("method", told.method or "not known: the study was run by another sampler"),
        ("model of this report", model if model != told.method else ""),
        ("seed", "not known" if told.seed is None else str(told.seed)),
        ("ended", told.ended),
        ("versions", ", ".join(f"{name} {number}" for name, number in told.versions.items())),
    ]
    return [(label, text) for label, text in rows if text]


def space_json(told: Told) -> str:
    """Return the space in the format of a file, which `quadrat tune --space` and `Space.from_file` read."""
    return json.dumps(told.view.space.to_dict(), indent=2, ensure_ascii=False)


def commands_of(told: Told) -> Sequence[str]:
    """Return what to type: commands on the study, or Python where the run is in no storage."""
    if told.where is not None:
        options = f" {told.where}" if told.where else ""
        return (
            f"quadrat best{options} --json",
            f"quadrat export{options} --csv trials.csv",
            f"quadrat report{options} -o report.html",
        )
    name = "space.json"
    return (
        "import quadrat as qd",
        f"space = qd.Space.from_file({name!r})  # the space below, in a file",
        f"run = qd.{told.view.direction}(objective, space, n_trials={len(told.rows)}, method=..., seed={told.seed})",
    )
