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

// ReadExternal reads the log of an external power meter: a CSV whose header
// names one time column, "utc" (RFC 3339) or "unix_s" (seconds since 1970),
// and one column "power_w"; other columns are skipped. Times must not run
// backwards.
func ReadExternal(r io.Reader, name string) (*Series, error) {
	var columns externalColumns
	return readMeterLog(csv.NewReader(r), name, meterLog{
		header: func(cells []string) (what string) {
			var ok bool
			if columns, ok = externalHeader(cells); !ok {
				return "want a column utc or unix_s and a column power_w"
			}
			return ""
		},
		row: func(s *Series, cells []string) (*Series, string) {
			wall, watts, why, what := columns.read(cells)
			if what != "" {
				return s, what
			}
			if s == nil {
				s = NewSeries(wall, externalDescription())
			}
			return s, s.addExternal(wall, watts, why)
		},
	})
}

// externalColumns knows where a meter's log holds what.
type externalColumns struct {
	time, power int
	parse       func(string) (time.Time, error)
}

func externalHeader(header []string) (c externalColumns, ok bool) {
	c = externalColumns{time: -1, power: -1, parse: parseRFC3339}
	for i, h := range header {
		switch strings.TrimSpace(h) {
		case "utc":
			c.time = i
		case "unix_s":
			c.time, c.parse = i, parseUnixSeconds
		case "power_w":
			c.power = i
		}
	}
	return c, c.time >= 0 && c.power >= 0
}

// read takes one row apart; what says what is wrong with it, why the power is
// missing.
func (c externalColumns) read(cells []string) (wall time.Time, watts float64, why Reason, what string) {
	wall, err := c.parse(strings.TrimSpace(cells[c.time]))
	if err != nil {
		return wall, 0, "", fmt.Sprintf("time is %q: %v", cells[c.time], err)
	}
	watts, why = parseCell(cells[c.power])
	if why == Unreadable {
		what = fmt.Sprintf("power_w is %q, want a number", cells[c.power])
	}
	return wall, watts, why, what
}

// externalID names the one device of a meter's log.
const externalID = "external-meter"

// addExternal appends a row; what says why it cannot.
func (s *Series) addExternal(wall time.Time, watts float64, why Reason) (what string) {
	at := s.At(wall)
	t := s.tracks[externalID]
	if n := len(t.gauges); n > 0 && at < t.gauges[n-1].Before {
		return fmt.Sprintf("time %s runs backwards", wall.Format(time.RFC3339Nano))
	}
	x := Sample{Kind: KindGauge, GPU: externalID, Before: at, After: at, Stamp: wall.UnixNano()}
	if why != "" {
		x.miss(PowerInstant, why)
	} else {
		x.put(PowerInstant, watts)
	}
	t.gauges = append(t.gauges, x)
	return ""
}

func externalDescription() Description {
	d := Device{UUID: externalID, Name: "external meter", Source: SourceExternal, Scope: ScopeWall, Classes: []Class{ClassGauges}}
	for _, sig := range []Signal{EnergyCounter, PowerSample, PowerAverage} {
		d.lacks(sig, NotSupported)
	}
	return Description{Source: SourceExternal, Devices: []Device{d}}
}

func parseRFC3339(s string) (time.Time, error) { return time.Parse(time.RFC3339Nano, s) }

func parseUnixSeconds(s string) (time.Time, error) {
	whole, frac, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || sec < 0 || sec > 1<<40 {
		return time.Time{}, errors.New("want seconds since 1970")
	}
	frac += "000000000"
	ns, err := strconv.ParseUint(frac[:9], 10, 32)
	if err != nil {
		return time.Time{}, errors.New("want seconds since 1970")
	}
	return time.Unix(sec, int64(ns)).UTC(), nil
}

// ParseTime reads a time as the commands take it: RFC 3339 or seconds since
// 1970, with up to nine decimals.
func ParseTime(s string) (time.Time, error) {
	if t, err := parseUnixSeconds(s); err == nil {
		return t, nil
	}
	t, err := parseRFC3339(s)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: want RFC 3339 or seconds since 1970", s)
	}
	return t, nil
}
