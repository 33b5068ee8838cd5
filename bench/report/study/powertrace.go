package study

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Names of the power files of a run directory.
const (
	powerFile       = "power.csv"
	powerWindowFile = "power_window.json"
)

// powerBins is the number of points a recording is drawn with.
const powerBins = 300

// PowerTrace is a power recording, small enough to draw. Times are seconds from
// the run's origin.
type PowerTrace struct {
	// Signal names what Points show, in words; empty when the log is of another
	// program and only its windows are known.
	Signal string
	// Points are means over equal bins, summed over the cards.
	Points []PowerPoint
	// LimitWatts is the enforced limit of all cards together; 0: not known.
	LimitWatts float64
	Windows    []PowerWindow
}

// PowerPoint is the power around a time, with its extremes in the bin.
type PowerPoint struct{ At, Watts, Low, High float64 }

// PowerWindow is what a window of the run drew. A nil figure was not measured.
type PowerWindow struct {
	Name           string
	Iteration      int
	Span           Span
	Watts          *float64
	Joules         *float64
	Doubt          *float64 // joules
	JoulesPerToken *float64
	Source         string
	Reason         string // why Joules is nil
}

// readPower reads the recording of a run directory, nil without one.
func readPower(dir string, originUnixNs int64) (*PowerTrace, error) {
	p := new(PowerTrace)
	if err := p.readWindows(filepath.Join(dir, powerWindowFile), originUnixNs); err != nil {
		return nil, err
	}
	if err := p.readRecording(filepath.Join(dir, powerFile), originUnixNs); err != nil {
		return nil, err
	}
	if len(p.Windows) == 0 && len(p.Points) == 0 {
		return nil, nil
	}
	return p, nil
}

