package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"lmxbench/bench/report/study"
	"lmxbench/internal/ceiling"
)

// ceilingFlags are the options of ceiling. A nil pointer is an option that was
// not given; lmx's defaults then hold.
type ceilingFlags struct {
	hardware, config, model, quantization       string
	architecture, routing, decoding             string
	gpus, batch                                 *int
	capacity, bandwidth, overhead, peak         *float64
	total, active, bits, rate, accepted         *float64
	experts, perToken                           *int
	globalLayers, localLayers, heads, dim       *int
	storeBits, readBits, fixedStore, fixedRead  *float64
	window, allocated, read                     *int
	minimum, acceptance, draftResident, draftGB *float64
	drafted                                     *int
	headBits, stateBits                         *float64
	json, list                                  bool
}

// The categories of ceiling's help.
const (
	catHardware = "Hardware"
	catShape    = "Model"
	catLMX      = "lmx's calculator: model and cache by numbers"
	catWork     = "Workload"
)

func ceilingCommand(env *environment) *cli.Command {
	f := &ceilingFlags{}
	return &cli.Command{
		Name:  "ceiling",
		Usage: "how fast a model could decode if memory were all that mattered",
		Description: "With --config FILE (a model's config.json) or --model NAME: a hard ceiling, above which a\n" +
			"measurement is impossible, and a model ceiling, which says what to expect. Always: the\n" +
			"rule of lmx's calculator, with its own options and defaults, and with --rate what the\n" +
			"leaderboard's undisclosed check may mean. Nothing is measured and nobody is asked.",
		Flags: f.flags(),
		Action: func(_ context.Context, cmd *cli.Command) error {
			if cmd.Args().Len() > 0 {
				return usagef("invalid_option", "ceiling takes no argument, got %q: give the model with --config FILE or --model NAME", cmd.Args().First())
			}
			return f.run(env)
		},
	}
}

func (f *ceilingFlags) flags() []cli.Flag {
	amount := func(to **float64) cli.Value { return &number{to, 0, 1e9} }
	whole := func(to **int, least int) cli.Value { return &count{to, least} }
	return []cli.Flag{
		word(catHardware, "`NAME` of a card, such as \"H200 SXM\" (see --list-hardware)", &f.hardware, "hardware", "gpu"),
		option(catHardware, "number of cards that share the model (1)", whole(&f.gpus, 1), "gpus"),
		option(catHardware, "`GB/S` memory bandwidth of all cards together (800)", amount(&f.bandwidth), "bandwidth-gbps"),
		option(catHardware, "`TFLOPS` dense peak of all cards together (of the named card)", amount(&f.peak), "peak-tflops"),
		option(catHardware, "`GB` memory of all cards together (128)", amount(&f.capacity), "capacity-gb"),
		option(catHardware, "`GB` memory that is taken otherwise (6)", amount(&f.overhead), "overhead-gb"),
		toggle(catHardware, "list the cards whose bandwidth is known", &f.list, "list-hardware"),

		word(catShape, "`FILE` config.json of the model, as on the Hugging Face hub", &f.config, "config", "model-config"),
		word(catShape, "`NAME` of a model whose shape this program keeps, such as Qwen/Qwen3.6-35B-A3B-FP8", &f.model, "model", "hf-id"),
		word(catShape, "`NAME` of the quantization, such as FP8 or Q4_K_M (what the config declares)", &f.quantization, "quantization"),
		option(catShape, "bits of the output projection (16)", &number{&f.headBits, 0.5, 64}, "head-bits"),
		option(catShape, "bits of a recurrent state (32)", &number{&f.stateBits, 0.5, 64}, "state-bits"),

		word(catLMX, "`KIND` dense or moe (dense)", &f.architecture, "architecture"),
		option(catLMX, "parameters, 10⁹ (32)", amount(&f.total), "total-params-b"),
		option(catLMX, "parameters that a token uses, 10⁹ (32)", amount(&f.active), "active-params-b"),
		option(catLMX, "bits per weight (4.5, or by the quantization)", &number{&f.bits, 0.5, 64}, "weight-bits"),
		option(catLMX, "experts in a layer (256)", whole(&f.experts, 1), "expert-count"),
		option(catLMX, "experts that a token uses (8)", whole(&f.perToken, 1), "experts-per-token"),
		word(catLMX, "`RULE` expected or minimum (expected)", &f.routing, "moe-routing"),
		option(catLMX, "layers that attend to everything (64)", whole(&f.globalLayers, 0), "global-layers"),
		option(catLMX, "layers that attend to a window (0)", whole(&f.localLayers, 0), "local-layers"),
		option(catLMX, "heads of the key and value cache (8)", whole(&f.heads, 1), "kv-heads"),
		option(catLMX, "dimension of a head (128)", whole(&f.dim, 1), "head-dim"),
		option(catLMX, "bits of a cache element as stored (16)", &number{&f.storeBits, 0.5, 64}, "kv-store-bits"),
		option(catLMX, "bits of a cache element as read (16)", &number{&f.readBits, 0.5, 64}, "kv-read-bits"),
		option(catLMX, "window of the local layers, tokens (4096)", whole(&f.window, 1), "sliding-window"),
		option(catLMX, "`GB` fixed state of a session as stored (0)", amount(&f.fixedStore), "fixed-state-store-gb"),
		option(catLMX, "`GB` fixed state of a session as read for a token (0)", amount(&f.fixedRead), "fixed-state-read-gb"),
		option(catLMX, "`GB` draft model in memory (0)", amount(&f.draftResident), "draft-resident-gb"),
		option(catLMX, "`GB` that drafting reads for a step (0)", amount(&f.draftGB), "draft-traffic-gb"),

		option(catWork, "sequences that decode side by side (1)", whole(&f.batch, 1), "batch", "concurrency"),
		option(catWork, "context that is reserved for a session, tokens (32768)", whole(&f.allocated, 1), "allocated-context"),
		option(catWork, "context that a step reads, tokens (16000)", whole(&f.read, 1), "read-context"),
		option(catWork, "`TOK/S` that a session must reach (20)", amount(&f.minimum), "min-tok-s"),
		word(catWork, "`KIND` standard or speculative (standard)", &f.decoding, "decoding"),
		option(catWork, "tokens drafted for a step (4)", whole(&f.drafted, 0), "draft-tokens"),
		option(catWork, "drafted tokens that are accepted, per cent (80)", &number{&f.acceptance, 0, 100}, "acceptance-percent"),
		option(catWork, "`TOK/S` measured rate to compare", amount(&f.rate), "rate"),
		option(catWork, "measured mean of tokens gained by a step, for the leaderboard's variants", &number{&f.accepted, 1, 1000}, "accepted-length"),
		toggle(catWork, "print JSON instead of text", &f.json, "json"),
	}
}

