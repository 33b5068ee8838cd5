package page

import (
	"fmt"
	"math"
	"slices"

	"lmxbench/bench/report/study"
	"lmxbench/internal/cost"
)

// costLadder is the price of tokens over concurrency with the services' prices
// and the break-even bracket.
func costLadder(st *study.Study, series []study.Series) *figure {
	if st.Money == nil {
		return nil
	}
	price, basis := cheapestQuotes(st)
	c := collect(series, func(s *study.Subject) (spot, bool) {
		q, ok := price[slices.Index(st.Subjects, s)]
		if !ok {
			return spot{}, false
		}
		return spot{
			x: float64(s.Streams), y: q, low: q, high: q,
			title: fmt.Sprintf("%s: %s per million tokens%s", s.Label, study.Dollars(q), verdictWords(s)),
		}, true
	})
	if len(c.xs()) < 2 {
		return nil
	}
	f := &figure{
		Heading: "What does load do to the price?",
		Caption: fmt.Sprintf("Dollars per million output tokens on a machine that is always this busy, by %s.", basis),
	}
	low, high := c.extent()
	for _, api := range st.Money.APIs {
		low, high = math.Min(low, api.USDPerMillion), math.Max(high, api.USDPerMillion)
	}
	bracket := theBracket(st, series, basis)
	if len(st.Money.APIs) > 0 {
		f.Caption += " Below a dashed line it undercuts that service."
		f.Legend = append(f.Legend, key{"limit", "dash", "price of a hosted service"})
	}
	if bracket != nil {
		f.Caption += fmt.Sprintf(" Break-even with %s lies %s streams.", bracket.API.Name, bracket.Bracket())
		f.Legend = append(f.Legend, key{"bracket", "box", "where break-even lies"})
	}
	f.Wide, f.Narrow = draw("price", "Price of tokens over concurrency", "Dollars per million tokens on logarithmic scales; the numbers are in the cost table.", false, func(width float64) *canvas {
		y := logAxis("$ per million output tokens", low, high, 8)
		p := newFrame(width, 280, c.streams(), y)
		if bracket != nil {
			p.rect(p.x.at(*bracket.Low), p.top, p.x.at(*bracket.High)-p.x.at(*bracket.Low), p.bottom-p.top, "bracket", bracket.Statement)
		}
		p.services(st.Money.APIs)
		p.curves(c)
		return p.canvas
	})
	return f
}

// services draws the prices of hosted services as lines with their names at the
// right, where they do not touch.
func (f *frame) services(apis []study.API) {
	last := math.Inf(-1)
	for _, api := range slices.SortedFunc(slices.Values(apis), func(a, b study.API) int {
		if a.USDPerMillion > b.USDPerMillion {
			return -1
		}
		return 1
	}) {
		y := f.y.at(api.USDPerMillion)
		f.line(f.left, y, f.right, y, "limit")
		if y-last >= 13 {
			f.text(f.right, y-4, "end", "tick halo", api.Name+" "+study.Dollars(api.USDPerMillion))
			last = y
		}
	}
}

// cheapestQuotes takes one price a subject: by the wall rate where all have it,
// else by the rate each is known by; of several tariffs the first.
func cheapestQuotes(st *study.Study) (price map[int]float64, basis string) {
	wall, answer := map[int]float64{}, map[int]float64{}
	for _, q := range st.Money.Quotes {
		to := answer
		if q.Basis == cost.BatchWall {
			to = wall
		}
		if _, ok := to[q.Subject]; !ok {
			to[q.Subject] = q.USDPerMillion
		}
	}
	if len(wall) >= len(answer) {
		return wall, "batch wall"
	}
	return answer, "the rate each result is known by"
}

// theBracket is the break-even to draw: only where there is one series and one
// service, since several would hide one another.
func theBracket(st *study.Study, series []study.Series, basis string) *study.BreakEven {
	if len(series) != 1 || len(st.Money.APIs) != 1 {
		return nil
	}
	for i := range st.Money.BreakEvens {
		b := &st.Money.BreakEvens[i]
		if b.Where == cost.Between && (b.Basis == cost.BatchWall) == (basis == "batch wall") {
			return b
		}
	}
	return nil
}

