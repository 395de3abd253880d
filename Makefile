# make help says what there is. Everything works with Go alone; a part that needs more says what, and how to get it.

SHELL       := bash
.SHELLFLAGS := -o pipefail -c

GO        ?= go
FUZZTIME  ?= 60s
BENCH     ?= .
BENCHTIME ?= 1s
# TESTFLAGS go to every go test, for example TESTFLAGS=-v.
TESTFLAGS ?=
# RUNFLAGS go to kubesim serve, for example RUNFLAGS='--clock manual --seed 7'.
RUNFLAGS  ?=
# WASMFLAGS go to wasm/build.mjs: --fast compresses less and checks no budget.
WASMFLAGS ?=
# The packages whose tests also run as js/wasm under node.
WASM_TESTS ?= ./clock/... ./sim/checker ./sim/scenario
# REALFLAGS go to kube-apiserver, for example REALFLAGS='--feature-gates=VolumeLimitScaling=true'.  KUBESIM_REAL_LISTEN is where it listens.
REALFLAGS ?=
# SOAKFLAGS go to examples/soak, for example SOAKFLAGS='-ops 100000' or '-seed 17'.
SOAKFLAGS ?=
# TARGET is what make e2e tests: kubesim, real or own.  E2EFLAGS go to sim/conformance/testdata/e2e, for example
# E2EFLAGS='-procs 12' or E2EFLAGS='-focus ResourceQuota'.
TARGET   ?= kubesim
E2EFLAGS ?=
# SUITES are the projects whose suites make suites runs, with commas between them; all without it.  ASSETS is a folder with
# etcd and kube-apiserver to run them over instead of kubesim's.  REAL=1 runs them over the real programs, too.
# VIRTUAL=0 does not run them in virtual time (kubesim gotest), too; VIRTUAL=only runs them in virtual time only.
# SUITESFLAGS go to sim/conformance/testdata/suites, for example SUITESFLAGS='-packages pkg/client'.
SUITES      ?=
ASSETS      ?=
REAL        ?=
VIRTUAL     ?=
SUITESFLAGS ?=
# PACKAGES is a regular expression for the packages that make integration runs; all without it. ASSETS and REAL=1 are as above.
# INTEGRATIONFLAGS go to sim/conformance/testdata/integration, for example INTEGRATIONFLAGS='-fresh' or '-focus TestGC'.
PACKAGES         ?=
INTEGRATIONFLAGS ?=
# ROWS are the beginnings of the names of the rows that make compat and make operators run, with commas between them, such as
# helm,kubectl-1.32; all without it.
ROWS ?=
# OPERATORSFLAGS go to examples/operators, for example OPERATORSFLAGS='-seeds 100'.
OPERATORSFLAGS ?=

# Every folder with a go.mod: the root module, and those whose requirements must not reach its users. The modules of operators are
# left out, because each needs the client libraries of its own version: only make operators builds them.
SUBMODULES := $(sort $(patsubst ./%/go.mod,%,$(shell find . -mindepth 2 -name go.mod -not -path '*/node_modules/*' -not -path '*/testdata/*' -not -path './examples/operators/*')))
MODULES    := . $(SUBMODULES)

# The tools that look for mistakes are started at these versions; no go.mod requires them.
DEADCODE    := golang.org/x/tools/cmd/deadcode@v0.52.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ON_JS       := -exec 'env GOOS=js GOARCH=wasm'
# What stands in for a library in the page is reached from another module.  Of the programs around upstream's tests, real is
# left out: its one file would have the linters read all of kube-apiserver, 2,100 packages.
OWN_MODULES := $(filter-out wasm/slim/%,$(MODULES)) $(addprefix sim/conformance/testdata/,e2e suites integration compat)
# LINTED are the modules that deadcode and staticcheck read.  make full has them read the root module only: for the others they
# must read client-go and controller-runtime, which takes five minutes when nothing is built. make nightly reads all.
LINTED ?= $(OWN_MODULES)

# each runs a command in every module and fails at the end if it failed in one.
each = @status=0; for m in $(MODULES); do echo "== $$m: $(1)"; (cd $$m && $(1)) || status=1; done; exit $$status

# The packages whose tests do less with -short.
LONG ?= $(sort $(patsubst %,./%,$(shell grep -rl --include='*_test.go' 'testing.Short()' clock sim fake wasm | xargs -n 1 dirname)))

