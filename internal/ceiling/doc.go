// Package ceiling says how fast a model could decode on a card if memory
// traffic and arithmetic were all that mattered. Everything is a pure function
// of declared numbers; nothing is measured or looked up on a network.
//
// There are two ceilings, because one cannot do both jobs:
//
//   - [Hard] charges the fewest bytes that are physically possible. It only
//     rejects: a measurement above it by more than [Margin] is wrong.
//   - [Model] charges what a step is expected to read. It only explains: a real
//     run may exceed it (skewed routing of experts, a smaller cache type), and
//     the share of it that a run reaches is worth printing.
//
// Compare both with the plateau rate, not with a rate whose window includes
// prefill.
//
// Two rules of others are kept under their own names and decide nothing here:
// lmx's offline calculator ([CalculateLMX]) and the leaderboard's undisclosed
// check ([SiteVariants]).
//
// GB is 10⁹ bytes, bandwidth is GB/s, parameters are counted in matrices only:
// norms, convolutions, biases and other vectors are left out, a few hundredths
// of a per cent of a model. An unknown model or card is an error, never a
// guess.
package ceiling
