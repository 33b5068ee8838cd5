package calibrate

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"lmxbench/internal/simserver"
	"lmxbench/loadgen"
)

func TestMergedReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		at, sent      []int64
		reads, events int
	}{
		{"each event read by itself", []int64{10, 20, 30}, []int64{1, 2, 3}, 0, 0},
		{"three steps in one read: two events bear a stamp that is not theirs", []int64{30, 30, 30}, []int64{1, 2, 3}, 1, 2},
		{"two events of one write are not merged by the client", []int64{10, 10, 20}, []int64{1, 1, 2}, 0, 0},
		{"two events of one write read with the next write", []int64{20, 20, 20}, []int64{1, 1, 2}, 1, 2},
		{"two merged reads", []int64{20, 20, 40, 40}, []int64{1, 2, 3, 4}, 2, 2},
		{"nothing read", nil, nil, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if reads, events := mergedReads(tt.at, tt.sent); reads != tt.reads || events != tt.events {
				t.Errorf("got %d reads with %d events, want %d with %d", reads, events, tt.reads, tt.events)
			}
		})
	}
}

// stream is one request whose server sent at the given times (Unix ns) and
// whose client stamped them late by stamp and read them late by read.
func stream(sent []int64, arrival int64, w wall, stamp, read func(i int) int64) pair {
	c := &loadgen.Record{Outcome: loadgen.OK}
	for i, s := range sent {
		c.Events.At = append(c.Events.At, s+stamp(i)-w.unix(0))
		c.Events.Lag = append(c.Events.Lag, read(i))
	}
	c.T.Send = time.Duration(arrival - w.unix(0))
	if len(sent) > 0 {
		c.T.FirstToken = time.Duration(c.Events.At[0])
	}
	return pair{c, &simserver.Record{
		Recv: arrival, RecvSource: "kernel",
		Events: simserver.Events{Sent: sent, Tokens: make([]int32, len(sent))},
	}}
}

func constant(ns int64) func(int) int64 { return func(int) int64 { return ns } }

