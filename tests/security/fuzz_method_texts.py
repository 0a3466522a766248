"""Texts that describe a method, as `quadrat show --method` takes them: a method comes of it or one clear error."""

from __future__ import annotations

from pathlib import Path

from tests.security.fuzz_space_files import check_refusal
from tests.security.fuzzing import Outcome
from tests.security.mutation import ODD_TEXTS, Random, mutated_text

from quadrat.errors import QuadratError
from quadrat.methods.base import Method
from quadrat.methods.registry import read_method

__all__ = ["read_method_text"]

TEXTS = (
    "Auto(n_initial=7)",
    "LPGPUCB(kernel=Matern(2.5, [0.2, 0.4]), norm_bound=2, noise=0.1, budget=50)",
    "LP0(kernel=None, norm_bound=1.0, noise=0.1, budget=9, holder=UserHolder(1.5, 0.5))",
    "LP0(kernel=Sum((Matern(), GammaExponential())), norm_bound=1.0, noise=0.1, budget=9, sketch=Sketch(epsilon=0.25))",
    "LevelSet(kernel=OnAxes(Matern(1.5), (0,)), norm_bound=1, noise=0.1, threshold=-0.5)",
    "GPUCB()",
    "RandomSearch",
)
_ARGUMENTS = (
    "1e400",
    "-1",
    "10000000",
    "None",
    "10**9**9",
    "open",
    "()",
    "Matern",
    "Matern()",
    "lambda: 3",
    "1j",
    "'a'",
    "b''",
)


def read_method_text(rng: Random, folder: Path) -> Outcome:
    """Read a text; check what comes of it."""
    try:
        found = read_method(_text(rng))
    except QuadratError as error:
        check_refusal(str(error))
        return "refused"
    assert isinstance(found, Method)
    return "accepted"


def _text(rng: Random) -> str:
    text = rng.choice(TEXTS)
    way = rng.random()
    if way < 0.5:
        return mutated_text(rng, text)
    if way < 0.9:  # one argument becomes another
        before, equals, after = text.rpartition("=")
        if way < 0.7 and text.count("=") > 1:
            before, equals, after = text.partition("=")
        end = min((place for place in map(after.find, ",)") if place >= 0), default=len(after))
        return f"{before}{equals}{rng.choice((*_ARGUMENTS, *ODD_TEXTS, *TEXTS))}{after[end:]}"
    if way < 0.95:
        opening, closing = rng.choice((("(", ")"), ("[", "]"), ("Sum(", ")"), ("-", ""), ("Auto(n_initial=", ")")))
        size = rng.choice((10, 300, 3000))
        return f"{opening * size}1{closing * size}"
    return "".join(rng.choice("Auto(){}[]=,.'\"0123456789_ lambda:*") for _ in range(rng.randrange(60)))
