package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

const usage = `release build|check -version VERSION [flags] builds a release of kubesim into dist/VERSION; check builds it once more in a
clone with empty caches, compares the two, and runs the results. Flags:

  -version VERSION      a semantic version such as v0.1.0
  -platforms LIST       for which platforms to build the command (default ` + "all: " + `linux, darwin and windows on amd64 and arm64)
  -page=false           leaves out the page and the npm package, which need npm
`

// release is a release under construction.
type release struct {
	root      string // root directory of the project
	version   string
	commit    string
	time      time.Time // of the commit
	platforms []platform
	page      bool
	cache     string // GOCACHE; if empty, the caller's
	log       io.Writer
}

// out returns the directory of the built files.
func (r *release) out() string { return filepath.Join(r.root, "dist", r.version) }

// file returns the path of a file of the release: kubesim_VERSION_SUFFIX.
func (r *release) file(suffix string) string {
	return filepath.Join(r.out(), "kubesim_"+r.version+"_"+suffix)
}

// complete reports whether the release contains everything that a release should contain.
func (r *release) complete() bool { return r.page && len(r.platforms) == len(allPlatforms) }

func (r *release) logf(format string, args ...any) { fmt.Fprintf(r.log, format+"\n", args...) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run runs the command with its arguments. The working directory must be that of this package.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 || args[0] != "build" && args[0] != "check" {
		return errors.New("say build or check; release build -help lists the flags")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		return err
	}
	r := &release{root: root, platforms: allPlatforms, log: out}
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&r.version, "version", "", "")
	set.BoolVar(&r.page, "page", true, "")
	set.Func("platforms", "", func(text string) (err error) { r.platforms, err = parsePlatforms(text); return err })
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("%q is not a flag", strings.Join(set.Args(), " "))
	}
	if err := r.readCommit(ctx); err != nil {
		return err
	}
	if args[0] == "check" {
		return r.check(ctx)
	}
	if err := r.build(ctx); err != nil {
		return err
	}
	r.printTags(ctx)
	return nil
}

// build builds everything into an empty directory.
func (r *release) build(ctx context.Context) error {
	if err := os.RemoveAll(r.out()); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out(), 0o755); err != nil {
		return err
	}
	programs := map[platform][]entry{}
	for _, p := range r.platforms {
		files, err := r.program(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		programs[p] = files
	}
	if err := r.image(programs); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if r.page {
		if err := r.pages(ctx, programs[r.platforms[0]]); err != nil {
			return err
		}
	}
	return r.sums()
}
