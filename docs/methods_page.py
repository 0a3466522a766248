"""Write docs/methods.md from the committed results of experiments/: no figure on that page is typed by hand.

python docs/methods_page.py            writes the page
python docs/methods_page.py --check    exits with 1 when the page is not what the results say
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "experiments"))

import certificates
import paper_settings
from grid import finished

PAGE = ROOT / "docs" / "methods.md"
TEXT = """# Methods, measured

Tables on this page are generated from the results in `experiments/results` by `docs/methods_page.py`.

## All methods with the paper's settings

Regret of the recommended point after 60 evaluations, noise .1, median (quartiles); `experiments/paper_settings.py`.
Branin is two-dimensional and standardised to mean 0 and sd 1, Hartmann 6 likewise. What the paper leaves open is chosen
in `quadrat.methods.preset`. Hartmann 6 shows the price of one length-scale learned from five points.

{methods}

## Certificates over whole runs

LP-GP-UCB on functions of norm exactly 1: Matérn 5/2, length-scale .3, B = 1, sigma = .1, delta = .05, n = 200;
`experiments/certificates.py`. "Failed" counts runs in which, after any tenth evaluation, the true regret exceeded the
certificate; at most 5 % may. Functions are sums of a few random kernel sections ("bumpy" draws).

{certificates}

The last column says where the bounds of the final cells come from. The posterior's adaptive band nearly always wins at
this size; a case where the polynomial decides (many length-scales in the cube, a thousand observations in one small
cell) is in `tests/methods/test_lp_gp_ucb.py::test_a_case_where_the_polynomial_bound_decides`.
"""


def page() -> str:
    """The text that the results give."""
    settings = paper_settings.report(finished("paper_settings"))
    return TEXT.format(methods=settings, certificates=certificates.report(finished("certificates")))


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(int(PAGE.read_text() != page()))
    PAGE.write_text(page())