func TestErrorsOfKnownStreams(t *testing.T) {
	t.Parallel()
	w := wall{originUnix: 1_800_000_000_000_000_000, shift: 40 * time.Microsecond}
	base := w.originUnix + int64(time.Second)
	sent := []int64{base, base + 17e6, base + 34e6, base + 51e6}

	t.Run("stamps 5 µs late, reads 100 µs after them: both clocks tell their own error", func(t *testing.T) {
		t.Parallel()
		var s samples
		s.add([]pair{stream(sent, base-50e6, w, constant(5e3), constant(100e3))}, w)
		want := &Spread{4, 5, 5, 5}
		if diff := cmp.Diff(want, spread(s.kernel)); diff != "" {
			t.Errorf("kernel stamps (-want +got):\n%s", diff)
		}
		want = &Spread{4, 105, 105, 105}
		if diff := cmp.Diff(want, spread(s.user)); diff != "" {
			t.Errorf("user stamps (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(&TTFTError{5, 5}, s.ttftError(), cmpopts.EquateApprox(0, 0.1)); diff != "" {
			t.Errorf("TTFT (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(&ITLError{0, 0, 0}, s.itlError()); diff != "" {
			t.Errorf("a constant lateness is no error of a gap (-want +got):\n%s", diff)
		}
	})
	t.Run("one stamp of four 8 ms late: the gaps around it are wrong by as much", func(t *testing.T) {
		t.Parallel()
		var s samples
		late := func(i int) int64 {
			if i == 2 {
				return 8e6
			}
			return 0
		}
		s.add([]pair{stream(sent, base-50e6, w, late, constant(0))}, w)
		got := s.itlError()
		// Gaps are 17, 25, 9 ms for 17, 17, 17: σ 8 ms for 0.
		if diff := cmp.Diff(8000.0, got.Sigma); diff != "" {
			t.Errorf("σ (-want +got):\n%s", diff)
		}
		if got.Gap != 8000 {
			t.Errorf("p99 of the gap errors: got %v µs, want 8000", got.Gap)
		}
	})
	t.Run("a read without a stamp counts for the user clock only", func(t *testing.T) {
		t.Parallel()
		var s samples
		lag := func(i int) int64 {
			if i == 0 {
				return loadgen.NoStamp
			}
			return 0
		}
		s.add([]pair{stream(sent, base-50e6, w, constant(0), lag)}, w)
		if len(s.kernel) != 3 || len(s.user) != 4 || len(s.lag) != 3 {
			t.Errorf("got %d kernel, %d user stamps, %d lags; want 3, 4, 3", len(s.kernel), len(s.user), len(s.lag))
		}
	})
	t.Run("without the kernel's stamp of the arrival there is no true TTFT", func(t *testing.T) {
		t.Parallel()
		var s samples
		p := stream(sent, base-50e6, w, constant(0), constant(0))
		p.server.RecvSource = "user"
		s.add([]pair{p, stream(sent, base-50e6, w, constant(0), constant(0))}, w)
		if got := s.ttftError(); got != nil {
			t.Errorf("got %+v, want none", got)
		}
	})
	t.Run("no event, no error", func(t *testing.T) {
		t.Parallel()
		var s samples
		if spread(s.kernel) != nil || s.ttftError() != nil || s.itlError() != nil {
			t.Error("an empty sample has an error")
		}
	})
}

// Delaying every stamp by d moves the stamp error by d and leaves gaps alone;
// moving both clocks together changes nothing; the order of streams does not
// matter.
func TestErrorsMoveAsTheyShould(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := wall{originUnix: rapid.Int64Range(1e18, 2e18).Draw(t, "origin"), shift: time.Duration(rapid.Int64Range(-1e6, 1e6).Draw(t, "shift"))}
		delay := rapid.Int64Range(0, 1e7).Draw(t, "delay")
		moved := wall{originUnix: w.originUnix + rapid.Int64Range(-1e9, 1e9).Draw(t, "move"), shift: w.shift}
		var plain, delayed, elsewhere []pair
		for range rapid.IntRange(1, 4).Draw(t, "streams") {
			at := w.originUnix + 1e9
			var sent, other []int64
			var late []int64
			for range rapid.IntRange(2, 6).Draw(t, "events") {
				at += rapid.Int64Range(1, 50e6).Draw(t, "gap")
				sent = append(sent, at)
				other = append(other, at+moved.originUnix-w.originUnix)
				late = append(late, rapid.Int64Range(0, 1e6).Draw(t, "late"))
			}
			stamp := func(extra int64) func(int) int64 { return func(i int) int64 { return late[i] + extra } }
			plain = append(plain, stream(sent, sent[0]-1e6, w, stamp(0), constant(7)))
			delayed = append(delayed, stream(sent, sent[0]-1e6, w, stamp(delay), constant(7)))
			elsewhere = append(elsewhere, stream(other, other[0]-1e6, moved, stamp(0), constant(7)))
		}
		var a, b, c, d samples
		a.add(plain, w)
		b.add(delayed, w)
		c.add(elsewhere, moved)
		slices.Reverse(plain)
		d.add(plain, w)
		near := cmpopts.EquateApprox(0, 0.11)
		if diff := cmp.Diff(spread(a.kernel).P50+float64(delay)/1e3, spread(b.kernel).P50, near); diff != "" {
			t.Fatalf("a delay moves the stamp error by as much (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(a.itlError(), b.itlError(), near); diff != "" {
			t.Fatalf("a common delay is no error of a gap (-plain +delayed):\n%s", diff)
		}
		for name, other := range map[string]*samples{"both clocks moved": &c, "streams reordered": &d} {
			if diff := cmp.Diff(spread(a.kernel), spread(other.kernel), near); diff != "" {
				t.Fatalf("%s (-plain +other):\n%s", name, diff)
			}
			if diff := cmp.Diff(a.itlError(), other.itlError(), near); diff != "" {
				t.Fatalf("%s (-plain +other):\n%s", name, diff)
			}
		}
	})
}

func TestQuantileOfLag(t *testing.T) {
	t.Parallel()
	var s samples
	if _, ok := s.lagQuantile(0.99); ok {
		t.Error("no stamped read, and still a lag")
	}
	for i := range 100 {
		s.lag = append(s.lag, time.Duration(100-i))
	}
	if got, ok := s.lagQuantile(0.99); !ok || got != 99 {
		t.Errorf("p99 of 1…100: got %d, %t, want 99", got, ok)
	}
}

func TestClockShiftOfASteadyClock(t *testing.T) {
	t.Parallel()
	if got := clockShift(time.Now()); math.Abs(float64(got)) > float64(time.Hour) {
		t.Errorf("both clocks part by %v", got)
	}
}
