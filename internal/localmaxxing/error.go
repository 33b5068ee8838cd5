package localmaxxing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Kind says why the site gave no usable answer.
type Kind string

// The kinds of [Error].
const (
	BadRequest     Kind = "bad_request"      // 400: the request was not understood
	Unauthorized   Kind = "unauthorized"     // 401: a key is missing or not valid
	Forbidden      Kind = "forbidden"        // 403: the site or its firewall refuses
	NotFound       Kind = "not_found"        // 404: no such board, run or API
	Conflict       Kind = "conflict"         // 409: it is there already, or was changed
	Unprocessable  Kind = "unprocessable"    // 422: understood, and not accepted
	UpgradeNeeded  Kind = "upgrade_required" // 426: this version is too old
	RateLimited    Kind = "rate_limited"     // 429: too many requests
	SiteFailed     Kind = "site_failed"      // 5xx
	OtherStatus    Kind = "other_status"     // any other status
	Redirected     Kind = "redirected"       // 3xx: not followed
	NotAPI         Kind = "not_api"          // an answer that is not the API's
	TooLarge       Kind = "too_large"        // more bytes than are read
	TimedOut       Kind = "timed_out"        // no whole answer in time
	Unreachable    Kind = "unreachable"      // no connection
	ConnectionLost Kind = "connection_lost"  // the answer broke off
	Cancelled      Kind = "cancelled"        // the caller's context ended
)

// Error is a request that the site did not answer as hoped. It prints as one
// line: what was asked, what came, what to do.
type Error struct {
	Kind    Kind
	Asked   string // method and URL
	Status  int    // 0 where no answer came
	Message string // what the site says, one line; may be empty
	Advice  string // what to do; may be empty
	// Limits are those of the answer.
	Limits RateLimit
	Err    error // what was underneath, or nil
}

// Error is the whole fault on one line.
func (e *Error) Error() string {
	text := e.Asked + ": "
	switch {
	case e.Status != 0 && (e.Kind == NotAPI || e.Kind == TooLarge || e.Kind == ConnectionLost):
		text += e.Message
	case e.Status != 0:
		text += fmt.Sprintf("status %d", e.Status)
		if name := http.StatusText(e.Status); name != "" {
			text += " " + name
		}
		if e.Message != "" {
			text += " (" + e.Message + ")"
		}
	default:
		text += e.Message
	}
	if e.Advice != "" {
		text += ": " + e.Advice
	}
	return text
}

// Unwrap returns what was underneath.
func (e *Error) Unwrap() error { return e.Err }

// kindOf is the kind of a status that is no success, and what to do about it.
func kindOf(status int) (Kind, string) {
	switch {
	case status == http.StatusBadRequest:
		return BadRequest, "the site does not understand the request; check the model's id"
	case status == http.StatusUnauthorized:
		return Unauthorized, "the site wants an API key, which a listing should not need; check --api-url"
	case status == http.StatusForbidden:
		return Forbidden, "the site or its firewall refuses; save the listing with a browser and give --listing"
	case status == http.StatusNotFound:
		return NotFound, "the site does not know it; check the id and --api-url"
	case status == http.StatusConflict:
		return Conflict, "it changed in the meantime; ask again"
	case status == http.StatusUnprocessableEntity:
		return Unprocessable, "the site does not accept the request; check the model's id"
	case status == http.StatusUpgradeRequired:
		return UpgradeNeeded, "the site wants a newer version; update lmxbench"
	case status == http.StatusTooManyRequests:
		return RateLimited, ""
	case status >= 500:
		return SiteFailed, "the site has a fault of its own; try later"
	case status >= 300 && status < 400:
		return Redirected, "redirects are not followed; check --api-url"
	}
	return OtherStatus, ""
}

// refusal is the error for a status that is no success.
func refusal(asked string, status int, header http.Header, body []byte, limits RateLimit) *Error {
	kind, advice := kindOf(status)
	e := &Error{Kind: kind, Asked: asked, Status: status, Message: siteMessage(body), Advice: advice, Limits: limits}
	switch kind {
	case RateLimited:
		if w := bodyWait(body); w > e.Limits.Wait {
			e.Limits.Wait = w
		}
		e.Advice = "too many requests; try later"
		if w := e.Limits.Wait; w > 0 {
			e.Advice = "too many requests; try again in " + roundUp(w).String()
		}
	case Redirected:
		if to := oneLine(header.Get("Location"), maxMessage); to != "" {
			e.Message = "to " + to
		}
	}
	return e
}

// roundUp is a time in whole seconds that is not too short.
func roundUp(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// bodyWait is the retryAfterMs of an answer.
func bodyWait(body []byte) time.Duration {
	var said struct {
		RetryAfterMs float64 `json:"retryAfterMs"`
	}
	if json.Unmarshal(body, &said) != nil {
		return 0
	}
	return wait(said.RetryAfterMs / 1000)
}

// siteMessage is what an answer says in words: error, error.message or message.
func siteMessage(body []byte) string {
	f, err := newFields(bytes.TrimSpace(body), func(string) {})
	if err != nil {
		return ""
	}
	return cut(f.text("error", "error.message", "message"), maxMessage)
}

// failure is the error for a request without a whole answer.
func failure(ctx context.Context, asked string, err error) *Error {
	e := &Error{Kind: Unreachable, Asked: asked, Err: err}
	var timeout net.Error
	var name *net.DNSError
	switch {
	case ctx.Err() != nil:
		e.Kind, e.Message, e.Err = Cancelled, "cancelled", context.Cause(ctx)
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Message, e.Advice = TimedOut, "no whole answer in time", "try later, or give --listing FILE"
	case errors.As(err, &name):
		e.Message, e.Advice = "the host name has no address", "check --api-url and the network, or give --listing FILE"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message, e.Advice = "nothing listens there", "check --api-url, or give --listing FILE"
	default:
		e.Kind = ConnectionLost
		e.Message = oneLine(innermost(err).Error(), maxMessage)
		e.Advice = "try later, or give --listing FILE"
	}
	return e
}

// innermost takes off the layers that repeat the address.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
