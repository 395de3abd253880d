package fake

import (
	"math/rand"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake/chance"
)

// repeatableVariables is the environment in which a process of clients comes to the same twice: one goroutine at a time,
// which is not interrupted, no collection in the middle of it, and a seed for package math/rand.
var repeatableVariables = []string{"GOMAXPROCS=1", "GOGC=off"}

// repeatableDebug are settings of GODEBUG.
var repeatableDebug = []string{"asyncpreemptoff=1", "randseednop=0"}

// repeatableEnv is an environment with the variables.
func repeatableEnv(env []string) []string {
	set := ""
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		if name == "GODEBUG" {
			set = value
		}
		return name == "GODEBUG" || name == "GOMAXPROCS" || name == "GOGC"
	})
	list := slices.Clone(repeatableDebug)
	if set != "" {
		list = append([]string{set}, list...)
	}
	return append(env, append(slices.Clone(repeatableVariables), "GODEBUG="+strings.Join(list, ","))...)
}

// steady prepares a process in that environment.
func steady() {
	runtime.MemProfileRate = 0 // samples are drawn
	debug.SetGCPercent(-1)
}

// attemptsAtPeace is how often a run is repeated that had to wait for the machine.
const attemptsAtPeace = 10

// heapMost is how much may be allocated before it is collected, between two runs.
const heapMost = 256 << 20

// repeatably calls f with everything that is drawn in the process drawn from a seed.
func repeatably(seed uint64, f func()) {
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc > heapMost {
		runtime.GC()
	}
	rand.Seed(int64(seed)) //nolint:staticcheck // with randseednop=0 it does something, for clients that draw from it
	chance.Seed(seed)
	f()
}
