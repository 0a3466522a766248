"""The rest of a day at the instrument of `reader.py`: ask for two settings, take three readings of each, tell them.

    python session.py [ROUNDS]

Every round is what a person would type: `quadrat ask -n 2 --json`, and `quadrat tell NUMBER READING READING READING`
for each. The study is the one in `quadrat.journal`, begun by the first `quadrat ask --space space.toml`.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from reader import readings, truth

from quadrat.cli import main as quadrat


def printed(*words: object) -> Any:
    """Run a command and return the JSON that it prints."""
    with redirect_stdout(StringIO()) as output:
        status = quadrat([*map(str, words), "--json"])
    if status != 0:
        sys.exit(status)
    return json.loads(output.getvalue())


def day(rounds: int = 12) -> tuple[float, float]:
    """Ask, read and tell; return the true values of the recommended setting and of the luckiest trial."""
    for _ in range(rounds):
        for trial in printed("ask", "-n", 2):
            printed("tell", trial["number"], *readings(trial["params"]))
    found = printed("best")
    values = []
    for name, point in {"recommended": found, "luckiest trial": found["best_seen"]}.items():
        values.append(truth(point["params"]))
        print(f"{name:16} believed {point['value']:.3f}   all digits {values[-1]:.3f}")
    return values[0], values[1]


if __name__ == "__main__":
    day(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
