package hardware

import (
	"context"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// Config says where to look. The zero value looks at this machine, without
// GPUs.
type Config struct {
	// Root stands for /; "" means /.
	Root string
	// GOOS and GOARCH are the platform; "" means this binary's.
	GOOS, GOARCH string
	// GPUs returns the cards' static properties by the field names and units
	// of nvidia-smi's --query-gpu, and the name of what read them; nil: no
	// cards are looked for. An error leaves the cards unknown, with its text.
	GPUs func(context.Context) (cards []map[string]string, source string, err error)
	// Declared holds what the user says; it is taken before what is measured.
	Declared Document
	// Run runs a program of the system and returns its output; nil runs it.
	// Only macOS needs it.
	Run func(ctx context.Context, name string, args ...string) ([]byte, error)
}

// Report is what a machine is.
type Report struct {
	// Document is the content of hardware.json.
	Document Document `json:"document"`
	// Fields says for each field of the document where it is from, by JSON
	// name; unknown fields are there too.
	Fields map[string]Fact `json:"fields"`
	// Environment is the evidence about the machine, safe to publish.
	Environment map[string]Fact `json:"environment"`
	// GPUs is the evidence about each card, safe to publish.
	GPUs []map[string]Fact `json:"gpus"`
}

// Detect looks at the machine. It does not fail: what it cannot read is
// unknown, with the reason.
func Detect(ctx context.Context, cfg Config) Report {
	cfg.defaults()
	d := detector{cfg: cfg, root: root(cfg.Root), fields: map[string]Fact{}}
	d.system(ctx)
	d.cards(ctx)
	d.declare()
	d.doc.Class = classOf(d.doc.GPUName != "" || len(d.doc.GPUs) > 0, d.doc.ChipVendor != "")
	if cfg.Declared.Class != "" {
		d.doc.Class = cfg.Declared.Class
	}
	return Report{Document: d.doc, Fields: d.fields, Environment: d.environment(), GPUs: d.evidence}
}

func (c *Config) defaults() {
	if c.Root == "" {
		c.Root = "/"
	}
	c.Root = filepath.Clean(c.Root)
	if c.GOOS == "" {
		c.GOOS = runtime.GOOS
	}
	if c.GOARCH == "" {
		c.GOARCH = runtime.GOARCH
	}
	if c.Run == nil {
		c.Run = run
	}
}

// run runs a program for at most twenty seconds.
func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return exec.CommandContext(ctx, name, args...).Output()
}

// detector collects a report.
type detector struct {
	cfg      Config
	root     root
	cpu      Processor
	doc      Document
	fields   map[string]Fact
	evidence []map[string]Fact
}

// system finds processor, memory and operating system.
func (d *detector) system(ctx context.Context) {
	if d.cfg.GOOS == "darwin" {
		d.apple(ctx)
		return
	}
	d.cpu = ParseCPUInfo(d.root.text("proc/cpuinfo"))
	d.doc.CPU = d.cpu.Model
	d.fields["cpu"] = text(d.cpu.Model, "/proc/cpuinfo")
	if d.doc.CPU == "" {
		d.doc.CPU = d.cfg.GOARCH
		d.fields["cpu"] = measured(d.cfg.GOARCH, "", "architecture of this program; /proc/cpuinfo names no model")
	}
	d.fields["ramGb"] = unknown("/proc/meminfo has no MemTotal")
	if bytes, ok := ParseMemTotal(d.root.text("proc/meminfo")); ok {
		d.doc.RAMGb = gib(bytes)
		d.fields["ramGb"] = measured(d.doc.RAMGb, "GiB", "/proc/meminfo")
	}
	d.doc.OS = ParseOSName(d.root.text("etc/os-release"))
	d.fields["os"] = text(d.doc.OS, "/etc/os-release")
	if d.doc.OS == "" || len(d.doc.OS) > maxOS {
		d.doc.OS = d.cfg.GOOS
		d.fields["os"] = measured(d.cfg.GOOS, "", "platform of this program")
	}
}

// gib converts bytes to GiB with one decimal.
func gib(bytes float64) float64 { return math.Round(bytes/(1<<30)*10) / 10 }

// declare lets the user's values win.
func (d *detector) declare() {
	u := d.cfg.Declared
	texts := []struct {
		name     string
		from, to *string
	}{
		{"gpuName", &u.GPUName, &d.doc.GPUName},
		{"chipVendor", &u.ChipVendor, &d.doc.ChipVendor},
		{"chipFamily", &u.ChipFamily, &d.doc.ChipFamily},
		{"chipVariant", &u.ChipVariant, &d.doc.ChipVariant},
		{"cpu", &u.CPU, &d.doc.CPU},
		{"os", &u.OS, &d.doc.OS},
	}
	for _, f := range texts {
		if *f.from != "" {
			*f.to = *f.from
			d.fields[f.name] = declared(*f.from, "")
		}
	}
	numbers := []struct {
		name, unit string
		from, to   *float64
	}{
		{"vramGb", "GiB", &u.VRAMGb, &d.doc.VRAMGb},
		{"unifiedMemoryGb", "GiB", &u.UnifiedMemoryGb, &d.doc.UnifiedMemoryGb},
		{"ramGb", "GiB", &u.RAMGb, &d.doc.RAMGb},
		{"powerWatts", "W", &u.PowerWatts, &d.doc.PowerWatts},
	}
	for _, f := range numbers {
		if *f.from != 0 {
			*f.to = *f.from
			d.fields[f.name] = declared(*f.from, f.unit)
		}
	}
	if u.GPUCount != 0 {
		d.doc.GPUCount = u.GPUCount
		d.fields["gpuCount"] = declared(u.GPUCount, "")
	}
	if len(u.GPUs) > 0 {
		d.doc.GPUs = u.GPUs
		d.doc.GPUName, d.doc.GPUCount, d.doc.VRAMGb = "", 0, 0
		d.fields["gpus"] = declared(len(u.GPUs), "")
	}
	if u.GPUName != "" {
		d.doc.GPUs = nil
		if d.doc.GPUCount == 0 {
			d.doc.GPUCount = 1
		}
	}
}
