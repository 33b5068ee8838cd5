package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	"lmxbench/internal/simserver"
)

// simFlags are the options of sim.
type simFlags struct {
	addr, profile, name, fault, flavor string
	keyFile, certFile, urlFile, cpus   string
	faultEvery, seed, shards           *int
	list, listFaults, tls, child       bool
}

// announcement is the first line that sim prints: where it listens.
type announcement struct {
	URL     string `json:"url"`
	Model   string `json:"model"`
	Profile string `json:"profile"`
}

func simCommand(env *environment) *cli.Command {
	f := &simFlags{}
	whole := func(to **int, least int) cli.Value { return &count{to, least} }
	return &cli.Command{
		Name:  "sim",
		Usage: "start the simulated engine",
		Description: "Serves made-up text at the pace of a stated engine, on loopback, until interrupted.\n" +
			"Prints one JSON line with its address. Nothing measured against it is a result of a real engine.",
		Flags: []cli.Flag{
			word("", "`HOST:PORT` address to listen on (default: a free port of 127.0.0.1)", &f.addr, "addr"),
			word("", "`PROFILE` engine to imitate (default: default; see --list)", &f.profile, "profile"),
			word("", "`NAME` name to serve the model under (default: the profile's)", &f.name, "served-model-name"),
			word("", "`vllm|llamacpp` stream shape, metric names, side endpoints (default: the profile's)", &f.flavor, "flavor"),
			word("", "`FAULT` fault to show, NAME or NAME:ARGUMENT (see --list-faults)", &f.fault, "fault"),
			option("", "show the fault on every n-th request only", whole(&f.faultEvery, 1), "fault-every"),
			option("", "seed of jitter, speculation and faults", whole(&f.seed, 0), "seed"),
			option("", "writing threads", whole(&f.shards, 1), "shards"),
			word("", "`FILE` demand the bearer key in this file, of mode 0600", &f.keyFile, "api-key-file"),
			toggle("", "serve HTTPS with a certificate of its own making", &f.tls, "tls"),
			word("", "`FILE` write that certificate to this file", &f.certFile, "cert-out"),
			word("", "`FILE` write the address to this file once requests are taken", &f.urlFile, "url-file"),
			word("", "`CORES` cores to run on, such as 2-3,6", &f.cpus, "cpus"),
			toggle("", "end when standard input ends", &f.child, "until-stdin-ends"),
			toggle("", "list the profiles", &f.list, "list"),
			toggle("", "list the faults", &f.listFaults, "list-faults"),
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.Args().Len() > 0 {
				return usagef("invalid_option", "sim takes no argument, got %q: give the profile with --profile", cmd.Args().First())
			}
			return f.serve(ctx, env)
		},
	}
}

func (f *simFlags) serve(ctx context.Context, env *environment) error {
	switch {
	case f.list:
		for _, p := range simserver.Profiles() {
			fmt.Fprintf(env.stdout, "%-26s %s\n", p.Name, p.About)
		}
		return nil
	case f.listFaults:
		for _, fault := range simserver.Faults() {
			fmt.Fprintf(env.stdout, "%-30s %s\n", fault.Name, fault.About)
		}
		return nil
	}
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if f.cpus != "" {
		if err := pin(f.cpus); err != nil {
			return usagef("invalid_option", "--cpus %s: %v", f.cpus, err)
		}
	}
	server, err := simserver.Listen(cfg)
	if err != nil {
		return f.listenError(err)
	}
	defer server.Close()
	if err := f.announce(env, server, cfg.Profile); err != nil {
		return err
	}
	if f.child {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			io.Copy(io.Discard, env.stdin)
			cancel()
		}()
	}
	if err := server.Serve(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// announce says where the server listens: to files if asked, and on standard
// output. Connections are taken from now on.
func (f *simFlags) announce(env *environment, server *simserver.Server, p simserver.Profile) error {
	if f.certFile != "" {
		if err := writeWhole(f.certFile, server.CertPEM()); err != nil {
			return usagef("file_read_error", "--cert-out %s cannot be written: %v", f.certFile, underlying(err))
		}
	}
	if f.urlFile != "" {
		if err := writeWhole(f.urlFile, []byte(server.URL()+"\n")); err != nil {
			return usagef("file_read_error", "--url-file %s cannot be written: %v", f.urlFile, underlying(err))
		}
	}
	line, err := json.Marshal(announcement{URL: server.URL(), Model: p.Model, Profile: p.Name})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.stdout, string(line))
	return err
}

// writeWhole writes a file so that a reader sees all of it or none.
func writeWhole(path string, data []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, data, 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// listenError names the option that a server could not be started with.
func (f *simFlags) listenError(err error) error {
	if f.addr != "" {
		return usagef("invalid_option", "--addr %s: %v: write a free HOST:PORT of this machine, or leave it out", f.addr, err)
	}
	return usagef("invalid_option", "%v", err)
}

func (f *simFlags) config() (simserver.Config, error) {
	profile, err := simserver.LookupProfile(f.profile)
	if err != nil {
		return simserver.Config{}, usagef("invalid_option", "--profile: %v", err)
	}
	switch simserver.Flavor(f.flavor) {
	case "":
	case simserver.VLLM, simserver.LlamaCPP:
		profile.Flavor = simserver.Flavor(f.flavor)
	default:
		return simserver.Config{}, usagef("invalid_option", "--flavor %q: write vllm or llamacpp", f.flavor)
	}
	if f.name != "" {
		profile.Model = f.name
	}
	cfg := simserver.Config{
		Addr: f.addr, Profile: profile, TLS: f.tls, Fault: f.fault,
		FaultEvery: orZero(f.faultEvery), Shards: orZero(f.shards), Seed: uint64(time.Now().UnixNano()),
	}
	if f.seed != nil {
		cfg.Seed = uint64(*f.seed)
	}
	if err := simserver.CheckFault(f.fault); err != nil {
		return cfg, usagef("invalid_option", "--fault: %v: see lmxbench sim --list-faults", err)
	}
	if f.fault == "" && f.faultEvery != nil {
		return cfg, usagef("invalid_option", "--fault-every says how often --fault strikes: give --fault FAULT too")
	}
	if f.certFile != "" && !f.tls {
		return cfg, usagef("invalid_option", "--cert-out is for --tls: give both")
	}
	if f.keyFile != "" {
		key, err := (&runFlags{apiKeyFile: f.keyFile}).fileKey()
		if err != nil {
			return cfg, err
		}
		cfg.APIKey = string(key)
	}
	return cfg, nil
}
