package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lmxbench/bench/report"
)

// A line that is accepted is written and read back as it is.
//
// Run fuzzing with -fuzzminimizetime 1x: the seeds are long lines, and Go would
// spend a minute on shortening each find.
func FuzzRequestLine(f *testing.F) {
	for _, e := range []report.Evidence{small(1).evidence(), speculating(), withFailures(false), queued()} {
		line, err := report.AppendRequest(nil, &e.Requests[len(e.Requests)-1])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.TrimSpace(line))
	}
	f.Add([]byte(`{"phase":"timed","iteration":1,"request":1,"outcome":"ok","events":{"t":[1],"lag":[-1],"bytes":[0]},"t":{}}`))
	f.Add([]byte(`{"phase":"timed","iteration":1,"request":1,"outcome":"ok","t":{},"events":{ "t" : [ 1 , 2 ] , "lag":[0,0],"bytes":[1,1],"tokens":[1,2]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := report.ParseRequest(line)
		if err != nil {
			return
		}
		again, err := report.AppendRequest(nil, r)
		if err != nil {
			t.Fatalf("accepted and not writable: %v", err)
		}
		back, err := report.ParseRequest(bytes.TrimSuffix(again, []byte("\n")))
		if err != nil {
			t.Fatalf("written and not readable: %v\n%s", err, again)
		}
		twice, err := report.AppendRequest(nil, back)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(again), string(twice)); diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
	})
}

// No file of a run, whatever is in it, makes Load, Build, Verify or the text
// panic.
func FuzzRunDirectory(f *testing.F) {
	dir := f.TempDir()
	e := small(2).evidence()
	e.Requests, e.Batches = e.Requests[:4], e.Batches[:2]
	for i := range e.Requests {
		r := &e.Requests[i]
		r.Events = &report.Events{T: r.Events.T[:3], Lag: r.Events.Lag[:3], Bytes: r.Events.Bytes[:3]}
	}
	w := create(f, filepath.Join(dir, "run"), e)
	write(f, w, e)
	if err := w.Finish(build(f, e)); err != nil {
		f.Fatal(err)
	}
	names := []string{report.RequestsFile, report.ObservationsFile, report.ManifestFile, report.RunFile}
	whole := make(map[string][]byte)
	for _, name := range names {
		whole[name] = readFile(f, filepath.Join(dir, "run", name))
		f.Add(uint8(0), whole[name], 0, byte(0))
	}
	for i := range uint8(4) {
		f.Add(i, []byte{}, 40, byte('9'))
		f.Add(i, []byte("{}\n"), -1, byte(0))
	}
	f.Fuzz(func(t *testing.T, which uint8, content []byte, at int, b byte) {
		run := t.TempDir()
		for _, name := range names {
			data := whole[name]
			if name == names[int(which)%len(names)] {
				data = mutate(data, content, at, b)
			}
			if err := os.WriteFile(filepath.Join(run, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		report.Verify(run) //nolint:errcheck // only must not panic
		loaded, err := report.Load(run)
		if err != nil {
			return
		}
		d, err := report.Build(loaded.Evidence)
		if err != nil {
			return
		}
		if _, err := d.JSON(); err != nil {
			t.Skip("raw JSON of the evidence is none")
		}
		if err := (report.Text{}).Write(discard{}, d); err != nil {
			t.Fatal(err)
		}
	})
}

// mutate sets one byte of data, or takes content instead of data when at is
// negative.
func mutate(data, content []byte, at int, b byte) []byte {
	if at < 0 || len(data) == 0 {
		return content
	}
	data = bytes.Clone(data)
	data[at%len(data)] = b
	return data
}
