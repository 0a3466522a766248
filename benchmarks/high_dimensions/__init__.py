"""Twenty dimensions and two thousand evaluations: our default method beside methods made for that.

    python benchmarks/high_dimensions/run.py METHOD      runs what is missing in results/METHOD.jsonl
    python benchmarks/high_dimensions/report.py --write  writes results/report.md and its figure from those rows

`twenty` is the list of problems, `contenders` the list of methods. Every problem is maximised, noise .1; every method
meets the same noise at the same evaluation. Even seeds are for the report.
"""
