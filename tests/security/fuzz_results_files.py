"""CSV files with results, as `quadrat tell --csv` takes them: results come of it or one clear error, all or nothing."""

from __future__ import annotations

import math
from pathlib import Path

from tests.security.fuzz_space_files import check_refusal
from tests.security.fuzzing import Outcome
from tests.security.mutation import ODD_TEXTS, Random, mutated_bytes

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Float, Int, Space
from quadrat.studies.results_file import read_results

__all__ = ["read_results_file"]

SPACE = Space(x=Float(0, 1), n=Int(1, 9), kind=Categorical(["a", "ß", None, True]), m=Float(0.1, 1, when={"kind": "a"}))
ROWS = ("x,n,kind,m,value,sem,failure,number,state", "0.5,3,ß,,1.5,0.1,,,", "0.25,1,a,0.5,,,broken,,", "1,9,,,2,,,7,")


def read_results_file(rng: Random, folder: Path) -> Outcome:
    """Read a file; check what comes of it."""
    path = folder / "results.csv"
    path.write_bytes(_content(rng))
    try:
        found = read_results(str(path), SPACE, [], value=rng.choice((None, None, "value", "x", "other")))
    except InvalidInput as error:
        check_refusal(str(error))
        return "refused"
    for result in found.results:
        assert set(SPACE.from_unit(SPACE.to_unit(result.params))) == set(result.params), "results are in the space"
        assert all(map(math.isfinite, result.reading.values)), "what is not finite is a failure"
    return "accepted"


def _content(rng: Random) -> bytes:
    rows = [row.split(",") for row in ROWS]
    separator = rng.choice(",;\t")
    for _ in range(rng.randrange(4)):
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = rng.choice((*ODD_TEXTS, "0.5", "1,5", "a", "value", "x", '"a\nb"', "7"))
    if rng.random() < 0.02:
        rows.append(["x" * 200_000] * 3)  # more than csv reads in one cell
    data = "\n".join(separator.join(row) for row in rows).encode()
    return mutated_bytes(rng, data) if rng.random() < 0.5 else data
