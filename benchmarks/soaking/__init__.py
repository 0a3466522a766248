"""The parts of benchmarks/soak.py: long runs in memory and on a journal file, and more workers than a machine has."""
