"""Every figure and table of the paper, in one go: what `make paper` runs.

    python experiments/paper.py [--smoke] [--workers 2]

Runs each experiment of this folder (finished runs are kept, so an interrupted one is resumed by starting it again),
then writes docs/paper.md and docs/methods.md from what is kept. The CNN of table 1 needs PyTorch, the MNIST files
(experiments/fetch_mnist.py) and hours on a CPU: `make paper` takes its kept results, `make paper-cnn` runs it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
EXPERIMENTS = (
    "figure1",
    "figure1_diagnostics",
    "violations",
    "certificates",
    "paper_settings",
    "rough",
    "rates",
)  # the longest comes last
PAGES = ("paper_page", "methods_page")


def main() -> None:
    """Run the experiments one after the other, each with its own processes, and write the pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny runs; nothing is kept and no page is written")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    size = ["--smoke"] if chosen.smoke else ["--workers", str(chosen.workers)]
    scripts = [HERE / f"{name}.py" for name in (*EXPERIMENTS, *(("table1",) if chosen.smoke else ()))]
    pages = [] if chosen.smoke else [HERE.parent / "docs" / f"{name}.py" for name in PAGES]
    for script in [*scripts, *pages]:
        start = time.perf_counter()
        print(f"--- {script.stem}", flush=True)
        options = size if script in scripts else []
        subprocess.run([sys.executable, str(script), *options], check=True)  # noqa: S603
        print(f"--- {script.stem}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