.PHONY: help run test full rest rest-go rest-page test-long test-modules documents nightly test-wasm race race-fake check check-format check-generate vet guard deadcode staticcheck build-wasm wasm web web-dist test-web test-browsers test-npm npm-pack lint-web unit-web shots bench fuzz kill scale soak endurance gallery operators sample generate conformance conformance-real life life-real journeys webhooks journeys-beside webhooks-beside real import-real boot-data openapi-data record-sampling e2e suites integration real-assets compat charts

help: ## print this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1	/' | awk -F '\t' '{ printf "  %-17s %s\n", $$1, $$2 }'

run: ## build and start kubesim serve with the page; it prints its URL and the kubectl line to try (RUNFLAGS)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory web WASMFLAGS=--fast >&2; \
	else echo "left out: the page needs npm (https://nodejs.org, or: apt-get install npm)" >&2; fi
	$(GO) run ./fake/cmd/kubesim serve --nodes 3 $$(if [ -f web/dist/index.html ]; then echo --web web/dist; fi) $(RUNFLAGS)

# TALLY prints what go test prints, with the number of tests that ran.
TALLY = | $(GO) run $(CURDIR)/.ci/tally.go $(filter -v,$(TESTFLAGS))

# Compilers, linters and tests spend a fifth of their time on garbage that most machines have room for.
test full rest: export GOGC ?= 400
test full rest: export GOMEMLIMIT ?= 6GiB

# A package that needs more than 10 s of CPU fails.
test: ## the tests of the root module with -short: at most 3 minutes on two cores, 1 when everything is built (TESTFLAGS)
	$(GO) test -json -short -vet=all -timeout 3m -exec '"$(CURDIR)/.ci/cpu" 10' $(TESTFLAGS) ./... $(TALLY)
	@echo "left out: the long form of tests (make test-long), the modules $(SUBMODULES) (make test-modules), js/wasm (make test-wasm), the page (make test-web), the race detector (make race-fake); make full runs all of it"

full: ## all tests and checks, Go and the page side by side: 12 minutes on two cores
	@$(MAKE) --no-print-directory test && $(MAKE) --no-print-directory rest

# The page's tests wait for a browser most of the time, so Go's run beside them; first, neither may be disturbed by a compiler.
rest: ## the part of make full that make test does not run
	@$(MAKE) --no-print-directory -j 2 rest-go rest-page
	@echo "left out: deadcode and staticcheck in the modules (make deadcode staticcheck), tests that take hours (make nightly)"

rest-go:
	@status=0; for part in check-format check-generate "deadcode LINTED=." "staticcheck LINTED=." test-long test-modules test-wasm race-fake; do \
		echo "== $$part"; began=$$SECONDS; $(MAKE) --no-print-directory $$part || status=1; echo "== $$part took $$((SECONDS-began)) s"; done; exit $$status

rest-page:
	@status=0; for part in lint-web test-web; do \
		echo "== $$part"; began=$$SECONDS; $(MAKE) --no-print-directory $$part || status=1; echo "== $$part took $$((SECONDS-began)) s"; done; exit $$status

test-long: ## all tests of the packages that do less with -short, in full, shuffled (TESTFLAGS)
	$(GO) test -json -vet=off -shuffle=on $(TESTFLAGS) $(LONG) $(TALLY)

test-modules: ## the tests of the modules below the root module, shuffled (TESTFLAGS)
	@status=0; for m in $(SUBMODULES); do echo "== $$m"; (cd $$m && $(GO) test -json -vet=all -shuffle=on $(TESTFLAGS) ./... $(TALLY)) || status=1; done; exit $$status

documents: ## run the commands and compile the code in all documents
	cd examples && $(GO) test -count=1 ./documents

test-wasm: ## run tests as js/wasm under node (WASM_TESTS)
	@if command -v node >/dev/null; then \
		PATH="$$PATH:$$($(GO) env GOROOT)/lib/wasm" GOOS=js GOARCH=wasm $(GO) test -json $(TESTFLAGS) $(WASM_TESTS) $(TALLY) && \
		PATH="$$PATH:$$($(GO) env GOROOT)/lib/wasm" GOOS=js GOARCH=wasm $(GO) test -json $(TESTFLAGS) -run '^(TestGoldenHashes|TestOpenSoak)$$' ./sim/soak ./wasm/engine $(TALLY); \
	else echo "left out: tests under js/wasm need node (https://nodejs.org, or: apt-get install nodejs)"; fi

