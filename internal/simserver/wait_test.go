package simserver_test

import (
	"runtime"
	"testing"
	"time"
)

// waitFor yields until the condition holds.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
		runtime.Gosched()
	}
}
