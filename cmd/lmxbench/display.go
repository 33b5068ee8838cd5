package main

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"lmxbench/bench"
)

// display shows, on a terminal, what a run is doing: phase, iteration, tokens
// and rate so far, time left. It is redrawn ten times a second from counters;
// the measuring goroutines do not know it.
type display struct {
	out      io.Writer
	progress *mpb.Progress
	bar      *mpb.Bar
	quit     chan struct{}
	done     chan struct{}
}

const redraw = 100 * time.Millisecond

func newDisplay(out io.Writer) *display { return &display{out: out} }

// stage replaces what is shown.
func (d *display) stage(s bench.Stage) {
	d.clear()
	d.progress = mpb.New(mpb.WithOutput(d.out), mpb.WithRefreshRate(redraw), mpb.WithWidth(32))
	total := int64(s.Tokens)
	if s.Counts == nil || s.Of == 0 {
		total = 0
	}
	d.bar = d.progress.AddBar(total, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(stageName(s)+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return stageFigures(s, time.Since(s.Started)) })),
	)
	d.quit, d.done = make(chan struct{}), make(chan struct{})
	go d.follow(s, total, d.quit, d.done)
}

// follow moves the bar until the stage ends.
func (d *display) follow(s bench.Stage, total int64, quit, done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
			if s.Counts != nil && total > 0 {
				events, _ := s.Counts()
				d.bar.SetCurrent(min(events, total-1))
			}
		}
	}
}

// clear takes the bar away.
func (d *display) clear() {
	if d.progress == nil {
		return
	}
	close(d.quit)
	<-d.done
	d.bar.Abort(true)
	d.progress.Wait()
	d.progress = nil
}

var stageWords = map[string]string{
	"probe": "asking the server", "idle": "watching the idle machine", "warmup": "warm-up", "timed": "iteration", "write": "writing",
}

func stageName(s bench.Stage) string {
	name := stageWords[s.Name]
	if s.Of > 0 {
		name += fmt.Sprintf(" %d/%d · %s", s.Index, s.Of, plural(s.Streams, "stream"))
	}
	return name
}

// settling is how long a batch runs before its rate says when it will end.
const settling = time.Second

// stageFigures is the text behind the bar, elapsed after the stage began. Token
// events stand for tokens while the batch runs: the server's own count comes at
// its end.
func stageFigures(s bench.Stage, elapsed time.Duration) string {
	if s.Counts == nil || s.Of == 0 || elapsed <= 0 {
		return ""
	}
	events, ended := s.Counts()
	rate := float64(events) / elapsed.Seconds()
	text := fmt.Sprintf(" %d tokens · %.0f tok/s", events, rate)
	if ended > 0 {
		text += fmt.Sprintf(" · %d done", ended)
	}
	if events > 0 && elapsed >= settling {
		rest := (float64(s.Tokens)*float64(max(1, s.BatchesLeft)) - float64(events)) / rate
		text += fmt.Sprintf(" · about %s left", time.Duration(max(rest, 0)*float64(time.Second)).Round(time.Second))
	}
	return text
}
