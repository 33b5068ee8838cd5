package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lmxbench/bench/report"
	"lmxbench/power"
)

// The ways to ask for power (--power).
const (
	PowerAuto = "auto" // the first source that answers, when the server is on this machine
	PowerOff  = "off"
	powerFile = "file:" // a log that something else records, joined after the run
)

// The recording and its windows in the run directory.
const (
	powerFileName   = "power.csv"
	powerWindowName = "power_window.json"
)

// CheckPower reports what is wrong with a value of --power. A log that is to be
// joined must be there already, so that a wrong name costs no measurement.
func CheckPower(mode string) error {
	switch mode {
	case "", PowerAuto, PowerOff, string(power.SourceNVML), "smi", string(power.SourceHwmon):
		return nil
	}
	if path, ok := strings.CutPrefix(mode, powerFile); ok && path != "" {
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", path, errors.Unwrap(err))
		}
		return file.Close()
	}
	return fmt.Errorf("%q is not a source of power: write auto, nvml, smi, hwmon, file:PATH or off", mode)
}

// Before the first batch the idle machine is watched for as long as the
// trailing mean of a sensor and the baseline need; after the last batch until
// every window is bracketed.
const (
	powerLead = 3 * time.Second
	powerTail = 2 * time.Second
)

// powerLog records power beside a run. A nil *powerLog records nothing.
type powerLog struct {
	meter    power.Meter
	file     *os.File
	sink     *power.Writer
	recorder *power.Recorder
	clock    power.Clock
	idleFrom time.Duration
	idleTo   time.Duration
}

// powerAbsent says why a run has no power figures.
type powerAbsent struct{ reason string }

func (e *powerAbsent) Error() string { return e.reason }

