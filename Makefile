# signalbox: the two commands that a newcomer needs are `make demo` and `make test`.
# Both first bring what a fresh Debian or Ubuntu machine lacks (see .ci/setup).

export CGO_ENABLED ?= 1
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
KERNEL := containers/packed/kernel
FUZZTIME ?= 3s

.PHONY: help demo test build kernel setup lint fuzz crash bench bench-author clean

help:
	@echo 'make demo     the main job end to end, with the built-in author (under two minutes)'
	@echo 'make test     all tests, with the race detector and real containers'
	@echo 'make build    bin/signalbox, with its kernel program packed inside'
	@echo 'make lint     gofmt, go vet, staticcheck, go mod tidy'
	@echo 'make fuzz     each fuzz target for $(FUZZTIME)'
	@echo 'make crash    kills, power cuts and failing disks against the registry (CRASH=-full for all of them)'
	@echo 'make bench    benchmarks, as ratios measured in one run'
	@echo 'make bench-author SIGNALBOX_REALDATA=DIR   the built-in author on example sets (JSON=, PLOT=, KNOWN_BAD=)'

setup:
	@.ci/setup

# The kernel is reproducible: the same Go version and source give the same digest
# on every host, so its image has the same ID everywhere.
kernel: setup
	@mkdir -p containers/packed
	@CGO_ENABLED=0 GOOS=linux GOAMD64=v1 GOFLAGS= go build -trimpath -buildvcs=false \
		-ldflags='-s -w -buildid=' -o $(KERNEL) ./containers/kernel

build: kernel
	@mkdir -p bin
	@go build -buildvcs=false -o bin/signalbox ./cmd/signalbox

demo: build
	@.ci/demo

test: build
	go test -race -timeout 12m ./...

lint: kernel
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'these files need gofmt'; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...
	go mod tidy -diff

fuzz: kernel
	@FUZZTIME=$(FUZZTIME) .ci/fuzz

# The short form takes under a minute on two cores, CRASH=-full about ten.
CRASH ?=
crash: setup
	@mkdir -p bin
	@go build -buildvcs=false -o bin/crash ./registry/crash
	@bin/crash $(CRASH)

bench: build
	go test -run '^$$' -bench . -benchtime 1x ./...

# Simulates the product for speed: a whole run is ingest, maintain, validate and
# replay of the same files. PLOT measures at every confidence and takes longer.
bench-author:
	@test -n "$$SIGNALBOX_REALDATA" || { echo 'name a folder with SET.learn.jsonl and SET.held.jsonl: SIGNALBOX_REALDATA=DIR'; exit 1; }
	@SIGNALBOX_REALDATA=$(abspath $(SIGNALBOX_REALDATA)) SIGNALBOX_KNOWN_BAD=$(abspath $(KNOWN_BAD)) \
		SIGNALBOX_JSON=$(abspath $(JSON)) SIGNALBOX_PLOT=$(abspath $(PLOT)) SIGNALBOX_DETAIL=$(abspath $(DETAIL)) \
		go test -v -count=1 -timeout 3h -run '^TestBenchAuthor$$' ./maintenance/author

clean:
	rm -rf bin $(KERNEL)
