// Package stats turns the time stamps and token counts of streamed responses
// into numbers: throughputs by name, token gaps, summaries, intervals and
// comparisons. Everything here is a pure function of its arguments: no clock,
// no network, no files.
//
// # Rules that hold everywhere
//
//   - Times are [time.Duration] offsets from one origin. Only differences enter
//     a result, so the choice of origin never matters.
//   - Rates are tokens per second. Functions that measure several streams do
//     not depend on the order in which the streams are given, to the last bit.
//   - Missing is not zero. What cannot be computed is reported by ok == false
//     or an error; the number beside it is then 0 and means nothing. No
//     function returns NaN or an infinity.
//   - Results that rest on too few samples say so instead of guessing.
//
// # Opinions
//
// One batch has several honest throughputs (see [ConcurrentRequestWindow],
// [BatchWall] and [Plateau]); print the name of the formula beside the number.
// [SumOfStreamRates] has no upper bound when requests queue and is kept for
// debugging only. Quantiles are type 7 of Hyndman and Fan; the median is the
// mean of the two middle values; standard deviations are the sample ones
// (n − 1). Repeated batches are few, so their median gets an order-statistic
// interval and never a bootstrap.
package stats
