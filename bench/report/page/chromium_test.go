package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// requireChromium makes the absence of a browser a failure.
const requireChromium = "LMXBENCH_REQUIRE_CHROMIUM"

// probe is put into a copy of a page: it measures what a person would stumble
// over and leaves it in the document. The pages themselves have no script.
const probe = `<script>
addEventListener("load", () => {
  const out = {width: innerWidth, scroll: document.documentElement.scrollWidth, overlaps: [], outside: [], small: [], texts: 0,
    background: getComputedStyle(document.body).backgroundColor};
  for (const svg of document.querySelectorAll("figure svg:not(.key)")) {
    if (svg.getBoundingClientRect().width === 0) continue;
    const boxes = [];
    for (const text of svg.querySelectorAll("text")) {
      const r = text.getBoundingClientRect(), b = {l: r.left, r: r.right, t: r.top + r.height * 0.2, b: r.bottom - r.height * 0.2, s: text.textContent};
      out.texts++;
      if (r.height < 9) out.small.push(b.s);
      if (b.l < -1 || b.r > innerWidth + 1) out.outside.push(b.s);
      for (const o of boxes)
        if (Math.min(b.r, o.r) - Math.max(b.l, o.l) > 1 && Math.min(b.b, o.b) - Math.max(b.t, o.t) > 1) out.overlaps.push(o.s + " | " + b.s);
      boxes.push(b);
    }
  }
  document.documentElement.setAttribute("data-probe", JSON.stringify(out));
});
</script>`

// probed is what the probe found.
type probed struct {
	Width, Scroll, Texts     int
	Overlaps, Outside, Small []string
	Background               string
}

// legible opens every page in a browser.
func legible(t *testing.T, all map[string]string) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		if os.Getenv(requireChromium) != "" {
			t.Fatalf("no Chromium on this machine, and %s is set", requireChromium)
		}
		fmt.Fprintf(os.Stderr, "\nWARNING: no Chromium on this machine: the layout of the report pages is NOT tested (set %s=1 to make this a failure)\n\n", requireChromium)
		t.Skip("no Chromium")
	}
	dir := t.TempDir()
	for name, text := range all {
		path := filepath.Join(dir, name+".html")
		if err := os.WriteFile(path, []byte(strings.Replace(text, "</body>", probe+"</body>", 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		var backgrounds []string
		for _, view := range []struct {
			width int
			dark  bool
		}{{1280, false}, {390, true}} {
			got := open(t, browser, path, view.width, view.dark)
			where := fmt.Sprintf("%s at %d", name, view.width)
			if got.Texts == 0 {
				t.Errorf("%s: no text in any drawing", where)
			}
			if got.Scroll > got.Width {
				t.Errorf("%s: the page is %d wide in a window of %d", where, got.Scroll, got.Width)
			}
			for what, list := range map[string][]string{"labels overlap": got.Overlaps, "labels leave the window": got.Outside, "labels are too small to read": got.Small} {
				if len(list) > 0 {
					t.Errorf("%s: %s: %q", where, what, list[:min(len(list), 8)])
				}
			}
			backgrounds = append(backgrounds, got.Background)
		}
		if len(slices.Compact(backgrounds)) != 2 {
			t.Errorf("%s: light and dark have the same background %v", name, backgrounds)
		}
	}
}

// open shows a page and returns what the probe measured.
func open(t *testing.T, browser, path string, width int, dark bool) (got probed) {
	t.Helper()
	scheme := 1
	if dark {
		scheme = 0
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser,
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir="+t.TempDir(),
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), fmt.Sprintf("--window-size=%d,2000", width),
		"--dump-dom", "file://"+path).Output()
	if err != nil {
		t.Fatalf("%s: %v", browser, err)
	}
	_, rest, ok := strings.Cut(string(out), `data-probe="`)
	text, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed {
		t.Fatalf("%s: the page did not load", path)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(text)), &got); err != nil {
		t.Fatal(err)
	}
	return got
}
