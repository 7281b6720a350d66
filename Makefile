# The daily commands. `make` or `make help` lists the targets with the comments behind `##`.
.DEFAULT_GOAL := help
.PHONY: help setup check format lint types imports old-python shape shape-update unit test fuzz machine chaos golden lxd browser toolclient bench bench-fleet docs docs-versions demo dist deb image image-test clean lock lowest audit statements unordered test-postgres chaos-postgres hooks workflows fuzz-hour firefox links counts newest piuparts screenshots screenshots-check
BIN := .venv/bin
QUICK := not machine and not sshd and not bench and not lxd and not browser and not image
WORKERS ?= $(shell nproc)
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/installed-dev: pyproject.toml contrib/locks/dev.txt
	python3 contrib/dev.py setup

setup: $(BIN)/installed-dev  ## Make .venv with all that developers need

check: lint types imports old-python audit unit  ## All quick checks

format: setup  ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix-only -q
	$(BIN)/ruff format

lint: setup  ## Format and style (ruff)
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: setup  ## Types (mypy --strict)
	$(BIN)/mypy

imports: setup  ## Which module may import which (import-linter)
	$(BIN)/lint-imports --no-logo

old-python: setup  ## What runs on machines stays valid Python 3.8 (vermin)
	$(BIN)/vermin -q --target=3.8- --no-tips --violations pushjuju/portable pushjuju/runner/remote pushjuju/plugins/hooks

hooks: setup  ## The hooks before a commit, over all files (pre-commit; needs Go and a network, or SKIP=gitleaks)
	$(BIN)/pre-commit run --all-files --show-diff-on-failure

workflows: setup  ## Check the workflows of CI (zizmor; with GH_TOKEN also against what GitHub knows of the actions)
	$(BIN)/zizmor --quiet .github

shape: setup  ## Print measures of the code: folders, circles, lengths, words, files that one change touches
	$(BIN)/python contrib/shape.py

shape-update: setup  ## Write lower numbers into tests/docs/baseline (MOVED=1: modules were moved or split)
	$(BIN)/python contrib/shape.py update $(if $(MOVED),--moved)

unit: setup  ## Tests without machines and without sshd
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "$(QUICK)" tests/unit tests/fuzz tests/migration tests/golden tests/docs

test:  ## Every test, on real machines too; installs what is missing (root or sudo)
	python3 contrib/dev.py test

unordered: setup  ## Tests with rows in another order, wherever a statement leaves the order open
	$(BIN)/python -m pytest -q -n $(WORKERS) -p tests.postgres.shuffled -m "$(QUICK)" tests/unit/services tests/unit/uniter tests/golden

test-postgres: setup  ## All quick tests that have a controller, with their stores in PostgreSQL
	$(BIN)/python -m pytest -q -n $(WORKERS) -p tests.postgres.everywhere -m "$(QUICK)" \
		$(addprefix tests/unit/,services uniter workers web cli client) tests/golden tests/fuzz tests/chaos tests/clouds

fuzz: setup  ## Hostile input, longer and with other examples each time (FUZZ=20 times as many)
	FUZZ=$(or $(FUZZ),20) $(BIN)/python -m pytest -q -n $(WORKERS) tests/fuzz

fuzz-hour: setup  ## Hostile input for an hour, with other examples in each round
	end=$$(($$(date +%s) + 3600)); while [ $$(date +%s) -lt $$end ]; do $(MAKE) fuzz FUZZ=5 || exit 1; done

machine: setup  ## The tests on real machines only (root)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile -m "machine and not bench"

chaos: setup  ## Random faults: 2,000 schedules on simulated machines, 100 on real machines (root)
	$(BIN)/python -m tests.chaos.schedules --count 2000
	PUSHJUJU_CHAOS_SCHEDULES=100 PUSHJUJU_CHAOS_SEED=$$(date +%s) \
		$(BIN)/python -m pytest -q -n 2 tests/chaos/test_breakage.py

chaos-postgres: setup  ## The 2,000 schedules with the store in PostgreSQL, each process with its own connection
	$(BIN)/python -m tests.chaos.schedules --count 2000 --postgres

lxd: setup  ## The provider of LXD on a real LXD (root; Debian: lxd dnsmasq-base iptables mmdebstrap btrfs-progs)
	$(BIN)/python -m pytest -q -rs -m lxd tests/lxd

browser: setup  ## The dashboard in a browser (Debian: chromium)
	$(BIN)/python -m pytest -q -rs -m browser tests/browser

screenshots: setup  ## Write the pictures of the dashboard in the docs (Debian: chromium fonts-dejavu-core)
	$(BIN)/python -m contrib.screenshots

