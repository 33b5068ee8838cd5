package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"lmxbench/bench"
	"lmxbench/internal/engine"
	"lmxbench/internal/simserver"
)

// startSim starts this program's own simulated engine as a child process on a
// free loopback port and makes it the target. stop ends it and waits.
func (f *runFlags) startSim(ctx context.Context, env *environment, cfg *bench.Config) (stop func(), err error) {
	profile, err := simserver.LookupProfile(f.sim)
	if err != nil {
		return nil, usagef("invalid_option", "--sim: %v", err)
	}
	if err := simserver.CheckFault(f.simFault); err != nil {
		return nil, usagef("invalid_option", "--sim-fault: %v: see lmxbench sim --list-faults", err)
	}
	args := []string{"sim", "--profile", profile.Name, "--until-stdin-ends"}
	if f.simFault != "" {
		args = append(args, "--fault="+f.simFault)
	}
	if f.simFaultEvery != nil {
		args = append(args, fmt.Sprintf("--fault-every=%d", *f.simFaultEvery))
	}
	// With four cores or more both sides get their own, so that neither makes
	// the other late.
	if cores := runtime.NumCPU(); cores >= 4 {
		args = append(args, fmt.Sprintf("--cpus=%d-%d", cores/2, cores-1))
		if err := pin(fmt.Sprintf("0-%d", cores/2-1)); err != nil {
			return nil, fmt.Errorf("keep to half of the cores: %w", err)
		}
		runtime.GOMAXPROCS(cores / 2)
	}
	where, stop, err := startChild(ctx, env, args)
	if err != nil {
		return nil, fmt.Errorf("start the simulated engine: %w", err)
	}
	if cfg.Target.Base, err = engine.ParseBaseURL(where.URL); err != nil {
		stop()
		return nil, err
	}
	cfg.Target.Key = "" // the child needs none, and a key of a real server is not for it
	cfg.Plan.Simulated = profile.Name
	if cfg.Plan.HFID == "" {
		cfg.Plan.HFID = profile.Root
	}
	return stop, nil
}

// childGrace is how long a child may take to start and to end.
const childGrace = 10 * time.Second

// startChild runs this program with args and reads its announcement. The child
// is in a process group of its own, so that an interrupt at the terminal
// reaches the measurement first; it ends when its standard input does, hence
// also when this process dies.
func startChild(ctx context.Context, env *environment, args []string) (announcement, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return announcement{}, nil, err
	}
	child := exec.Command(self, args...)
	child.Env = childEnvironment()
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.Stderr = env.stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return announcement{}, nil, err
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return announcement{}, nil, err
	}
	if err := child.Start(); err != nil {
		return announcement{}, nil, err
	}
	stop := func() {
		stdin.Close()
		late := time.AfterFunc(childGrace, func() { child.Process.Kill() })
		defer late.Stop()
		child.Wait()
	}
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		lines <- line
	}()
	var where announcement
	select {
	case line := <-lines:
		if err := json.Unmarshal([]byte(line), &where); err != nil {
			stop()
			return where, nil, errors.New("it ended without telling its address")
		}
		return where, stop, nil
	case <-time.After(childGrace):
		err = fmt.Errorf("no address within %s", childGrace)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	stop()
	return where, nil, err
}

// childEnvironment keeps what a child process needs, and no key.
func childEnvironment() []string {
	var keep []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		switch {
		case name == "PATH", name == "HOME", name == "TMPDIR", name == "LANG", strings.HasPrefix(name, "GO"), strings.HasPrefix(name, "TESTSCRIPT"):
			keep = append(keep, pair)
		}
	}
	return keep
}
