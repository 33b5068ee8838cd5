package power_test

import (
	"fmt"
	"time"

	"lmxbench/power"
)

// A log that nvidia-smi wrote beside a run, and what a part of it cost.
func ExampleSeries_Window() {
	log, err := power.ReadFile("testdata/nvidia-smi-h200-c256x1024.csv", time.UTC)
	if err != nil {
		fmt.Println(err)
		return
	}
	from := time.Date(2026, 11, 30, 20, 2, 8, 0, time.UTC)
	tokens := int64(40000)
	w := log.Series.Window(power.WindowRequest{
		Name: "plateau", From: log.Series.At(from), To: log.Series.At(from.Add(4 * time.Second)), Tokens: &tokens,
	})
	fmt.Printf("%.0f W by %s, %.3f J/token\n", *w.MeanWatts, w.EnergySource, *w.JoulesPerToken)
	// Output: 691 W by average_integrated, 0.069 J/token
}
