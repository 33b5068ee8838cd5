package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"lmxbench/bench/report"
	"lmxbench/power"
	"lmxbench/stats"
)

// Energy is lmxbench.power of run.json: what the tokens of the timed iterations
// cost. Nil figures were not measured; Reason or a verdict code says why.
type Energy struct {
	Source  string `json:"source"`            // of the recording; "none" without one
	Version string `json:"version,omitempty"` // of the driver or program behind it
	Reason  string `json:"reason,omitempty"`  // why there is no recording
	// Windows holds, by name, the medians over the iterations.
	Windows map[string]EnergyWindow `json:"windows,omitempty"`
	// JoulesPerToken is that of the lmx window.
	JoulesPerToken *float64 `json:"joulesPerToken"`
	TokensPerJoule *float64 `json:"tokensPerJoule"`
	IdleWatts      *float64 `json:"idleWatts,omitempty"`
	PeakVRAMBytes  *float64 `json:"peakVramBytes,omitempty"`
	GPUs           []string `json:"gpus,omitempty"` // UUIDs in use
	// Idle is the span before the load, ns from the run's origin.
	IdleFromNs int64 `json:"idleFromNs,omitempty"`
	IdleToNs   int64 `json:"idleToNs,omitempty"`
	// ZoneOffsetSeconds is the zone, east of UTC, that the stamps of a log of
	// nvidia-smi are in.
	ZoneOffsetSeconds int `json:"zoneOffsetSeconds,omitempty"`
}

// EnergyWindow sums one kind of window up over the iterations.
type EnergyWindow struct {
	Count          int      `json:"count"`
	MeanWatts      *float64 `json:"meanWatts"`
	Joules         *float64 `json:"joules"`
	JoulesPerToken *float64 `json:"joulesPerToken"`
	EnergySource   string   `json:"energySource"`
	// SamplesDifferencePercent and AverageDifferencePercent are the largest
	// disagreement of the 20 ms samples and of the 1 s average with the counter.
	SamplesDifferencePercent *float64 `json:"samplesDifferencePercent"`
	AverageDifferencePercent *float64 `json:"averageDifferencePercent"`
}

// The names of the windows.
const (
	windowPlateau = "plateau" // all streams decode
	windowLMX     = "lmx"     // first token of any stream to the last completion
	windowRequest = "request" // first send to the last completion
	windowWarmup  = "warmup"
)

// joinPower computes every power figure of a run from its recording. It is
// pure: verify calls it again.
func joinPower(log *power.Log, e *report.Evidence, idleFrom, idleTo time.Duration) (Energy, power.WindowFile, []report.Finding) {
	s := log.Series
	// Both axes count from an origin with a wall clock; that of our own
	// recording is the run's.
	shift := s.At(time.Unix(0, e.Session.OriginUnixNs))
	var requests []power.WindowRequest
	for i := range e.Batches {
		requests = append(requests, windowsOf(&e.Batches[i], e.Requests)...)
	}
	for i := range requests {
		r := &requests[i]
		r.From, r.To = r.From+shift, r.To+shift
		r.IdleFrom, r.IdleTo = idleFrom+shift, idleTo+shift
	}
	file := power.NewWindowFile(s, requests, seedFigures(log, e, shift))
	energy := Energy{
		Source: string(s.Description.Source), Version: s.Description.Version, Windows: map[string]EnergyWindow{},
		IdleFromNs: int64(idleFrom), IdleToNs: int64(idleTo),
	}
	for _, name := range []string{windowPlateau, windowLMX, windowRequest} {
		if w, ok := sumUp(file.Lmxbench.Windows, name); ok {
			energy.Windows[name] = w
		}
	}
	energy.headline(file.Lmxbench.Windows)
	return energy, file, powerFindings(file.Lmxbench.Windows)
}

// windowsOf are the windows of one batch on the run's axis.
func windowsOf(b *report.Batch, all []report.Request) []power.WindowRequest {
	var lines []report.Request
	for i := range all {
		if all[i].Phase == b.Phase && all[i].Iteration == b.Iteration {
			lines = append(lines, all[i])
		}
	}
	streams, ok := report.Streams(lines)
	if !ok {
		return nil
	}
	step := medianGap(streams)
	one := func(name string, w stats.Window, ok bool) []power.WindowRequest {
		if !ok {
			return nil
		}
		r := power.WindowRequest{Name: name, Iteration: b.Iteration, From: w.From, To: w.To, StepPeriod: step}
		if n, ok := stats.TokensWithin(streams, w); ok {
			tokens := int64(math.Round(n))
			r.Tokens = &tokens
		}
		return []power.WindowRequest{r}
	}
	whole, wholeOK := stats.RequestWindow(streams)
	if b.Phase != phaseTimed {
		return one(windowWarmup, whole, wholeOK)
	}
	plateau, plateauOK := stats.PlateauWindow(streams)
	lmx, lmxOK := stats.LMXWindow(streams)
	// The first token of all opens lmx's window and belongs to it, as lmx counts.
	if lmxOK {
		lmx.From--
	}
	return slices.Concat(one(windowPlateau, plateau, plateauOK), one(windowLMX, lmx, lmxOK), one(windowRequest, whole, wholeOK))
}

// medianGap is the typical time between the reads of a stream: a decode step.
func medianGap(streams []stats.Stream) time.Duration {
	var gaps stats.Gaps
	for _, s := range streams {
		if gaps.Add(s) != nil {
			return 0
		}
	}
	summary, ok := gaps.InterChunk(time.Nanosecond)
	if !ok {
		return 0
	}
	return time.Duration(summary.P50)
}

