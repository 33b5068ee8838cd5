package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"lmxbench/bench"
	"lmxbench/bench/report"
	"lmxbench/internal/engine"
	"lmxbench/internal/hardware"
)

// promptText decides the prompt: given, from a file, from standard input,
// padded, or the canonical one.
func (f *runFlags) promptText(env *environment, p *report.Plan) (err error) {
	p.PromptFile = f.promptFile
	switch {
	case f.prompt != "":
		p.Prompt, p.PromptSource = f.prompt, "inline"
	case f.promptFile == "-":
		p.PromptSource = "stdin"
		text, err := io.ReadAll(env.stdin)
		if err != nil {
			return usagef("prompt_file_unreadable", "--prompt-file -: standard input cannot be read: %v", err)
		}
		p.Prompt = string(text)
	case f.promptFile != "":
		p.PromptSource = "file"
		text, err := os.ReadFile(f.promptFile)
		if err != nil {
			return usagef("prompt_file_unreadable", "--prompt-file %s cannot be read: %v", f.promptFile, underlying(err))
		}
		p.Prompt = string(text)
	case f.promptTokens != nil:
		p.PromptSource = "synthesized_prompt_tokens"
		p.Prompt, err = bench.PadPrompt(*f.promptTokens, f.fillerToken)
	default:
		p.PromptSource = "default"
		p.Prompt, err = bench.CanonicalPrompt(bench.DefaultPrompt)
	}
	if err != nil {
		return err
	}
	if f.promptTokens != nil && p.PromptSource != "synthesized_prompt_tokens" {
		p.DeclaredPromptTokens = *f.promptTokens
	}
	if err := bench.CheckPrompt(p.Prompt); err != nil {
		code, name := "invalid_option", "--prompt"
		if f.promptFile != "" {
			name = "--prompt-file " + f.promptFile
			if p.Prompt == "" {
				code = "prompt_file_empty"
			}
		}
		return usagef(code, "%s %v: give a prompt of UTF-8 text", name, err)
	}
	return nil
}

// underlying is the reason without the path, which the caller has named.
func underlying(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// files reads what other options point to.
func (f *runFlags) files(p *report.Plan) error {
	if f.hardware != "" {
		file, err := hardware.ReadFile(f.hardware)
		if err != nil {
			return usagef("invalid_hardware", "--hardware: %v; write one with lmxbench hardware detect --out", err)
		}
		p.Hardware = file.Raw
	}
	if f.hardwareCost != "" {
		cost, err := hardwareCost(f.hardwareCost)
		if err != nil {
			return usagef("invalid_option", "--hardware-cost: %v", err)
		}
		p.HardwareCost = cost
	}
	if f.serveCommandFile != "" {
		text, err := os.ReadFile(f.serveCommandFile)
		if err != nil {
			return usagef("file_read_error", "--serve-command-file %s cannot be read: %v", f.serveCommandFile, underlying(err))
		}
		command, err := engine.ParseServeCommand(string(text))
		if err != nil {
			return usagef("invalid_option", "--serve-command-file %s: %v", f.serveCommandFile, err)
		}
		p.ServeCommand = strings.TrimSpace(string(text))
		p.ServeFlags = command.EngineFlags()
	}
	return nil
}