// run is the command.
func (f *ceilingFlags) run(env *environment) error {
	if f.list {
		return listHardware(env.stdout)
	}
	in, err := f.input()
	if err != nil {
		return err
	}
	out, err := in.work()
	if err != nil {
		return usage(err)
	}
	if f.json {
		return writeJSON(env.stdout, out)
	}
	return out.write(env.stdout)
}

func listHardware(w io.Writer) error {
	for _, g := range ceiling.GPUs() {
		if _, err := fmt.Fprintf(w, "%-46s %6s GB/s  %s\n", g.Name, study.Number(g.BandwidthGBps), g.Source); err != nil {
			return err
		}
	}
	return nil
}

// ceilingInput is what the options mean.
type ceilingInput struct {
	machine      ceiling.Machine
	hardware     string // where bandwidth comes from, in words
	architecture *ceiling.Architecture
	widths       ceiling.Widths
	declared     ceiling.Widths // what the user himself gave, for the hard ceiling
	name         string
	load         ceiling.Load
	lmx          ceiling.LMXInput
	rate         float64 // 0: not given
	accepted     float64 // 0: not given
}

func (f *ceilingFlags) input() (*ceilingInput, error) {
	in := &ceilingInput{rate: orZeroFloat(f.rate), accepted: orZeroFloat(f.accepted)}
	gpu, err := f.card(in)
	if err != nil {
		return nil, err
	}
	if err := f.shape(in); err != nil {
		return nil, err
	}
	if in.machine.PeakTFLOPS = orZeroFloat(f.peak); f.peak == nil && in.architecture != nil {
		in.machine.PeakTFLOPS = gpu.PeakTFLOPS(in.widths.Weight) * float64(max(1, orZero(f.gpus)))
	}
	if err := f.calculator(in); err != nil {
		return nil, err
	}
	in.load = ceiling.Load{
		Batch: max(1, orZero(f.batch)), Context: float64(in.lmx.Workload.ReadContext),
		DraftBytes: in.lmx.Model.DraftTrafficGB * 1e9, TokensPerStep: in.lmx.Workload.TokensPerIteration,
	}
	if f.decoding == "speculative" {
		in.load.Positions = 1 + ceiling.LMXDraftTokens
		if f.drafted != nil {
			in.load.Positions = 1 + *f.drafted
		}
	}
	if in.lmx.Model.MoERouting == "minimum" {
		in.load.Routing = ceiling.MinimumRouting
	}
	return in, nil
}

