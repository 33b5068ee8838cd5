package simserver

import (
	"math"
	"math/rand/v2"
)

// deckSize is how many outcomes are dealt before the cards are shuffled again.
const deckSize = 128

// speculation deals how many of k drafted tokens a step accepts.
//
// Acceptance is sequential: token i counts only if all before it did. With a
// chance p per token the expected share is (p + p² + … + pᵏ)/k; p is solved from
// the published share, so the positions decline as in a real engine. Outcomes
// are dealt from a shuffled deck that holds each as often as the distribution
// says: independent draws would move a run of 1,024 tokens by 3 %, several times
// what engines show at temperature 0.
type speculation struct {
	draft int
	deck  []int
	next  int
}

func newSpeculation(draft int, share float64) speculation {
	if draft <= 0 {
		return speculation{}
	}
	lo, hi := 0.0, 1.0
	for range 40 {
		mid := (lo + hi) / 2
		if meanAccepted(newDeck(draft, mid)) < share*float64(draft) {
			lo = mid
		} else {
			hi = mid
		}
	}
	s := speculation{draft: draft, deck: newDeck(draft, hi)}
	s.next = len(s.deck)
	return s
}

// newDeck holds the quantiles of the accepted count for a chance p per token:
// P(accepted ≥ i) = pⁱ.
func newDeck(draft int, p float64) []int {
	deck := make([]int, deckSize)
	for c := range deck {
		u := (float64(c) + 0.5) / deckSize
		for deck[c] < draft && u < math.Pow(p, float64(deck[c]+1)) {
			deck[c]++
		}
	}
	return deck
}

func meanAccepted(deck []int) float64 {
	sum := 0
	for _, n := range deck {
		sum += n
	}
	return float64(sum) / float64(len(deck))
}

// draw returns the number of accepted tokens, 0…draft.
func (s *speculation) draw(rng *rand.Rand) int {
	if s.draft == 0 {
		return 0
	}
	if s.next == len(s.deck) {
		rng.Shuffle(len(s.deck), func(i, j int) { s.deck[i], s.deck[j] = s.deck[j], s.deck[i] })
		s.next = 0
	}
	s.next++
	return s.deck[s.next-1]
}
