package power

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// smiField maps one field of nvidia-smi's --query-gpu to a signal.
type smiField struct {
	name   string
	signal Signal
	scale  float64
}

// smiFields are the fields that carry signals. Where two name the same signal
// the first one present wins. power.draw is the mean of the last second on
// Ampere (not GA100) and newer.
var smiFields = []smiField{
	{"power.draw.average", PowerAverage, 1},
	{"power.draw", PowerAverage, 1},
	{"power.draw.instant", PowerInstant, 1},
	{"utilization.gpu", Utilization, 1},
	{"memory.used", MemoryUsed, mebi},
	{"memory.reserved", MemoryReserved, mebi},
	{"clocks.sm", ClockSM, 1},
	{"clocks.current.sm", ClockSM, 1},
	{"clocks.mem", ClockMemory, 1},
	{"clocks.current.memory", ClockMemory, 1},
	{"temperature.gpu", Temperature, 1},
	{"clocks_event_reasons.active", ThrottleReasons, 1},
	{"clocks_throttle_reasons.active", ThrottleReasons, 1},
	{"clocks_event_reasons_counters.sw_power_cap", PowerCappedTime, 1e3}, // printed in µs
	{"clocks_event_reasons_counters.sync_boost", SyncBoostTime, 1e3},
	{"clocks_event_reasons_counters.sw_thermal_slowdown", ThermalSWTime, 1e3},
	{"clocks_event_reasons_counters.hw_thermal_slowdown", ThermalHWTime, 1e3},
	{"clocks_event_reasons_counters.hw_power_brake_slowdown", PowerBrakeTime, 1e3},
}

const smiTimeLayout = "2006/01/02 15:04:05.000"

// smiTable knows which column of an nvidia-smi CSV holds what.
type smiTable struct {
	columns   int
	timestamp int // -1: none
	identity  int // -1: the log has one unnamed card
	signals   []smiColumn
}

type smiColumn struct {
	smiField
	at int
}

// newSMITable reads a header line such as
// "timestamp, power.draw.instant [W], utilization.gpu [%]".
func newSMITable(header []string) (smiTable, error) {
	t := smiTable{columns: len(header), timestamp: -1, identity: -1}
	at := map[string]int{}
	for i, h := range header {
		name, _, _ := strings.Cut(strings.TrimSpace(h), " ")
		if _, twice := at[name]; !twice {
			at[name] = i
		}
	}
	if i, ok := at["timestamp"]; ok {
		t.timestamp = i
	}
	for _, id := range []string{"uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "index"} {
		if i, ok := at[id]; ok {
			t.identity = i
			break
		}
	}
	taken := map[Signal]bool{}
	for _, f := range smiFields {
		if i, ok := at[f.name]; ok && !taken[f.signal] {
			taken[f.signal] = true
			t.signals = append(t.signals, smiColumn{smiField: f, at: i})
		}
	}
	if !taken[PowerAverage] && !taken[PowerInstant] {
		return t, errors.New("no power.draw column")
	}
	return t, nil
}

// has reports whether a column carries sig.
func (t smiTable) has(sig Signal) bool {
	for _, c := range t.signals {
		if c.signal == sig {
			return true
		}
	}
	return false
}

// sample reads the values of one line. what names a cell that is neither a
// value nor a remark in place of one.
func (t smiTable) sample(cells []string) (s Sample, what string) {
	s.Kind = KindGauge
	for _, c := range t.signals {
		v, why := parseSMIValue(c.signal, cells[c.at])
		switch why {
		case "":
			s.put(c.signal, v*c.scale)
		case Unreadable:
			return s, fmt.Sprintf("%s is %q, want a number", c.name, strings.TrimSpace(cells[c.at]))
		default:
			s.miss(c.signal, why)
		}
	}
	return s, ""
}

