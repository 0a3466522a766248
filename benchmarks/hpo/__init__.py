"""Regret on surrogates of real tunings (YAHPO Gym): mixed and conditional spaces, with noise and without.

    python benchmarks/hpo/run.py METHOD         runs what is missing in results/noise_VALUE/METHOD.jsonl
    python benchmarks/hpo/table.py              runs the whole grid, resumable, and writes results/report.md
    python benchmarks/hpo/units.py              measures the units and the best value of each instance: units.json

The data are read from a folder, `--data`, and are not part of this repository. Rows, comparison and the machinery of
runs are those of `regret`. `make hpo-peers` installs what is needed.
"""
