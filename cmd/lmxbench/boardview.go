package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"lmxbench/internal/cost"
	"lmxbench/internal/localmaxxing"
)

// boardView is what is printed.
type boardView struct {
	Board    string     `json:"board"`
	Source   string     `json:"source"`
	At       *time.Time `json:"at,omitempty"`         // when the rows were asked for
	Age      *float64   `json:"ageSeconds,omitempty"` // how old the site's cache says the answer was
	Listed   int        `json:"listed"`
	Total    *int       `json:"total"` // rows on the board, listed or not
	Single   *int       `json:"singleStreamTotal"`
	Complete bool       `json:"complete"`
	Rows     []boardRow `json:"rows"` // of the class asked for, fastest first
	Left     int        `json:"rowsLeft"`
	Run      *boardRun  `json:"run,omitempty"`
	Notes    []string   `json:"notes"`

	class localmaxxing.Class
}

// boardPlace encloses a place; High is 0 where nothing bounds it.
type boardPlace struct {
	Low  int `json:"low"`
	High int `json:"high"`
}

type boardRow struct {
	Place *boardPlace      `json:"place"` // null: not ranked
	Row   localmaxxing.Row `json:"row"`
}

func (f *boardFlags) view(b *localmaxxing.Board, l *localmaxxing.Listing, run *result) *boardView {
	v := &boardView{
		Board: b.HFID, Source: l.Source, Listed: len(b.Rows), Total: b.Total, Single: b.SingleTotal, Complete: b.Complete,
		Rows: []boardRow{}, Notes: append(append([]string{}, l.Notes...), b.Notes...),
	}
	if f.site.listing != "" {
		v.Source = f.site.listing
	}
	if !l.At.IsZero() {
		v.At = &l.At
	}
	if l.Age != nil {
		age := l.Age.Seconds()
		v.Age = &age
	}
	if f.singleStream {
		v.class = localmaxxing.SingleStream
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		low, high := b.Standing(r, v.class)
		if low == 0 && f.singleStream {
			continue
		}
		row := boardRow{Row: *r}
		if low > 0 {
			row.Place = &boardPlace{low, high}
		}
		v.Rows = append(v.Rows, row)
	}
	limit := orZero(f.limit)
	if limit == 0 && !f.json {
		limit = boardRows
	}
	if limit > 0 && len(v.Rows) > limit {
		v.Left = len(v.Rows) - limit
		v.Rows = v.Rows[:limit]
	}
	if run != nil {
		v.Run = newBoardRun(b, run, f.singleStream)
		if !onBoard(b, run.row.HFID) {
			v.Notes = append(v.Notes, fmt.Sprintf("the result is of %s, and no row of this board is: the site may count it to another board", cmp.Or(run.row.HFID, "no known model")))
		}
	}
	return v
}

// onBoard reports whether results of a model are known to count to the board.
func onBoard(b *localmaxxing.Board, hfID string) bool {
	return strings.EqualFold(hfID, b.HFID) ||
		slices.ContainsFunc(b.Rows, func(r localmaxxing.Row) bool { return hfID != "" && strings.EqualFold(r.HFID, hfID) })
}

// write prints the board for a person.
func (v *boardView) write(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s · %s\n\n", v.Board, v.extent())
	if len(v.Rows) > 0 {
		out.WriteString(v.table() + "\n")
	}
	if v.Left > 0 {
		fmt.Fprintf(&out, "%s more: --limit N prints them\n", plural(v.Left, "row"))
	}
	if v.Run != nil {
		out.WriteString("\n")
		v.Run.write(&out)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// extent says how much of the board is at hand.
func (v *boardView) extent() string {
	text := plural(v.Listed, "row")
	switch {
	case v.Complete:
		text = "all " + text
		if v.Listed == 0 {
			text = "no row yet"
		}
	case v.Total != nil:
		text = fmt.Sprintf("%d of %s", v.Listed, plural(*v.Total, "row"))
	default:
		text += ", how many there are is not known"
	}
	if v.Single != nil {
		text += fmt.Sprintf(" · %d of a single stream", *v.Single)
	}
	if v.Age != nil {
		text += " · cached by the site " + (time.Duration(*v.Age) * time.Second).String() + " ago"
	}
	return text
}

// boardColumns are the columns behind place and rate. One without a value in
// any row is left out and named below the table.
func boardColumns() []struct {
	name string
	of   func(r *localmaxxing.Row) string
} {
	return []struct {
		name string
		of   func(r *localmaxxing.Row) string
	}{
		{"streams", func(r *localmaxxing.Row) string { return wholeOrNone(r.Streams) }},
		{"hardware", func(r *localmaxxing.Row) string { return r.Hardware.String() }},
		{"engine", func(r *localmaxxing.Row) string { return r.Engine }},
		{"quantization", func(r *localmaxxing.Row) string { return r.Quantization }},
		{"speculation", func(r *localmaxxing.Row) string { return r.Speculation }},
		{"tokens", func(r *localmaxxing.Row) string { return wholeOrNone(r.OutputTokens) }},
		{"prompt", func(r *localmaxxing.Row) string { return shortHash(r.PromptSHA256) }},
		{"TTFT ms", func(r *localmaxxing.Row) string { return milliseconds(r.TTFT) }},
		{"$/M tokens", pricePerMillion},
		{"verified", func(r *localmaxxing.Row) string { return yesNo(r.Verified) }},
		{"run", func(r *localmaxxing.Row) string { return r.ID }},
	}
}

func (v *boardView) table() string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	header := table.Row{"place", "tok/s"}
	rows := make([]table.Row, len(v.Rows))
	for i, r := range v.Rows {
		rows[i] = table.Row{"–", "–"}
		if r.Place != nil {
			rows[i][0] = r.Place.String()
		}
		if r.Row.TokSOut != nil {
			rows[i][1] = perSecond(*r.Row.TokSOut)
		}
	}
	var missing []string
	for _, c := range boardColumns() {
		found := false
		cells := make([]string, len(v.Rows))
		for i := range v.Rows {
			cells[i] = clipCell(c.of(&v.Rows[i].Row))
			found = found || cells[i] != ""
			if cells[i] == "" {
				cells[i] = "–"
			}
		}
		if !found {
			missing = append(missing, c.name)
			continue
		}
		header = append(header, c.name)
		for i := range rows {
			rows[i] = append(rows[i], cells[i])
		}
	}
	t.AppendHeader(header)
	t.AppendRows(rows)
	text := t.Render()
	if len(missing) > 0 {
		text += "\nnot in the listing: " + strings.Join(missing, ", ")
	}
	return text
}

// cellWidth keeps a table on a wide screen; --json has the whole texts.
const cellWidth = 27

func clipCell(text string) string {
	if r := []rune(text); len(r) > cellWidth {
		return string(r[:cellWidth-1]) + "…"
	}
	return text
}

// String is the place, or its bounds.
func (p *boardPlace) String() string {
	switch {
	case p.High == 0:
		return fmt.Sprintf("%d or later", p.Low)
	case p.Low == p.High:
		return strconv.Itoa(p.Low)
	}
	return fmt.Sprintf("%d to %d", p.Low, p.High)
}

func pricePerMillion(r *localmaxxing.Row) string {
	if r.USDPerHour == nil || r.TokSOut == nil {
		return ""
	}
	basis := cost.ConcurrentRequestWindow
	if r.Streams != nil && *r.Streams == 1 {
		basis = cost.InterToken
	}
	q, err := cost.NewQuote(basis, *r.TokSOut, *r.USDPerHour)
	if err != nil {
		return ""
	}
	return cost.FormatUSD(q.USDPerMillion)
}