# Packages are installed when the lock file is newer than what was installed last.
web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

web: wasm web/node_modules/.package-lock.json ## build the page into web/dist; fails if it exceeds its size budget
	cd web && npm run --silent build

web-dist: wasm web/node_modules/.package-lock.json ## the same with .br and .gz beside each file: a folder for any static host
	cd web && npm run --silent build -- --dist

lint-web: ## check the page's code for mistakes that the compiler does not find (biome; rules in web/biome.jsonc)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory web/node_modules/.package-lock.json && cd web && npm run --silent check && npm run --silent lint; \
	else echo "left out: the linter of the page needs npm (https://nodejs.org, or: apt-get install npm)"; fi

# The unit tests need no engine, so they run while it is built.
test-web: ## unit tests of the page, then the page in real browsers (BROWSERS: chromium, firefox, webkit)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory -j 2 web-dist unit-web && cd web && BROWSERS="$(BROWSERS)" npm run --silent browser; \
	else echo "left out: tests of the page need npm (https://nodejs.org, or: apt-get install npm)"; fi

unit-web: web/node_modules/.package-lock.json
	cd web && npm run --silent unit

test-browsers: BROWSERS := chromium firefox webkit
test-browsers: test-web ## the same in all three browsers, where they are installed

picture: web-dist ## the picture of the README, web/timeline.png
	cd web && node test/picture.mjs

web/npm/node_modules/.package-lock.json: web/npm/package-lock.json
	cd web/npm && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

test-npm: ## tests of the npm package: both majors of the client, the tarball in an empty project, a page that embeds it in Chromium
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory wasm web/node_modules/.package-lock.json web/npm/node_modules/.package-lock.json && \
		cd web/npm && node build.mjs && node test/run.mjs; \
	else echo "left out: tests of the npm package need npm (https://nodejs.org, or: apt-get install npm)"; fi

npm-pack: wasm web/node_modules/.package-lock.json ## build the npm package into web/npm/kubesim-VERSION.tgz and print its checksum
	cd web/npm && node build.mjs && sha256sum "$$(npm pack --silent)"

shots: web-dist ## screenshots of the page into web/shots: first screen and a lesson, wide and narrow, light and dark
	cd web && node test/shots.mjs

NEEDS_C = if [ "$$($(GO) env CGO_ENABLED)" != 1 ] || ! command -v "$$($(GO) env CC)" >/dev/null; then \
	echo "the race detector needs a C compiler (apt-get install gcc) and CGO_ENABLED=1"; exit 1; fi
race: ## run all tests with the race detector
	@$(NEEDS_C)
	$(call each,$(GO) test -race -timeout 30m -shuffle=on $(TESTFLAGS) ./...)

# Goroutines start in fake, in no package below it. make race runs the rest, and the long form of the tests. Three tests have one client
# and thousands of requests: with the race detector they take two thirds of the time of all tests, and the others see the same goroutines.
ONE_CLIENT := ^(TestImportFormats|TestSameBytesAtEachSize|TestWalk)$$
race-fake: ## the tests of fake with -short, and every twelfth recorded case, with the race detector
	@$(NEEDS_C)
	$(GO) test -json -race -timeout 30m -shuffle=on -short -skip '$(ONE_CLIENT)' $(TESTFLAGS) ./fake $(TALLY)
	$(GO) test -json -race -timeout 30m -shuffle=on -short $(TESTFLAGS) ./fake/conformance $(TALLY)

check: check-format vet staticcheck test ## run before every push: format, vet, staticcheck and make test, which includes the guards; CI then runs make full

check-format: ## fail if gofmt would change a file
	@out="$$(gofmt -l $$(find . -name '*.go' -not -path '*/node_modules/*'))"; \
	if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi

vet: ## go vet in every module
	$(call each,$(GO) vet ./...)

deadcode: ## find functions that no command and no test reaches, natively and, for wasm, under js
	@status=0; dead() { echo "== $$1: deadcode"; out="$$(cd $$1 && shift && $(GO) run "$$@")" && [ -z "$$out" ] || { echo "$$out"; status=1; }; }; \
	for m in $(LINTED); do dead $$m $(DEADCODE) -test ./...; done; \
	dead . $(ON_JS) $(DEADCODE) -test -tags page -filter '/wasm' ./wasm/...; exit $$status