func (p *PowerTrace) readWindows(path string, originUnixNs int64) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read power windows: %w", err)
	}
	var file struct {
		Lmxbench struct {
			OriginUnixNs int64 `json:"originUnixNs"`
			Windows      []struct {
				Name           string   `json:"name"`
				Iteration      int      `json:"iteration"`
				From           int64    `json:"fromNs"`
				To             int64    `json:"toNs"`
				Watts          *float64 `json:"meanWatts"`
				Joules         *float64 `json:"energyJoules"`
				Doubt          *float64 `json:"uncertaintyJoules"`
				JoulesPerToken *float64 `json:"joulesPerToken"`
				Source         string   `json:"energySource"`
				Reason         string   `json:"energyReason"`
			} `json:"windows"`
		} `json:"lmxbench"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("read power windows %s: %w", path, err)
	}
	shift := file.Lmxbench.OriginUnixNs - originUnixNs
	for _, w := range file.Lmxbench.Windows {
		p.Windows = append(p.Windows, PowerWindow{
			Name: w.Name, Iteration: w.Iteration, Span: Span{float64(w.From+shift) / 1e9, float64(w.To+shift) / 1e9},
			Watts: w.Watts, Joules: w.Joules, Doubt: w.Doubt, JoulesPerToken: w.JoulesPerToken, Source: w.Source, Reason: w.Reason,
		})
	}
	return nil
}

// powerSignals are the columns that can be drawn, best first, with the kind of
// row that has them.
var powerSignals = [...]struct{ kind, column, words string }{ //nolint:gochecknoglobals // a constant table
	{"ring", "power_sample_w", "20 ms samples"},
	{"gauge", "power_instant_w", "short samples"},
	{"gauge", "power_average_w", "trailing mean of the sensor"},
}

// readRecording takes the best signal out of a power.csv of this program. A log
// of another program is left to the windows computed from it.
func (p *PowerTrace) readRecording(path string, originUnixNs int64) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read power recording: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	in := bufio.NewReaderSize(f, 1<<16)
	if head, err := in.Peek(9); err != nil || string(head) != "kind,gpu," {
		return nil
	}
	r := recording{points: map[string]map[string][]PowerPoint{}}
	if err := r.read(in, originUnixNs); err != nil {
		return fmt.Errorf("read power recording %s: %w", path, err)
	}
	p.LimitWatts = r.limit
	for _, s := range powerSignals {
		if cards := r.points[s.column]; len(cards) > 0 {
			p.Signal, p.Points = s.words, sumOfCards(cards)
			return nil
		}
	}
	return nil
}

// recording collects the points of a file by signal and card.
type recording struct {
	points map[string]map[string][]PowerPoint
	limit  float64
	shift  int64
}

func (r *recording) read(in io.Reader, originUnixNs int64) error {
	rows := csv.NewReader(in)
	rows.ReuseRecord, rows.FieldsPerRecord = true, -1
	header, err := rows.Read()
	if err != nil {
		return err
	}
	at := map[string]int{}
	for i, name := range header {
		at[strings.Clone(name)] = i
	}
	width := len(header)
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) || (err == nil && len(cells) != width) {
			return nil // a cut last line ends the recording
		}
		if err != nil {
			return err
		}
		if err := r.row(cells, at, originUnixNs); err != nil {
			line, _ := rows.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func (r *recording) row(cells []string, at map[string]int, originUnixNs int64) error {
	whole := func(name string) (int64, error) { return strconv.ParseInt(cells[at[name]], 10, 64) }
	switch cells[at["kind"]] {
	case "origin":
		ns, err := whole("stamp_unix_ns")
		r.shift = ns - originUnixNs
		return err
	case "device":
		var device struct {
			Limit *float64 `json:"powerLimitWatts"`
		}
		if err := json.Unmarshal([]byte(cells[at["note"]]), &device); err != nil {
			return err
		}
		if device.Limit != nil {
			r.limit += *device.Limit
		}
		return nil
	}
	for _, s := range powerSignals {
		i, ok := at[s.column]
		if !ok || s.kind != cells[at["kind"]] || cells[i] == "" {
			continue
		}
		watts, err := strconv.ParseFloat(cells[i], 64)
		if err != nil {
			return err
		}
		before, err1 := whole("before_ns")
		after, err2 := whole("after_ns")
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		card := strings.Clone(cells[at["gpu"]])
		if r.points[s.column] == nil {
			r.points[s.column] = map[string][]PowerPoint{}
		}
		t := float64(before+(after-before)/2+r.shift) / 1e9
		r.points[s.column][card] = append(r.points[s.column][card], PowerPoint{At: t, Watts: watts})
	}
	return nil
}

// sumOfCards bins every card over the same time and adds the bins up. A bin
// without a reading of some card has no point.
func sumOfCards(cards map[string][]PowerPoint) (sum []PowerPoint) {
	from, to := 0.0, 0.0
	started := false
	for _, points := range cards {
		for _, p := range points {
			if !started {
				from, to, started = p.At, p.At, true
			}
			from, to = min(from, p.At), max(to, p.At)
		}
	}
	width := (to - from) / powerBins
	if width <= 0 {
		return nil
	}
	type bin struct {
		sum, low, high float64
		n              int
	}
	total := make([]PowerPoint, powerBins)
	have := make([]int, powerBins)
	for _, points := range cards {
		bins := make([]bin, powerBins)
		for _, p := range points {
			b := &bins[min(int((p.At-from)/width), powerBins-1)]
			if b.n == 0 {
				b.low, b.high = p.Watts, p.Watts
			}
			b.sum, b.low, b.high = b.sum+p.Watts, min(b.low, p.Watts), max(b.high, p.Watts)
			b.n++
		}
		for i, b := range bins {
			if b.n > 0 {
				have[i]++
				total[i].Watts += b.sum / float64(b.n)
				total[i].Low += b.low
				total[i].High += b.high
			}
		}
	}
	for i := range total {
		if have[i] == len(cards) {
			total[i].At = from + (float64(i)+0.5)*width
			sum = append(sum, total[i])
		}
	}
	return sum
}
