package gotest

import (
	"fmt"
	"io"
	"regexp"
	"slices"
)

// testOutput collects facts from the output of go test.
type testOutput struct {
	unbuilt   []string // the packages that could not be built
	undefined []string // the flags that a test binary does not define
	reported  []string // the directories of the packages whose interrupted run with many seeds has been reported
	line      []byte
}

// The lines of go test that testOutput looks for. With -json, each is a part of an event.
var (
	buildFailure  = regexp.MustCompile(`FAIL(?:\t|\\t)(\S+) \[(?:build|setup) failed\]`)
	undefinedFlag = regexp.MustCompile(`^(?:\{.*"Output":")?flag provided but not defined: (-[^\s\\]+)`)
	interruption  = regexp.MustCompile(`^(?:\{.*"Output":")?interrupted after \d+ seeds in (.*?)(?:\\n"\}|)$`)
)

// Write implements io.Writer.
func (o *testOutput) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != '\n' {
			if len(o.line) < 4096 { // longer than any line that counts
				o.line = append(o.line, b)
			}
			continue
		}
		if m := buildFailure.FindSubmatch(o.line); m != nil {
			o.unbuilt = append(o.unbuilt, string(m[1]))
		}
		if m := undefinedFlag.FindSubmatch(o.line); m != nil && !slices.Contains(o.undefined, string(m[1])) {
			o.undefined = append(o.undefined, string(m[1]))
		}
		if m := interruption.FindSubmatch(o.line); m != nil {
			o.reported = append(o.reported, string(m[1]))
		}
		o.line = o.line[:0]
	}
	return len(p), nil
}

// explain prints which flags no program has.
func (o *testOutput) explain(w io.Writer) {
	for _, name := range o.undefined {
		fmt.Fprintf(w, "kubesim gotest: neither kubesim gotest nor go test has the flag %s, and not all of the tests define it; see kubesim gotest --help\n", name)
	}
}
