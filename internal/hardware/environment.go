package hardware

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// environment collects the evidence about the machine beside its cards.
func (d *detector) environment() map[string]Fact {
	e := map[string]Fact{
		"os":           d.fields["os"],
		"architecture": measured(d.cfg.GOARCH, "", "platform of this program"),
		"cpuModel":     d.fields["cpu"],
		"memory":       d.fields["ramGb"],
	}
	if d.cfg.GOOS != "linux" {
		for _, name := range []string{"kernel", "cpuThreads", "cpuSockets", "cpuGovernor", "numaNodes", "container", "virtualMachine", "cpuQuota", "memoryLimit"} {
			e[name] = unknown("not read on " + d.cfg.GOOS)
		}
		return e
	}
	e["kernel"] = text(d.root.text("proc/sys/kernel/osrelease"), "/proc/sys/kernel/osrelease")
	e["cpuThreads"] = count(d.cpu.Threads, "/proc/cpuinfo")
	e["cpuSockets"] = count(d.cpu.Sockets, "/proc/cpuinfo")
	e["numaNodes"] = count(len(d.root.glob("sys/devices/system/node/node[0-9]*")), "/sys/devices/system/node")
	e["cpuGovernor"] = d.governor()
	e["container"] = d.container()
	e["virtualMachine"] = d.virtualMachine()
	e["cpuQuota"], e["memoryLimit"] = d.limits()
	return e
}

func count(n int, source string) Fact {
	if n == 0 {
		return unknown(source + " does not say")
	}
	return measured(n, "", source)
}

// governor returns the frequency governor of all processors, or all of them
// when they differ.
func (d *detector) governor() Fact {
	const source = "/sys/devices/system/cpu"
	var kinds []string
	for _, f := range d.root.glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor") {
		g := d.root.text(f)
		if g != "" && !slices.Contains(kinds, g) {
			kinds = append(kinds, g)
		}
	}
	if len(kinds) == 0 {
		return unknown(source + " shows no governor (virtual machines do not)")
	}
	return measured(strings.Join(kinds, ","), "", source)
}

// containerFiles and containerGroups are the marks of the kinds of containers.
var (
	containerFiles = []struct{ path, kind string }{
		{".dockerenv", "docker"},
		{"run/.containerenv", "podman"},
		{"var/run/secrets/kubernetes.io", "kubernetes"},
	}
	containerGroups = []struct{ mark, kind string }{
		{"kubepods", "kubernetes"},
		{"docker", "docker"},
		{"libpod", "podman"},
		{"containerd", "containerd"},
		{"lxc", "lxc"},
	}
)

// container tells which kind of container this is, "none" outside of one. The
// container's id and image are not published.
func (d *detector) container() Fact {
	for _, c := range containerFiles {
		if d.root.exists(c.path) {
			return measured(c.kind, "", "/"+c.path)
		}
	}
	const source = "proc/1/cgroup"
	groups := d.root.text(source)
	for _, c := range containerGroups {
		if strings.Contains(groups, c.mark) {
			return measured(c.kind, "", "/"+source)
		}
	}
	if groups == "" {
		return unknown("/" + source + " cannot be read")
	}
	return measured("none", "", "no mark of a container in /, /run and /"+source)
}

// virtualMachine tells the hypervisor's product, "none" on bare metal.
func (d *detector) virtualMachine() Fact {
	if !d.cpu.Hypervisor {
		if d.cpu.Threads == 0 || strings.HasPrefix(d.cfg.GOARCH, "arm") {
			return unknown("/proc/cpuinfo does not say")
		}
		return measured("none", "", "/proc/cpuinfo")
	}
	for _, f := range []string{"sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name", "sys/hypervisor/type"} {
		if v := d.root.text(f); v != "" {
			return measured(v, "", "/"+f)
		}
	}
	return measured("unnamed hypervisor", "", "/proc/cpuinfo")
}

// limits returns the container's share of the processors and its memory, which
// bound a client more than the machine's size does.
func (d *detector) limits() (quota, memory Fact) {
	const cpuFile, memFile = "sys/fs/cgroup/cpu.max", "sys/fs/cgroup/memory.max"
	quota = unknown("/" + cpuFile + " cannot be read")
	if limit, period, ok := strings.Cut(d.root.text(cpuFile), " "); ok {
		l, err1 := strconv.ParseFloat(limit, 64)
		p, err2 := strconv.ParseFloat(period, 64)
		switch {
		case limit == "max":
			quota = measured("none", "", "/"+cpuFile)
		case err1 == nil && err2 == nil && p > 0:
			quota = measured(l/p, "cores", "/"+cpuFile)
		}
	}
	memory = unknown("/" + memFile + " cannot be read")
	switch v := d.root.text(memFile); v {
	case "":
	case "max":
		memory = measured("none", "", "/"+memFile)
	default:
		if b, err := strconv.ParseFloat(v, 64); err == nil {
			memory = measured(gib(b), "GiB", "/"+memFile)
		}
	}
	return quota, memory
}

// Summary returns the document in one line, for people.
func (d Document) Summary() string {
	switch d.Class {
	case ClassDiscreteGPU:
		if len(d.GPUs) == 0 {
			return fmt.Sprintf("%d × %s (%g GB), %s", max(1, d.GPUCount), d.GPUName, d.VRAMGb, d.CPU)
		}
		parts := make([]string, len(d.GPUs))
		for i, s := range d.GPUs {
			parts[i] = fmt.Sprintf("%d × %s (%g GB)", max(1, s.Count), s.GPUName, s.VRAMGb)
		}
		return strings.Join(parts, " + ") + ", " + d.CPU
	case ClassUnified:
		return fmt.Sprintf("%s %s %s (%g GB)", d.ChipVendor, d.ChipFamily, d.ChipVariant, d.UnifiedMemoryGb)
	default:
		return fmt.Sprintf("%s, %g GB", d.CPU, d.RAMGb)
	}
}