// seedFigures applies the seed's rule from the first send of any batch to the
// last end: its window covered the whole measuring process.
func seedFigures(log *power.Log, e *report.Evidence, shift time.Duration) *power.SeedWindow {
	uuids := log.Series.UUIDs()
	if len(uuids) == 0 || len(e.Batches) == 0 {
		return nil
	}
	from := time.Duration(e.Batches[0].StartNs) + shift
	to := time.Duration(e.Batches[len(e.Batches)-1].EndNs) + shift
	seed := log.Series.SeedBetween(uuids[0], from, to)
	return &seed
}

// sumUp takes the medians over the windows of one name.
func sumUp(windows []power.Window, name string) (EnergyWindow, bool) {
	var out EnergyWindow
	var watts, joules, perToken []float64
	for _, w := range windows {
		if w.Name != name {
			continue
		}
		out.Count++
		out.EnergySource = string(w.EnergySource)
		if w.MeanWatts != nil {
			watts = append(watts, float64(*w.MeanWatts))
		}
		if w.Energy != nil {
			joules = append(joules, float64(*w.Energy))
		}
		if w.JoulesPerToken != nil {
			perToken = append(perToken, *w.JoulesPerToken)
		}
		for _, g := range w.GPUs {
			out.SamplesDifferencePercent = farther(out.SamplesDifferencePercent, g.SamplesDifference)
			out.AverageDifferencePercent = farther(out.AverageDifferencePercent, g.AverageDifference)
		}
	}
	out.MeanWatts, out.Joules, out.JoulesPerToken = median(watts, 2), median(joules, 3), median(perToken, 6)
	return out, out.Count > 0
}

// farther returns the difference that is farther from zero.
func farther(a, b *float64) *float64 {
	if b == nil || (a != nil && math.Abs(*a) >= math.Abs(*b)) {
		return a
	}
	rounded := roundTo(*b, 3)
	return &rounded
}

func median(xs []float64, decimals int) *float64 {
	m, ok := stats.Median(xs)
	if !ok {
		return nil
	}
	m = roundTo(m, decimals)
	return &m
}

func roundTo(x float64, decimals int) float64 {
	scale := math.Pow(10, float64(decimals))
	return math.Round(x*scale) / scale
}

// headline copies out what people ask first.
func (e *Energy) headline(windows []power.Window) {
	if lmx, ok := e.Windows[windowLMX]; ok && lmx.JoulesPerToken != nil && *lmx.JoulesPerToken > 0 {
		e.JoulesPerToken = lmx.JoulesPerToken
		inverse := roundTo(1 / *lmx.JoulesPerToken, 4)
		e.TokensPerJoule = &inverse
	}
	for _, w := range windows {
		if w.Name == windowWarmup {
			continue
		}
		if w.IdleWatts != nil && e.IdleWatts == nil {
			idle := roundTo(float64(*w.IdleWatts), 2)
			e.IdleWatts = &idle
		}
		if w.MemoryUsedPeak != nil && (e.PeakVRAMBytes == nil || *w.MemoryUsedPeak > *e.PeakVRAMBytes) {
			peak := *w.MemoryUsedPeak
			e.PeakVRAMBytes = &peak
		}
		for _, g := range w.GPUs {
			if !slices.Contains(e.GPUs, g.UUID) {
				e.GPUs = append(e.GPUs, g.UUID)
			}
		}
	}
}

// powerFindings gives the doubts of the timed windows to the verdict, each code
// once at its worst. Codes of the lmx window speak for the run; the others only
// where it has none of the kind.
func powerFindings(windows []power.Window) []report.Finding {
	rank := map[power.Level]int{power.LevelInfo: 0, power.LevelWarn: 1, power.LevelInvalid: 2}
	worst := map[power.Code]power.Finding{}
	var order []power.Code
	for _, w := range windows {
		if w.Name != windowLMX {
			continue
		}
		for _, f := range w.Findings {
			f.Detail = fmt.Sprintf("iteration %d: %s", w.Iteration, f.Detail)
			old, seen := worst[f.Code]
			if !seen {
				order = append(order, f.Code)
			}
			if !seen || rank[f.Level] > rank[old.Level] {
				worst[f.Code] = f
			}
		}
	}
	var out []report.Finding
	for _, code := range order {
		f := worst[code]
		out = append(out, report.Finding{Code: string(code), Level: report.Level(f.Level), Detail: f.Detail})
	}
	return out
}

// attach is the energy as it stands in observations.jsonl.
func attach(e Energy, findings []report.Finding) (report.Attached, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return report.Attached{}, fmt.Errorf("encode power: %w", err)
	}
	return report.Attached{Power: text, Findings: findings}, nil
}

// Line is the energy in one line for a person.
func (e Energy) Line() string {
	if e.Source == string(power.EnergyNone) {
		return "not measured: " + e.Reason
	}
	lmx := e.Windows[windowLMX]
	if lmx.MeanWatts == nil {
		return "not known: see the codes of " + powerWindowName
	}
	text := fmt.Sprintf("%.0f W", *lmx.MeanWatts)
	if e.JoulesPerToken != nil {
		text += fmt.Sprintf(", %.3g J/token", *e.JoulesPerToken)
	}
	text += " over the lmx window, by " + energySourceWords[lmx.EnergySource]
	if lmx.SamplesDifferencePercent != nil {
		text += fmt.Sprintf("; its samples agree within %.1f %%", math.Abs(*lmx.SamplesDifferencePercent))
	}
	return text
}

var energySourceWords = map[string]string{
	string(power.EnergyCounterTicks): "the energy counter", string(power.EnergySamples): "20 ms samples",
	string(power.EnergyAverage): "the 1 s average", string(power.EnergyExternal): "a log of its own",
}
