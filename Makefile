# Every target sets up what it needs; only Python 3.11+ and make are assumed.
#   make demo    a real tuning job, with workers, in two minutes
#   make test    lint, types, tests
#   make paper   the paper's figures and tables from scratch, resumable (paper-smoke: tiny; paper-cnn: table 1 with PyTorch)
#   make bench   speed, as ratios against bare BLAS calls and peers (make peers installs those)

PYTHON ?= python3
VENV   := .venv
PEERS  := .venv-peers
BIN    := $(VENV)/bin
# One BLAS thread: results repeat bit for bit and test workers do not fight over cores.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: demo test lint types paper paper-smoke paper-cnn bench peers format clean

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Quadrat needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(VENV)/.ready
	@$(BIN)/python examples/demo.py

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready
	$(BIN)/mypy

test: lint types
	$(BIN)/python -m pytest -n 2 --dist loadfile tests src

paper: $(VENV)/.ready
	$(BIN)/python experiments/paper.py

paper-smoke: $(VENV)/.ready
	$(BIN)/python experiments/paper.py --smoke

# DEVICE=cuda with many workers is minutes; a CPU needs hours.
DEVICE  ?= cpu
WORKERS ?= 2
paper-cnn: $(PEERS)/.ready
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	$(PEERS)/bin/python experiments/fetch_mnist.py
	$(PEERS)/bin/python experiments/table1.py --device $(DEVICE) --workers $(WORKERS)

$(PEERS)/.ready: benchmarks/regret/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/regret/peers.txt
	@touch $@

# HEBO needs older packages than the other peers.
HEBO := .venv-hebo
$(HEBO)/.ready: benchmarks/regret/hebo.txt
	$(PYTHON) -m venv $(HEBO)
	$(HEBO)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(HEBO)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/regret/hebo.txt
	$(HEBO)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps HEBO==0.3.6
	@touch $@

peers: $(PEERS)/.ready $(HEBO)/.ready

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/gp.py
	$(BIN)/python benchmarks/bounds.py
	$(BIN)/python benchmarks/methods.py
	@if [ -x $(PEERS)/bin/python ]; then $(BIN)/python benchmarks/suggestion.py; else echo "suggestion.py needs the peers: make peers"; fi

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(PEERS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
