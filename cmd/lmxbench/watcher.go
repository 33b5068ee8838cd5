package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"lmxbench/bench"
	"lmxbench/bench/report"
)

// watcher passes what a run tells on to standard error and to the status log.
type watcher struct {
	mu      sync.Mutex // an interrupt is told from another goroutine
	notes   io.Writer  // nil: none
	asJSON  bool       // notes are events too
	events  []io.Writer
	log     *os.File
	display *display // nil unless standard error is a terminal
}

// Status writes one of lmx's event lines.
func (w *watcher) Status(event string, fields map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.event(event, fields)
}

func (w *watcher) event(event string, fields map[string]any) {
	if len(w.events) == 0 {
		return
	}
	line, err := report.StatusLine(event, time.Now(), fields)
	if err != nil {
		return
	}
	for _, out := range w.events {
		out.Write(line)
	}
}

// Stage updates the display.
func (w *watcher) Stage(s bench.Stage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.display != nil {
		w.display.stage(s)
	}
}

// Note prints one line for a person; an event for a program.
func (w *watcher) Note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.event("note", map[string]any{"message": text})
	if w.notes == nil {
		return
	}
	w.clearDisplay()
	if w.asJSON {
		if line, err := report.StatusLine("note", time.Now(), map[string]any{"message": text}); err == nil {
			w.notes.Write(line)
		}
		return
	}
	fmt.Fprintln(w.notes, "lmxbench: "+strings.Map(printable, text))
}

// clear takes the display off the screen.
func (w *watcher) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clearDisplay()
}

func (w *watcher) clearDisplay() {
	if w.display != nil {
		w.display.clear()
	}
}

func (w *watcher) close() {
	w.clear()
	if w.log != nil {
		w.log.Close()
	}
}

// observer says what happens to whoever asked: status events, notes, and a
// display on a terminal.
func (f *runFlags) observer(env *environment) (*watcher, error) {
	w := &watcher{notes: env.stderr, asJSON: f.json}
	if f.quiet {
		w.notes = nil
	} else if f.jsonStatus {
		w.notes, w.events = nil, append(w.events, env.stderr)
	}
	if f.statusLog != "" {
		if err := os.MkdirAll(filepath.Dir(f.statusLog), 0o755); err != nil {
			return nil, usagef("file_read_error", "--status-log %s: %v", f.statusLog, underlying(err))
		}
		file, err := os.OpenFile(f.statusLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, usagef("file_read_error", "--status-log %s cannot be written: %v", f.statusLog, underlying(err))
		}
		w.log = file
		w.events = append(w.events, file)
	}
	if terminal(env.stderr) && !f.quiet && !f.jsonStatus && !f.json {
		w.display = newDisplay(env.stderr)
	}
	return w, nil
}

func terminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
