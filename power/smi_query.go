package power

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// smiFacts are the static properties asked for once.
var smiFacts = []string{
	"index", "uuid", "name", "pci.bus_id", "driver_version", "vbios_version", "memory.total",
	"power.limit", "enforced.power.limit", "power.default_limit", "power.min_limit", "power.max_limit",
	"clocks.max.sm", "clocks.max.memory", "ecc.mode.current", "mig.mode.current", "persistence_mode",
	"compute_cap", "pcie.link.gen.current", "pcie.link.gen.max", "pcie.link.width.current", "pcie.link.width.max",
}

// NvidiaSMIFacts asks nvidia-smi once for the static properties of every card,
// by the program's own field names and without units: "memory.total" in MiB,
// "power.limit" in watts. What the card does not report is left out. path ""
// means nvidia-smi on the PATH.
func NvidiaSMIFacts(ctx context.Context, path string) ([]map[string]string, error) {
	const op = "ask nvidia-smi"
	if path == "" {
		path = "nvidia-smi"
	}
	path, err := exec.LookPath(path)
	if err != nil {
		return nil, &Error{Op: op, Reason: NoDriver, Err: err}
	}
	out, _, err := askSMI(ctx, path, smiFacts)
	if err != nil {
		return nil, &Error{Op: op, Reason: smiReason(err), Err: err}
	}
	cards, err := parseSMIFacts(out)
	if err != nil {
		return nil, &Error{Op: op, Reason: Unreadable, Err: err}
	}
	return cards, nil
}

// parseSMIFacts reads the answer to one query.
func parseSMIFacts(out []byte) ([]map[string]string, error) {
	rows := csv.NewReader(bytes.NewReader(out))
	rows.TrimLeadingSpace = true
	all, err := rows.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(all) < 2 {
		return nil, errors.New("no card in the answer")
	}
	var cards []map[string]string
	for _, row := range all[1:] {
		card := map[string]string{}
		for i, h := range all[0] {
			name, _, _ := strings.Cut(strings.TrimSpace(h), " ")
			if v := strings.TrimSpace(row[i]); absentCell(v) == "" {
				card[name] = v
			}
		}
		cards = append(cards, card)
	}
	return cards, nil
}

// unknownField finds the field that an older nvidia-smi refuses.
var unknownField = regexp.MustCompile(`Field "([^"]+)" is not a valid field to query`)

// askSMI runs one query, dropping one refused field after the other, and
// returns the answer with the fields it is for.
func askSMI(ctx context.Context, path string, fields []string) (out []byte, asked []string, err error) {
	asked = append([]string(nil), fields...)
	for len(asked) > 0 {
		out, err = runChild(ctx, path, "--query-gpu="+strings.Join(asked, ","), "--format=csv,nounits")
		refused := unknownField.FindSubmatch(out)
		if refused == nil {
			return out, asked, err
		}
		kept := asked[:0]
		for _, f := range asked {
			if f != string(refused[1]) {
				kept = append(kept, f)
			}
		}
		if len(kept) == len(asked) {
			return nil, nil, fmt.Errorf("nvidia-smi refuses the field %q, which was not asked for", refused[1])
		}
		asked = kept
	}
	return nil, nil, errors.New("nvidia-smi refuses every field")
}

// usableFields returns the fields this nvidia-smi prints and their columns.
func usableFields(ctx context.Context, path string) ([]string, smiTable, error) {
	fields := []string{"timestamp", "uuid"}
	for _, f := range smiFields {
		fields = append(fields, f.name)
	}
	out, asked, err := askSMI(ctx, path, fields)
	if err != nil {
		return nil, smiTable{}, err
	}
	rows := csv.NewReader(bytes.NewReader(out))
	rows.TrimLeadingSpace = true
	header, err := rows.Read()
	if err != nil {
		return nil, smiTable{}, &Error{Op: "nvidia-smi", Reason: Unreadable, Err: err}
	}
	table, err := newSMITable(header)
	if err == nil && (table.identity < 0 || table.timestamp < 0) {
		err = errors.New("no timestamp or no uuid column")
	}
	if err != nil {
		return nil, table, &Error{Op: "nvidia-smi", Reason: Unreadable, Err: err}
	}
	return asked, table, nil
}

// smiReason tells why nvidia-smi gave no answer, by its documented exit codes.
func smiReason(err error) Reason {
	var own *Error
	if errors.As(err, &own) {
		return own.Reason
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Timeout
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return OtherError
	}
	switch exit.ExitCode() {
	case 3:
		return NotSupported
	case 4:
		return NoPermission
	case 6, 9, 12:
		return NoDriver
	case 13:
		return SymbolMissing
	case 15:
		return GPULost
	case 18:
		return DriverMismatch
	default:
		return OtherError
	}
}