// card finds the bandwidth: given, or of a card by name.
func (f *ceilingFlags) card(in *ceilingInput) (gpu ceiling.GPU, err error) {
	n := float64(max(1, orZero(f.gpus)))
	if f.hardware != "" {
		var ok bool
		if gpu, ok = ceiling.FindGPU(f.hardware); !ok {
			return gpu, usagef("invalid_option", "--hardware %q is not known, or is several cards (H100 alone is three): see lmxbench ceiling --list-hardware, or give --bandwidth-gbps", f.hardware)
		}
		in.machine.BandwidthGBps = gpu.BandwidthGBps * n
		in.hardware = fmt.Sprintf("%d × %s, nominal, %s", int(n), gpu.Name, gpu.Source)
	}
	switch {
	case f.bandwidth != nil:
		in.machine.BandwidthGBps = *f.bandwidth
		in.hardware = "as given"
	case f.hardware == "" && f.gpus != nil:
		return gpu, usagef("missing_option", "--gpus counts cards of --hardware: give both, or the --bandwidth-gbps of all of them")
	case f.hardware == "":
		in.machine.BandwidthGBps = ceiling.LMXDefaults().Hardware.BandwidthGBps
		in.hardware = "lmx's default: give --hardware or --bandwidth-gbps"
	}
	return gpu, nil
}

// shape finds the model: its config.json, or a kept one by name.
func (f *ceilingFlags) shape(in *ceilingInput) error {
	in.declared = ceiling.Widths{
		Weight: orZeroFloat(f.bits), Head: orZeroFloat(f.headBits), Cache: orZeroFloat(f.readBits), State: orZeroFloat(f.stateBits),
	}
	switch {
	case f.config != "" && f.model != "":
		return usagef("invalid_option", "--config and --model both name the model: give one")
	case f.config != "":
		a, err := readModelConfig("--config", f.config)
		if err != nil {
			return err
		}
		in.architecture, in.name = a, a.Name
		if in.widths, err = ceiling.WidthsFor(*a, f.quantization); err != nil && in.declared.Weight == 0 {
			return usagef("invalid_option", "--quantization: %v with --weight-bits", err)
		}
	case f.model != "":
		a, w, ok := ceiling.KnownModel(f.model)
		if !ok {
			return usagef("invalid_option", "the shape of %q is not kept in this program: give its config.json with --config", f.model)
		}
		in.architecture, in.widths, in.name = &a, w, f.model
		if f.quantization != "" {
			byName, err := ceiling.WidthsFor(a, f.quantization)
			if err != nil {
				return usagef("invalid_option", "--quantization: %v with --weight-bits", err)
			}
			in.widths.Weight, in.widths.Expert = byName.Weight, byName.Expert
		}
	case f.quantization != "" && f.bits == nil:
		bits, err := ceiling.WeightBits(f.quantization)
		if err != nil {
			return usagef("invalid_option", "--quantization: %v with --weight-bits", err)
		}
		f.bits = &bits
	}
	in.widths = overrideWidths(in.widths, in.declared)
	return nil
}

func overrideWidths(w, by ceiling.Widths) ceiling.Widths {
	for _, x := range []struct {
		to   *float64
		from float64
	}{{&w.Weight, by.Weight}, {&w.Head, by.Head}, {&w.Cache, by.Cache}, {&w.State, by.State}} {
		if x.from > 0 {
			*x.to = x.from
		}
	}
	return w
}

