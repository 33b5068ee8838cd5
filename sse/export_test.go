package sse

// SetLimit lowers the limit for lines and events, so that tests reach it.
func (f *Framer) SetLimit(limit int) { f.limit = limit }

// Held returns the bytes of memory in the framer's own buffers.
func (f *Framer) Held() int { return cap(f.line) + cap(f.nameBuf) + cap(f.dataBuf) }

// MaxDepth is how deep JSON may nest.
const MaxDepth = maxDepth
