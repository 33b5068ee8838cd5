package localmaxxing

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RateLimit is what an answer says about how often one may ask. A nil or zero
// field was not said.
type RateLimit struct {
	Limit     *int
	Remaining *int
	Reset     time.Time     // when Remaining is Limit again
	Wait      time.Duration // how long to wait before asking again
}

// readLimits takes X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset
// (seconds since 1970) and Retry-After (seconds, or a date) as of now.
func readLimits(h http.Header, now time.Time) RateLimit {
	r := RateLimit{Limit: headerCount(h, "X-RateLimit-Limit"), Remaining: headerCount(h, "X-RateLimit-Remaining")}
	if unix, err := strconv.ParseInt(strings.TrimSpace(h.Get("X-RateLimit-Reset")), 10, 64); err == nil && unix > 0 && unix < 1e11 {
		r.Reset = time.Unix(unix, 0).UTC()
	}
	after := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(after, 64); err == nil {
		r.Wait = wait(s)
	} else if at, err := http.ParseTime(after); err == nil && at.After(now) {
		r.Wait = wait(at.Sub(now).Seconds())
	}
	return r
}

func headerCount(h http.Header, name string) *int {
	n, err := strconv.Atoi(strings.TrimSpace(h.Get(name)))
	if err != nil || n < 0 || n > maxWhole {
		return nil
	}
	return &n
}

// maxWait is a week; a longer one is a mistake.
const maxWait = 7 * 24 * time.Hour

func wait(seconds float64) time.Duration {
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0
	}
	if seconds > maxWait.Seconds() {
		return maxWait
	}
	return time.Duration(seconds * float64(time.Second))
}