// parseSMIValue reads a cell; the reasons are a hexadecimal mask.
func parseSMIValue(sig Signal, cell string) (float64, Reason) {
	if hex, ok := strings.CutPrefix(strings.TrimSpace(cell), "0x"); ok && sig == ThrottleReasons {
		mask, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			return 0, Unreadable
		}
		return float64(mask), ""
	}
	return parseCell(cell)
}

// time reads the timestamp of a line.
func (t smiTable) time(cells []string, loc *time.Location) (time.Time, error) {
	return time.ParseInLocation(smiTimeLayout, strings.TrimSpace(cells[t.timestamp]), loc)
}

// ReadNvidiaSMI reads a CSV written by nvidia-smi --query-gpu=timestamp,…
// --format=csv, with or without units, with its header. Columns that carry no
// signal are skipped. The timestamps are local time without a zone: loc says
// which (nil: UTC). Without a uuid, pci.bus_id or index column all rows belong
// to one unnamed card.
func ReadNvidiaSMI(r io.Reader, name string, loc *time.Location) (*Series, error) {
	if loc == nil {
		loc = time.UTC
	}
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = -1
	var table smiTable
	return readMeterLog(rows, name, meterLog{
		header: func(cells []string) (what string) {
			var err error
			if table, err = newSMITable(cells); err != nil {
				return err.Error()
			}
			if table.timestamp < 0 {
				return "no timestamp column: the rows cannot be placed"
			}
			return ""
		},
		row: func(s *Series, cells []string) (*Series, string) {
			wall, x, what := table.row(cells, loc)
			if what != "" {
				return s, what
			}
			if s == nil {
				s = NewSeries(wall, Description{Source: SourceSMI})
			}
			return s, s.addSMI(table, cells, wall, x)
		},
	})
}

// row reads one row of a log; what says what is wrong with it.
func (t smiTable) row(cells []string, loc *time.Location) (wall time.Time, x Sample, what string) {
	if len(cells) != t.columns {
		return wall, x, fmt.Sprintf("%d fields, the header has %d", len(cells), t.columns)
	}
	wall, err := t.time(cells, loc)
	if err != nil {
		return wall, x, fmt.Sprintf("timestamp is %q, want %s", cells[t.timestamp], smiTimeLayout)
	}
	x, what = t.sample(cells)
	return wall, x, what
}

// addSMI places a row of a log, describing its card when it is new.
func (s *Series) addSMI(t smiTable, cells []string, wall time.Time, x Sample) (what string) {
	x.GPU = "nvidia-smi-log-gpu0"
	if t.identity >= 0 {
		if id := strings.TrimSpace(cells[t.identity]); id != "" {
			x.GPU = strings.Clone(id)
		}
	}
	track := s.tracks[x.GPU]
	if track == nil {
		s.addDevice(smiDevice(x.GPU, "unknown (the log does not say)", len(s.tracks), t))
		track = s.tracks[x.GPU]
	}
	x.Before = s.At(wall)
	x.After, x.Stamp = x.Before, wall.UnixNano()
	if n := len(track.gauges); n > 0 && x.Before < track.gauges[n-1].Before {
		return fmt.Sprintf("timestamp %s runs backwards", wall.Format(smiTimeLayout))
	}
	track.gauges = append(track.gauges, x)
	return ""
}

// smiDevice describes a card seen through nvidia-smi.
func smiDevice(uuid, name string, index int, t smiTable) Device {
	d := Device{
		UUID: uuid, Name: name, Index: index, Source: SourceSMI, Scope: ScopeGPU,
		AverageWindow: nvidiaAverage, GaugePeriod: nvidiaUpdate, Classes: []Class{ClassRing},
	}
	d.lacks(EnergyCounter, NotSupported)
	d.lacks(PowerSample, NotSupported)
	for _, sig := range []Signal{PowerAverage, PowerInstant} {
		if !t.has(sig) {
			d.lacks(sig, FieldMissing)
		}
	}
	return d
}
