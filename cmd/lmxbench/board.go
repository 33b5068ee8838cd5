package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"lmxbench/internal/localmaxxing"
)

// siteFlags say where published rows come from.
type siteFlags struct {
	listing, apiURL string
	timeout         time.Duration
}

// boardFlags are the options of board.
type boardFlags struct {
	site         siteFlags
	run, save    string
	singleStream bool
	limit        *int
	json         bool
}

// boardRows is how many rows are printed unless --limit says otherwise.
const boardRows = 20

func boardCommand(env *environment) *cli.Command {
	f := &boardFlags{}
	return &cli.Command{
		Name:      "board",
		Usage:     "leaderboard rows, and where a result would stand among them",
		ArgsUsage: "HFID",
		Description: "Prints the rows of a model's board, fastest first, from a saved listing or from the site.\n" +
			"With --run also the place that result would take among all rows and among the rows of a\n" +
			"single stream, and how far the next ones are. A listing that holds only a part of the\n" +
			"board gives bounds instead of a place. Nothing is sent but the question.\n\n" +
			"  lmxbench board Qwen/Qwen3.6-35B-A3B --api-url https://www.localmaxxing.com --run runs/a/b",
		Flags: append(f.site.flags(),
			word("", "`DIR` a run directory, or its run.json: where would it stand?", &f.run, "run"),
			toggle("", "only the rows of one request at a time", &f.singleStream, "single-stream"),
			option("", "rows to print (20; with --json all)", &count{&f.limit, 1}, "limit"),
			word("", "`FILE` where to keep the listing, to compute its ranks again with --listing", &f.save, "save"),
			toggle("", "print one JSON document", &f.json, "json"),
		),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.Args().Len() != 1 {
				return usagef("invalid_option", "board takes one model: lmxbench board HFID --listing FILE, or --api-url https://www.localmaxxing.com")
			}
			return f.show(ctx, env, cmd.Args().First())
		},
	}
}

func (s *siteFlags) flags() []cli.Flag {
	return []cli.Flag{
		word("", "`FILE` published rows, JSON of the site or a table (CSV); - reads standard input", &s.listing, "listing"),
		word("", "`URL` ask this site, such as https://www.localmaxxing.com", &s.apiURL, "api-url"),
		option("", "time for one answer of the site (30)", &seconds{&s.timeout}, "timeout-seconds"),
	}
}

// client asks the site.
func (s *siteFlags) client() (*localmaxxing.Client, error) {
	c, err := localmaxxing.NewClient(localmaxxing.ClientConfig{
		BaseURL: s.apiURL, UserAgent: "lmxbench/" + version, Timeout: s.timeout,
	})
	if err != nil {
		return nil, usagef("invalid_option", "--api-url: %v", err)
	}
	return c, nil
}

// maxListing bounds a file that is read whole.
const maxListing = 64 << 20

// readBounded reads a file, or standard input for "-".
func readBounded(env *environment, option, path string) ([]byte, error) {
	in := env.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, usagef("file_read_error", "%s %s cannot be read: %v", option, path, underlying(err))
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxListing+1))
	switch {
	case err != nil:
		return nil, usagef("file_read_error", "%s %s cannot be read: %v", option, path, underlying(err))
	case len(data) > maxListing:
		return nil, usagef("file_read_error", "%s %s has more than %d MiB, which is no listing", option, path, maxListing>>20)
	}
	return data, nil
}

// fileListing reads a listing from a file.
func fileListing(env *environment, option, path string) (*localmaxxing.Listing, error) {
	data, err := readBounded(env, option, path)
	if err != nil {
		return nil, err
	}
	l, err := localmaxxing.ParseListing(data)
	if err != nil {
		return nil, usagef("file_read_error", "%s %s: %v", option, path, err)
	}
	return l, nil
}

// siteError is an answer of the site that is of no use: nothing could be
// learnt, which is exit code 3, under lmx's code for it.
type siteError struct {
	error
	code string
}

func newSiteError(err error) error {
	var e *localmaxxing.Error
	switch {
	case !errors.As(err, &e) || e.Kind == localmaxxing.Cancelled:
		return err
	case e.Kind == localmaxxing.UpgradeNeeded:
		return &siteError{err, "cli_upgrade_required"}
	case e.Status != 0:
		return &siteError{err, "api_error"}
	}
	return &siteError{err, "network_error"}
}

// Unwrap tells the exit code and lmx's code apart from the text.
func (e *siteError) Unwrap() []error {
	return []error{e.error, &usageError{code: e.code, text: e.Error()}, errNoServer}
}

func (f *boardFlags) show(ctx context.Context, env *environment, hfID string) error {
	if err := f.check(hfID); err != nil {
		return err
	}
	var run *result
	if f.run != "" {
		var err error
		if run, err = readResult("--run", f.run); err != nil {
			return err
		}
	}
	listing, err := f.read(ctx, env, hfID)
	if err != nil {
		return err
	}
	board, err := listing.Board(hfID)
	if err != nil {
		return usagef("file_read_error", "--listing %s: %v", f.site.listing, err)
	}
	if err := f.keep(listing); err != nil {
		return err
	}
	view := f.view(board, listing, run)
	if f.json {
		return writeJSON(env.stdout, view)
	}
	for _, n := range view.Notes {
		fmt.Fprintln(env.stderr, "lmxbench: "+n)
	}
	return view.write(env.stdout)
}

// check finds what is wrong before anything is read or asked.
func (f *boardFlags) check(hfID string) error {
	switch owner, name, ok := strings.Cut(hfID, "/"); {
	case !ok || owner == "" || name == "" || strings.ContainsAny(hfID, " \t\n?#"):
		return usagef("invalid_option", "%q is no hf-id: write owner/name, such as Qwen/Qwen3.6-35B-A3B", hfID)
	case f.site.listing == "" && f.site.apiURL == "":
		return usagef("missing_option", "board needs rows: give --listing FILE, or ask the site with --api-url https://www.localmaxxing.com")
	case f.site.listing != "" && f.site.apiURL != "":
		return usagef("invalid_option", "--listing and --api-url are two sources of the same rows: give one of them")
	}
	if f.save == "" {
		return nil
	}
	if _, err := os.Lstat(f.save); !errors.Is(err, fs.ErrNotExist) {
		return usagef("invalid_option", "--save %s is already there and is not overwritten: give another path", f.save)
	}
	return nil
}

func (f *boardFlags) read(ctx context.Context, env *environment, hfID string) (*localmaxxing.Listing, error) {
	if f.site.listing != "" {
		return fileListing(env, "--listing", f.site.listing)
	}
	c, err := f.site.client()
	if err != nil {
		return nil, err
	}
	l, err := c.Leaderboard(ctx, hfID)
	if err != nil {
		return nil, newSiteError(err)
	}
	return l, nil
}

// keep saves the listing.
func (f *boardFlags) keep(l *localmaxxing.Listing) error {
	if f.save == "" {
		return nil
	}
	text, err := l.Snapshot()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(f.save, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return usagef("file_read_error", "--save %s cannot be written: %v", f.save, underlying(err))
	}
	_, err = io.Copy(file, bytes.NewReader(text))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("save listing %s: %w", f.save, err)
	}
	return nil
}