staticcheck: ## find mistakes that go vet does not find (checks in staticcheck.conf), natively and, for wasm, under js
	@status=0; for m in $(LINTED); do echo "== $$m: staticcheck"; (cd $$m && $(GO) run $(STATICCHECK) ./...) || status=1; done; \
	$(GO) run $(ON_JS) $(STATICCHECK) -tags page ./wasm/... || status=1; exit $$status

guard: ## check the project's rules
	$(GO) test -count=1 ./sim/guard

build-wasm: ## build everything that runs in a page as js/wasm
	GOOS=js GOARCH=wasm $(GO) build ./clock/... $$(ls -d sim fake wasm 2>/dev/null | sed 's|.*|./&/...|')

wasm: ## build the engines of the page into web/public/engine; fails if one exceeds its size budget (WASMFLAGS=--fast: not checked)
	@if ! command -v node >/dev/null; then echo "make wasm needs node (https://nodejs.org, or: apt-get install nodejs)"; exit 1; fi
	GO=$(GO) node wasm/build.mjs $(WASMFLAGS)

bench: ## benchmarks, side by side with other fakes where examples/ has them (BENCH, BENCHTIME)
	$(call each,$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem ./...)

fuzz: ## each fuzz target for a while (FUZZTIME)
	@for m in $(MODULES); do (cd $$m && GO=$(GO) $(CURDIR)/.ci/fuzz $(FUZZTIME)) || exit 1; done

# The parts are in the order of their length, from some minutes to some hours. The first builds of suites, compat and
# integration download several GB.
NIGHTLY ?= deadcode staticcheck kill race test-browsers test-npm soak sample fuzz journeys-beside webhooks-beside endurance gallery suites charts compat integration
nightly: ## tests that take hours, in parts (NIGHTLY); may be interrupted, and continues when started again
	@.ci/nightly $(NIGHTLY)

kill: ## kill kubesim serve --archive 200 times under load, and check what its clients saw (KILLS)
	KUBESIM_KILLS=$(or $(KILLS),200) $(GO) test -count=1 -v -timeout 1h -run '^TestKill$$' ./fake/cmd/kubesim

scale: ## clusters of up to 5,000 nodes and 150,000 pods: the tables of examples/bench/README.md, half an hour and 4 GB (SIZES; PAIRS=5: two processes at once; KUBECTL=1: commands of kubectl; REAL=1: beside the real kube-controller-manager and kube-scheduler)
	@if [ -n "$(REAL)$(KUBECTL)" ]; then mkdir -p $(E2E)/bin && $(GO) build -o $(E2E)/bin/ ./fake/cmd/kubesim && cd sim/conformance/testdata/e2e && \
		$(GO) build -ldflags '$(REAL_LDFLAGS)' -o $(E2E)/bin/ $(addprefix k8s.io/kubernetes/cmd/,$(if $(REAL),kube-controller-manager kube-scheduler) $(if $(KUBECTL),kubectl)); fi
	@cd examples && $(GO) run ./bench/scale -write bench/README.md $(if $(REAL),-beside $(E2E)/bin) $(if $(KUBECTL),-usage $(E2E)/bin) \
		$(if $(PAIRS),-pairs $(PAIRS)) $(SIZES)

soak: ## a million random operations with random faults, all promises checked (SOAKFLAGS)
	@cd examples && $(GO) run ./soak $(SOAKFLAGS)

endurance: ## an hour of 32 clients of client-go over TLS under faults: promises, linearizability and the server's heap (FOR, SOAKFLAGS)
	@cd examples && $(GO) run ./soak -for $(or $(FOR),1h) $(SOAKFLAGS)

# Each pattern and each mistake is a search of its own, and none is done twice: end it at any time.  GALLERY is a part of it,
# for example GALLERY='double/survives'.
gallery: ## measure the figures of examples/gallery/README.md: hours, in parts that are kept (GALLERY)
	@cd examples/gallery && mkdir -p testdata && \
	$(GO) test -count=1 -v -timeout 0 -run '^TestMeasure$$/$(or $(GALLERY),.*)' . -measure=testdata/measured.jsonl; status=$$?; \
	$(GO) test -count=1 -run '^TestReadme$$' . -write && exit $$status
