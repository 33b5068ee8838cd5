//go:build linux

package simserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"lmxbench/internal/simserver"
)

// TestFloor: the floor client sees every frame of every stream once, with a
// kernel stamp, and never before it was sent.
func TestFloor(t *testing.T) {
	t.Parallel()
	for _, shards := range []int{1, 3} {
		t.Run(fmt.Sprintf("shards %d", shards), func(t *testing.T) {
			t.Parallel()
			s := start(t, simserver.Config{Profile: quick(t), Shards: shards})
			const streams, tokens = 20, 30
			got, err := simserver.Floor(t.Context(), s.URL(), streams, tokens)
			if err != nil {
				t.Fatal(err)
			}
			if want := streams * (tokens + 2); got.Events != want { // role and usage events
				t.Errorf("%d events, want %d", got.Events, want)
			}
			// The response heads are writes of their own.
			if st := s.Stats(); got.Reads > int(st.Writes)+streams || got.Reads < streams {
				t.Errorf("%d reads for %d writes and %d heads", got.Reads, st.Writes, streams)
			}
			if got.CPU <= 0 || got.Wall <= 0 || got.Bytes < int64(got.Events)*200 {
				t.Errorf("got %+v", got)
			}
			if got.Unstamped == 0 && got.StampError.Count == 0 {
				t.Error("no stamp error although all reads had stamps")
			}
		})
	}
}

// TestFloorErrors: what can't be measured is an error, not a small number.
func TestFloorErrors(t *testing.T) {
	t.Parallel()
	s := start(t, simserver.Config{Profile: quick(t)})
	cut := start(t, simserver.Config{Profile: quick(t), Fault: "cut_clean_chunk"})
	stalled := start(t, simserver.Config{Profile: quick(t), Fault: "stall_mid"})
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	tests := map[string]struct {
		ctx  context.Context
		url  string
		want string
	}{
		"TLS is not for the floor":   {t.Context(), strings.Replace(s.URL(), "http", "https", 1), "not a plain http URL"},
		"nobody listens":             {t.Context(), "http://127.0.0.1:1", "refused"},
		"the stream is cut":          {t.Context(), cut.URL(), "closed before the end"},
		"the context ends a silence": {short, stalled.URL(), "deadline"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := simserver.Floor(tt.ctx, tt.url, 1, 10); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// BenchmarkServer measures what an event costs the server and how late it is,
// with the floor client reading. One operation is a batch of 100 tokens for each
// stream, 17 ms apart.
//
//	go test -run '^$' -bench BenchmarkServer -benchtime 3x ./internal/simserver
func BenchmarkServer(b *testing.B) {
	for _, shape := range []string{"step", "stream"} {
		for _, streams := range []int{64, 256, 1000} {
			b.Run(fmt.Sprintf("shape=%s/streams=%d", shape, streams), func(b *testing.B) { benchmarkServer(b, shape, streams) })
		}
	}
}

func benchmarkServer(b *testing.B, shape string, streams int) {
	p, err := simserver.LookupProfile("fixed")
	if err != nil {
		b.Fatal(err)
	}
	if shape == "stream" {
		p.Phase, p.TTFT, p.ITL = simserver.StreamPhase, 50*time.Millisecond, p.Tick
	}
	s := start(b, simserver.Config{Profile: p, RecordEvents: 1_000_000})
	const tokens = 100
	s.Reset()
	events, floorCPU, merged := 0, time.Duration(0), 0
	for b.Loop() {
		got, err := simserver.Floor(b.Context(), s.URL(), streams, tokens)
		if err != nil {
			b.Fatal(err)
		}
		events += got.Events
		merged += got.MergedReads
		floorCPU += got.CPU
		b.ReportMetric(got.StampError.P50, "stamp-p50-µs")
		b.ReportMetric(got.StampError.P99, "stamp-p99-µs")
	}
	st := s.Stats()
	n := float64(events)
	b.ReportMetric(st.WriterCPUSeconds*1e6/n, "writer-µs/event")
	b.ReportMetric((st.CPUSeconds-floorCPU.Seconds())*1e6/n, "server-µs/event")
	b.ReportMetric(floorCPU.Seconds()*1e6/n, "floor-µs/event")
	b.ReportMetric(st.StepStart.P50, "late-p50-µs")
	b.ReportMetric(st.StepStart.P99, "late-p99-µs")
	b.ReportMetric(float64(merged), "merged-reads")
}
