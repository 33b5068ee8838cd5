package page

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// canvas collects the elements of one drawing. Colours and fonts are the style
// sheet's; the classes are the vocabulary between the two.
type canvas struct {
	b             strings.Builder
	width, height float64
}

type point struct{ x, y float64 }

// n writes a coordinate to a tenth of a pixel.
func n(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0 // a drawing must not break on a value that a table shows anyway
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

func (c *canvas) element(name, class, attributes, title string) {
	c.b.WriteString("<" + name)
	if class != "" {
		c.b.WriteString(` class="` + class + `"`)
	}
	c.b.WriteString(attributes)
	if title == "" {
		c.b.WriteString("/>")
		return
	}
	c.b.WriteString("><title>" + html.EscapeString(title) + "</title></" + name + ">")
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.element("line", class, ` x1="`+n(x1)+`" y1="`+n(y1)+`" x2="`+n(x2)+`" y2="`+n(y2)+`"`, "")
}

func (c *canvas) rect(x, y, width, height float64, class, title string) {
	c.element("rect", class, ` x="`+n(x)+`" y="`+n(y)+`" width="`+n(math.Max(width, 0.1))+`" height="`+n(math.Max(height, 0.1))+`"`, title)
}

func (c *canvas) dot(x, y, r float64, class, title string) {
	c.element("circle", class, ` cx="`+n(x)+`" cy="`+n(y)+`" r="`+n(r)+`"`, title)
}

// path joins points by straight lines.
func (c *canvas) path(points []point, class, title string) {
	if len(points) == 0 {
		return
	}
	c.element("path", class, ` d="`+outline(points)+`"`, title)
}

// area fills between an upper and a lower line of equal length.
func (c *canvas) area(upper, lower []point, class, title string) {
	if len(upper) == 0 {
		return
	}
	all := append([]point{}, upper...)
	for i := len(lower) - 1; i >= 0; i-- {
		all = append(all, lower[i])
	}
	c.element("path", class, ` d="`+outline(all)+`Z"`, title)
}

func outline(points []point) string {
	var d strings.Builder
	for i, p := range points {
		if i == 0 {
			d.WriteString("M")
		} else {
			d.WriteString("L")
		}
		d.WriteString(n(p.x) + " " + n(p.y))
	}
	return d.String()
}

// text writes a label; anchor is start, middle or end.
func (c *canvas) text(x, y float64, anchor, class, text string) {
	c.b.WriteString(`<text x="` + n(x) + `" y="` + n(y) + `" text-anchor="` + anchor + `"`)
	if class != "" {
		c.b.WriteString(` class="` + class + `"`)
	}
	c.b.WriteString(">" + html.EscapeString(text) + "</text>")
}

// text2 writes two texts of different class, one behind the other.
func (c *canvas) text2(x, y float64, class, text, class2, text2 string) {
	c.b.WriteString(`<text x="` + n(x) + `" y="` + n(y) + `" class="` + class + `">` + html.EscapeString(text))
	if text2 != "" {
		c.b.WriteString(`<tspan class="` + class2 + `" dx="9">` + html.EscapeString(text2) + `</tspan>`)
	}
	c.b.WriteString("</text>")
}

// drawing is the finished picture. id must be the only one of its page.
func (c *canvas) drawing(id, class, title, desc string) template.HTML {
	return template.HTML(fmt.Sprintf( //nolint:gosec // every text in it went through html.EscapeString
		`<svg class="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`,
		class, n(c.width), n(c.height), id, id, id, html.EscapeString(title), id, html.EscapeString(desc), c.b.String()))
}

// hoverTarget is an invisible disc that makes a small mark easy to hit.
func (c *canvas) hoverTarget(x, y float64, title string) { c.dot(x, y, 9, "hit", title) }