// openPower starts to record into dir. The error is a *powerAbsent where there
// is nothing to record, which is an ordinary case unless a source was named.
func openPower(ctx context.Context, cfg *Config, peer, dir string, origin time.Time) (*powerLog, error) {
	mode := cfg.Power
	switch {
	case mode == PowerOff:
		return nil, &powerAbsent{"switched off"}
	case strings.HasPrefix(mode, powerFile):
		return nil, &powerAbsent{"joined after the run"}
	case (mode == "" || mode == PowerAuto) && cfg.Plan.Simulated != "":
		return nil, &powerAbsent{"a simulated engine uses no GPU"}
	case (mode == "" || mode == PowerAuto) && !local(peer):
		return nil, &powerAbsent{"the server at " + peer + " is not on this machine"}
	}
	p := &powerLog{clock: power.NewClock(origin)}
	open := power.OpenConfig{Clock: p.clock}
	switch mode {
	case "smi":
		open.Source = power.SourceSMI
	case string(power.SourceNVML), string(power.SourceHwmon):
		open.Source = power.Source(mode)
	}
	var tried []power.Attempt
	var err error
	if p.meter, tried, err = power.Open(ctx, open); err != nil {
		return nil, &powerAbsent{attempts(tried, err)}
	}
	if p.file, err = os.OpenFile(filepath.Join(dir, powerFileName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err != nil {
		return nil, errors.Join(fmt.Errorf("record power: %w", err), p.meter.Close())
	}
	if p.sink, err = power.NewWriter(p.file, origin, p.meter.Describe()); err != nil {
		return nil, errors.Join(fmt.Errorf("record power: %w", err), p.meter.Close(), p.file.Close())
	}
	p.recorder = power.Start(context.WithoutCancel(ctx), p.meter, p.sink, power.RecorderConfig{Clock: p.clock})
	return p, nil
}

// attempts says in one line why no source answered. That none is there is said
// shortly: it is so on most machines without a GPU.
func attempts(tried []power.Attempt, err error) string {
	var parts []string
	for _, a := range tried {
		if a.Reason != power.NoDriver {
			parts = append(parts, fmt.Sprintf("%s: %s", a.Source, a.Detail))
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, "; ")
	case len(tried) > 0:
		return "this machine has no power sensor that can be read"
	}
	return err.Error()
}

// local reports whether an address, host:port, is one of this machine's.
func local(peer string) bool {
	host, _, err := net.SplitHostPort(peer)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}

// lead watches the idle machine before the first batch.
func (p *powerLog) lead(ctx context.Context) {
	if p == nil {
		return
	}
	p.idleFrom = p.clock.Now()
	pause(ctx, powerLead)
	p.idleTo = p.clock.Now()
}

// follow has the energy counter read back to back where the edges of the
// batch's windows will lie: from the release until most streams have begun to
// decode, and from the end of the first to that of the last. It returns a
// function that ends it. counts are the pool's; ask is cheap.
func (p *powerLog) follow(streams int, counts func() (events, ended int64)) (stop func()) {
	if p == nil {
		return func() {}
	}
	const every = 10 * time.Millisecond
	quit, done := make(chan struct{}), make(chan struct{})
	p.recorder.Mark(p.clock.Now())
	p.recorder.Dense(true)
	go func() {
		defer close(done)
		dense := true
		for tick := time.NewTicker(every); ; {
			select {
			case <-quit:
				tick.Stop()
				p.recorder.Dense(false)
				return
			case <-tick.C:
			}
			events, ended := counts()
			if want := events < 3*int64(streams) || ended > 0; want != dense {
				dense = want
				p.recorder.Dense(dense)
			}
		}
	}()
	return func() {
		p.recorder.Mark(p.clock.Now())
		close(quit)
		<-done
	}
}

// close ends the recording once the last window is bracketed.
func (p *powerLog) close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	pause(ctx, powerTail)
	err := errors.Join(p.recorder.Stop(), p.meter.Close(), p.file.Close())
	if err != nil {
		return fmt.Errorf("record power: %w", err)
	}
	return nil
}

// pause sleeps unless ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// copyPowerFile brings a log that something else recorded into the run.
func copyPowerFile(mode, dir string) error {
	path := strings.TrimPrefix(mode, powerFile)
	from, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("join power: %w", err)
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(dir, powerFileName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("join power: %w", err)
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("join power: %w", err)
	}
	return nil
}

// startPower begins to record, or notes why not.
func (r *rung) startPower(ctx context.Context) error {
	log, err := openPower(ctx, r.cfg, r.session.Peer, r.writer.Dir(), r.origin)
	var nothing *powerAbsent
	if errors.As(err, &nothing) {
		r.noPower = nothing.reason
		if named := r.cfg.Power; named != "" && named != PowerAuto && named != PowerOff && !strings.HasPrefix(named, powerFile) {
			return &UsageError{"--power", named + " gives nothing: " + nothing.reason + "; write --power off to measure without"}
		}
		return nil
	}
	if err != nil {
		return err
	}
	r.power = log
	r.cfg.Observer.Stage(Stage{Name: "idle", Rung: r.plan.Concurrency, Started: time.Now()})
	r.power.lead(ctx)
	return nil
}

// endPower ends the recording and says what the windows cost. A recording that
// cannot be used costs the run its power figures and nothing else.
func (r *rung) endPower(ctx context.Context) error {
	log := r.power
	r.power = nil
	var err error
	switch {
	case log != nil:
		if err = log.close(ctx); err == nil {
			return r.attachPower(log.idleFrom, log.idleTo)
		}
	case strings.HasPrefix(r.cfg.Power, powerFile):
		if err = copyPowerFile(r.cfg.Power, r.writer.Dir()); err == nil {
			return r.attachPower(0, 0)
		}
	}
	if err != nil {
		r.noPower = err.Error()
		r.cfg.Observer.Note(r.noPower)
	}
	return r.attach(Energy{Source: string(power.EnergyNone), Reason: r.noPower}, nil)
}

// attachPower joins the recording in the run directory to the batches.
func (r *rung) attachPower(idleFrom, idleTo time.Duration) error {
	_, offset := r.origin.Zone()
	log, err := power.ReadFile(filepath.Join(r.writer.Dir(), powerFileName), time.FixedZone("", offset))
	if err != nil {
		r.cfg.Observer.Note(err.Error())
		return errors.Join(r.writer.Claim(powerFileName),
			r.attach(Energy{Source: string(power.EnergyNone), Reason: err.Error()}, nil))
	}
	energy, windows, findings := joinPower(log, &r.evidence, idleFrom, idleTo)
	energy.ZoneOffsetSeconds = offset
	text, err := windows.Encode()
	if err != nil {
		return err
	}
	return errors.Join(r.writer.Claim(powerFileName), r.writer.Add(powerWindowName, text), r.attach(energy, findings))
}

// attach puts the energy into the evidence; conclude writes it.
func (r *rung) attach(e Energy, findings []report.Finding) (err error) {
	r.evidence.Attached, err = attach(e, findings)
	return err
}
