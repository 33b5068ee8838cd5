package power

import (
	"fmt"
	"math"
	"time"
)

// aliasMultiples are the multiples of the sampler's period at which a load
// locked to it reads wrong.
var aliasMultiples = []float64{0.5, 1, 2, 5}

// Beat is the slowest beat of a periodic load against the power sensor.
type Beat struct {
	// Period is the beat's period; math.MaxInt64 when the load is locked.
	Period time.Duration
	// Multiple is the multiple of the sampler's period it beats against.
	Multiple float64
}

// SlowestBeat returns the slowest beat of a load that repeats every step with
// a sensor that samples every sampler: 1/|1/step − 1/(k·sampler)| for k in
// 0.5, 1, 2 and 5. Both must be positive.
func SlowestBeat(step, sampler time.Duration) Beat {
	var worst Beat
	for _, k := range aliasMultiples {
		f := math.Abs(1/step.Seconds() - 1/(k*sampler.Seconds()))
		beat := time.Duration(math.MaxInt64)
		if s := 1 / f; s < beat.Seconds() {
			beat = time.Duration(s * float64(time.Second))
		}
		if beat > worst.Period {
			worst = Beat{Period: beat, Multiple: k}
		}
	}
	return worst
}

// AliasRisk reports whether a window is too short to average the beat out: the
// beat must fit into it three times.
func AliasRisk(step, sampler, window time.Duration) (Beat, bool) {
	if step <= 0 || sampler <= 0 {
		return Beat{}, false
	}
	b := SlowestBeat(step, sampler)
	return b, b.Period > window/3
}

// aliasDetail is the text of [CodeAlias].
func aliasDetail(step, sampler, window time.Duration, b Beat) string {
	beat := fmt.Sprintf("every %.1f s", b.Period.Seconds())
	if b.Period > 24*time.Hour {
		beat = "never (the load is locked to the sensor)"
	}
	return fmt.Sprintf("the decode step of %.2f ms beats %s against %g × the sensor's %g ms; a window of %.1f s does not average it out: lengthen the run",
		step.Seconds()*1e3, beat, b.Multiple, sampler.Seconds()*1e3, window.Seconds())
}
