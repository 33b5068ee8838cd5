package simserver

import (
	"bytes"
	"compress/gzip"
	"strings"
)

// framingFaults write sound events in unusual but legal lines, or at odds with
// the grammar where they say so.
func framingFaults() []Fault {
	return []Fault{
		frameFault("crlf", "lines end in CR LF", func(w *wire, e event) { w.line("data: ", e, "\r\n\r\n") }),
		frameFault("cr_only", "lines end in CR", func(w *wire, e event) { w.line("data: ", e, "\r\r") }),
		frameFault("mixed_line_ends", "line ends change from event to event", func(w *wire, e event) {
			w.line("data: ", e, []string{"\n\n", "\r\n\r\n", "\r\r", "\n\r\n", "\r\n\r"}[w.count%5])
		}),
		frameFault("no_space", "no blank after the colon", func(w *wire, e event) { w.line("data:", e, "\n\n") }),
		frameFault("comments", "comment lines as keep-alive before every event", func(w *wire, e event) {
			w.line(": ping\n\ndata: ", e, "\n\n")
		}),
		frameFault("named_events", "every event has a name, an id and a retry line", func(w *wire, e event) {
			w.line("event: completion\nid: 7\nretry: 1000\ndata: ", e, "\n\n")
		}),
		frameFault("ping_event_nonjson", "events named ping whose data is not JSON between the others", func(w *wire, e event) {
			w.line("event: ping\ndata: still here\n\ndata: ", e, "\n\n")
		}),
		frameFault("empty_data", "events with empty data between the others", func(w *wire, e event) {
			w.line("data:\n\ndata: ", e, "\n\n")
		}),
		frameFault("bom", "a byte-order mark at the very start", func(w *wire, e event) {
			if w.count == 0 {
				w.raw("\ufeff")
			}
			w.line("data: ", e, "\n\n")
		}),
		frameFault("multi_line_data", "the JSON of an event lies on several data lines", func(w *wire, e event) {
			w.line("data: ", edited(e, bytes.ReplaceAll(e.data, []byte(`,"`), []byte("\ndata: ,\""))), "\n\n")
		}),
		strikeFault("long_line", "one event's line is 9 MiB long", func(w *wire, e event) {
			w.put(withText(e, strings.Repeat("long ", 9<<20/5+1)))
		}),
	}
}

func frameFault(name, about string, frame func(*wire, event)) Fault {
	return Fault{name, about, plan{frame: frame}}
}

// packingFaults move sound bytes at the wrong time.
func packingFaults() []Fault {
	return []Fault{
		{"buffered", "all events in one write at the end, as a buffering proxy does", plan{pack: packAll}},
		{"burst16k", "events in bursts of about 16 KiB, as a proxy's buffer makes", plan{pack: packBurst}},
		{"merged", "four events in every write", plan{pack: packMerged}},
		{"byte_by_byte", "every byte in a write of its own", plan{pack: packBytes}},
		{"gzip", "the body is compressed, asked for or not", plan{head: func(w *wire) string {
			w.gz = gzip.NewWriter(&w.coded)
			return "content-encoding: gzip\r\nTransfer-Encoding: chunked\r\n"
		}}},
	}
}

// connectionFaults deliver a sound stream over an unsound connection.
func connectionFaults() []Fault {
	return []Fault{
		{"close_delimited", "neither chunks nor a length: the body ends with the connection", plan{head: func(w *wire) string {
			w.plain, w.hungUp = true, true
			return "connection: close\r\n"
		}}},
		{"content_length", "a stream with a declared length, filled up with comments", plan{head: declareLength}},
		{"keepalive_close", "the connection closes after the response without having said so", plan{edit: func(w *wire, e event) {
			w.hungUp = true
			w.put(e)
		}}},
		{"keepalive_drop", "the connection closes when the next request arrives on it, without a byte of answer", plan{edit: func(w *wire, e event) {
			w.st.conn.stale = true
			w.put(e)
		}}},
		{"conn_close", "the response says connection: close and does", plan{head: func(w *wire) string {
			w.hungUp = true
			return "connection: close\r\nTransfer-Encoding: chunked\r\n"
		}}},
		{"foreign_traffic", "the counters advance by half as many tokens again, as with other clients", plan{foreign: true}},
	}
}