# Copies of the operators' modules and their test binaries are below OPERATORS_DIR.
OPERATORS_DIR = $${TMPDIR:-/tmp}/kubesim-operators
operators: ## search real operators for bugs; writes the table of examples/operators/README.md (each operator builds for minutes; continues where it was interrupted; ROWS, OPERATORSFLAGS='-seeds 100')
	cd examples && $(GO) build -o $(OPERATORS_DIR)/operators ./operators
	cd examples/operators && exec $(OPERATORS_DIR)/operators -work $(OPERATORS_DIR) -rows "$(ROWS)" $(OPERATORSFLAGS)
# Its controller.go is package main: it is laid beside the test as it is.
SAMPLE := examples/explore/testdata/sample
sample: ## the sample-controller of Kubernetes, unchanged, under fake.Explore with all oracles, and its recording over a real server (FOR, default 5m)
	@cd $(SAMPLE) && $(GO) mod download k8s.io/sample-controller && dir="$$($(GO) list -m -f '{{.Dir}}' k8s.io/sample-controller)" && \
	overlay="$$(mktemp)" && trap 'rm "$$overlay"' EXIT && \
	printf '{"Replace": {"%s/controller.go": "%s/controller.go"}}' "$$PWD" "$$dir" >"$$overlay" && \
	SAMPLE="$$dir" FOR=$(or $(FOR),5m) $(GO) test -overlay "$$overlay" -count=1 -v -timeout 0 .

# make_data DIRECTORY makes the schema data of all minors there, from the types of k8s.io/api and the OpenAPI in the tree.
# go.mod is that of the default minor; the tags name the minor of the module file, and those since 1.35 up to it.
make_data = cd sim/schema/gen && for mod in go*.mod; do minor=$$(sed -n 's|^\tk8s.io/api v0\.\([0-9]*\).*|\1|p' $$mod); \
	$(GO) run -modfile $$mod -tags "minor$$minor,$$(seq -s , -f since%g 35 $$minor)" . -out $(1) || exit 1; done

