package power_test

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// standIns lists the stand-ins as program/mode.
var standIns = []string{
	"nvidia-smi/", "nvidia-smi/old", "nvidia-smi/no-driver", "nvidia-smi/mismatch", "nvidia-smi/silent",
	"nvidia-smi/garbage", "nvidia-smi/dies", "nvidia-smi/stranger", "nvidia-smi/lost",
	"amd-smi/", "amd-smi/new", "amd-smi/broken",
}

// standIn plays a vendor's program: name says which, and how it behaves.
func standIn(name string, args []string) int {
	program, mode, _ := strings.Cut(name, "/")
	switch program {
	case "nvidia-smi":
		return standInSMI(mode, args)
	case "amd-smi":
		return standInAMD(mode, args)
	default:
		fmt.Fprintln(os.Stderr, "no stand-in", name)
		return 1
	}
}

// standInSMI answers --query-gpu for two cards. Modes: "" works, "old" refuses
// newer fields, "no-driver", "mismatch", "silent" and "garbage" fail, "dies"
// ends after a few lines, "stranger" lets another card answer, "lost" loses it.
func standInSMI(mode string, args []string) int {
	var fields []string
	loop := false
	for _, a := range args {
		if list, ok := strings.CutPrefix(a, "--query-gpu="); ok {
			fields = strings.Split(list, ",")
		}
		loop = loop || strings.HasPrefix(a, "--loop-ms=")
	}
	switch mode {
	case "no-driver":
		fmt.Println("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
		return 9
	case "mismatch":
		fmt.Println("Failed to initialize NVML: Driver/library version mismatch")
		return 18
	case "silent":
		return 0
	case "garbage":
		fmt.Println("hello, world")
		return 0
	}
	if os.Getenv("LMXBENCH_API_KEY") != "" || os.Getenv("TZ") != "UTC" {
		fmt.Println("the environment is not the one a child gets")
		return 1
	}
	for _, f := range fields {
		if mode == "old" && (strings.HasPrefix(f, "clocks_event") || f == "power.draw.average" || f == "power.draw.instant" || f == "memory.reserved") {
			fmt.Printf("Field \"%s\" is not a valid field to query.\n\n", f)
			return 2
		}
	}
	fmt.Println(strings.Join(smiHeader(fields), ", "))
	for i := 0; ; i++ {
		for _, uuid := range []string{"GPU-a", "GPU-b"} {
			if mode == "stranger" && i > 2 && uuid == "GPU-b" {
				uuid = "GPU-c"
			}
			fmt.Println(strings.Join(smiRow(fields, uuid, i), ", "))
		}
		switch {
		case !loop:
			return 0
		case mode == "dies" && i == 4:
			return 255
		case mode == "lost" && i == 4:
			fmt.Println("Unable to determine the device handle for GPU0000:00:06.0: GPU is lost.  Reboot the system to recover this GPU")
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func smiHeader(fields []string) []string {
	var head []string
	for _, f := range fields {
		unit := ""
		switch {
		case strings.HasPrefix(f, "power."), f == "enforced.power.limit":
			unit = " [W]"
		case strings.HasPrefix(f, "memory."):
			unit = " [MiB]"
		case strings.HasPrefix(f, "utilization."):
			unit = " [%]"
		case strings.HasPrefix(f, "clocks_event_reasons_counters."):
			unit = " [us]"
		case strings.HasPrefix(f, "clocks.sm"), strings.HasPrefix(f, "clocks.mem"), strings.HasPrefix(f, "clocks.max"):
			f, unit = strings.NewReplacer("clocks.sm", "clocks.current.sm", "clocks.mem", "clocks.current.memory").Replace(f), " [MHz]"
		}
		head = append(head, f+unit)
	}
	return head
}

func smiRow(fields []string, uuid string, i int) []string {
	var row []string
	for _, f := range fields {
		v, ok := map[string]string{
			"timestamp": time.Now().Format("2006/01/02 15:04:05.000"), "uuid": uuid,
			"index": map[string]string{"GPU-a": "0", "GPU-b": "1"}[uuid], "name": "NVIDIA H200", "driver_version": "580.159.04",
			"power.draw": fmt.Sprintf("%d.50", 500+i), "power.draw.average": fmt.Sprintf("%d.50", 500+i), "power.draw.instant": "583.49",
			"utilization.gpu": "98", "memory.used": "133831", "memory.reserved": "615", "memory.total": "143771",
			"clocks.sm": "1980", "clocks.mem": "3201", "temperature.gpu": "47", "power.limit": "700.00", "enforced.power.limit": "700.00",
			"clocks_event_reasons.active": "0x0000000000000004", "clocks_throttle_reasons.active": "0x0000000000000004",
			"clocks_event_reasons_counters.sw_power_cap": "113700000", "mig.mode.current": "Disabled", "compute_cap": "9.0",
		}[f]
		if !ok {
			v = "[N/A]"
		}
		row = append(row, v)
	}
	return row
}

// standInAMD answers metric and list for two cards, in the old layout or, in
// mode "new", the one with gpu_data.
func standInAMD(mode string, args []string) int {
	if mode == "broken" {
		fmt.Println("AMDSMI_STATUS_NOT_INIT")
		return 0
	}
	list := `[{"gpu":0,"bdf":"0000:05:00.0","uuid":"71ff74a1-0000-1000-80d4-e6d4e0a3a4b2"},{"gpu":1,"bdf":"0000:26:00.0","uuid":"N/A"}]`
	if args[0] == "metric" {
		list = `[{"gpu":0,"power":{"socket_power":{"value":431,"unit":"W"}},"energy":{"total_energy_consumption":{"value":3434152.331,"unit":"J"}}},
			{"gpu":1,"power":{"socket_power":"N/A"},"energy":{"total_energy_consumption":"N/A"}}]`
	}
	if mode == "new" {
		list = `{"gpu_data":` + list + `}`
	}
	fmt.Println(list)
	return 0
}
