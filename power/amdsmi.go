package power

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// AMDSMIConfig says how to read through AMD's command-line tool.
type AMDSMIConfig struct {
	// Clock is the recording's. Required.
	Clock Clock
	// Path is the program; "" means amd-smi on the PATH.
	Path string
	// Timeout bounds one call; 0 means 5 s. The tool takes tenths of a second.
	Timeout time.Duration
}

// amdMeter runs amd-smi once per reading.
type amdMeter struct {
	cfg  AMDSMIConfig
	desc Description
}

// OpenAMDSMI describes the cards that amd-smi lists. Each reading is one run
// of the program over all cards, so it suits a reading a second, not more; the
// kernel's files ([OpenHwmon]) are better where they exist. The energy counter
// of some cards stands still or jumps: the comparison with the power gauge
// shows it.
func OpenAMDSMI(ctx context.Context, cfg AMDSMIConfig) (Meter, error) {
	const op = "open amd-smi"
	if cfg.Path == "" {
		cfg.Path = "amd-smi"
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 5 * time.Second
	}
	path, err := exec.LookPath(cfg.Path)
	if err != nil {
		return nil, &Error{Op: op, Reason: NoDriver, Err: err}
	}
	cfg.Path = path
	m := &amdMeter{cfg: cfg}
	cards, err := m.ask(ctx)
	if err != nil {
		return nil, &Error{Op: op, Reason: ReasonOf(err), Err: err}
	}
	ids := m.identities(ctx)
	m.desc.Source = SourceAMDSMI
	for i, c := range cards {
		d := Device{UUID: fmt.Sprintf("amd-smi-%d", c.index), Name: "AMD GPU", Index: c.index, Source: SourceAMDSMI, Scope: ScopeGPU, ReadPeriod: time.Second}
		if id := ids[c.index]; id != "" {
			d.UUID = id
		}
		if _, why := c.number("energy", "total_energy_consumption"); why == "" {
			d.Classes = append(d.Classes, ClassCounter)
		} else {
			d.lacks(EnergyCounter, why)
		}
		d.Classes = append(d.Classes, ClassGauges)
		d.lacks(PowerSample, NotSupported)
		d.lacks(PowerAverage, NotSupported)
		cards[i].uuid = d.UUID
		m.desc.Devices = append(m.desc.Devices, d)
	}
	if len(cards) == 0 {
		return nil, &Error{Op: op, Reason: NoData, Err: errors.New("amd-smi lists no card")}
	}
	return m, nil
}

// amdCard is one card's part of the answer.
type amdCard struct {
	index int
	uuid  string
	tree  map[string]any
}

// ask runs the program and splits its answer.
func (m *amdMeter) ask(ctx context.Context) ([]amdCard, error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
	defer cancel()
	out, err := runChild(ctx, m.cfg.Path, "metric", "-p", "-E", "--json")
	if err != nil {
		return nil, &Error{Op: "run amd-smi", Reason: smiReason(err), Err: err}
	}
	cards, err := parseAMD(out)
	if err != nil {
		return nil, &Error{Op: "read amd-smi", Reason: Unreadable, Err: err}
	}
	return cards, nil
}

// parseAMD reads the answer: an array of cards, or, in newer versions, an
// object that holds it under gpu_data.
func parseAMD(out []byte) ([]amdCard, error) {
	var list []map[string]any
	if err := json.Unmarshal(out, &list); err != nil {
		var wrapped struct {
			GPUs []map[string]any `json:"gpu_data"`
		}
		if err := json.Unmarshal(out, &wrapped); err != nil {
			return nil, fmt.Errorf("amd-smi json: %w", err)
		}
		list = wrapped.GPUs
	}
	cards := make([]amdCard, 0, len(list))
	for i, tree := range list {
		c := amdCard{index: i, tree: tree}
		if n, ok := tree["gpu"].(float64); ok {
			c.index = int(n)
		}
		cards = append(cards, c)
	}
	return cards, nil
}

// number finds a value, which is a number, a text, or an object of value and
// unit; "N/A" stands for none.
func (c amdCard) number(group, name string) (float64, Reason) {
	inner, ok := c.tree[group].(map[string]any)
	if !ok {
		return 0, FieldMissing
	}
	v := inner[name]
	if boxed, ok := v.(map[string]any); ok {
		v = boxed["value"]
	}
	switch v := v.(type) {
	case float64:
		return v, ""
	case string:
		number, _, _ := strings.Cut(strings.TrimSpace(v), " ")
		if f, err := strconv.ParseFloat(number, 64); err == nil {
			return f, ""
		}
		return 0, FieldMissing
	default:
		return 0, FieldMissing
	}
}

// identities asks for the cards' UUIDs; without an answer they stay numbers.
func (m *amdMeter) identities(ctx context.Context) map[int]string {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
	defer cancel()
	ids := map[int]string{}
	out, err := runChild(ctx, m.cfg.Path, "list", "--json")
	if err != nil {
		return ids
	}
	cards, err := parseAMD(out)
	if err != nil {
		return ids
	}
	for _, c := range cards {
		if id, ok := c.tree["uuid"].(string); ok && absentCell(id) == "" {
			ids[c.index] = id
		}
	}
	return ids
}

// Describe implements [Meter].
func (m *amdMeter) Describe() Description { return m.desc }

// Read implements [Meter].
func (m *amdMeter) Read(ctx context.Context, class Class, device int) []Sample {
	if device < 0 || device >= len(m.desc.Devices) || !m.desc.Devices[device].offers(class) {
		return nil
	}
	d := m.desc.Devices[device]
	kind, sig, group, name := KindGauge, PowerInstant, "power", "socket_power"
	if class == ClassCounter {
		kind, sig, group, name = KindCounter, EnergyCounter, "energy", "total_energy_consumption"
	}
	s := Sample{Kind: kind, GPU: d.UUID, Before: m.cfg.Clock.Now()}
	cards, err := m.ask(ctx)
	s.After = m.cfg.Clock.Now()
	if err != nil {
		s.miss(sig, ReasonOf(err))
		return []Sample{s}
	}
	for _, c := range cards {
		if c.index != d.Index {
			continue
		}
		v, why := c.number(group, name)
		if why != "" {
			s.miss(sig, why)
		} else {
			s.put(sig, v)
		}
		return []Sample{s}
	}
	s.miss(AnySignal, GPULost)
	return []Sample{s}
}

// Close implements [Meter].
func (m *amdMeter) Close() error { return nil }