# make_types DIRECTORY writes what kube-apiserver's structs look like in memory. Of k8s.io/kubernetes (a download of 20 MB) only
# the packages with types are built, in less than a minute.
make_types = cd sim/conformance/testdata/real && $(GO) run ./gotypes $(1) && \
	for mod in go-*.mod; do minor=$${mod\#go-}; $(GO) run -modfile $$mod ./gotypes $(1) $${minor%.mod} || exit 1; done

generate: ## rewrite the generated data; fails if the tree changes
	$(call make_data,../data)
	$(call make_types,../../../builtin/gotext)
	git diff --exit-code sim/schema/data sim/builtin/gotext

check-generate: ## fail if the generated data differs from make generate's; writes nothing
	@dir="$$(mktemp -d)" && trap 'rm -r "$$dir"' EXIT && mkdir $$dir/data $$dir/types && \
	($(call make_data,"$$dir"/data)) && diff -r "$$dir"/data sim/schema/data && \
	($(call make_types,"$$dir"/types)) && for f in "$$dir"/types/*; do diff $$f sim/builtin/gotext/$$(basename $$f) || exit 1; done

conformance: ## compare with the recorded real server, in process and over HTTP; prints a table per area, writes nothing
	$(GO) test -count=1 ./sim/conformance
	@$(GO) test -count=1 -v -run '^Test(InProcess|OverHTTP)$$' ./fake/conformance | grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)'

conformance-real: ## the same against a real server: KUBESIM_TARGET=https://… [KUBESIM_TOKEN=…] [KUBESIM_INSECURE=1] [KUBESIM_AREA=apply,crd]
	@if [ -z "$$KUBESIM_TARGET" ]; then echo "set KUBESIM_TARGET=https://HOST:PORT, KUBESIM_TOKEN, and KUBESIM_INSECURE=1 for a self-signed certificate"; exit 1; fi
	$(GO) test -count=1 -timeout 30m -v -run '^TestTarget$$' ./sim/conformance | grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)'

life: ## situations in which controllers act, compared with the recorded real ones, on virtual time
	$(GO) test -count=1 -v -run '^TestLife$$' ./fake/conformance | grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)'

life-real: ## the same against a server whose controllers run, in real time: KUBESIM_TARGET=http://… KUBESIM_TOKEN=…; KUBESIM_RECORD=1 records new situations
	@if [ -z "$$KUBESIM_TARGET" ]; then echo "set KUBESIM_TARGET=http://127.0.0.1:6480 and KUBESIM_TOKEN=admintoken (make real CONTROLLERS=1 starts such a server)"; exit 1; fi
	KUBESIM_LIFE=1 $(GO) test -count=1 -timeout 60m -v -run '^TestTarget$$' ./sim/conformance | grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)'

journeys: ## variations of the cases, sent to a real server and to a simulator until KUBESIM_REQUESTS in a row agree; KUBESIM_AREA=apply,crd
	@if [ -z "$$KUBESIM_TARGET" ]; then echo "set KUBESIM_TARGET=http://127.0.0.1:6480 and KUBESIM_TOKEN=admintoken (make real starts such a server)"; exit 1; fi
	$(GO) test -count=1 -timeout 0 -v -run '^TestJourneys$$' ./fake/conformance | grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)'

webhooks: ## random writes that call live webhooks, sent to a real server and to a simulator until KUBESIM_REQUESTS requests in a row agree (2,000)
	@if [ -z "$$KUBESIM_TARGET" ]; then echo "set KUBESIM_TARGET=http://127.0.0.1:6480 and KUBESIM_TOKEN=admintoken (make real starts such a server)"; exit 1; fi
	$(GO) test -count=1 -timeout 0 -v -run '^TestWebhooks$$' ./fake/conformance | grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)'

# The version is what a release of it says.  A minor that is not the recorded one has a module file of its own.
REAL_MINOR   ?=
REAL_DIR     := sim/conformance/testdata/real
REAL_MOD     := $(if $(REAL_MINOR),go-$(REAL_MINOR).mod,go.mod)
REAL_RELEASE := $(shell sed -n 's|^\tk8s.io/kubernetes ||p' $(REAL_DIR)/$(REAL_MOD))
REAL_VERSION := k8s.io/component-base/version
REAL_SERVER  := $${TMPDIR:-/tmp}/kubesim-real$(addprefix -,$(REAL_MINOR))
REAL_LDFLAGS := -X $(REAL_VERSION).gitVersion=$(REAL_RELEASE) -X $(REAL_VERSION).gitMajor=1 -X $(REAL_VERSION).gitMinor=$(word 2,$(subst ., ,$(REAL_RELEASE)))
# Its file must have this name, because the field manager of its writes is the name of the file.
MANAGER_DIR   = $(if $(REAL_MINOR),$(REAL_SERVER)-controllers,$(E2E)/bin)
REAL_MANAGER  = $(MANAGER_DIR)/kube-controller-manager
BUILD_REAL   := cd $(REAL_DIR) && $(GO) build -modfile $(REAL_MOD) -o $(REAL_SERVER) -ldflags '$(REAL_LDFLAGS)' .
BUILD_MANAGER = @[ -x $(REAL_MANAGER) ] || { mkdir -p $(MANAGER_DIR) && cd $(if $(REAL_MINOR),$(REAL_DIR),sim/conformance/testdata/e2e) && \
	$(GO) build $(if $(REAL_MINOR),-modfile $(REAL_MOD)) -ldflags '$(REAL_LDFLAGS)' -o $(MANAGER_DIR)/ k8s.io/kubernetes/cmd/kube-controller-manager; }
BUILD_SCHEDULER = @mkdir -p $(E2E)/bin && cd sim/conformance/testdata/e2e && \
	$(GO) build -ldflags '$(REAL_LDFLAGS)' -o $(E2E)/bin/ k8s.io/kubernetes/cmd/kube-scheduler
real: ## build and start a real kube-apiserver (some minutes, 2 GB) to compare with, and to record from (REAL_MINOR: another than the recorded one; CONTROLLERS=1: with kube-controller-manager; SCHEDULER=1: with kube-scheduler)
	$(if $(CONTROLLERS),$(BUILD_MANAGER))
	$(if $(SCHEDULER),$(BUILD_SCHEDULER))
	$(BUILD_REAL) && $(if $(CONTROLLERS),KUBESIM_REAL_CONTROLLERS=$(REAL_MANAGER)) $(if $(SCHEDULER),KUBESIM_REAL_SCHEDULER=$(E2E)/bin/kube-scheduler) exec $(REAL_SERVER) $(REALFLAGS)

# with_real COMMAND runs a command beside a fresh real server on port 6470.
with_real = dir=$$(mktemp -d) && (cd $$dir && $(GO) run $$($(GO) env GOROOT)/src/crypto/tls/generate_cert.go --ca --host kubesim) && \
	{ TMPDIR=$$dir KUBESIM_REAL_LISTEN=127.0.0.1:6470 $(REAL_SERVER) --client-ca-file=$$dir/cert.pem $(REALFLAGS) & pid=$$!; trap "kill -INT $$pid; wait $$pid; rm -r $$dir" EXIT; \
	for i in $$(seq 100); do curl -sf -o $$dir/ready http://127.0.0.1:6470/readyz && break; sleep 1; done; sleep 5; \
	export KUBESIM_RECORD=1 KUBESIM_TARGET=http://127.0.0.1:6470 KUBESIM_TOKEN=admintoken; $(1); }
boot-data: ## record the objects that a real kube-apiserver creates when it starts (sim/boot/data; REAL_MINOR)
	$(BUILD_REAL)
	@$(call with_real,$(GO) test -count=1 -run '^TestTarget$$' ./sim/boot)

openapi-data: ## record the types and resources that a real kube-apiserver serves (sim/schema/gen/openapi; REAL_MINOR; ALL=1: all versions, with REALFLAGS)
	$(BUILD_REAL)
	@$(call with_real,cd sim/schema/gen && $(GO) run . -record $$KUBESIM_TARGET $(if $(ALL),-all))

journeys-beside webhooks-beside: %-beside: ## the same with a real server that is built and started for it
	$(BUILD_REAL)
	@$(call with_real,$(MAKE) --no-print-directory $*)

import-real: ## a cluster of 2,000 objects on a real server with its controllers, imported from each format (KUBESIM_MANIFESTS: files and folders of more objects, with colons between them)
	$(BUILD_MANAGER)
	$(BUILD_REAL)
	@export KUBESIM_CLUSTER=$$(mktemp -d) KUBESIM_COPIES=40 KUBESIM_REAL_CONTROLLERS=$(REAL_MANAGER); \
	$(call with_real,KUBESIM_ETCD=$$(echo $$dir/kubesim-real-*/etcd/member/snap/db) \
		$(GO) test -count=1 -timeout 30m -v -run '^TestRecordImport$$' ./fake/kubectl && \
		$(GO) test -count=1 -timeout 30m -v -run '^TestImport(Real|Formats)$$' ./fake)

