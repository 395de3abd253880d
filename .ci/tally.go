// Command tally reads the output of go test -json and prints what go test prints: a line for each package, and the whole output of
// the tests that failed. Its last line says how many tests ran.
//
//	go test -json ./... | go run .ci/tally.go [-v]
//
// With -v it prints the output of all tests. It fails if a test or a build failed, or if no test ran.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is one line of go test -json: see go doc cmd/test2json.
type event struct {
	Action  string // run, pass, skip, fail, output, build-output, build-fail, …
	Package string
	Test    string // empty for what the package itself prints
	Output  string
}

// A tally counts the tests, with their subtests, and keeps the output of each that has not passed yet.
type tally struct {
	out             io.Writer
	all             bool // print the output of tests that pass
	output          map[[2]string][]string
	packages, tests int // that passed or failed
	skipped         int
	failed          bool
}

func main() {
	all := flag.Bool("v", false, "print the output of all tests")
	flag.Parse()
	t := &tally{out: os.Stdout, all: *all, output: map[[2]string][]string{}}
	if err := t.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
	fmt.Fprintf(t.out, "# %d tests ran in %d packages, %d were skipped\n", t.tests, t.packages, t.skipped)
	if t.failed || t.tests == 0 {
		os.Exit(1)
	}
}

// read reads events up to the end. A line that is no JSON is printed as it is: the go command prints such lines for mistakes in a
// go.mod file, for example.
func (t *tally) read(from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				t.failed = true
				fmt.Fprint(t.out, line)
			} else {
				t.add(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) add(e event) {
	test := [2]string{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(t.out, e.Output)
	case "build-fail":
		t.failed = true
	case "output":
		switch {
		case t.all || e.Test == "" && e.Output != "PASS\n" && !strings.HasPrefix(e.Output, "?   \t"):
			fmt.Fprint(t.out, e.Output)
		case e.Test != "" && !strings.HasPrefix(e.Output, "=== "):
			t.output[test] = append(t.output[test], e.Output)
		}
	case "pass", "skip", "fail":
		t.end(e, test)
	}
}

// end counts a test or a package that has ended. A package that failed may have tests that did not end, after a panic for example:
// their output is printed, too.
func (t *tally) end(e event, test [2]string) {
	if e.Action == "fail" {
		t.failed = true
		fmt.Fprint(t.out, strings.Join(t.output[test], ""))
	}
	delete(t.output, test)
	switch {
	case e.Test == "":
		t.endPackage(e)
	case e.Action == "skip":
		t.skipped++
	default:
		t.tests++
	}
}

func (t *tally) endPackage(e event) {
	if e.Action != "skip" { // skip: the package has no tests
		t.packages++
	}
	for test, output := range t.output {
		if test[0] == e.Package {
			if e.Action == "fail" {
				fmt.Fprint(t.out, strings.Join(output, ""))
			}
			delete(t.output, test)
		}
	}
}
