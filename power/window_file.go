package power

import (
	"encoding/json"
	"fmt"
	"time"
)

// WindowFileSchema is the schema of the lmxbench part of power_window.json.
const WindowFileSchema = "lmxbench.power-window/1"

// WindowFile is power_window.json: the dictionary that the seed's tools read,
// at the top level, and our windows under one key of their own.
type WindowFile struct {
	// Seed is the seed's dictionary; nil leaves its keys out.
	*SeedWindow
	// Lmxbench holds the windows.
	Lmxbench WindowSet `json:"lmxbench"`
}

// WindowSet is what was computed from one recording.
type WindowSet struct {
	// Schema is [WindowFileSchema].
	Schema string `json:"schema"`
	// Source and SourceVersion are the meter's.
	Source        Source `json:"source"`
	SourceVersion string `json:"sourceVersion,omitempty"`
	// OriginUnixNs is the wall clock at time zero of the windows.
	OriginUnixNs int64 `json:"originUnixNs"`
	// SeedRule says what the seed's keys are when they are there.
	SeedRule string `json:"seedRule,omitempty"`
	// Devices describes the recorded devices.
	Devices []Device `json:"devices"`
	// Windows holds the windows in order.
	Windows []Window `json:"windows"`
}

// seedRuleText labels the seed's figures: they are for comparison with old
// rows and not comparable with the windows beside them.
const seedRuleText = "mean of one reading a second of one card over the span ±0.5 s, readings with utilization ≥ 50 % only; includes warm-ups and gaps"

// NewWindowFile computes the windows asked for. When seed is not nil its
// dictionary is included and labelled.
func NewWindowFile(s *Series, requests []WindowRequest, seed *SeedWindow) WindowFile {
	f := WindowFile{SeedWindow: seed, Lmxbench: WindowSet{
		Schema: WindowFileSchema, Source: s.Description.Source, SourceVersion: s.Description.Version,
		OriginUnixNs: s.Origin.UnixNano(), Devices: s.Description.Devices, Windows: []Window{},
	}}
	if f.Lmxbench.Devices == nil {
		f.Lmxbench.Devices = []Device{}
	}
	if seed != nil {
		f.Lmxbench.SeedRule = seedRuleText
	}
	for _, r := range requests {
		f.Lmxbench.Windows = append(f.Lmxbench.Windows, s.Window(r))
	}
	return f
}

// SeedBetween applies the seed's rule to the recording, from and to on its
// axis: what [ReduceSeed] gives for the rows a log of the seed would hold.
func (s *Series) SeedBetween(uuid string, from, to time.Duration) SeedWindow {
	w, _ := ReduceSeed(s.SeedRows(uuid), epochSeconds(s.Wall(from)), epochSeconds(s.Wall(to)))
	return w
}

func epochSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// Encode returns the file's text, indented by two spaces.
func (f WindowFile) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode power window: %w", err)
	}
	return append(text, '\n'), nil
}
