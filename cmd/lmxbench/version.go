package main

import (
	"runtime/debug"

	"lmxbench/bench/report"
)

// version is the released version, as in CHANGELOG.md.
const version = "0.1.0"

// tool says which build this is; the revision comes from the build itself.
func tool() report.Tool {
	t := report.Tool{Version: version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			t.Revision = s.Value
		case "vcs.modified":
			t.Modified = s.Value == "true"
		}
	}
	return t
}

func versionText() string {
	t := tool()
	if t.Revision == "" {
		return t.Version
	}
	return t.Version + " (" + t.Revision + ")"
}
