// Package clientgo prepares client-go for tests in testing/synctest bubbles. Operators that are built without controller-runtime use
// it; the others use ctrl.Main, which calls it.
//
//	TestMain ─ Main ─▶ process: signals, logs, handlers of errors
//	fake.Explore ─ OnTrial ─▶ bubble of a run: the channel for which informers without a resync wait
package clientgo

import (
	"io"
	"os"
	"os/signal"
	"time"
	_ "unsafe" // for go:linkname

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	_ "k8s.io/client-go/tools/cache" // defines neverExitWatch
	"k8s.io/klog/v2"

	"github.com/kubesim/kubesim/fake"
)

// Main runs the tests of a package, without the logs of client-go, and exits. It prepares the process for testing/synctest bubbles:
// the runtime's goroutine for signals starts outside of them, and errors that client-go handles are not delayed until the real time
// of the start.
//
//	func TestMain(m *testing.M) { clientgo.Main(m) }
func Main(m interface{ Run() int }) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// neverExitWatch is the channel for which informers without a resync wait (client-go before v0.36). Virtual time does not advance
// while a goroutine waits for a channel that was made outside its bubble, so each run of fake.Explore gets a channel of its own.
//
//go:linkname neverExitWatch k8s.io/client-go/tools/cache.neverExitWatch
var neverExitWatch <-chan time.Time

func init() {
	fake.OnTrial(func() { neverExitWatch = make(chan time.Time) })
}
