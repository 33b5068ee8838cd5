package ceiling

import "strings"

// Source says how a number of the hardware table is known.
type Source string

// The sources of the hardware table.
const (
	// Measured on the card through NVML, clock × bus.
	Measured Source = "measured"
	// Published by the vendor and checked.
	Published Source = "published"
	// Recalled from data sheets and not checked again: say so when printing.
	Recalled Source = "recalled"
)

// GPU is a row of the hardware table.
type GPU struct {
	// Name is the leaderboard's name where it has one.
	Name string
	// BandwidthGBps is nominal; kernels reach 74 to 90 % of it.
	BandwidthGBps float64
	// FP8TFLOPS and BF16TFLOPS are dense peaks, without the factor of two that
	// data sheets claim for sparsity. Zero where not known.
	FP8TFLOPS, BF16TFLOPS float64
	// Source is how the bandwidth is known.
	Source Source
	// aliases are other spellings: what the driver says, what people write.
	aliases []string
}

// GPUs is the hardware table, a new slice every time. Two entries of one vendor
// page are known to be wrong elsewhere: the H200's bus is 6,016 bit wide, and
// there is no "M4 Ultra".
func GPUs() []GPU {
	return []GPU{
		{Name: "NVIDIA H200 SXM", BandwidthGBps: 4800, FP8TFLOPS: 1979, BF16TFLOPS: 989.5, Source: Measured, aliases: []string{"h200"}},
		{Name: "NVIDIA H100 80GB SXM", BandwidthGBps: 3350, FP8TFLOPS: 1979, BF16TFLOPS: 989.5, Source: Published, aliases: []string{"h100 80gb hbm3", "h100 sxm"}},
		{Name: "NVIDIA H100 PCIe", BandwidthGBps: 2000, Source: Published, aliases: []string{"h100 80gb pcie"}},
		{Name: "NVIDIA H100 NVL", BandwidthGBps: 3900, Source: Recalled},
		{Name: "NVIDIA B200", BandwidthGBps: 8000, FP8TFLOPS: 4500, BF16TFLOPS: 2250, Source: Published},
		{Name: "NVIDIA B300", BandwidthGBps: 8000, Source: Published},
		{Name: "NVIDIA A100 80GB SXM", BandwidthGBps: 2039, Source: Recalled, aliases: []string{"a100-sxm4-80gb", "a100 sxm4 80gb"}},
		{Name: "NVIDIA A100 80GB PCIe", BandwidthGBps: 1935, Source: Recalled, aliases: []string{"a100-pcie-80gb"}},
		{Name: "NVIDIA A100 40GB", BandwidthGBps: 1555, Source: Recalled, aliases: []string{"a100-sxm4-40gb", "a100-pcie-40gb"}},
		{Name: "NVIDIA L40S", BandwidthGBps: 864, Source: Recalled},
		{Name: "NVIDIA RTX PRO 6000 Blackwell", BandwidthGBps: 1792, Source: Published, aliases: []string{"rtx pro 6000 blackwell workstation edition", "rtx pro 6000"}},
		{Name: "NVIDIA RTX PRO 6000 Blackwell Server Edition", BandwidthGBps: 1597, Source: Recalled},
		{Name: "NVIDIA GeForce RTX 5090", BandwidthGBps: 1792, Source: Recalled, aliases: []string{"rtx 5090", "rtx5090"}},
		{Name: "NVIDIA GeForce RTX 4090", BandwidthGBps: 1008, Source: Recalled, aliases: []string{"rtx 4090", "rtx4090"}},
		{Name: "NVIDIA GeForce RTX 3090", BandwidthGBps: 936, Source: Recalled, aliases: []string{"rtx 3090", "rtx3090"}},
		{Name: "NVIDIA GB10", BandwidthGBps: 273, Source: Recalled, aliases: []string{"dgx spark"}},
		{Name: "AMD Instinct MI300X", BandwidthGBps: 5300, Source: Published, aliases: []string{"mi300x"}},
		{Name: "AMD Instinct MI325X", BandwidthGBps: 6000, Source: Recalled, aliases: []string{"mi325x"}},
		{Name: "AMD Instinct MI355X", BandwidthGBps: 8000, Source: Published, aliases: []string{"mi355x"}},
		{Name: "Apple M4", BandwidthGBps: 120, Source: Published},
		{Name: "Apple M4 Pro", BandwidthGBps: 273, Source: Published},
		{Name: "Apple M4 Max", BandwidthGBps: 546, Source: Published},
		{Name: "Apple M4 Max 32-core GPU", BandwidthGBps: 410, Source: Recalled},
		{Name: "Apple M2 Ultra", BandwidthGBps: 800, Source: Published},
		{Name: "Apple M3 Ultra", BandwidthGBps: 819, Source: Recalled},
		{Name: "Apple M5", BandwidthGBps: 153, Source: Recalled},
	}
}

// FindGPU looks a card up by the leaderboard's name, the driver's, or a common
// short form; case and the vendor's name do not matter. Only whole names match:
// "H100" alone is three different cards and is not found.
func FindGPU(name string) (gpu GPU, ok bool) {
	want := plainName(name)
	for _, g := range GPUs() {
		if plainName(g.Name) == want {
			return g, true
		}
		for _, alias := range g.aliases {
			if alias == want {
				return g, true
			}
		}
	}
	return GPU{}, false
}

func plainName(name string) string {
	n := strings.ToLower(strings.Join(strings.Fields(name), " "))
	for _, vendor := range []string{"nvidia ", "amd instinct ", "amd "} {
		n = strings.TrimPrefix(n, vendor)
	}
	return n
}

// PeakTFLOPS is the dense peak for weights of a width: BF16's from 16 bits,
// FP8's from 8. Below that it is zero, not known: four-bit weights are
// multiplied at four, eight or sixteen bits, depending on card and kernel.
func (g GPU) PeakTFLOPS(weightBits float64) float64 {
	switch {
	case weightBits >= 16:
		return g.BF16TFLOPS
	case weightBits >= 8:
		return g.FP8TFLOPS
	}
	return 0
}

// BandwidthFromClock is the nominal bandwidth in GB/s that a card reports
// itself: two transfers per cycle of the memory clock (MHz) over the bus
// (bits). 4,814 GB/s for an H200's 3,201 MHz and 6,016 bit.
func BandwidthFromClock(memoryMHz, busBits float64) float64 {
	return 2 * memoryMHz * 1e6 * busBits / 8 / 1e9
}
