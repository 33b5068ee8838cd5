package power

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// SysfsConfig says where the kernel's sensor files are.
type SysfsConfig struct {
	// Clock is the recording's. Required.
	Clock Clock
	// Root is the mount point; "" means /sys.
	Root string
}

// sensorFile is one number in a file.
type sensorFile struct {
	signal Signal
	path   string
	per    float64 // units per unit of the signal
}

// fileDevice is a device whose sensors are files.
type fileDevice struct {
	desc    Device
	gauges  []sensorFile
	counter []sensorFile
}

// fileMeter reads sensors that the kernel shows as files: microseconds each.
type fileMeter struct {
	clock   Clock
	desc    Description
	devices []fileDevice
}

// newFileMeter describes devices; without one it is an error.
func newFileMeter(op string, source Source, clock Clock, devices []fileDevice, skipped []Skipped) (Meter, error) {
	if len(devices) == 0 {
		why := NoDriver
		if len(skipped) > 0 {
			why = skipped[0].Reason
		}
		return nil, &Error{Op: op, Reason: why, Err: errors.New("no sensor that can be read")}
	}
	m := &fileMeter{clock: clock, devices: devices, desc: Description{Source: source, Skipped: skipped}}
	for i := range m.devices {
		d := &m.devices[i]
		d.describe()
		m.desc.Devices = append(m.desc.Devices, d.desc)
	}
	return m, nil
}

// describe derives classes and missing signals from the files found.
func (d *fileDevice) describe() {
	have := map[Signal]bool{}
	for _, f := range d.gauges {
		have[f.signal] = true
	}
	if len(d.gauges) > 0 {
		d.desc.Classes = append(d.desc.Classes, ClassGauges)
	}
	if len(d.counter) > 0 {
		have[EnergyCounter] = true
		d.desc.Classes = append(d.desc.Classes, ClassCounter)
	}
	for _, sig := range []Signal{EnergyCounter, PowerAverage, PowerInstant, PowerSample} {
		if !have[sig] {
			d.desc.lacks(sig, NotSupported)
		}
	}
}

// Describe implements [Meter].
func (m *fileMeter) Describe() Description { return m.desc }

// Read implements [Meter].
func (m *fileMeter) Read(_ context.Context, class Class, device int) []Sample {
	if device < 0 || device >= len(m.devices) || !m.desc.Devices[device].offers(class) {
		return nil
	}
	d := m.devices[device]
	files, kind := d.gauges, KindGauge
	if class == ClassCounter {
		files, kind = d.counter, KindCounter
	}
	s := Sample{Kind: kind, GPU: d.desc.UUID, Before: m.clock.Now()}
	for _, f := range files {
		v, why := readNumber(f.path)
		if why != "" {
			s.miss(f.signal, why)
			continue
		}
		s.put(f.signal, v/f.per)
	}
	s.After = m.clock.Now()
	return []Sample{s}
}

// Close implements [Meter].
func (m *fileMeter) Close() error { return nil }

// readNumber reads a file that holds one number.
func readNumber(path string) (float64, Reason) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fileReason(err)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil || v != v {
		return 0, Unreadable
	}
	return v, ""
}

// fileReason maps the error of a sensor file. A card in a low-power state
// answers some of its files with an I/O or "no data" error.
func fileReason(err error) Reason {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return NotSupported
	case errors.Is(err, fs.ErrPermission):
		return NoPermission
	default:
		return NoData
	}
}

// readText reads a file of one line, "" when it cannot be read.
func readText(parts ...string) string {
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// exists reports whether the file can be seen.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
