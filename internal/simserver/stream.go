package simserver

import (
	"strconv"
	"sync/atomic"
	"time"
)

// usageMode says which events carry token counts.
type usageMode int

const (
	noUsage usageMode = iota
	finalUsage
	continuousUsage
)

// stream is one accepted request. The connection's goroutine makes it and waits
// for done; in between the writer that owns it is the only one to touch it,
// except for gone.
type stream struct {
	job     job
	server  *Server
	conn    *conn
	shard   int
	dialect dialect
	chat    bool
	// streaming is false for a request that wants one JSON answer.
	streaming bool
	usage     usageMode
	timings   bool // llama.cpp's, on every event
	finish    string
	id        string
	created   int64
	pre, post []byte

	prose    prose
	produced int
	cached   int
	text     []byte // of a non-streaming request
	lastAt   time.Duration
	firstAt  time.Duration
	drafted  int
	accepted int

	record *Record
	fault  *wire
	// over says that nothing more may be sent although the job goes on.
	// published, ended and over belong to the loop that owns the stream.
	published, ended, over bool

	// arrived is the request's arrival on the server's clock.
	arrived time.Duration
	gone    atomic.Bool
	done    chan struct{}
}

// publish completes the record and files it, once. The loop that owns the stream
// calls it, before the last bytes leave.
func (st *stream) publish(outcome string, now int64) {
	if st.published {
		return
	}
	st.published = true
	r := st.record
	r.Outcome, r.Finish = outcome, now
	r.OutputTokens = st.produced
	if outcome == "done" {
		r.FinishReason = st.finish
	}
	st.server.records.add(r)
}

// end tells the connection's goroutine, once, that the last byte is on its way.
// The loop that owns the stream calls it.
func (st *stream) end() {
	if st.ended {
		return
	}
	st.ended = true
	close(st.done)
	st.conn.interrupt()
}

// abandon gives up a stream whose client has left. Any goroutine may call it.
func (st *stream) abandon() {
	if st.gone.Swap(true) {
		return
	}
	st.server.stats.aborted.Add(1)
	st.server.metrics.aborted.Add(1)
	st.conn.close()
	st.server.cancel(st)
}

// appendUsage appends the usage member as it stands now.
func (st *stream) appendUsage(b []byte) []byte {
	b = append(b, `,"usage":{`...)
	if st.fault != nil && st.fault.plan.usage != nil {
		b = st.fault.plan.usage(b, st.job.prompt, st.produced)
	} else {
		b = st.appendUsageFields(b)
	}
	return append(b, '}')
}

func (st *stream) appendUsageFields(b []byte) []byte {
	prompt, output := st.job.prompt, st.produced
	if st.server.cfg.Profile.Flavor == LlamaCPP {
		b = append(b, `"completion_tokens":`...)
		b = strconv.AppendInt(b, int64(output), 10)
		b = append(b, `,"prompt_tokens":`...)
		b = strconv.AppendInt(b, int64(prompt), 10)
		b = append(b, `,"total_tokens":`...)
		b = strconv.AppendInt(b, int64(prompt+output), 10)
		return st.appendCached(b)
	}
	b = append(b, `"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt+output), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(output), 10)
	if st.cached > 0 {
		b = st.appendCached(b)
	}
	return b
}

func (st *stream) appendCached(b []byte) []byte {
	b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
	b = strconv.AppendInt(b, int64(st.cached), 10)
	return append(b, '}')
}

// appendExtra appends what the flavour adds to its usage event.
func (st *stream) appendExtra(b []byte, now time.Duration) []byte {
	if st.server.cfg.Profile.Flavor == LlamaCPP {
		b = append(b, ',')
		return st.appendTimings(b, now)
	}
	b = append(b, `,"system_fingerprint":"vllm-`...)
	b = append(b, st.server.cfg.Profile.Version...)
	return append(b, `-simulated"`...)
}

// appendTimings appends llama.cpp's timings member.
func (st *stream) appendTimings(b []byte, now time.Duration) []byte {
	promptMs := max(st.firstAt-st.arrived, time.Microsecond).Seconds() * 1e3
	predictedMs := max(now-st.firstAt, time.Microsecond).Seconds() * 1e3
	n := st.job.prompt - st.cached
	b = append(b, `"timings":{"cache_n":`...)
	b = strconv.AppendInt(b, int64(st.cached), 10)
	b = appendRate(append(b, `,"prompt_n":`...), "prompt", n, promptMs)
	b = appendRate(append(b, `,"predicted_n":`...), "predicted", st.produced, predictedMs)
	if st.drafted > 0 {
		b = append(b, `,"draft_n":`...)
		b = strconv.AppendInt(b, int64(st.drafted), 10)
		b = append(b, `,"draft_n_accepted":`...)
		b = strconv.AppendInt(b, int64(st.accepted), 10)
	}
	return append(b, '}')
}

func appendRate(b []byte, what string, n int, ms float64) []byte {
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(append(append(b, `,"`...), what...), `_ms":`...)
	b = strconv.AppendFloat(b, ms, 'f', 3, 64)
	b = append(append(append(b, `,"`...), what...), `_per_token_ms":`...)
	b = strconv.AppendFloat(b, ms/float64(max(n, 1)), 'f', 6, 64)
	b = append(append(append(b, `,"`...), what...), `_per_second":`...)
	return strconv.AppendFloat(b, float64(n)/ms*1e3, 'f', 6, 64)
}

// encodeHead builds the fixed pieces around every choice.
func (st *stream) encodeHead() {
	p := &st.server.cfg.Profile
	object := "chat.completion.chunk"
	if !st.chat {
		object = "text_completion"
	}
	if p.Flavor == LlamaCPP {
		st.pre = []byte(`{"choices":[`)
		b := append([]byte(nil), `],"created":`...)
		b = strconv.AppendInt(b, st.created, 10)
		b = append(append(b, `,"id":"`...), st.id...)
		b = append(append(b, `","model":`...), st.server.modelJSON...)
		b = append(append(b, `,"system_fingerprint":"`...), p.Version...)
		b = append(append(b, `","object":"`...), object...)
		st.post = append(b, '"')
		return
	}
	b := append([]byte(nil), `{"id":"`...)
	b = append(b, st.id...)
	b = append(append(b, `","object":"`...), object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, st.created, 10)
	b = append(append(b, `,"model":`...), st.server.modelJSON...)
	st.pre = append(b, `,"choices":[`...)
	st.post = []byte(`]`)
}