# Everything that is built and all logs are below it.
E2E = $${TMPDIR:-/tmp}/kubesim-e2e
e2e: ## Kubernetes' own end-to-end tests with the real controllers (first build 10 min, 4 GB; then half an hour; TARGET, E2EFLAGS)
	@mkdir -p $(E2E)/bin && $(GO) build -o $(E2E)/bin/ ./fake/cmd/kubesim
	cd sim/conformance/testdata/e2e && $(GO) build -ldflags '$(REAL_LDFLAGS)' -o $(E2E)/bin/ . github.com/onsi/ginkgo/v2/ginkgo \
		$(addprefix k8s.io/kubernetes/cmd/,kube-apiserver kube-controller-manager kube-scheduler kubectl)
	cd sim/conformance/testdata/e2e && $(GO) test -c -ldflags '$(REAL_LDFLAGS)' -o $(E2E)/bin/e2e.test k8s.io/kubernetes/test/e2e
	cd sim/conformance/testdata/e2e && exec $(E2E)/bin/e2e -target $(TARGET) -bin $(E2E)/bin -out $(E2E) $(E2EFLAGS)

# Sources, test binaries and logs of the suites are below it, and the real programs.
SUITES_DIR = $${TMPDIR:-/tmp}/kubesim-suites
suites: ## suites of well-known projects over kubesim instead of envtest's programs, in real and in virtual time; writes the table of sim/conformance/README.md (first build an hour, 14 GB; SUITES, ASSETS, REAL=1, VIRTUAL=0 or only, SUITESFLAGS)
	@mkdir -p $(SUITES_DIR) && $(GO) build -o $(SUITES_DIR)/kubesim ./fake/cmd/kubesim
	@if [ -n "$(REAL)" ]; then $(MAKE) --no-print-directory real-assets; fi
	cd sim/conformance/testdata/suites && $(GO) run . -work $(SUITES_DIR) -only "$(SUITES)" -write ../../README.md \
		$(if $(filter only,$(VIRTUAL)),,-kubesim "$(or $(ASSETS),$$($(SUITES_DIR)/kubesim envtest))") $(if $(REAL),-real $(SUITES_DIR)/real) \
		$(if $(filter 0,$(VIRTUAL)),,-virtual $(SUITES_DIR)/kubesim) $(SUITESFLAGS)

