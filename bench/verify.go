package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lmxbench/bench/report"
	"lmxbench/power"
)

// Verify recomputes a run directory from its evidence: the result from the
// requests and observations, every power figure from power.csv, and the ceilings
// from what the result says of model and machine. It returns
// one difference for each value that does not follow.
func Verify(dir string) ([]report.Difference, error) {
	all, err := report.Verify(dir)
	if err != nil {
		return nil, err
	}
	run, err := report.Load(dir)
	if err != nil {
		return all, nil // report.Verify has said so
	}
	all = append(all, verifyCeiling(run)...)
	if _, err := os.Stat(filepath.Join(dir, powerFileName)); errors.Is(err, os.ErrNotExist) {
		return all, nil
	}
	return append(all, verifyPower(run)...), nil
}

// verifyPower computes the power figures again from the recording.
func verifyPower(run *report.Run) []report.Difference {
	broken := func(what string, err error) []report.Difference {
		return []report.Difference{{Path: what, File: "unreadable: " + err.Error(), Computed: "a recording"}}
	}
	var said Energy
	if len(run.Evidence.Attached.Power) == 0 {
		return []report.Difference{{Path: "observations.jsonl attached.power", File: "absent", Computed: "the figures of " + powerFileName}}
	}
	if err := json.Unmarshal(run.Evidence.Attached.Power, &said); err != nil {
		return broken("observations.jsonl attached.power", err)
	}
	if said.Source == string(power.EnergyNone) {
		return nil // the recording could not be used, and the run says so
	}
	log, err := power.ReadFile(filepath.Join(run.Dir, powerFileName), time.FixedZone("", said.ZoneOffsetSeconds))
	if err != nil {
		return broken(powerFileName, err)
	}
	energy, windows, findings := joinPower(log, &run.Evidence, time.Duration(said.IdleFromNs), time.Duration(said.IdleToNs))
	energy.ZoneOffsetSeconds = said.ZoneOffsetSeconds
	attached, err := attach(energy, findings)
	if err != nil {
		return broken("power", err)
	}
	all := report.CompareJSON("observations.jsonl attached.power", run.Evidence.Attached.Power, attached.Power)
	if len(run.Evidence.Attached.Ceiling) > 0 {
		_, impossible, err := ceilingOf(run.Evidence)
		if err == nil {
			findings = append(findings, impossible...)
		}
	}
	all = append(all, compareFindings(run.Evidence.Attached.Findings, findings)...)
	text, err := windows.Encode()
	if err != nil {
		return append(all, broken(powerWindowName, err)...)
	}
	file, err := os.ReadFile(filepath.Join(run.Dir, powerWindowName))
	if err != nil {
		return append(all, broken(powerWindowName, err)...)
	}
	return append(all, report.CompareJSON(powerWindowName, file, text)...)
}

func compareFindings(file, computed []report.Finding) []report.Difference {
	a, errA := json.Marshal(file)
	b, errB := json.Marshal(computed)
	if errA != nil || errB != nil {
		return []report.Difference{{Path: "observations.jsonl attached.findings", File: fmt.Sprint(file), Computed: fmt.Sprint(computed)}}
	}
	return report.CompareJSON("observations.jsonl attached.findings", a, b)
}
