package explore

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// recorder is the T of one run. It records failures and ends the goroutine on FailNow. The bubble's own T does not
// receive failures, so that the process can continue with the next run.
type recorder struct {
	testing.TB // the bubble's T
	ctx        context.Context
	cancel     context.CancelFunc

	mu       sync.Mutex
	failures []campaign.Failure
	failed   bool
	skipped  bool
	output   strings.Builder
	cleanups []func()
}

func newRecorder(t *testing.T) *recorder {
	r := &recorder{TB: t}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// fail records a failure and its location.
func (r *recorder) fail(text string) {
	site := caller()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.failures = append(r.failures, campaign.Failure{Site: site, Text: strings.TrimRight(text, "\n")})
}

// fromKubesim matches functions that only pass on failures.
var fromKubesim = regexp.MustCompile(`kubesim/fake(/oracle|/explore)?\.`)

// caller returns the location that reported a failure: the innermost line of a test file, or else the innermost line
// outside functions that only pass on failures.
func caller() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	other := ""
	for {
		f, more := frames.Next()
		site := fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		switch {
		case strings.HasSuffix(f.File, "_test.go"):
			return site
		case other == "" && f.File != "" && !fromKubesim.MatchString(f.Function) &&
			!strings.Contains(f.Function, "matryer/is"):
			other = site
		}
		if !more {
			return other
		}
	}
}

func (r *recorder) Error(args ...any)                 { r.fail(fmt.Sprintln(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.fail(fmt.Sprintf(format, args...)) }
func (r *recorder) Fail()                             { r.fail("") }

// FailNow implements testing.TB, like the methods around it.
func (r *recorder) FailNow() {
	r.mu.Lock()
	failed := r.failed
	r.mu.Unlock()
	if !failed {
		r.fail("")
	}
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.fail(fmt.Sprintln(args...))
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fail(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recorder) Helper() {}

func (r *recorder) Log(args ...any)                 { r.say(fmt.Sprintln(args...)) }
func (r *recorder) Logf(format string, args ...any) { r.say(fmt.Sprintf(format, args...)) }

func (r *recorder) say(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.output.WriteString(strings.TrimRight(text, "\n") + "\n")
}

func (r *recorder) Output() io.Writer { return output{r} }

type output struct{ *recorder }

func (o output) Write(p []byte) (int, error) {
	o.say(string(p))
	return len(p), nil
}

func (r *recorder) Skip(args ...any) {
	r.say(fmt.Sprintln(args...))
	r.SkipNow()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.say(fmt.Sprintf(format, args...))
	r.SkipNow()
}

func (r *recorder) SkipNow() {
	r.mu.Lock()
	r.skipped = true
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *recorder) Skipped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.skipped
}

func (r *recorder) Context() context.Context { return r.ctx }

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// runIsolated runs f in a new goroutine and waits until f returns or the goroutine ends. It records a panic as a
// failure. It calls begun in the goroutine before f.
func (r *recorder) runIsolated(begun func(), f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if broken := recover(); broken != nil {
				r.panicked(broken)
			}
		}()
		begun()
		f()
	}()
	<-done
}

func (r *recorder) panicked(broken any) {
	stack := string(debug.Stack())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.failures = append(r.failures, campaign.Failure{Site: campaign.SitePanic, Text: fmt.Sprintf("panic: %v\n%s", broken, stack)})
}

// clean cancels the context and runs the cleanup functions, newest first.
func (r *recorder) clean(begun func()) {
	r.cancel()
	for {
		r.mu.Lock()
		n := len(r.cleanups)
		if n == 0 {
			r.mu.Unlock()
			return
		}
		f := r.cleanups[n-1]
		r.cleanups = r.cleanups[:n-1]
		r.mu.Unlock()
		r.runIsolated(begun, f)
	}
}
