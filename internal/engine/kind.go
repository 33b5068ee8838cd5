package engine

import "strings"

// Kind is a family of model servers, in the words the leaderboard uses.
type Kind string

// The kinds that are told apart.
const (
	VLLM     Kind = "vllm"
	SGLang   Kind = "sglang"
	LlamaCPP Kind = "llama.cpp"
	Ollama   Kind = "ollama"
	// Unknown is an OpenAI-compatible server that does not say what it is.
	Unknown Kind = ""
)

// owners are what servers write into "owned_by" of their model list.
var owners = map[string]Kind{"vllm": VLLM, "sglang": SGLang, "llamacpp": LlamaCPP, "library": Ollama}

// kindFromList guesses the kind from the model list and the Server header: the
// guess decides which further questions are asked.
func kindFromList(a answer, models []Model) Kind {
	if strings.HasPrefix(strings.ToLower(a.server), "llama.cpp") {
		return LlamaCPP
	}
	for _, m := range models {
		if kind, known := owners[strings.ToLower(m.OwnedBy)]; known {
			return kind
		}
	}
	return Unknown
}

// engineNames are other spellings of engine names, as lmx normalises them.
var engineNames = map[string]string{
	"llama": "llama.cpp", "llamacpp": "llama.cpp", "llama-bench": "llama.cpp", "llama.cpp-bench": "llama.cpp",
	"vllm serve": "vllm", "vllm-bench": "vllm",
	"sgl": "sglang", "sglang-bench": "sglang",
	"zml": "llmd", "zml/llmd": "llmd", "zml llmd": "llmd",
	"free-token": "freetoken", "free token": "freetoken",
	"n-infer": "ninfer", "n infer": "ninfer",
}

// canonicalNames are the names whose letter case is put right.
var canonicalNames = []string{"llama.cpp", "vllm", "sglang", "llmd", "freetoken", "ninfer", "ollama"}

// NormalizeName gives the name under which the leaderboard lists an engine.
// Names it does not know are returned as they are, spaces around them aside.
func NormalizeName(name string) string {
	name = strings.TrimSpace(name)
	lower := strings.ToLower(name)
	if canonical, known := engineNames[lower]; known {
		return canonical
	}
	for _, canonical := range canonicalNames {
		if lower == canonical {
			return canonical
		}
	}
	return name
}
