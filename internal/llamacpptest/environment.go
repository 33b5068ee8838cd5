package llamacpptest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed requirements.txt
var requirements []byte

// installTimeout bounds the making of the Python environment, waiting for
// another test that makes it included.
const installTimeout = 5 * time.Minute

// pythons are the interpreters that are tried, in order.
var pythons = []string{"python3", "python3.13", "python3.12", "python3.11", "python3.10"}

// environment returns the Python interpreter of an environment with the pinned
// packages, and makes the environment first where it is not there or is another
// one. Tests of several packages can ask at once: one makes it, the others wait.
func environment(ctx context.Context) (python string, err error) {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	root, err := projectRoot()
	if err != nil {
		return "", err
	}
	build := filepath.Join(root, "build")
	if err := os.MkdirAll(build, 0o755); err != nil {
		return "", fmt.Errorf("make build folder: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(build, "llamacpp-venv.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()

	home := filepath.Join(build, "llamacpp-venv")
	python = filepath.Join(home, "bin", "python")
	if complete(home) && exec.CommandContext(ctx, python, "-c", "").Run() == nil {
		return python, nil
	}
	// It is made beside its place and moved there when it is whole, so that a
	// test that is killed leaves nothing that looks finished.
	draft := home + ".new"
	if err := install(ctx, draft); err != nil {
		return "", fmt.Errorf("make Python environment %s: %w", draft, err)
	}
	if err := os.RemoveAll(home); err != nil {
		return "", fmt.Errorf("remove old Python environment: %w", err)
	}
	if err := os.Rename(draft, home); err != nil {
		return "", fmt.Errorf("put Python environment into place: %w", err)
	}
	return python, nil
}

// complete reports whether home was made from these requirements.
func complete(home string) bool {
	mark, err := os.ReadFile(filepath.Join(home, "complete"))
	return err == nil && string(mark) == requirementsHash()
}

func requirementsHash() string {
	sum := sha256.Sum256(requirements)
	return hex.EncodeToString(sum[:])
}

// install makes an environment in home.
func install(ctx context.Context, home string) error {
	if err := os.RemoveAll(home); err != nil {
		return err
	}
	base, err := basePython(ctx)
	if err != nil {
		return err
	}
	if err := run(ctx, base, "-m", "venv", home); err != nil {
		return err
	}
	list := filepath.Join(home, "requirements.txt")
	if err := os.WriteFile(list, requirements, 0o644); err != nil {
		return err
	}
	python := filepath.Join(home, "bin", "python")
	err = run(ctx, python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
		"--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", list)
	if err != nil {
		return err
	}
	if err := run(ctx, python, "-c", "import xllamacpp"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, "complete"), []byte(requirementsHash()), 0o644)
}

// basePython finds an interpreter that the packages are built for.
func basePython(ctx context.Context) (string, error) {
	const check = "import sys, venv; sys.exit(sys.version_info < (3, 10))"
	var tried []error
	for _, name := range pythons {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if err := run(ctx, path, "-c", check); err != nil {
			tried = append(tried, err)
			continue
		}
		return path, nil
	}
	return "", errors.Join(append(tried, errors.New("no Python 3.10 or newer with the venv module was found"))...)
}

// run runs a program to its end. Its error holds the last lines of its output.
func run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 5 * time.Second
	output, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, tail(output))
}

// tail is the last lines of a program's output.
func tail(output []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-20):], []byte("\n"))
}

// projectRoot is the folder above the working directory that holds go.mod.
func projectRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory: where is the project?")
		}
		dir = parent
	}
}
