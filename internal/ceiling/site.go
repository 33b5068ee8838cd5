package ceiling

// SiteFactor is the leaderboard's allowance above its decode ceiling.
const SiteFactor = 1.15

// SiteVariant is one guess at the leaderboard's ceiling for a single stream.
type SiteVariant struct {
	// Dense charges all weights, else only the active ones.
	Dense bool
	// Accepted multiplies by the mean accepted length of speculation.
	Accepted bool
	// Ceiling is bandwidth ÷ bytes (× accepted length), tokens per second.
	Ceiling float64
	// Limit is Ceiling × [SiteFactor]; Passes says that the rate is within it.
	Limit  float64
	Passes bool
}

// SiteVariants computes what the leaderboard's rule "below the theoretical
// decode ceiling × 1.15" may mean. Its formula is not public: its text says that
// a mixture of experts counts as dense, yet verified rows lie far above that.
// So all variants are shown, with the accepted length only when there is one
// (above 1), and none decides anything: the site's own dry run does.
//
// totalBytes and activeBytes are the weights of the checkpoint and of one
// token. ok is false when the bandwidth or totalBytes is missing; the active
// variants are left out when activeBytes is zero.
func SiteVariants(tokensPerSecond float64, m Machine, totalBytes, activeBytes, acceptedLength float64) (variants []SiteVariant, ok bool) {
	if _, ok := DenseFallback(m, totalBytes); !ok {
		return nil, false
	}
	add := func(dense, accepted bool, bytes, factor float64) {
		if c, ok := DenseFallback(m, bytes); ok {
			c *= factor
			variants = append(variants, SiteVariant{
				Dense: dense, Accepted: accepted,
				Ceiling: c, Limit: c * SiteFactor, Passes: tokensPerSecond <= c*SiteFactor,
			})
		}
	}
	add(true, false, totalBytes, 1)
	add(false, false, activeBytes, 1)
	if acceptedLength > 1 {
		add(true, true, totalBytes, acceptedLength)
		add(false, true, activeBytes, acceptedLength)
	}
	return variants, true
}
