package engine

import (
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// switches are options without an argument, of any engine. Those that begin
// like the first group are switches by their makers' convention.
var switches = regexp.MustCompile(`^--(?:(?:no|enable|disable|skip|trust|enforce)-.*|` +
	`async-scheduling|headless|calculate-kv-scales|use-v2-block-manager|fully-sharded-loras|` +
	`jinja|metrics|slots|props|mlock|mmap|cont-batching|embeddings?|rerank(?:ing)?|verbose|special|` +
	`swa-full|kv-unified|kv-offload|context-shift|check-tensors|warmup|perf|offline|cpu-moe|webui)$|` +
	`^-(?:cb|nocb|v|kvu|nkvo|nr|sp|cmoe)$`)

// choices are options that work alone and with one word of a few.
var (
	choices    = regexp.MustCompile(`^(?:-fa|--flash-attn|--enable-.*)$`)
	choiceWord = regexp.MustCompile(`(?i)^(?:on|off|auto|true|false|0|1)$`)
)

// takesValue reports whether the word behind an option is its argument.
func takesValue(name, next string) bool {
	plain := plainFlag(name)
	switch {
	case choices.MatchString(plain):
		return choiceWord.MatchString(next)
	case switches.MatchString(plain):
		return false
	}
	return !isFlag(next)
}

// plainFlag is an option's name in the spelling that is compared: vLLM takes
// "_" for "-".
func plainFlag(name string) string {
	if strings.HasPrefix(name, "--") {
		return strings.ReplaceAll(name, "_", "-")
	}
	return name
}

// Lookup returns the last option with one of the names.
func (c ServeCommand) Lookup(names ...string) (Flag, bool) {
	for i := len(c.Flags) - 1; i >= 0; i-- {
		for _, name := range names {
			if plainFlag(c.Flags[i].Name) == name {
				return c.Flags[i], true
			}
		}
	}
	return Flag{}, false
}

// Text returns the argument of the last option with one of the names.
func (c ServeCommand) Text(names ...string) (string, bool) {
	f, ok := c.Lookup(names...)
	return f.Value, ok && f.HasValue && f.Value != ""
}

// optionsOf are options that only one kind of engine has; they tell the kind
// where the text is options alone.
var optionsOf = []struct {
	kind  Kind
	names []string
}{
	{LlamaCPP, []string{
		"-ngl", "--n-gpu-layers", "--gpu-layers", "-fa", "--flash-attn", "-c", "--ctx-size", "-ctk", "-ctv",
		"--cache-type-k", "--cache-type-v", "-np", "--parallel", "-md", "--spec-type", "--jinja", "-hf", "-hfr", "-m",
	}},
	{SGLang, []string{"--model-path", "--mem-fraction-static", "--max-running-requests", "--speculative-algorithm"}},
	{VLLM, []string{
		"--max-model-len", "--max-num-seqs", "--gpu-memory-utilization", "--speculative-config",
		"--max-num-batched-tokens", "--tensor-parallel-size",
	}},
}

// kindOfOptions tells the engine by its options.
func kindOfOptions(args []string) Kind {
	probe := ServeCommand{}
	probe.take(args)
	for _, o := range optionsOf {
		if _, ok := probe.Lookup(o.names...); ok {
			return o.kind
		}
	}
	return Unknown
}

// ContextLength is the context the command asks for, in tokens; 0 where it does
// not say. llama.cpp's is that of all slots together.
func (c ServeCommand) ContextLength() int {
	value, _ := c.Text("--max-model-len", "--ctx-size", "-c", "--context-length", "--n-ctx")
	return tokenCount(value)
}

// tokenCount reads a number of tokens: "32768", and vLLM's "32k" (thousands),
// "32K" (1,024s), likewise for m, M, g, G.
func tokenCount(value string) int {
	factor := 1.0
	if n := len(value); n > 1 {
		switch value[n-1] {
		case 'k':
			factor = 1e3
		case 'K':
			factor = 1 << 10
		case 'm':
			factor = 1e6
		case 'M':
			factor = 1 << 20
		case 'g':
			factor = 1e9
		case 'G':
			factor = 1 << 30
		}
		if factor != 1 {
			value = value[:n-1]
		}
	}
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || f <= 0 || f*factor > 1<<40 {
		return 0
	}
	return int(f * factor)
}

// setting is one of lmx's engine flags and the options that set it.
type setting struct {
	key   string
	kind  Kind // Unknown: any
	names []string
	read  func(string) (any, bool)
}

var settings = []setting{
	{"tensorParallel", Unknown, []string{"--tensor-parallel-size", "-tp", "--tp-size", "--tp"}, readInt},
	{"pipelineParallel", Unknown, []string{"--pipeline-parallel-size", "-pp", "--pp-size"}, readInt},
	{"maxRunningSeqs", Unknown, []string{"--max-num-seqs", "--max-running-requests"}, readInt},
	{"gpuMemUtil", Unknown, []string{"--gpu-memory-utilization", "--mem-fraction-static"}, readFloat},
	{"kvCacheDtype", Unknown, []string{"--kv-cache-dtype"}, readText},
	{"attentionBackend", Unknown, []string{"--attention-backend"}, readText},
	{"cpuOffloadGb", Unknown, []string{"--cpu-offload-gb"}, readFloat},
	{"engineQuant", VLLM, []string{"--quantization", "-q"}, readText},
	{"sglangQuant", SGLang, []string{"--quantization"}, readText},
	{"prefillChunkSize", SGLang, []string{"--chunked-prefill-size"}, readInt},
	{"gpuLayers", LlamaCPP, []string{"-ngl", "--n-gpu-layers", "--gpu-layers"}, readInt},
	{"numParallel", LlamaCPP, []string{"-np", "--parallel"}, readInt},
	{"splitMode", LlamaCPP, []string{"-sm", "--split-mode"}, readText},
	{"ropeScaling", Unknown, []string{"--rope-scaling"}, readText},
	{"ropeScale", LlamaCPP, []string{"--rope-scale"}, readFloat},
	{"yarnExtFactor", LlamaCPP, []string{"--yarn-ext-factor"}, readFloat},
}

func readInt(value string) (any, bool) {
	n, err := strconv.Atoi(value)
	return n, err == nil
}

func readFloat(value string) (any, bool) {
	f, err := strconv.ParseFloat(value, 64)
	return f, err == nil && finite(f)
}

func readText(value string) (any, bool) { return value, value != "" }

// EngineFlags gives what the command says in lmx's names, ready for the
// engineFlags of a result. Three are filled in where the command of a known
// engine is silent, from what the engines do then: tensorParallel is 1,
// contBatching is true, and prefixCaching is true for vLLM and SGLang. A value
// that is no number where one is due is left out.
func (c ServeCommand) EngineFlags() map[string]any {
	flags := map[string]any{}
	if c.Kind != Unknown && c.Kind != Ollama {
		flags["tensorParallel"], flags["contBatching"] = 1, true
	}
	for _, s := range settings {
		if s.kind != Unknown && s.kind != c.Kind {
			continue
		}
		value, given := c.Text(s.names...)
		if read, ok := s.read(value); given && ok {
			flags[s.key] = read
		}
	}
	switch c.Kind {
	case VLLM:
		flags["prefixCaching"] = c.switched("--enable-prefix-caching", "--no-enable-prefix-caching", true)
	case SGLang:
		_, off := c.Lookup("--disable-radix-cache")
		flags["prefixCaching"] = !off
	case LlamaCPP:
		c.llamaFlags(flags)
	}
	if _, said := c.Lookup("--enable-chunked-prefill", "--no-enable-chunked-prefill"); said {
		flags["chunkedPrefill"] = c.switched("--enable-chunked-prefill", "--no-enable-chunked-prefill", true)
	}
	if s, ok := c.Speculation(); ok {
		s.flags(flags)
	}
	return flags
}

// switched reads a pair of switches; the later one counts.
func (c ServeCommand) switched(on, off string, otherwise bool) bool {
	f, ok := c.Lookup(on, off)
	if !ok {
		return otherwise
	}
	return plainFlag(f.Name) == on && !isNo(f.Value)
}

func isNo(value string) bool {
	switch strings.ToLower(value) {
	case "off", "false", "0":
		return true
	}
	return false
}

// llamaFlags reads what only llama.cpp has.
func (c ServeCommand) llamaFlags(flags map[string]any) {
	if f, ok := c.Lookup("-fa", "--flash-attn"); ok && !strings.EqualFold(f.Value, "auto") {
		flags["flashAttn"] = !isNo(f.Value)
	}
	if _, off := c.Lookup("--no-cont-batching", "-nocb"); off {
		flags["contBatching"] = false
	}
	k, _ := c.Text("-ctk", "--cache-type-k")
	v, _ := c.Text("-ctv", "--cache-type-v")
	switch {
	case k != "" && v != "" && k != v:
		flags["kvCacheDtype"] = k + "/" + v
	case k+v != "":
		flags["kvCacheDtype"] = either(k, v)
	}
}

// Speculation is what a command says of speculative decoding.
type Speculation struct {
	// Method is as written, or derived from the draft model where the command
	// names only that: "dspark", "dflash", "draft_model".
	Method string
	// Tokens is how many tokens a draft holds at most, 0 where it is not said.
	Tokens int
	// Model is the draft model as written; empty where there is none.
	Model string
	// DraftTP is the tensor parallelism of the draft model, NgramSize the
	// longest n-gram looked up; 0 where not said.
	DraftTP, NgramSize int
}

// Speculation returns what the command says of speculative decoding; ok is
// false where it does not switch it on.
func (c ServeCommand) Speculation() (s Speculation, ok bool) {
	s, ok = c.jsonSpeculation()
	tokens := func(names ...string) {
		if value, given := c.Text(names...); given {
			s.Tokens, _ = strconv.Atoi(value)
			ok = true
		}
	}
	words := func(into *string, names ...string) {
		if value, given := c.Text(names...); given {
			*into = value
			ok = true
		}
	}
	words(&s.Method, "--spec-type", "--speculative-algorithm", "--speculative-algo")
	words(&s.Model, "-md", "--model-draft", "--spec-draft-model",
		"--speculative-draft-model-path", "--speculative-draft-model", "--speculative-model")
	if ok { // alone, a number of tokens switches nothing on
		tokens("--spec-draft-n-max", "--draft-max", "--draft", "--draft-n",
			"--speculative-num-draft-tokens", "--num-speculative-tokens")
	}
	if strings.EqualFold(s.Method, "none") {
		return Speculation{}, false
	}
	if ok && s.Method == "" {
		s.Method = methodOf(s.Model)
	}
	return s, ok
}

// jsonSpeculation reads vLLM's --speculative-config: a JSON object, or its
// members one by one as --speculative-config.method.
func (c ServeCommand) jsonSpeculation() (s Speculation, ok bool) {
	const option = "--speculative-config"
	fields := map[string]any{}
	if value, given := c.Text(option, "-sc"); given {
		ok = true
		if parsed := object([]byte(value)); parsed != nil {
			fields = parsed
		}
	}
	for _, f := range c.Flags {
		if member, is := strings.CutPrefix(plainFlag(f.Name), option+"."); is {
			ok = true
			fields[strings.ReplaceAll(member, "-", "_")] = memberValue(f.Value)
		}
	}
	s.Method, s.Model = text(fields, "method"), text(fields, "model")
	s.Tokens = wholeNumber(fields["num_speculative_tokens"])
	s.DraftTP = wholeNumber(fields["draft_tensor_parallel_size"])
	s.NgramSize = wholeNumber(fields["prompt_lookup_max"])
	return s, ok
}

// memberValue is a member that stands as an option of its own.
func memberValue(value string) any {
	if n := json.Number(value); wholeNumber(n) != 0 {
		return n
	}
	return value
}

// methodOf derives the method from the draft model's name.
func methodOf(model string) string {
	lower := strings.ToLower(model)
	switch {
	case strings.Contains(lower, "dspark"):
		return "dspark"
	case strings.Contains(lower, "dflash"):
		return "dflash"
	}
	return "draft_model"
}

// flags writes lmx's names. Of a model only the last part of its name is given:
// folders are the machine's own business.
func (s Speculation) flags(flags map[string]any) {
	flags["specDecoding"] = true
	flags["specMethod"] = s.Method
	if strings.EqualFold(s.Method, "mtp") {
		flags["mtpEnabled"] = true
	}
	for key, n := range map[string]int{
		"specNumTokens": s.Tokens, "specDraftTp": s.DraftTP, "specNgramSize": s.NgramSize,
	} {
		if n > 0 {
			flags[key] = n
		}
	}
	if s.Model != "" {
		flags["specModel"] = path.Base(s.Model)
	}
}
