package page

import (
	"embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"

	"lmxbench/bench/report/study"
)

//go:embed page.tmpl style.css
var files embed.FS

// Write renders a study. t is the trace of its only subject, nil where there is
// no evidence or there are several subjects. The error is the writer's, or one
// of the template, which would be a fault of this package.
func Write(w io.Writer, st *study.Study, t *study.Trace) error {
	page := several
	if s := st.Single(); s != nil && s.Document != nil {
		page = func(st *study.Study) *view { return single(st, t) }
	}
	v := page(st)
	style, err := files.ReadFile("style.css")
	if err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	v.Style = template.CSS(style) //nolint:gosec // our own file
	tmpl, err := template.New("page.tmpl").Funcs(template.FuncMap{"prose": prose}).ParseFS(files, "page.tmpl")
	if err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	if err := tmpl.Execute(w, v); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	return nil
}

var (
	option = regexp.MustCompile(`--[a-z][a-z-]*`)
	quoted = regexp.MustCompile("`([^`]+)`")
)

// prose keeps the names of options from being broken at their hyphens, and sets
// what stands in backquotes as code.
func prose(text string) template.HTML {
	text = html.EscapeString(text)
	text = quoted.ReplaceAllString(text, "<code>$1</code>")
	return template.HTML(option.ReplaceAllString(text, `<span class="opt">$0</span>`)) //nolint:gosec // escaped
}
