"""Regret against peers: a fixed list of noisy problems, every method at its recommended settings, paired seeds.

    python benchmarks/regret/run.py METHOD      runs what is missing in results/METHOD.jsonl
    python benchmarks/regret/report.py          writes results/report.md and its figure from those rows
    python benchmarks/regret/noise.py           noise of .5 and 1 instead of .1: results/noise_*/ and noise.md
    python benchmarks/regret/parallel.py        ours with parallel evaluations: results/parallel.jsonl and parallel.md
    python benchmarks/regret/ablation.py        ours with one thing changed: results/ablation.jsonl and ablation.md

`suite` is the list of problems, `roster` the list of methods. Every problem is maximised. Odd seeds are for tuning our
own method, even ones for the report.
"""
