package power_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// programs is the folder of the stand-ins for the vendors' programs.
var programs string

// TestMain lets the test binary stand in for the vendors' programs and fails
// on goroutines left behind.
//
// The scripts that start the stand-ins are written before any test runs: one
// written while another test forks would be "busy" for that child's moment.
func TestMain(m *testing.M) {
	if name := os.Getenv("POWER_STAND_IN"); name != "" {
		os.Exit(standIn(name, os.Args[1:]))
	}
	if err := writePrograms(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(programs)
		os.Exit(code)
	}))
}

func writePrograms() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if programs, err = os.MkdirTemp("", "power-stand-ins-"); err != nil {
		return err
	}
	for _, name := range standIns {
		// Children get a bare environment, so the script sets the variables.
		script := fmt.Sprintf("#!/bin/sh\nGORACE=atexit_sleep_ms=0 POWER_STAND_IN='%s' exec '%s' \"$@\"\n", name, self)
		if err := os.WriteFile(program(name), []byte(script), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// program returns the path of a stand-in.
func program(name string) string {
	return filepath.Join(programs, strings.ReplaceAll(name, "/", "-"))
}
