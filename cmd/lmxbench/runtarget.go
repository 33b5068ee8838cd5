package main

import (
	"os"
	"strings"

	"lmxbench/internal/engine"
)

// target is the server to ask, with its key and certificates.
func (f *runFlags) target() (engine.Target, error) {
	var t engine.Target
	var err error
	if f.baseURL != "" {
		if t.Base, err = engine.ParseBaseURL(f.baseURL); err != nil {
			return t, usagef("invalid_option", "--base-url: %v", err)
		}
	}
	if t.Key, err = f.key(); err != nil {
		return t, err
	}
	if f.insecure || f.caFile != "" {
		if t.TLS, err = engine.LoadTLS(f.caFile, f.insecure); err != nil {
			return t, usagef("invalid_option", "--cacert: %v", err)
		}
	}
	return t, nil
}

// key finds the server's key: environment first, then a private file.
func (f *runFlags) key() (engine.Secret, error) {
	for _, name := range []string{"LMXBENCH_API_KEY", "OPENAI_API_KEY"} {
		if key := os.Getenv(name); key != "" {
			return engine.Secret(key), nil
		}
	}
	if f.apiKeyFile == "" {
		return "", nil
	}
	return f.fileKey()
}

func (f *runFlags) fileKey() (engine.Secret, error) {
	info, err := os.Stat(f.apiKeyFile)
	if err != nil {
		return "", usagef("file_read_error", "--api-key-file %s cannot be read: %v", f.apiKeyFile, underlying(err))
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", usagef("invalid_option", "--api-key-file %s has mode %04o, so others can read it: chmod 600 %s", f.apiKeyFile, mode, f.apiKeyFile)
	}
	text, err := os.ReadFile(f.apiKeyFile)
	if err != nil {
		return "", usagef("file_read_error", "--api-key-file %s cannot be read: %v", f.apiKeyFile, underlying(err))
	}
	key := strings.TrimSpace(string(text))
	if key == "" {
		return "", usagef("invalid_option", "--api-key-file %s is empty", f.apiKeyFile)
	}
	return engine.Secret(key), nil
}
