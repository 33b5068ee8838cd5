package report_test

import (
	"bytes"
	"testing"
	"time"

	"lmxbench/bench/report"
)

// large is a run at the upper end: a thousand streams of 1,024 tokens, three
// times, which are three million events.
var large = load{
	streams: 1000, iterations: 3, tokens: 1024,
	ttft: 200 * time.Millisecond, prefill: time.Millisecond, step: 20 * time.Millisecond,
}

// nice go test ./bench/report -run '^$' -bench . -benchtime 3x
func BenchmarkBuild(b *testing.B) {
	merged := large
	merged.perEvent = 3 // events of one to three tokens, not counted by the server
	for name, l := range map[string]load{"events=single": large, "events=merged": merged} {
		b.Run(name, func(b *testing.B) {
			e := l.evidence()
			events := countEvents(e)
			b.ReportAllocs()
			for b.Loop() {
				build(b, e)
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func BenchmarkAppendRequest(b *testing.B) {
	e := large.evidence()
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		for i := range e.Requests[:100] {
			var err error
			if line, err = report.AppendRequest(line[:0], &e.Requests[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(100*1024*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkReadRequests(b *testing.B) {
	e := large.evidence()
	var lines []byte
	for i := range e.Requests[:100] {
		line, err := report.AppendRequest(nil, &e.Requests[i])
		if err != nil {
			b.Fatal(err)
		}
		lines = append(lines, line...)
	}
	b.SetBytes(int64(len(lines)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := report.ReadRequests(bytes.NewReader(lines)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100*1024*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkVerify(b *testing.B) {
	dir := store(b, large.evidence())
	for b.Loop() {
		if differences, err := report.Verify(dir); err != nil || len(differences) > 0 {
			b.Fatal(differences, err)
		}
	}
}

func countEvents(e report.Evidence) (n int) {
	for i := range e.Requests {
		n += e.Requests[i].Events.Len()
	}
	return n
}
