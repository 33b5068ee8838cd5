package power

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SMIConfig says how to read through an nvidia-smi child.
type SMIConfig struct {
	// Clock is the recording's. Required.
	Clock Clock
	// Path is the program; "" means nvidia-smi on the PATH.
	Path string
	// Period is the time between lines; 0 means 100 ms, the sensor's own.
	Period time.Duration
	// StartTimeout bounds the first questions; 0 means 15 s (a driver without
	// persistence loads first).
	StartTimeout time.Duration
}

// smiPending bounds the lines kept between two reads; beyond it the oldest are
// dropped and the hole shows as a gap.
const smiPending = 4096

// smiMeter reads the lines of one nvidia-smi --loop-ms child.
type smiMeter struct {
	cfg   SMIConfig
	desc  Description
	table smiTable
	child *child
	index map[string]int // device of a uuid
	done  chan struct{}  // closed when the reading goroutine has ended

	mu       sync.Mutex
	pending  [][]Sample      // per device
	last     []time.Duration // per device: time of the last line
	stranger bool            // a card that was not described has been reported
	closed   bool
}

// OpenNvidiaSMI starts an nvidia-smi child that prints a line per card and
// period, and returns the meter that collects them: [ClassRing] drains what
// came. Fields that this nvidia-smi does not know are left out. Without the
// program, or without a driver behind it, it returns an [*Error]. ctx bounds
// the start only; Close ends the child.
func OpenNvidiaSMI(ctx context.Context, cfg SMIConfig) (Meter, error) {
	const op = "open nvidia-smi"
	if cfg.Path == "" {
		cfg.Path = "nvidia-smi"
	}
	if cfg.Period <= 0 {
		cfg.Period = nvidiaUpdate
	}
	if cfg.StartTimeout <= 0 {
		cfg.StartTimeout = 15 * time.Second
	}
	path, err := exec.LookPath(cfg.Path)
	if err != nil {
		return nil, &Error{Op: op, Reason: NoDriver, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.StartTimeout)
	defer cancel()
	facts, err := NvidiaSMIFacts(ctx, path)
	if err != nil {
		return nil, &Error{Op: op, Reason: ReasonOf(err), Err: err}
	}
	fields, table, err := usableFields(ctx, path)
	if err != nil {
		return nil, &Error{Op: op, Reason: smiReason(err), Err: err}
	}
	m := &smiMeter{cfg: cfg, table: table, index: map[string]int{}, done: make(chan struct{})}
	m.describe(facts)
	m.child, err = startChild(path,
		"--query-gpu="+strings.Join(fields, ","), "--format=csv,nounits",
		"--loop-ms="+strconv.FormatInt(cfg.Period.Milliseconds(), 10))
	if err != nil {
		return nil, &Error{Op: op, Reason: OtherError, Err: err}
	}
	go m.collect()
	return m, nil
}

// describe builds the description out of the static properties.
func (m *smiMeter) describe(cards []map[string]string) {
	m.desc.Source = SourceSMI
	for i, facts := range cards {
		d := smiDevice(facts["uuid"], facts["name"], i, m.table)
		if n, err := strconv.Atoi(facts["index"]); err == nil {
			d.Index = n
		}
		d.Facts = facts
		d.MIG = facts["mig.mode.current"] == "Enabled"
		if w, err := strconv.ParseFloat(facts["enforced.power.limit"], 64); err == nil {
			d.PowerLimit = ptr(Watts(w))
		}
		if !averagesPower(facts["compute_cap"]) {
			d.AverageWindow = 0
		}
		m.desc.Version = facts["driver_version"]
		m.index[d.UUID] = i
		m.desc.Devices = append(m.desc.Devices, d)
	}
	m.pending = make([][]Sample, len(cards))
	m.last = make([]time.Duration, len(cards))
}

// averagesPower tells whether power.draw of a card is a mean of one second:
// so it is from compute capability 8.6 on. An unknown capability is taken for
// a current card.
func averagesPower(capability string) bool {
	c, err := strconv.ParseFloat(capability, 64)
	return err != nil || c >= 8.6
}

// collect reads lines until the child ends.
func (m *smiMeter) collect() {
	defer close(m.done)
	lines := bufio.NewScanner(m.child.out)
	for lines.Scan() {
		m.line(lines.Text())
	}
	note := "nvidia-smi ended"
	if err := errors.Join(lines.Err(), m.child.cmd.Wait()); err != nil {
		note += ": " + oneLine(err.Error())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	for i := range m.desc.Devices {
		m.queue(i, m.fault(i, SourceEnded, note))
	}
}

// line takes one line: the header, a row, or a remark.
func (m *smiMeter) line(text string) {
	now := m.cfg.Clock.Now()
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	cells, err := r.Read()
	if err != nil || strings.HasPrefix(text, "timestamp,") {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(cells) != m.table.columns {
		why := Unreadable
		if strings.Contains(text, "is lost") {
			why = GPULost
		}
		m.everywhere(why, "nvidia-smi said: "+text)
		return
	}
	i, ok := m.index[strings.TrimSpace(cells[m.table.identity])]
	if !ok {
		if !m.stranger {
			m.stranger = true
			m.everywhere(IdentityChanged, "a card that was not there at the start answers: "+cells[m.table.identity])
		}
		return
	}
	s, what := m.table.sample(cells)
	if what != "" {
		s = Sample{Kind: KindGauge, Note: what}
		s.miss(AnySignal, Unreadable)
	}
	s.GPU = m.desc.Devices[i].UUID
	m.placeLine(&s, cells, now)
	s.Before, s.After = max(s.Before, m.last[i]), max(s.After, m.last[i])
	m.last[i] = s.Before
	m.queue(i, s)
}

// Lines are placed by the program's own stamp, taken before its query and
// printed in the zone we gave it. A stamp that is out by more than this is not
// believed, and a line that came later than a query takes sat in a pipe.
const (
	maxSMISkew = 10 * time.Minute
	maxSMICall = 100 * time.Millisecond
)

func (m *smiMeter) placeLine(s *Sample, cells []string, now time.Duration) {
	s.Before, s.After = now, now
	wall, err := m.table.time(cells, time.UTC)
	if err != nil {
		return
	}
	at := m.cfg.Clock.place(wall.UnixNano())
	if at > now || now-at > maxSMISkew {
		return
	}
	s.Stamp, s.Before = wall.UnixNano(), at
	s.After = min(now, at+maxSMICall)
}

func (m *smiMeter) fault(i int, why Reason, note string) Sample {
	now := m.cfg.Clock.Now()
	s := Sample{Kind: KindFault, GPU: m.desc.Devices[i].UUID, Before: now, After: now, Note: note}
	s.miss(AnySignal, why)
	return s
}

// everywhere reports a fault on every card; the caller holds the lock.
func (m *smiMeter) everywhere(why Reason, note string) {
	for i := range m.desc.Devices {
		m.queue(i, m.fault(i, why, note))
	}
}

// queue appends a sample; the caller holds the lock.
func (m *smiMeter) queue(i int, s Sample) {
	list := append(m.pending[i], s)
	if len(list) > smiPending {
		list = list[len(list)-smiPending:]
	}
	m.pending[i] = list
}

// Describe implements [Meter].
func (m *smiMeter) Describe() Description { return m.desc }

// Read implements [Meter].
func (m *smiMeter) Read(_ context.Context, class Class, device int) []Sample {
	if class != ClassRing || device < 0 || device >= len(m.desc.Devices) {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.pending[device]
	m.pending[device] = nil
	return list
}

// Close implements [Meter].
func (m *smiMeter) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.child.stop()
	select {
	case <-m.done:
		return nil
	case <-time.After(childWait):
		return &Error{Op: "close nvidia-smi", Reason: Timeout}
	}
}
