package engine

import (
	"path"
	"regexp"
	"strings"
)

// containerRunners are the programs whose "run" starts an image.
var containerRunners = []string{"docker", "podman", "nerdctl"}

// Options of "docker run" that have no argument: bundles of letters, long names.
var (
	dockerLetters  = regexp.MustCompile(`^-[ditPq]+$`)
	dockerSwitches = regexp.MustCompile(`^--(?:rm|detach|interactive|tty|privileged|init|read-only|` +
		`no-healthcheck|oom-kill-disable|publish-all|quiet|replace|tls-verify)$`)
	// An argument written onto its letter: -p8000:8000, -eNAME=value.
	dockerAttached = regexp.MustCompile(`^-[aceghlmpuvw].`)
)

// image is what "docker run" says before the words that the container gets.
type image struct {
	words      []string // "docker" up to and including the image's name
	name       string
	entrypoint string
	env        []string
}

// containerImage finds "docker run … IMAGE" in a command. rest is what is behind.
func containerImage(args []string) (found image, rest []string, ok bool) {
	begin := -1
	for i := range args {
		if i+1 < len(args) && isRunner(args[i]) && (args[i+1] == "run" || args[i+1] == "container") {
			begin = i
			break
		}
	}
	if begin < 0 {
		return image{}, nil, false
	}
	i := begin + 2
	if i < len(args) && args[i-1] == "container" {
		i++ // docker container run
	}
	for ; i < len(args) && strings.HasPrefix(args[i], "-"); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case dockerLetters.MatchString(args[i]), dockerSwitches.MatchString(name):
			continue
		case !strings.HasPrefix(name, "--") && dockerAttached.MatchString(args[i]):
			name, value = args[i][:2], args[i][2:]
		case !joined && i+1 < len(args):
			i++
			value = args[i]
		}
		switch name {
		case "-e", "--env":
			found.env = append(found.env, value)
		case "--entrypoint":
			found.entrypoint = value
		}
	}
	if i >= len(args) {
		return image{}, nil, false
	}
	found.name, found.words = args[i], args[begin:i+1]
	rest = args[i+1:]
	if found.entrypoint != "" {
		rest = append([]string{found.entrypoint}, rest...)
	}
	return found, rest, true
}

func isRunner(word string) bool {
	for _, runner := range containerRunners {
		if path.Base(word) == runner {
			return true
		}
	}
	return false
}

// kind guesses the engine from the image's name: images start their engine by
// themselves.
func (i image) kind() Kind {
	name := strings.ToLower(i.name)
	switch {
	case strings.Contains(name, "vllm"):
		return VLLM
	case strings.Contains(name, "sglang"):
		return SGLang
	case strings.Contains(name, "llama.cpp"), strings.Contains(name, "llama-cpp"), strings.Contains(name, "llamacpp"):
		return LlamaCPP
	case strings.Contains(name, "ollama"):
		return Ollama
	}
	return Unknown
}
