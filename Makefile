# Every target sets up what it needs; only Python 3.11+ and make are assumed.
#   make demo    a real tuning job, with workers, in two minutes
#   make test    lint, types, tests (test-fast: the quick majority of the tests alone, in two minutes)
#   make docs    the documentation as a site, in site/ (docs-serve: on a local port, rebuilt as you write)
#   make paper   the paper's figures and tables from scratch, resumable (paper-smoke: tiny; paper-cnn: table 1 with PyTorch)
#   make faults  kills, signals, full disks, torn files: what is left of studies after them, in ten minutes
#   make compatibility   every supported Python, and the oldest packages; sbom, audit: what is installed, and advisories
#   make soak    100,000 trials, 5,000 on a journal with 16 workers, fleets of thousands simulated; hours, resumable
#   make bench   speed, as ratios against bare BLAS calls and peers (make peers installs those; hpo-peers, carps for benchmarks/hpo)
#   make mutation  whether the tests notice 300 small errors in gp, partition and confidence, resumable

PYTHON ?= python3
VENV   := .venv
PEERS  := .venv-peers
BIN    := $(VENV)/bin
# One BLAS thread: results repeat bit for bit and test workers do not fight over cores.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: coverage compatibility fuzz hostile sbom audit demo test test-fast lint types docs docs-serve paper paper-smoke paper-cnn bench mutation faults soak peers hpo-peers carps format clean

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
	$(BIN)/python -m pytest -n 2 --dist loadfile tests src experiments/as_printed

# For the inner loop: without what tests/conftest.py lists as slow, without lint and types.
test-fast: $(VENV)/.ready
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" tests src experiments/as_printed

# Lines and branches that the tests reach, those in commands and workers included; half as long again as make test.
coverage: $(VENV)/.ready
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 --dist loadfile tests src experiments/as_printed
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# The variable silences an advertisement of the theme.
docs: $(VENV)/.ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --clean
	@echo "site/index.html"

docs-serve: $(VENV)/.ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

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

# Surrogates of tunings run on onnxruntime, which the package does not need. HEBO and BoTorch meet them in their own
# environments, and need it there too.
HPO := .venv-hpo
$(HPO)/.ready: benchmarks/hpo/peers.txt
	$(PYTHON) -m venv $(HPO)
	$(HPO)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(HPO)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/hpo/peers.txt
	@touch $@

SMAC := .venv-smac
$(SMAC)/.ready: benchmarks/hpo/smac.txt
	$(PYTHON) -m venv $(SMAC)
	$(SMAC)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/hpo/smac.txt
	@touch $@

CARPS := .venv-carps
$(CARPS)/.ready: benchmarks/hpo/carps.txt
	$(PYTHON) -m venv $(CARPS)
	$(CARPS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/hpo/carps.txt
	@touch $@

carps: $(CARPS)/.ready

hpo-peers: $(HPO)/.ready $(PEERS)/.ready $(HEBO)/.ready $(SMAC)/.ready
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check onnxruntime==1.31.1
	$(HEBO)/bin/python -m pip install --quiet --disable-pip-version-check onnxruntime==1.31.1

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/gp.py
	$(BIN)/python benchmarks/bounds.py
	$(BIN)/python benchmarks/methods.py
	@if [ -x $(PEERS)/bin/python ]; then $(BIN)/python benchmarks/suggestion.py; else echo "suggestion.py needs the peers: make peers"; fi

faults: $(VENV)/.ready
	$(BIN)/python benchmarks/faults.py --write

soak: $(VENV)/.ready
	$(BIN)/python benchmarks/soak.py --write

mutation: $(VENV)/.ready
	$(BIN)/python benchmarks/mutation.py --write --workers $(WORKERS)

# Each environment is new: what is needed comes from the package index.
compatibility: $(VENV)/.ready
	$(BIN)/python benchmarks/compatibility.py --write

fuzz: $(VENV)/.ready
	$(BIN)/python benchmarks/fuzz.py --write

# 10,000 hostile studies by all commands, and every objective that misbehaves; half an hour, resumable.
hostile: $(VENV)/.ready
	$(BIN)/python benchmarks/hostile_studies.py --write

# What an installation without extras gets, as CycloneDX JSON in dist/sbom.json; versions are those of today.
AUDIT := .venv-audit
$(AUDIT)/.ready: pyproject.toml
	rm -rf $(AUDIT)
	$(PYTHON) -m venv $(AUDIT)
	$(PYTHON) -m venv --without-pip $(AUDIT)/runtime
	$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip cyclonedx-bom pip-audit
	$(AUDIT)/bin/python -m pip --python $(AUDIT)/runtime/bin/python install --quiet --disable-pip-version-check .
	@touch $@

sbom: $(AUDIT)/.ready
	@mkdir -p dist
	$(AUDIT)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o dist/sbom.json $(AUDIT)/runtime/bin/python
	@echo "dist/sbom.json"

# pip-audit asks a service for advisories. Where it has no answer, this fails: no answer is not a good one.
audit: $(AUDIT)/.ready
	@$(AUDIT)/bin/python -m pip --python $(AUDIT)/runtime/bin/python freeze --exclude quadrat > $(AUDIT)/installed.txt
	@$(AUDIT)/bin/python -m pip_audit --strict --no-deps --disable-pip --progress-spinner off -r $(AUDIT)/installed.txt \
		|| { echo "audit: a package has an advisory, listed above, or the service that knows them could not be reached"; exit 1; }

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(PEERS) $(AUDIT) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
