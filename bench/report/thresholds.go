package report

import "time"

// Thresholds of the verdict. docs/verdicts.md states them in words; a test
// holds the two together.
const (
	// CounterSlackTokens per request is how far the server's counter may lie
	// from the sum of usage: engines differ on whether they count the token
	// that ends a text.
	CounterSlackTokens = 1
	// CounterSlackShare of all tokens is allowed as well.
	CounterSlackShare = 0.01
	// UsageOrders times the cap is no count.
	UsageOrders = 100
	// CapSlackTokens beyond the cap are allowed, for the same token.
	CapSlackTokens = 1

	// ForeignWarn and ForeignInvalid are shares of our own tokens that the
	// server generated beside them.
	ForeignWarn    = 0.01
	ForeignInvalid = 0.10

	// A stream of at least BufferedMinTokens whose tokens span less than
	// BufferedSpanShare of the time from send to last token, at less than
	// BufferedTokenGap each, was not streamed.
	BufferedMinTokens = 8
	BufferedSpanShare = 0.05
	BufferedTokenGap  = 100 * time.Microsecond
	// A stream of at least BurstMinEvents came in bursts when all but
	// 1/BurstEvents of its gaps are below BurstGapShare of the mean gap. Below
	// BurstFew bursts, the first one alone is more than a tenth of the stream.
	// More than half of the streams must.
	BurstMinEvents = 32
	BurstEvents    = 8
	BurstGapShare  = 0.05
	BurstFew       = 10

	// Kernel stamps: a late read only delays, until the next event arrives.
	LateKernelWarn    = 0.5 // p99 of the lag ÷ median gap between reads
	LateKernelInvalid = 1.0 // p50 of the lag ÷ median gap between reads
	// User stamps: the lag is the error of every stamp.
	LateUserWarn    = 0.05 // p99 of the lag ÷ median gap between reads
	LateUserInvalid = 0.5  // p99 of the lag ÷ median gap between reads
	// Without a measured lag, the longest stall stands in.
	LateStallWarn = 4.0 // longest stall ÷ median gap between reads

	// CoalescedWarn and CoalescedInvalid are shares of the token events that
	// were read together because the client was late; fewer than
	// CoalescedMinEvents are an accident.
	CoalescedWarn      = 0.005
	CoalescedInvalid   = 0.05
	CoalescedMinEvents = 5

	// SaturatedShare of the cores is all that a process can count on.
	SaturatedShare = 0.90
	// A stall of SaturatedStall and of SaturatedStallShare of its batch means
	// that the process was kept from running; it counts where the read lag,
	// which says so better, is not measured.
	SaturatedStall      = 100 * time.Millisecond
	SaturatedStallShare = 0.10

	// StealWarn and StealInvalid are shares of all processor ticks; below
	// StealMinTicks the clock is too coarse to tell.
	StealWarn     = 0.02
	StealInvalid  = 0.10
	StealMinTicks = 5

	// ShortOutputShare of the tokens asked for may be missing.
	ShortOutputShare = 0.01
	// FirstChunkBias is the error that the first event's tokens may make in
	// the rate of a stream.
	FirstChunkBias = 0.01
	// CacheSlackTokens beyond the template's own head are one cache block, or
	// two nonces that begin alike.
	CacheSlackTokens = 16
	// NonceMinTokens and PromptBytesPerToken bound from below what must be
	// computed anew behind the template's head: the nonce, and the prompt after
	// it.
	NonceMinTokens      = 8
	PromptBytesPerToken = 12
	// QueueLateShare of the streams must have waited for others to end, while
	// at most QueuePeakShare of them ran side by side.
	QueueLateShare = 0.05
	QueuePeakShare = 0.90
	// FrontendShare is how much longer tokens may take to arrive than the
	// engine took for them.
	FrontendShare = 0.15
	// FrontendCountSlack is how far the engine's histogram may be from ours in
	// its count, where no counter shows that the traffic was ours.
	FrontendCountSlack = 0.05

	// ShortWindow is the least length of the window behind the headline.
	ShortWindow = time.Second
	// PlateauShort is the least share of lmx's window in which all streams
	// decode.
	PlateauShort = 0.5
	// DriftShare is the change from the first to the last third of the
	// iterations; it must also be steady: Kendall's S at DriftScore standard
	// deviations.
	DriftShare = 0.05
	DriftScore = 1.5
)