// priceList ranks results by price on a logarithmic scale: a dot each.
func priceList(st *study.Study) *figure {
	if st.Money == nil || len(st.Money.Quotes) == 0 {
		return nil
	}
	price, basis := cheapestQuotes(st)
	var order []int
	for i := range st.Subjects {
		if _, ok := price[i]; ok {
			order = append(order, i)
		}
	}
	if len(order) < 2 || len(order) > 80 {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case price[a] < price[b]:
			return -1
		case price[a] > price[b]:
			return 1
		}
		return 0
	})
	low, high := price[order[0]], price[order[len(order)-1]]
	for _, api := range st.Money.APIs {
		low, high = math.Min(low, api.USDPerMillion), math.Max(high, api.USDPerMillion)
	}
	f := &figure{
		Heading: "What does a million tokens cost?", Full: true,
		Caption: fmt.Sprintf("Every result by its price, cheapest first, by %s. The scale is logarithmic: each labelled step is a factor.", basis),
		Legend:  []key{{"dot1", "dot", "several streams"}, {"dot2", "dot", "one stream"}},
	}
	if len(st.Money.APIs) > 0 {
		f.Legend = append(f.Legend, key{"limit", "dash", "price of a hosted service"})
	}
	f.Wide, f.Narrow = draw("prices", "Results by price", "Dollars per million output tokens; the numbers are in the cost table.", true, func(width float64) *canvas {
		return paintPrices(st, order, price, low, high, width)
	})
	return f
}

func paintPrices(st *study.Study, order []int, price map[int]float64, low, high, width float64) *canvas {
	rowHeight, names := 20.0, 440.0
	if width < 450 {
		rowHeight, names = 34, 0
	}
	c := &frame{canvas: &canvas{width: width, height: float64(len(order))*rowHeight + 62}}
	c.left, c.right, c.top, c.bottom = names, width-8, 22, float64(len(order))*rowHeight+26
	a := logAxis("$ per million output tokens", low, high, ticksFor(width-names))
	c.placeX(a, true)
	for _, t := range thin(a.ticks, c.x, true) {
		c.line(c.x.at(t.value), c.top, c.x.at(t.value), c.bottom, "grid")
	}
	last := math.Inf(-1)
	for _, api := range st.Money.APIs {
		x := c.x.at(api.USDPerMillion)
		c.line(x, c.top, x, c.bottom, "limit")
		label := api.Name + " " + study.Dollars(api.USDPerMillion)
		if x-last > textWidth(label) {
			c.text(math.Min(math.Max(x, textWidth(label)/2), width-textWidth(label)/2), 12, "middle", "tick", label)
			last = x
		}
	}
	for i, index := range order {
		s := st.Subjects[index]
		y := c.top + (float64(i)+0.5)*rowHeight
		x := c.x.at(price[index])
		class := "dot1"
		if s.Streams == 1 {
			class = "dot2"
		}
		label := s.Label
		value := study.Dollars(price[index])
		if names > 0 {
			c.text(names-8, y+4, "end", "tick", cut(label, names-12))
		} else {
			c.text(0, y-6, "start", "tick", cut(label, width))
			y += 6
		}
		c.line(c.x.from, y, c.x.to, y, "grid")
		c.dot(x, y, 4.5, class, label+": "+value+" per million tokens")
		if x+9+textWidth(value) < width {
			c.text(x+9, y+4, "start", "tick halo", value)
		} else {
			c.text(x-9, y+4, "end", "tick halo", value)
		}
	}
	return c.canvas
}

// cut shortens a label to a width, in the middle where it says most least.
func cut(text string, width float64) string {
	r := []rune(text)
	for len(r) > 8 && textWidth(string(r)) > width {
		middle := len(r) / 2
		r = append(append(append([]rune{}, r[:middle-1]...), '…'), r[middle+2:]...)
	}
	return string(r)
}
