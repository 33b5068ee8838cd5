package localmaxxing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ContractVersion is the release of lmx whose requests and answers this package
// knows. The site is told so in X-Lmx-Version, and refuses releases that are
// too old; who asks is told in User-Agent.
const ContractVersion = "0.1.39"

// Bounds on what is read of the site.
const (
	defaultTimeout = 30 * time.Second
	maxBody        = 16 << 20 // bytes of one answer
	pageSize       = 200      // rows; the site gives no more at once
	maxPages       = 50
)

// ClientConfig says whom to ask and how.
type ClientConfig struct {
	// BaseURL is the site, such as https://www.localmaxxing.com. Required.
	BaseURL string
	// UserAgent is sent with every request. Empty: lmxbench. The site's firewall
	// turns away the names of common libraries.
	UserAgent string
	// Timeout is the time for one whole answer. 0: 30 s.
	Timeout time.Duration
	// Now is the clock behind Listing.At. nil: time.Now.
	Now func() time.Time
}

// Client asks the site. It may be used from several goroutines. Nothing is
// asked twice, no redirect is followed, and no key is sent.
type Client struct {
	base      *url.URL
	userAgent string
	http      *http.Client
	now       func() time.Time
}

// NewClient checks the configuration; it asks nothing.
func NewClient(cfg ClientConfig) (*Client, error) {
	base, err := parseBase(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, userAgent: first(cfg.UserAgent, "lmxbench"), now: cfg.Now}
	if c.now == nil {
		c.now = time.Now
	}
	timeout := cfg.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	c.http = &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: timeout}).DialContext,
			TLSHandshakeTimeout:    timeout,
			MaxResponseHeaderBytes: 64 << 10,
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true, // a connection that is not kept cannot be reused, nor its request repeated
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// parseBase reads the site's address. A user name is refused and not repeated:
// other users of the machine can read the command line.
func parseBase(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	switch {
	case strings.Contains(text, "@"):
		return nil, errors.New("the site's address holds a user name, which others can read; it needs none")
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("%q is no address of a site: write something like https://www.localmaxxing.com", oneLine(text, 120))
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, errors.New("the site's address has a query or a fragment: leave out everything from ? or # on")
	}
	u.Path = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api"), "/")
	u.RawPath = ""
	return u, nil
}

// answer is a whole answer of status 2xx.
type answer struct {
	asked  string
	body   []byte
	limits RateLimit
	age    *time.Duration
}

