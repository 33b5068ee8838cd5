//go:build linux && cgo

package power

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// nvmlOwner is held by the one open NVML meter. The library keeps its state
// per process, so its ownership is a fact of the process too.
//
//nolint:gochecknoglobals // mirrors state that the library keeps per process
var nvmlOwner sync.Mutex

// nvmlCloseWait bounds the wait for calls that are still in the driver.
const nvmlCloseWait = 5 * time.Second

// nvmlMeter is the only code that calls NVML.
type nvmlMeter struct {
	lib     nvml.Interface
	clock   Clock
	symbols map[string]bool
	devices []*nvmlDevice
	desc    Description
	calls   gate
	closing chan struct{}
	workers sync.WaitGroup
	release func()
}

// OpenNVML loads NVIDIA's management library and describes its devices. The
// caller owns the meter and closes it; a second one while the first is open
// is refused with [Busy]. A machine without the library or the driver is an
// ordinary case: the [*Error] has Reason [NoDriver].
//
// The energy counter is read on a goroutine of its own per device, locked to
// its thread: a call takes milliseconds, at times hundreds.
func OpenNVML(cfg NVMLConfig) (Meter, error) {
	const op = "open nvml"
	if !nvmlOwner.TryLock() {
		return nil, &Error{Op: op, Reason: Busy, Err: errors.New("another meter of this process has it open")}
	}
	path := cfg.LibraryPath
	if path == "" {
		path = "libnvidia-ml.so.1"
	}
	if err := checkLibrary(path); err != nil {
		nvmlOwner.Unlock()
		return nil, err
	}
	m, err := newNVMLMeter(nvml.New(nvml.WithLibraryPath(path)), cfg.Clock)
	if err != nil {
		nvmlOwner.Unlock()
		return nil, err
	}
	m.release = nvmlOwner.Unlock
	return m, nil
}

// checkLibrary makes sure that the calls up to and including a successful
// start are there: a missing one would end the process, not return an error.
func checkLibrary(path string) error {
	const op = "open nvml"
	lib := dl.New(path, dl.RTLD_LAZY|dl.RTLD_GLOBAL)
	if err := lib.Open(); err != nil {
		return &Error{Op: op, Reason: NoDriver, Err: err}
	}
	defer lib.Close() //nolint:errcheck // only looked into
	for _, s := range nvmlRequired() {
		if err := lib.Lookup(s); err != nil {
			return &Error{Op: op, Reason: SymbolMissing, Err: err}
		}
	}
	return nil
}

// newNVMLMeter starts lib and describes what it has.
func newNVMLMeter(lib nvml.Interface, clock Clock) (*nvmlMeter, error) {
	const op = "open nvml"
	if ret := lib.Init(); ret != nvml.SUCCESS {
		return nil, &Error{Op: op, Reason: nvmlReason(ret), Err: nvmlError(ret)}
	}
	m := &nvmlMeter{lib: lib, clock: clock, symbols: map[string]bool{}, closing: make(chan struct{})}
	for _, s := range nvmlOptional() {
		m.symbols[s] = lib.Extensions().LookupSymbol(s) == nil
	}
	if err := m.describe(); err != nil {
		lib.Shutdown()
		return nil, &Error{Op: op, Reason: ReasonOf(err), Err: err}
	}
	for i, d := range m.devices {
		if m.desc.Devices[i].offers(ClassCounter) {
			m.workers.Go(func() { m.countEnergy(d) })
		}
	}
	return m, nil
}

// describe fills in the devices that can be read.
func (m *nvmlMeter) describe() error {
	m.desc.Source = SourceNVML
	if v, ret := m.lib.SystemGetDriverVersion(); ret == nvml.SUCCESS {
		m.desc.Version = v
	}
	count, ret := m.lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return &Error{Op: "count devices", Reason: nvmlReason(ret), Err: nvmlError(ret)}
	}
	for i := range count {
		d, desc, why := m.openDevice(i)
		if why != "" {
			m.desc.Skipped = append(m.desc.Skipped, Skipped{Index: i, Reason: why})
			continue
		}
		m.devices = append(m.devices, d)
		m.desc.Devices = append(m.desc.Devices, desc)
	}
	if len(m.devices) == 0 {
		if len(m.desc.Skipped) > 0 {
			return &Error{Op: "describe devices", Reason: m.desc.Skipped[0].Reason, Err: errors.New("none of the devices can be read")}
		}
		return &Error{Op: "describe devices", Reason: NoData, Err: errors.New("the driver has no device")}
	}
	return nil
}

// Describe implements [Meter].
func (m *nvmlMeter) Describe() Description { return m.desc }

// Read implements [Meter].
func (m *nvmlMeter) Read(ctx context.Context, class Class, device int) []Sample {
	if device < 0 || device >= len(m.devices) || !m.desc.Devices[device].offers(class) {
		return nil
	}
	d := m.devices[device]
	if class == ClassCounter {
		return m.askEnergy(ctx, d)
	}
	if !m.calls.enter() {
		return nil
	}
	defer m.calls.leave()
	switch class {
	case ClassGauges:
		return []Sample{m.gauges(d)}
	case ClassRing:
		return m.ring(d)
	case ClassActivity:
		return m.activity(d)
	case ClassProcesses:
		return m.processes(d)
	default:
		return nil
	}
}

// Close implements [Meter]. The library stays loaded when a call does not come
// back: shutting it down under the call would end the process.
func (m *nvmlMeter) Close() error {
	first, drained := m.calls.close(nvmlCloseWait)
	if !first {
		return nil
	}
	close(m.closing)
	if !drained {
		return &Error{Op: "close nvml", Reason: Timeout, Err: errors.New("a call is still in the driver")}
	}
	m.workers.Wait()
	for _, d := range m.devices {
		d.freeActivity()
	}
	ret := m.lib.Shutdown()
	if m.release != nil {
		m.release()
	}
	if ret != nvml.SUCCESS {
		return &Error{Op: "close nvml", Reason: nvmlReason(ret), Err: nvmlError(ret)}
	}
	return nil
}
