// Package cost turns a price and a rate into dollars per million tokens, and
// compares them with prices of hosted services. Everything is a pure function
// of declared numbers.
//
// # Opinions
//
// A price per token is meaningless without the rate behind it: every [Quote]
// carries the name of its formula. Money is spent from the first send to the
// last byte, so the default basis is the batch's wall rate; the rate on the
// leaderboard has a shorter window and flatters the owner.
//
// A break-even point read off a sweep lies between two measured rungs. Where
// exactly is an assumption, so [FindBreakEven] gives a bracket and names the
// methods. It never extrapolates.
//
// Prices are US dollars; powers, watts; rates, output tokens per second.
// Missing is not zero: what cannot be computed is ok == false or an error.
package cost
