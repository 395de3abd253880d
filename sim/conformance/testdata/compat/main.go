// Command compat runs third-party clients and programs against kubesim, and records the results:
//
//	rows ─▶ install: Go module proxy, npm, apt ─▶ program, test binary ─▶ runs with its own kubesim ─▶ results.txt ─▶ COMPATIBILITY.md
//	        WORK/k8s-0.32, WORK/helm-4, …        (unless it exists)       (or the server at -target)  pass, or the reason
//
// Installed and built files stay in the work folder, so that a run continues where another one was interrupted. "make compat"
// runs it. It is a separate module below testdata, because no other module may have its dependencies. The command itself needs only
// the Go command and the standard library.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// flags are the flags of the command line, which every row needs.
type flags struct {
	work, kubesim, only, readme string
	charts                      string // the beginnings of the names of charts to run instead of rows
	target, token               string // of another server; the default is kubesim
	render                      bool
}

func main() {
	var f flags
	flag.StringVar(&f.work, "work", "", "the folder for what is installed, built and logged")
	flag.StringVar(&f.kubesim, "kubesim", "", "the program kubesim")
	flag.StringVar(&f.only, "only", "", "run the rows whose names begin with one of these only, with commas between them")
	flag.StringVar(&f.charts, "charts", "none", "instead of rows, run the charts whose names begin with one of these, with commas between them; all if empty")
	flag.StringVar(&f.readme, "readme", "../../COMPATIBILITY.md", "the document with the table")
	flag.BoolVar(&f.render, "render", false, "run nothing: write the table of the results that there are")
	flag.StringVar(&f.target, "target", "", "ask this server instead of kubesim, and keep nothing: http://127.0.0.1:6480")
	flag.StringVar(&f.token, "token", "", "the bearer token of its administrator")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := f.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		stop()
		os.Exit(1)
	}
}

func (f flags) run(ctx context.Context) error {
	if f.render {
		return f.write(nil)
	}
	var err error
	for _, path := range []*string{&f.work, &f.kubesim} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(f.work, 0o755); err != nil {
		return err
	}
	if f.charts != "none" {
		return f.runCharts(ctx)
	}
	failed := 0
	for _, r := range rows {
		if !r.chosen(f.only) || f.target != "" && !r.remote {
			continue
		}
		begin := time.Now()
		verdict, err := f.judge(ctx, r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Printf("%-32s %-10s %6.0f s  %s\n", r.name, r.version, time.Since(begin).Seconds(), verdict)
		if err != nil {
			failed++
			fmt.Fprintf(os.Stderr, "%s: %v\n", r.name, err)
		}
		if f.target == "" {
			if err := f.write(map[string]result{r.name: {r.name, r.version, verdict}}); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d rows fail", failed)
	}
	return nil
}

// judge runs a row and returns a short verdict. It returns an error if the result is not explained by a known reason.
func (f flags) judge(ctx context.Context, r row) (verdict string, err error) {
	var missing notHere
	switch err := r.run(ctx, f, r); {
	case errors.As(err, &missing):
		return "not here: " + missing.Error(), nil
	case err == nil && r.known != "":
		return "pass", fmt.Errorf("it passes: take its known reason out")
	case err == nil:
		return "pass", nil
	case r.known != "":
		return r.known, nil
	default:
		return "fails", err
	}
}

// notHere is the error for a row that needs something that this machine lacks.
type notHere string

func (n notHere) Error() string { return string(n) }

// chosen reports whether the row's name begins with one of the words, or there are none.
func (r row) chosen(words string) bool {
	for word := range strings.SplitSeq(words, ",") {
		if strings.HasPrefix(strings.ReplaceAll(r.name, " ", "-"), word) {
			return true
		}
	}
	return false
}