// calculator fills lmx's input: its defaults, the model's own numbers where its
// shape is known, and what was given.
func (f *ceilingFlags) calculator(in *ceilingInput) error {
	x := ceiling.LMXDefaults()
	if in.architecture != nil {
		describe(&x, in.architecture, in.widths)
	}
	x.Hardware.BandwidthGBps = in.machine.BandwidthGBps
	set := func(to *float64, from *float64) {
		if from != nil {
			*to = *from
		}
	}
	setInt := func(to *int, from *int) {
		if from != nil {
			*to = *from
		}
	}
	set(&x.Hardware.CapacityGB, f.capacity)
	set(&x.Hardware.OverheadGB, f.overhead)
	if f.architecture != "" {
		x.Model.Architecture = f.architecture
	}
	if f.routing != "" {
		x.Model.MoERouting = f.routing
	}
	set(&x.Model.TotalParamsB, f.total)
	set(&x.Model.ActiveParamsB, f.active)
	set(&x.Model.WeightBits, f.bits)
	set(&x.Model.DraftResidentGB, f.draftResident)
	set(&x.Model.DraftTrafficGB, f.draftGB)
	setInt(&x.Model.ExpertCount, f.experts)
	setInt(&x.Model.ExpertsPerToken, f.perToken)
	setInt(&x.Cache.GlobalLayers, f.globalLayers)
	setInt(&x.Cache.LocalLayers, f.localLayers)
	setInt(&x.Cache.KVHeads, f.heads)
	setInt(&x.Cache.HeadDim, f.dim)
	set(&x.Cache.StoreBits, f.storeBits)
	set(&x.Cache.ReadBits, f.readBits)
	setInt(&x.Cache.SlidingWindow, f.window)
	set(&x.Cache.FixedStateStoreGB, f.fixedStore)
	set(&x.Cache.FixedStateReadGB, f.fixedRead)
	setInt(&x.Workload.AllocatedContext, f.allocated)
	setInt(&x.Workload.ReadContext, f.read)
	if f.read != nil && f.allocated == nil {
		x.Workload.AllocatedContext = max(x.Workload.AllocatedContext, *f.read)
	}
	set(&x.Workload.MinPerSessionTokps, f.minimum)
	if x.Model.Architecture == "dense" && f.active == nil {
		x.Model.ActiveParamsB = x.Model.TotalParamsB
	}
	tokens, err := f.tokensPerIteration()
	x.Workload.TokensPerIteration = tokens
	in.lmx = x
	return err
}

func (f *ceilingFlags) tokensPerIteration() (float64, error) {
	switch f.decoding {
	case "", "standard":
		if f.drafted != nil || f.acceptance != nil {
			return 0, usagef("missing_option", "--draft-tokens and --acceptance-percent are for --decoding speculative: give it too")
		}
		return 1, nil
	case "speculative":
	default:
		return 0, usagef("invalid_option", "--decoding %q: write standard or speculative", f.decoding)
	}
	k, a := ceiling.LMXDraftTokens, float64(ceiling.LMXAcceptancePercent)
	if f.drafted != nil {
		k = *f.drafted
	}
	if f.acceptance != nil {
		a = *f.acceptance
	}
	tokens, ok := ceiling.TokensPerPass(a/100, k)
	if !ok {
		return 0, usagef("invalid_option", "--acceptance-percent %v: write a number from 0 to 100", a)
	}
	return tokens, nil
}

// describe puts a known shape into lmx's terms. Its cache has one kind of head;
// where a model's has not, elements per token are spread over the layers.
func describe(x *ceiling.LMXInput, a *ceiling.Architecture, w ceiling.Widths) {
	x.Model.TotalParamsB, x.Model.ActiveParamsB = float64(a.TotalParams())/1e9, float64(a.ActiveParams())/1e9
	x.Model.WeightBits = w.Weight
	x.Model.Architecture = "dense"
	if a.Experts.Layers > 0 {
		x.Model.Architecture = "moe"
		x.Model.ExpertCount, x.Model.ExpertsPerToken = a.Experts.PerLayer, a.Experts.Chosen
	}
	x.Cache.GlobalLayers, x.Cache.LocalLayers, x.Cache.KVHeads, x.Cache.HeadDim = 0, 0, 1, 1
	for _, c := range a.Caches {
		if c.Window > 0 {
			x.Cache.LocalLayers += c.Layers
			x.Cache.SlidingWindow = c.Window
		} else {
			x.Cache.GlobalLayers += c.Layers
		}
		x.Cache.HeadDim = max(x.Cache.HeadDim, int(c.ElementsPerToken/2))
	}
	if w.Cache > 0 {
		x.Cache.StoreBits, x.Cache.ReadBits = w.Cache, w.Cache
	}
	stateBits := w.State
	if stateBits == 0 {
		stateBits = 32
	}
	state := float64(a.StateElements) * stateBits / 8 / 1e9
	x.Cache.FixedStateStoreGB, x.Cache.FixedStateReadGB = state, 2*state
}
