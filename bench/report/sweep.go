package report

// Sweep is sweep.json: the rungs of a ladder on one server, in the order of
// their concurrency.
type Sweep struct {
	Schema       int    `json:"schema"`
	Kind         string `json:"kind"` // sweep
	HFID         string `json:"hfId,omitempty"`
	EngineName   string `json:"engineName"`
	Version      string `json:"version"` // of the tool
	Quantization string `json:"quantization,omitempty"`
	Simulated    bool   `json:"simulated,omitempty"`
	Rungs        []Rung `json:"rungs"`
}

// Rung is one concurrency of a ladder. Values that its run does not have are
// null.
type Rung struct {
	Dir           string   `json:"dir"` // run directory, as the caller names it
	Concurrency   int      `json:"concurrency"`
	Iterations    int      `json:"iterations"` // counted
	MaxTokens     int      `json:"maxTokens"`
	TokSOut       *float64 `json:"tokSOut"`
	TokSOutSource string   `json:"tokSOutSource,omitempty"`
	StdDev        *float64 `json:"tokSOutStddev"`
	BatchWall     *float64 `json:"batchWall"` // median
	Plateau       *float64 `json:"plateau"`   // median
	StreamTokS    *float64 `json:"streamTokS"`
	TTFTP50Ms     *float64 `json:"ttftP50Ms"`
	TTFTP99Ms     *float64 `json:"ttftP99Ms"`
	ITLP50Ms      *float64 `json:"itlP50Ms"`
	ITLP99Ms      *float64 `json:"itlP99Ms"`
	Verdict       Verdict  `json:"verdict"`
}

// NewSweep sums up the runs of a ladder, in their order; dirs[i] is the
// directory of documents[i] as it is to stand in the summary. A nil document
// and one of lmx, without our key, are left out.
func NewSweep(dirs []string, documents []*Document) *Sweep {
	s := &Sweep{Schema: Schema, Kind: "sweep", Rungs: []Rung{}}
	for i, d := range documents {
		if d == nil || d.Bench == nil {
			continue
		}
		x := d.Bench
		s.HFID, s.EngineName, s.Quantization, s.Version = d.HFID, d.EngineName, d.Quantization, x.Version
		s.Simulated = s.Simulated || x.Simulated
		s.Rungs = append(s.Rungs, newRung(dirs[i], d, x))
	}
	return s
}

func newRung(dir string, d *Document, x *Extension) Rung {
	r := Rung{
		Dir: dir, Concurrency: x.Plan.Concurrency, MaxTokens: x.Plan.MaxTokens,
		TokSOut: d.TokSOut, TokSOutSource: d.TokSOutSource, Verdict: x.Verdict,
	}
	for _, it := range x.Iterations {
		if it.Counted {
			r.Iterations++
		}
	}
	if h := headlineRates(x); h != nil {
		r.StdDev = h.StdDev
	}
	if w := x.Throughput.BatchWall; w != nil {
		r.BatchWall = &w.P50
	}
	if p := x.Throughput.Plateau; p != nil {
		r.Plateau = &p.P50
	}
	if s := x.StreamTokS; s != nil {
		r.StreamTokS = &s.P50
	}
	if t := x.Latency.TTFTMs; t != nil {
		r.TTFTP50Ms, r.TTFTP99Ms = &t.P50, &t.P99
	}
	if t := x.Latency.TokenITLMs; t != nil {
		r.ITLP50Ms, r.ITLP99Ms = &t.P50, &t.P99
	}
	return r
}

// JSON is the sweep as sweep.json holds it, in the form of run.json.
func (s *Sweep) JSON() ([]byte, error) { return canonical(s) }

// Save writes the sweep to a file that must not be there yet.
func (s *Sweep) Save(path string) error {
	data, err := s.JSON()
	if err != nil {
		return err
	}
	return writeNew(path, data)
}