// get asks for one resource below /api and reads the whole answer, once.
func (c *Client) get(ctx context.Context, path string, query url.Values) (*answer, error) {
	u := c.base.JoinPath("api", path)
	u.RawQuery = query.Encode()
	a := &answer{asked: "GET " + u.String()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("ask the site: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	req.Header.Set("X-Lmx-Version", ContractVersion)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, failure(ctx, a.asked, err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	a.limits = readLimits(resp.Header, c.now())
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		// The status says it all, whatever came of the body.
		return nil, refusal(a.asked, resp.StatusCode, resp.Header, a.body, a.limits)
	case err != nil:
		return nil, failure(ctx, a.asked, err)
	case len(a.body) > maxBody:
		return nil, &Error{
			Kind: TooLarge, Asked: a.asked, Status: resp.StatusCode, Limits: a.limits,
			Message: fmt.Sprintf("more than %d MiB came, which is no listing", maxBody>>20), Advice: "check --api-url",
		}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); !strings.HasSuffix(kind, "json") {
		return nil, a.notAPI(resp.StatusCode, "the answer is "+oneLine(first(kind, "of no type"), 60)+", not JSON")
	}
	if s, err := strconv.Atoi(strings.TrimSpace(resp.Header.Get("Age"))); err == nil && s >= 0 && s <= maxWhole {
		age := time.Duration(s) * time.Second
		a.age = &age
	}
	return a, nil
}

func (a *answer) notAPI(status int, message string) *Error {
	return &Error{
		Kind: NotAPI, Asked: a.asked, Status: status, Message: message, Limits: a.limits,
		Advice: "that is not the leaderboard's API; check --api-url",
	}
}

// Leaderboard asks for all rows of a model's board, page by page. The site
// decides which rows those are: it rolls some derived models up to the board of
// their base. An error on any page is an error of the whole. Where the site ends
// early, the listing holds what came and a note.
func (c *Client) Leaderboard(ctx context.Context, hfID string) (*Listing, error) {
	all := &Listing{HFID: hfID, At: c.now().UTC()}
	last, offset := "", 0
	for page := range maxPages {
		query := url.Values{"hfId": {hfID}, "limit": {strconv.Itoa(pageSize)}}
		if page > 0 {
			query.Set("offset", strconv.Itoa(offset))
		}
		a, err := c.get(ctx, "leaderboard", query)
		if err != nil {
			return nil, err
		}
		if !json.Valid(a.body) {
			return nil, a.notAPI(http.StatusOK, "the answer is broken JSON")
		}
		part, err := ParseListing(a.body)
		if err != nil {
			return nil, a.notAPI(http.StatusOK, strings.TrimPrefix(err.Error(), "read listing: "))
		}
		if page == 0 {
			all.Source, all.Age = strings.TrimPrefix(a.asked, "GET "), a.age
		}
		all.Limits = a.limits
		before := len(all.Rows)
		if string(a.body) != last {
			all.join(part)
		}
		last, offset = string(a.body), offset+len(part.Rows)
		if all.ends(part, len(all.Rows)-before) {
			return all, nil
		}
	}
	all.note(fmt.Sprintf("only the first %d rows were asked for", offset))
	return all, nil
}

// join takes the rows of the next page. Its total is the newest.
func (l *Listing) join(part *Listing) {
	if l.Total != nil && part.Total != nil && *l.Total != *part.Total {
		l.note("the board changed while it was read: ask again for exact places")
	}
	if part.Total != nil {
		l.Total = part.Total
	}
	for _, n := range part.Notes {
		l.note(n)
	}
	for i, r := range part.Rows {
		l.add(r, part.raw[i])
	}
}

// ends reports whether the last page was read, which brought so many new rows.
// A page may be shorter than asked for, and a site that does not know offsets
// gives the first page again.
func (l *Listing) ends(part *Listing, fresh int) bool {
	if l.Total == nil && len(part.Rows) == 0 {
		n := len(l.Rows)
		l.Total = &n
	}
	switch {
	case l.Total != nil && len(l.Rows) >= *l.Total:
		return true
	case fresh == 0 && l.Total != nil:
		l.note(fmt.Sprintf("the site gave %d of %d rows", len(l.Rows), *l.Total))
	}
	return fresh == 0
}

// Run asks for one published run by its id. notes name the values that were
// left out.
func (c *Client) Run(ctx context.Context, id string) (row Row, notes []string, err error) {
	if !isID(id) {
		return Row{}, nil, fmt.Errorf("%q is no id of a run: letters and digits, such as cmtpc0w6f02hwn701n1g0v9cg", oneLine(id, 80))
	}
	a, err := c.get(ctx, "speed-tests/"+id, nil)
	if err != nil {
		return Row{}, nil, err
	}
	row, notes, err = ParseRow(a.body)
	if err != nil {
		return Row{}, nil, a.notAPI(http.StatusOK, strings.TrimPrefix(err.Error(), "read row: "))
	}
	return row, notes, nil
}

// isID keeps what could change the path out of it.
func isID(text string) bool {
	for _, r := range text {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			return false
		}
	}
	return text != "" && len(text) <= 64
}

// RunID is the id in the address of a run's page, or the text itself.
func RunID(text string) string {
	text = strings.TrimRight(text, "/")
	return text[strings.LastIndexByte(text, '/')+1:]
}