screenshots-check: setup  ## Compare the dashboard with these pictures; build/screenshots gets those that differ
	$(SUDO) apt-get install -q -y --no-install-recommends fonts-dejavu-core
	$(BIN)/python -m contrib.screenshots --check

firefox: setup  ## The same in Firefox (Debian: firefox-esr)
	PUSHJUJU_TEST_BROWSER=firefox $(BIN)/python -m pytest -q -rs -m browser tests/browser

golden: setup  ## Write the expected output; read the diff before you commit it
	$(BIN)/python -m pytest -q tests/golden --golden-update
	git diff --stat tests/golden

toolclient: setup  ## Build the hook tool client for all processors (gcc, gcc-aarch64-linux-gnu)
	$(BIN)/python contrib/toolclient/build.py

bench-fleet: setup  ## Compare pushjuju with similar tools on 10 and 100 hosts (root, half an hour)
	$(BIN)/python -m tests.bench.fleet --hosts 10,100
	$(BIN)/python -m tests.bench.fleet --hosts 10,50 --round-trip 50 --workloads hooks10

counts: setup  ## Compare what the bench counts with the last release; 20 % more is an error
	$(BIN)/python -m tests.bench.counts

bench: setup  ## Measure speed and weight, and print the figures
	$(BIN)/python -m pytest -q -s -p no:xdist -m bench tests/bench

docs: setup  ## Build the docs site into build/docs/html (Sphinx; each warning is an error)
	$(BIN)/python -m contrib.docsite

links: setup  ## Check the links of the docs that lead to other sites (needs a network)
	$(BIN)/python -m contrib.docsite --links

docs-versions: setup  ## Build the docs site of this checkout and of each minor release, with a switch between them
	$(BIN)/python -m contrib.docsite --versions

demo:  ## Deploy the example charm onto a new local machine
	python3 contrib/dev.py demo

# uv reads its own settings (UV_INDEX_URL and so on), not pip's; the lock files name no index
UV := $(BIN)/uv
COMPILE := $(UV) pip compile -q pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url
EXTRAS := --extra api --extra libcloud --extra lxd --extra postgres
statements: setup  ## Write the names of the SQL statements, after statements have changed
	$(BIN)/python contrib/statement_names.py

lock: setup  ## Write the lock files of the dependencies (contrib/locks; needs an index)
	$(BIN)/python -m pip install -q uv
	$(COMPILE) --upgrade $(EXTRAS) -o contrib/locks/run.txt
	$(COMPILE) --upgrade --group dev -o contrib/locks/dev.txt

lowest: setup  ## The quick tests with the lowest versions that pyproject.toml allows (needs an index)
	$(BIN)/python -m pip install -q uv
	$(UV) venv -q --clear --seed .venv-lowest
	$(UV) pip install -q --python .venv-lowest --resolution lowest-direct --group dev -e .
	.venv-lowest/bin/python -m pytest -q -p no:cacheprovider -n $(WORKERS) -m "$(QUICK)" tests/unit tests/migration

newest: setup  ## The quick tests with the newest versions of the libraries, whatever the locks say (needs an index)
	$(BIN)/python -m pip install -q uv
	$(UV) venv -q --clear --seed .venv-newest
	$(UV) pip install -q --python .venv-newest --upgrade --group dev -e .
	.venv-newest/bin/python -m pytest -q -p no:cacheprovider -n $(WORKERS) -m "$(QUICK)" tests/unit tests/migration

audit: setup  ## Known vulnerabilities of locked dependencies (pip-audit; CI installs it)
	$(if $(CI),$(BIN)/python -m pip install -q pip-audit)
	$(BIN)/python contrib/audit.py

dist: setup  ## Build the wheel and the sdist
	$(BIN)/python -m hatchling build

deb: setup  ## Build the Debian package for this release and processor
	$(BIN)/python contrib/deb.py

piuparts: deb  ## Install and purge the Debian package in an empty chroot of this release (root or sudo; installs piuparts)
	$(SUDO) apt-get install -q -y --no-install-recommends piuparts
	. /etc/os-release; $(SUDO) piuparts --log-level=info --defaults "$$ID" --distribution "$$VERSION_CODENAME" --no-eatmydata dist/*.deb

image-test: setup  ## Build and use the container image without a registry (root; Debian: buildah mmdebstrap)
	$(BIN)/python -m pytest -q -rs -m image tests/release

image:  ## Build the container image, and try it without rights to write (docker)
	docker build --tag pushjuju --file contrib/image/Dockerfile .
	docker run --rm --read-only --tmpfs /tmp pushjuju version
	test "$$(docker save pushjuju | gzip | wc -c)" -lt 200000000 # as a registry keeps it

clean:  ## Delete .venv and caches; the state of controllers stays
	python3 contrib/dev.py clean
