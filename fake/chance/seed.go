package chance

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"unsafe"
)

// cheaprand is the runtime's generator for scheduling decisions, and rand the one for everything else.
//
//go:linkname cheaprand runtime.cheaprand
func cheaprand() uint32

//go:linkname runtimeRand runtime.rand
func runtimeRand() uint64

// The layout that is looked for. threadOffset is where a goroutine's record names its thread; it has been there since Go 1.0.
// The generators lie somewhere in the first threadSize bytes of that: cheaprand's state is a word that grows by cheapStep
// with each draw, and rand's is 32 words that were drawn in advance, 4 words of a seed, and how many are used, are there, and
// have been made.
const (
	threadOffset = 6 * 8
	threadSize   = 1792
	cheapStep    = 0xa0761d6478bd642f
	advance      = 32
	seedWords    = 4
)

// generators holds the offsets of the two generators in the thread's record, in bytes. They are 0 if the generators were not found.
type generators struct{ cheap, rand uintptr }

var find = sync.OnceValue(func() generators {
	if getg() == 0 || unsafe.Sizeof(uintptr(0)) != 8 {
		return generators{}
	}
	runtime.LockOSThread() // all draws are of one thread
	defer runtime.UnlockOSThread()
	for range findTimes {
		if g := sample(); g.cheap != 0 && g.rand != 0 {
			return g
		}
	}
	return generators{}
})

// findTimes is the number of attempts. An attempt fails if the words that were drawn in advance have just been used up.
const findTimes = 4

// sample draws and compares.
//
//go:norace
func sample() (g generators) {
	const words = threadSize / 8
	var before, between, after [words]uint64
	m := thread()
	copyWords(before[:], m)
	cheaprand()
	copyWords(between[:], m)
	runtimeRand()
	drawn := runtimeRand()
	copyWords(after[:], m)
	for i := range words {
		step := uint64(cheapStep) // constants do not wrap
		if between[i]-before[i] == step && after[i] == between[i] {
			g.cheap = uintptr(i) * 8
		}
		used, was := uint32(after[i]), uint32(between[i])
		if at := i - advance - seedWords; at >= 0 && used == was+2 && used <= uint32(after[i]>>32) && used <= advance &&
			after[at+int(used)-1] == drawn {
			g.rand = uintptr(at) * 8
		}
	}
	return g
}

// thread is the address of the record of the thread that runs this goroutine.
//
//go:norace
func thread() unsafe.Pointer {
	g := getg()
	return *(*unsafe.Pointer)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&g)), threadOffset))
}

//go:norace
func copyWords(to []uint64, from unsafe.Pointer) { copy(to, unsafe.Slice((*uint64)(from), len(to))) }

// Possible reports whether Seed works here: it supports the processor and finds the generators in the runtime.
func Possible() bool { return find().cheap != 0 }

// Seed seeds the generators of the calling thread. A program whose draws are to be repeatable runs one goroutine at a time (GOMAXPROCS=1),
// so that all goroutines run on that thread. If seeding is not possible, Seed does nothing and returns false. The race detector ignores
// Seed, because only this thread uses these words.
//
//go:norace
func Seed(seed uint64) bool {
	g := find()
	if g.cheap == 0 {
		return false
	}
	m := thread()
	*(*uint64)(unsafe.Add(m, g.cheap)) = calmState(seed)
	state := unsafe.Slice((*uint64)(unsafe.Add(m, g.rand)), advance+seedWords+1)
	for i := range advance + seedWords {
		state[i] = mix(&seed)
	}
	state[advance+seedWords] = advance << 32 // none is used, all are there
	*(*uint32)(unsafe.Pointer(uintptr(unsafe.Pointer(&state[advance+seedWords])) + 8)) = 0
	return true
}

// Variable is an environment variable. Its value, a number, seeds the process before most packages are initialized, so that the caches of
// the runtime stay empty (calm.go).
const Variable = "KUBESIM_CHANCE"

func init() {
	if seed, err := strconv.ParseUint(os.Getenv(Variable), 10, 64); err == nil {
		Seed(seed)
	}
}

// mix is SplitMix64.
func mix(x *uint64) uint64 {
	*x += 0x9e3779b97f4a7c15
	z := *x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
