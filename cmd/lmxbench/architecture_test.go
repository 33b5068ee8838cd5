package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed lists, for each package of ours, the packages of ours it may import.
// docs/architecture.md draws the same arrows. Data flows one way: leaves know
// nobody, the result document never needs the engine, and nothing under
// internal/ knows the run.
var allowed = map[string][]string{
	"sse":     {},
	"stats":   {},
	"power":   {},
	"loadgen": {"sse"},

	"internal/ceiling":      {},
	"internal/cost":         {},
	"internal/engine":       {"sse"},
	"internal/hardware":     {},
	"internal/llamacpptest": {},
	"internal/localmaxxing": {"internal/hardware"},
	"internal/simserver":    {},

	"bench/report":         {"stats", "internal/cost", "internal/ceiling"},
	"bench/report/study":   {"bench/report", "stats", "internal/cost", "internal/ceiling"},
	"bench/report/page":    {"bench/report", "bench/report/study", "stats", "internal/cost", "internal/ceiling"},
	"bench/report/runtest": {"bench/report"}, // synthetic run directories for tests
	"bench/calibrate":      {"bench/report", "loadgen", "stats", "internal/engine", "internal/simserver"},
	"bench": {
		"loadgen", "stats", "power", "bench/report", "bench/report/study",
		"internal/engine", "internal/hardware", "internal/simserver",
	},
	"cmd/lmxbench": {"*"},
}

func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, pkg := range listPackages(t) {
		name := strings.TrimPrefix(pkg.ImportPath, "lmxbench/")
		seen[name] = true
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s has no entry in the list of arrows: say whom it may import, and draw it in docs/architecture.md", name)
			continue
		}
		for _, path := range pkg.Imports {
			to, ours := strings.CutPrefix(path, "lmxbench/")
			if ours && !slices.Contains(may, "*") && !slices.Contains(may, to) {
				t.Errorf("%s imports %s: the arrows allow %v", name, to, may)
			}
		}
	}
	for name := range allowed {
		if !seen[name] {
			t.Errorf("the list of arrows names %s, which is no package", name)
		}
	}
}

type listedPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "lmxbench/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []listedPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}
