# README's two commands are `make race` and `make test`; everything they need, they set up.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build
.PHONY: race test build check format bench-verdicts bench-limit bench-engine bench-truth bench-tools bench-origin bench-uploads bench-protocols clean

VENV := .venv
PY := $(VENV)/bin/python
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

race: build ## Set up all that is needed and race the servers: the answer in minutes
	$(VENV)/bin/photofinish doctor servers --quick --mend --brief
	$(VENV)/bin/photofinish race servers --quick

test: build $(VENV)/.dev ## Set up and pass all tests
	cargo test --workspace --release --locked
	$(PY) -m pytest

build: $(VENV)/.built ## Leave .venv/bin/photofinish

$(VENV)/.bootstrap: scripts/bootstrap
	scripts/bootstrap $(VENV)
	touch $@

$(VENV)/.run: $(VENV)/.bootstrap requirements/run.txt requirements/build.txt
	$(PY) -m pip install --quiet --require-hashes -r requirements/run.txt -r requirements/build.txt
	touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(PY) -m pip install --quiet --require-hashes -r requirements/dev.txt
	touch $@

# `maturin develop` compiles the one native binary and links the Python sources in place.
$(VENV)/.built: $(VENV)/.run pyproject.toml $(RUST_SOURCES)
	VIRTUAL_ENV=$(abspath $(VENV)) $(VENV)/bin/maturin develop --release --locked --quiet
	touch $@

check: build $(VENV)/.dev ## Formatters, clippy pedantic, ruff, strict typing; warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --release --locked -- -D warnings
	$(VENV)/bin/ruff format --check python tests benches scripts
	$(VENV)/bin/ruff check python tests benches scripts
	$(VENV)/bin/mypy
	$(PY) scripts/check_files.py

format: $(VENV)/.dev ## Format everything
	cargo fmt --all
	$(VENV)/bin/ruff format python tests benches scripts
	$(VENV)/bin/ruff check --fix --quiet python tests benches scripts

bench-verdicts: build ## 100 A/A races, a handicap of 2 %, spread by window length: benches/verdicts/README.md
	$(PY) benches/verdicts/run.py

bench-limit: build ## What origin costs beside the least server and nginx: benches/limit/README.md
	$(PY) benches/limit/run.py

bench-tools: build ## Get the load generators to compare with, as pinned, into target/bench-tools
	$(PY) -m benches.peers.install

bench-engine: bench-tools ## The load generator against bare loops and its peers: benches/README.md
	cargo build --release --locked --quiet --package photofinish-bare
	$(PY) -m benches.engine.run
	$(PY) -m benches.engine.bodies

bench-truth: bench-tools ## True against measured percentiles and rates; the peers' known bugs: benches/truth/README.md
	$(PY) -m benches.truth.run

bench-origin: build ## Origin and limit against real servers and the bare loops: benches/origin/README.md
	cargo build --release --locked -p photofinish-bare
	$(PY) benches/origin/run.py

bench-uploads: build ## Ways to sink an upload, one pair against iperf3, uploads against their goals: benches/uploads/README.md
	cargo build --release --locked --quiet --package photofinish-bare
	$(PY) -m benches.peers.install iperf3
	$(PY) -m benches.uploads.run

bench-protocols: build ## HTTP/2, HTTP/3, TLS and content codings beside their peers: benches/protocols/README.md
	$(PY) -m benches.peers.install h2load nghttpd nginx quinn-client quic-go-server oha-http3
	$(PY) -m benches.protocols.run $(if $(BEFORE),--before $(BEFORE))

clean: ## Remove what was built; runs stay
	rm -rf target $(VENV) .photofinish
