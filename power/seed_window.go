package power

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// The published rule ("seed rule"): rows within half a second of the window
// count, and the mean is taken over those with the card at least half busy.
const (
	seedMargin = 0.5 // seconds
	seedBusy   = 50  // per cent
)

// SeedRow is one row of the seed's log: whole-second sampling of one card. A
// nil field was printed as "[N/A]".
type SeedRow struct {
	// Epoch is seconds since 1970, taken before the query.
	Epoch float64
	// PowerW to TempC are the columns power.draw, utilization.gpu,
	// memory.used, clocks.sm, clocks.mem and temperature.gpu.
	PowerW, UtilPct, MemMiB, SMMHz, MemMHz, TempC *float64
	// Raw is the line as it stood, without its end.
	Raw string
}

// SeedWindow is the seed's power_window.json, field for field. Watts print
// with one decimal always, counts as whole numbers.
type SeedWindow struct {
	WindowUTC     [2]string   `json:"window_utc"`
	Samples       int         `json:"samples"`
	ActiveSamples int         `json:"active_samples"`
	PowerMean     *OneDecimal `json:"power_w_mean_active"`
	PowerMedian   *OneDecimal `json:"power_w_median_active"`
	PowerMax      *OneDecimal `json:"power_w_max"`
	MemMax        *int64      `json:"mem_mib_max"`
	SMClockMean   *int64      `json:"sm_clock_mhz_mean_active"`
	MemClock      *int64      `json:"mem_clock_mhz"`
	TempMax       *int64      `json:"temp_c_max"`
}

// OneDecimal is a number rounded to one decimal, halves of the binary value to
// even, and printed so even when it is whole.
type OneDecimal float64

// MarshalJSON implements json.Marshaler.
func (d OneDecimal) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(d), 'f', 1, 64), nil
}

func roundOne(x float64) *OneDecimal {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 1, 64), 64)
	return ptr(OneDecimal(v))
}

// ReduceSeed applies the seed's rule to rows, with from and to in seconds
// since 1970, and returns the rows it kept beside the result. It exists so
// that old rows can be compared: its mean covers warm-ups and gaps between
// iterations and reads low on short windows.
func ReduceSeed(rows []SeedRow, from, to float64) (SeedWindow, []SeedRow) {
	var kept, active []SeedRow
	for _, r := range rows {
		if !(r.Epoch >= from-seedMargin && r.Epoch <= to+seedMargin) {
			continue
		}
		kept = append(kept, r)
		if r.UtilPct != nil && *r.UtilPct >= seedBusy {
			active = append(active, r)
		}
	}
	w := SeedWindow{
		WindowUTC:     [2]string{seedUTC(from), seedUTC(to)},
		Samples:       len(kept),
		ActiveSamples: len(active),
	}
	power := column(active, func(r SeedRow) *float64 { return r.PowerW })
	if len(power) > 0 {
		w.PowerMean, w.PowerMedian = roundOne(mean(power)), roundOne(median(power))
	}
	if all := column(kept, func(r SeedRow) *float64 { return r.PowerW }); len(all) > 0 {
		w.PowerMax = roundOne(slices.Max(all))
	}
	if m := column(kept, func(r SeedRow) *float64 { return r.MemMiB }); len(m) > 0 {
		w.MemMax = ptr(int64(slices.Max(m)))
	}
	if c := column(active, func(r SeedRow) *float64 { return r.SMMHz }); len(c) > 0 {
		w.SMClockMean = ptr(int64(mean(c)))
	}
	if c := column(kept, func(r SeedRow) *float64 { return r.MemMHz }); len(c) > 0 {
		w.MemClock = ptr(int64(median(c)))
	}
	if c := column(kept, func(r SeedRow) *float64 { return r.TempC }); len(c) > 0 {
		w.TempMax = ptr(int64(slices.Max(c)))
	}
	return w, kept
}

// seedUTC prints seconds since 1970 with the fraction cut off.
func seedUTC(epoch float64) string {
	return time.Unix(int64(math.Floor(epoch)), 0).UTC().Format("2006-01-02T15:04:05Z")
}

func column(rows []SeedRow, field func(SeedRow) *float64) []float64 {
	out := make([]float64, 0, len(rows))
	for _, r := range rows {
		if v := field(r); v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// mean adds with Neumaier's compensation, so that the sum of two-decimal watts
// is the nearest double and the rounding of the result does not depend on the
// order.
func mean(x []float64) float64 {
	var sum, lost float64
	for _, v := range x {
		t := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			lost += (sum - t) + v
		} else {
			lost += (v - t) + sum
		}
		sum = t
	}
	return (sum + lost) / float64(len(x))
}

// median is the middle value, or the mean of the two middle ones.
func median(x []float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return (s[m-1] + s[m]) / 2
}

// SeedRows turns a recording of ours into rows as the seed's sampler would
// have written them: one card, one reading a second. uuid may be empty for the
// first device.
func (s *Series) SeedRows(uuid string) []SeedRow {
	if uuid == "" && len(s.Description.Devices) > 0 {
		uuid = s.Description.Devices[0].UUID
	}
	t := s.tracks[uuid]
	if t == nil {
		return nil
	}
	var rows []SeedRow
	var next time.Duration
	for i := range t.gauges {
		g := &t.gauges[i]
		if len(rows) == 0 {
			next = g.Before
		}
		if g.Before < next-seedSlack {
			continue
		}
		for next <= g.Before+seedSlack {
			next += time.Second
		}
		rows = append(rows, s.seedRow(g))
	}
	return rows
}

// seedSlack lets a log taken once a second through unthinned although its
// readings jitter.
const seedSlack = 50 * time.Millisecond

func (s *Series) seedRow(g *Sample) SeedRow {
	get := func(scale float64, sigs ...Signal) *float64 {
		for _, sig := range sigs {
			if v, ok := g.Values.Get(sig); ok {
				return ptr(v * scale)
			}
		}
		return nil
	}
	wall := s.Wall(g.Before)
	return SeedRow{
		Epoch:   float64(wall.UnixMilli()) / 1e3,
		PowerW:  get(1, PowerAverage, PowerInstant),
		UtilPct: get(1, Utilization),
		MemMiB:  get(1.0/mebi, MemoryUsed),
		SMMHz:   get(1, ClockSM),
		MemMHz:  get(1, ClockMemory),
		TempC:   get(1, Temperature),
	}
}
