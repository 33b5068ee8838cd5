package simserver

import "strings"

// Words are the tokens of the simulated model: one word is one token, with the
// blank before it, as tokenizers do. All are plain ASCII and need no escape in
// JSON.
var words = strings.Fields(`
	the a of and to in is that for with as on by at from this it be are was
	stream token server answer queue batch step clock core cache page block layer
	model weight prompt prefix draft sample vector matrix kernel thread socket
	buffer packet window figure number value count rate share mean median spread
	first last next long short small large early late slow fast warm cold steady
	even odd plain exact rough open closed free full empty idle busy quiet loud
	reads writes sends waits holds keeps drops moves turns grows falls stays ends
	starts counts adds takes gives shows hides finds loses meets leaves brings
	when while before after until since because although so then there here where
	every each some most many few both none one two three four five six seven
	water stone river field forest mountain harbour bridge garden window door
	table letter paper engine wheel signal lamp mirror shadow corner market
	morning evening winter summer hour minute second moment season journey road
	slowly quickly often never always almost nearly quite rather perhaps still
	again once twice together apart ahead behind above below between through
	made seen known given left right kept sent read told heard built drawn paid
`)

// A sentence is between minSentence and minSentence+7 words and a full stop.
const minSentence = 7

// writer of text: the state behind the deterministic words of one stream.
type prose struct {
	state uint64
	left  int // words to the full stop; 0 means the next one opens a sentence
}

// newProse starts a text; equal seeds give equal texts.
func newProse(seed uint64) prose {
	return prose{state: seed | 1}
}

// appendToken appends the next token.
func (p *prose) appendToken(b []byte) []byte {
	if p.left == 1 {
		p.left = 0
		return append(b, '.')
	}
	p.state = p.state*6364136223846793005 + 1442695040888963407
	word := words[(p.state>>40)%uint64(len(words))]
	b = append(b, ' ')
	at := len(b)
	b = append(b, word...)
	if p.left == 0 {
		b[at] -= 'a' - 'A'
		p.left = minSentence + int(p.state>>61) + 1
	}
	p.left--
	return b
}

// appendTokens appends the next n tokens.
func (p *prose) appendTokens(b []byte, n int) []byte {
	for range n {
		b = p.appendToken(b)
	}
	return b
}

// PromptTokens is the simulation's count for a prompt text of so many bytes: a
// quarter of them, rounded up. A chat adds templateTokens, and messageTokens for
// each message, for its template; with them the canonical 1,078-byte prompt and
// its nonce line make 305 tokens, as the published runs have.
func PromptTokens(bytes int) int { return (bytes + 3) / 4 }

const (
	templateTokens = 3
	messageTokens  = 16
)
