package power

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// OpenConfig says which source to open.
type OpenConfig struct {
	// Clock is the recording's. Required.
	Clock Clock
	// Source names one source, or is "" for the first that answers: NVML,
	// nvidia-smi, hwmon, amd-smi.
	Source Source
	// NVMLLibrary, NvidiaSMI and AMDSMI are paths; "" where they usually are.
	NVMLLibrary, NvidiaSMI, AMDSMI string
	// SysRoot is the mount point of sysfs; "" means /sys.
	SysRoot string
	// CPUPackages adds the CPU packages' counters beside the GPUs where they
	// can be read.
	CPUPackages bool
}

// Attempt is a source that was tried and did not open.
type Attempt struct {
	Source Source `json:"source"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail"`
}

// Open opens the first source that answers and says which others did not, and
// why. The error, an [*Error], is for when none did; a machine without any is
// an ordinary case with Reason [NoDriver]. ctx bounds the opening only.
func Open(ctx context.Context, cfg OpenConfig) (Meter, []Attempt, error) {
	sys := SysfsConfig{Clock: cfg.Clock, Root: cfg.SysRoot}
	all := []struct {
		source Source
		open   func() (Meter, error)
	}{
		{SourceNVML, func() (Meter, error) {
			return OpenNVML(NVMLConfig{Clock: cfg.Clock, LibraryPath: cfg.NVMLLibrary})
		}},
		{SourceSMI, func() (Meter, error) {
			return OpenNvidiaSMI(ctx, SMIConfig{Clock: cfg.Clock, Path: cfg.NvidiaSMI})
		}},
		{SourceHwmon, func() (Meter, error) { return OpenHwmon(sys) }},
		{SourceAMDSMI, func() (Meter, error) {
			return OpenAMDSMI(ctx, AMDSMIConfig{Clock: cfg.Clock, Path: cfg.AMDSMI})
		}},
		{SourceRAPL, func() (Meter, error) { return OpenRAPL(sys) }},
	}
	var tried []Attempt
	why := NoDriver
	for _, s := range all {
		if cfg.Source != s.source && (cfg.Source != "" || s.source == SourceRAPL) {
			continue
		}
		m, err := s.open()
		if err != nil {
			tried = append(tried, Attempt{Source: s.source, Reason: ReasonOf(err), Detail: err.Error()})
			if r := ReasonOf(err); r != NoDriver && why == NoDriver {
				why = r
			}
			continue
		}
		if cfg.CPUPackages && s.source != SourceRAPL {
			m, tried = withPackages(m, sys, tried)
		}
		return m, tried, nil
	}
	if len(tried) == 0 {
		return nil, nil, &Error{Op: "open power source", Reason: NotSupported, Err: fmt.Errorf("unknown source %q", cfg.Source)}
	}
	return nil, tried, &Error{Op: "open power source", Reason: why, Err: errors.New(attempts(tried))}
}

// withPackages adds the CPU's counters when they can be read.
func withPackages(m Meter, sys SysfsConfig, tried []Attempt) (Meter, []Attempt) {
	cpu, err := OpenRAPL(sys)
	if err != nil {
		return m, append(tried, Attempt{Source: SourceRAPL, Reason: ReasonOf(err), Detail: err.Error()})
	}
	return Combine(m, cpu), tried
}

func attempts(tried []Attempt) string {
	parts := make([]string, len(tried))
	for i, a := range tried {
		parts[i] = fmt.Sprintf("%s: %s", a.Source, a.Reason)
	}
	return strings.Join(parts, ", ")
}
