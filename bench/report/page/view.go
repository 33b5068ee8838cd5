package page

import "html/template"

// view is what the template shows.
type view struct {
	Title    string
	Banners  []banner
	Kicker   string // above the heading: what kind of report, when
	Heading  string
	Subject  []string // facts of the subject, joined by dots
	Answer   *answer
	Tiles    []tile
	Findings []finding
	Notes    []string // remarks of level INFO and about the input
	Sections []section
	Foot     []string
	Style    template.CSS
}

type banner struct{ Class, Text string }

// answer is the result, big.
type answer struct {
	Value, Unit, Spread string
	Formula             string
	Verdict             string // VALID, WARN, INVALID, or words
	Class               string // ok, warn, bad, none
	Lines               []string
}

// tile is one key figure.
type tile struct{ Name, Value, Unit, Detail, Class string }

// finding is a verdict code in words.
type finding struct{ Level, Class, Code, Where, Meaning, Detail, Advice string }

// section answers one question.
type section struct {
	ID, Heading string
	Lead        string
	Legend      []key // shared by the figures
	Figures     []figure
	Tables      []table
	Lists       [][]string
}

// figure is a picture with its one-sentence caption and its numbers.
type figure struct {
	Heading, Caption string
	Legend           []key
	Wide, Narrow     template.HTML
	Table            *table
	Full             bool // as wide as the page
}

// key is an entry of a legend; Mark is line, dash, box or dot.
type key struct{ Class, Mark, Text string }

// table is a grid of texts; columns from Numbers on are right-aligned.
type table struct {
	Caption string
	Head    []string
	Rows    [][]cell
	Numbers int
	Class   string
}

type cell struct{ Text, Class, Title string }

// row makes cells of texts.
func row(texts ...string) []cell {
	cells := make([]cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}

// pruned leaves out columns in which no row has anything.
func (t table) pruned() table {
	var keep []int
	for i := range t.Head {
		for _, r := range t.Rows {
			if text := r[i].Text; text != "" && text != "–" {
				keep = append(keep, i)
				break
			}
		}
	}
	out := t
	out.Head, out.Rows, out.Numbers = nil, nil, 0
	for _, i := range keep {
		out.Head = append(out.Head, t.Head[i])
		if i < t.Numbers {
			out.Numbers++
		}
	}
	for _, r := range t.Rows {
		var cells []cell
		for _, i := range keep {
			cells = append(cells, r[i])
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// Left reports whether a column is text.
func (t table) Left(column int) bool { return column < t.Numbers }

// draw renders a picture twice: for wide screens and for narrow ones.
func draw(id, title, desc string, full bool, paint func(width float64) *canvas) (wide, narrow template.HTML) {
	width := 500.0
	if full {
		width = 1040
	}
	return paint(width).drawing(id+"-w", "wide", title, desc), paint(350).drawing(id+"-n", "narrow", title, desc)
}
