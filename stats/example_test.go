package stats_test

import (
	"fmt"
	"time"

	"lmxbench/stats"
)

// Two streams of one batch; the second waits 400 ms longer for its first token.
// One batch, three honest rates, each with its own question.
func ExamplePlateau() {
	stream := func(first time.Duration) stats.Stream {
		s := stats.Stream{OutputTokens: 101}
		for i := range 101 {
			s.EventTimes = append(s.EventTimes, first+time.Duration(i)*20*time.Millisecond)
		}
		s.FirstToken, s.LastToken = s.EventTimes[0], s.EventTimes[100]
		s.End = s.LastToken
		return s
	}
	batch := []stats.Stream{stream(100 * time.Millisecond), stream(500 * time.Millisecond)}

	wall, _ := stats.BatchWall(batch)
	window, _ := stats.ConcurrentRequestWindow(batch)
	plateau, _ := stats.Plateau(batch)
	fmt.Printf("what the burst cost     %.1f tok/s\n", wall)
	fmt.Printf("what lmx reports        %.1f tok/s\n", window)
	fmt.Printf("what the engine decodes %.1f tok/s over %.0f %% of the window\n",
		plateau.TokensPerSecond, 100*plateau.OverlapFraction)
	// Output:
	// what the burst cost     80.8 tok/s
	// what lmx reports        84.2 tok/s
	// what the engine decodes 100.0 tok/s over 67 % of the window
}

// Three iterations are too few for an interval; six are the fewest.
func ExampleMedianInterval() {
	iterations := []float64{14391, 14499, 14607, 14450, 14520}
	if _, ok := stats.MedianInterval(iterations, 0.95); !ok {
		need, _ := stats.MinSamples(0.95)
		fmt.Printf("%d iterations: no 95 %% interval, need %d\n", len(iterations), need)
	}
	ci, _ := stats.MedianInterval(append(iterations, 14480), 0.95)
	fmt.Printf("%.0f to %.0f, really %.1f %%\n", ci.Lo, ci.Hi, 100*ci.Coverage)
	// Output:
	// 5 iterations: no 95 % interval, need 6
	// 14391 to 14607, really 96.9 %
}
