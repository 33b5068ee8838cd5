package loadgen

import "time"

// SetGrace changes how long a body may go on once the class of its request is
// certain.
func (p *Pool) SetGrace(d time.Duration) { p.grace = d }

// SetFiles replaces what makes sure that n connections may be open.
func (p *Pool) SetFiles(f func(n int) error) { p.files = f }

// KeepCollector leaves the garbage collector on during a batch.
func (p *Pool) KeepCollector() { p.collector = true }