record-sampling: ## record the nodes that a real kube-scheduler chooses in clusters of more than 100 nodes (some minutes; fake/conformance/testdata/sampled.json)
	$(BUILD_SCHEDULER)
	KUBESIM_SCHEDULER=$(E2E)/bin/kube-scheduler $(GO) test -count=1 -run '^TestSampling$$' ./fake/conformance

# Copies of the tests, test binaries, results and logs are below it.
INTEGRATION_DIR = $${TMPDIR:-/tmp}/kubesim-integration
integration: ## Kubernetes' own integration tests over kubesim instead of the real programs (first build an hour, 12 GB; then two hours, in parts that are kept; PACKAGES, ASSETS, REAL=1, INTEGRATIONFLAGS)
	@mkdir -p $(INTEGRATION_DIR) && $(GO) build -o $(INTEGRATION_DIR)/kubesim ./fake/cmd/kubesim
	@if [ -n "$(REAL)" ]; then $(MAKE) --no-print-directory real-assets; fi
	cd sim/conformance/testdata/integration && $(GO) run . -work $(INTEGRATION_DIR) -packages "$(PACKAGES)" \
		-kubesim "$(or $(ASSETS),$$($(INTEGRATION_DIR)/kubesim envtest))" $(if $(REAL),-real $(SUITES_DIR)/real) $(INTEGRATIONFLAGS)

real-assets: ## build the real etcd, kube-apiserver and kubectl as envtest's programs (some minutes); prints nothing when they are up to date
	@mkdir -p $(SUITES_DIR)/real && cd sim/conformance/testdata/e2e && $(GO) build -ldflags '$(REAL_LDFLAGS)' -o $(SUITES_DIR)/real/ \
		k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl && $(GO) build -o $(SUITES_DIR)/real/etcd go.etcd.io/etcd/server/v3

# What is installed and built for the rows, and their logs, are below it.
COMPAT_DIR = $${TMPDIR:-/tmp}/kubesim-compat
compat: ## test third-party clients and programs against kubesim; writes the table of sim/conformance/COMPATIBILITY.md (the first run builds for an hour; ROWS, or KUBESIM_TARGET=http://… KUBESIM_TOKEN=… to ask that server)
	@mkdir -p $(COMPAT_DIR) && $(GO) build -o $(COMPAT_DIR)/kubesim ./fake/cmd/kubesim
	cd sim/conformance/testdata/compat && $(GO) run . -work $(COMPAT_DIR) -kubesim $(COMPAT_DIR)/kubesim -only "$(ROWS)" \
		-target "$(KUBESIM_TARGET)" -token "$(KUBESIM_TOKEN)"

# CHARTS are the beginnings of the names of the charts that make charts installs, with commas between them; all without it.
CHARTS ?=
charts: ## install charts of well-known projects with Helm on kubesim; writes the table of sim/conformance/COMPATIBILITY.md (20 minutes; CHARTS)
	@mkdir -p $(COMPAT_DIR) && $(GO) build -o $(COMPAT_DIR)/kubesim ./fake/cmd/kubesim
	cd sim/conformance/testdata/compat && $(GO) run . -work $(COMPAT_DIR) -kubesim $(COMPAT_DIR)/kubesim -charts "$(CHARTS)"

# VERSION is that of a release.  RELEASEFLAGS go to release, for example RELEASEFLAGS='-platforms linux/amd64 -page=false'.
VERSION      ?=
RELEASEFLAGS ?=
.PHONY: release release-check
release: ## build all files of a release into dist/VERSION, and print the git commands for its tags (VERSION=v0.1.0, RELEASEFLAGS)
	@cd fake/cmd/release && GO=$(GO) $(GO) run . build -version "$(VERSION)" $(RELEASEFLAGS)

release-check: ## build a release twice, the second time with empty caches, compare, and run its parts (half an hour; VERSION=v0.1.0, RELEASEFLAGS)
	@cd fake/cmd/release && GO=$(GO) $(GO) run . check -version "$(VERSION)" $(RELEASEFLAGS)
