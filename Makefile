# What each target needs is Go 1.26 and gcc; test also needs python3 with venv
# and a package index, for the real llama.cpp server it measures.
export CGO_CFLAGS ?= -O2 -Wno-deprecated-declarations
GO        ?= go
FUZZTIME  ?= 30s
BENCHTIME ?= 1s
COUNT     ?= 6
BENCH     ?= .

.PHONY: build check lint test fuzz bench bench-compare peers golden demo clean

build: ## the binary, build/lmxbench
	$(GO) build -trimpath -o build/lmxbench ./cmd/lmxbench

demo: build ## measure the simulated engine: 256 streams of a B200
	./build/lmxbench run --sim b200-qwen36-35b-fp8 --concurrency 256 --iterations 3 --warmup 1

check: lint test ## everything a change must pass

lint: ## format, vet, staticcheck, tidy
	@unformatted="$$(git ls-files -z '*.go' | xargs -0 $(GO) tool gofumpt -l)"; test -z "$$unformatted" || { echo "run gofumpt on:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	GOOS=darwin CGO_ENABLED=0 $(GO) vet ./...
	$(GO) mod tidy -diff

test: ## all tests, a real llama.cpp server among them
	$(GO) test -race -shuffle=on -timeout 20m ./...
	python3 -m unittest discover -q -s peers

fuzz: ## each fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

bench: ## benchmarks in benchfmt
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -count $(COUNT) ./sse ./loadgen ./stats ./bench/...

bench-compare: ## benchmarks of BASE=rev and of this tree, interleaved, judged by benchstat
	@test -n "$(BASE)" || { echo "write make bench-compare BASE=rev"; exit 1; }
	@COUNT=$(COUNT) BENCHTIME=$(BENCHTIME) BENCH='$(BENCH)' scripts/bench-compare $(BASE)

peers: build ## other load generators beside ours; writes docs/accuracy.md (15 minutes, 18 GB in build/peers)
	python3 peers/install.py
	python3 peers/measure.py --lmxbench build/lmxbench
	python3 peers/document.py

golden: ## rewrite golden files; explain the change in the commit
	$(GO) test ./bench/... ./cmd/... -update

clean:
	rm -rf build
