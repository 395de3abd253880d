package chance

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"unsafe"
)

// cheaprand is the runtime's generator for scheduling decisions. runtimeRand generates all other random values.
//
//go:linkname cheaprand runtime.cheaprand
func cheaprand() uint32

//go:linkname runtimeRand runtime.rand
func runtimeRand() uint64

// The expected layout. threadOffset is the offset of the thread pointer in a goroutine's record; it has been the same since Go 1.0.
// The generators are within the first threadSize bytes of the thread's record. cheaprand's state is a word that grows by cheapStep
// with each draw. rand's state consists of 32 words that were drawn in advance, 4 words of a seed, and three counters: the words
// that are used, that are available, and that have been generated.
const (
	threadOffset = 6 * 8
	threadSize   = 1792
	cheapStep    = 0xa0761d6478bd642f
	advance      = 32
	seedWords    = 4
)

// generators holds the byte offsets of the two generators in the thread's record. They are 0 if the generators were not found.
type generators struct{ cheap, rand uintptr }

var find = sync.OnceValue(func() generators {
	if getg() == 0 || unsafe.Sizeof(uintptr(0)) != 8 {
		return generators{}
	}
	runtime.LockOSThread() // all draws must be on one thread
	defer runtime.UnlockOSThread()
	for range findTimes {
		if g := sample(); g.cheap != 0 && g.rand != 0 {
			return g
		}
	}
	return generators{}
})

// findTimes is the number of attempts. An attempt fails if the words that were drawn in advance are used up during the attempt.
const findTimes = 4

// sample draws from both generators and compares the thread's record before and after, to find the generators.
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

// thread returns the address of the runtime's record of the thread that runs this goroutine.
//
//go:norace
func thread() unsafe.Pointer {
	g := getg()
	return *(*unsafe.Pointer)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&g)), threadOffset))
}

//go:norace
func copyWords(to []uint64, from unsafe.Pointer) { copy(to, unsafe.Slice((*uint64)(from), len(to))) }

// Possible reports whether Seed works here, that is, whether the processor is supported and the generators were found.
func Possible() bool { return find().cheap != 0 }

// Seed seeds the generators of the calling thread. A program with repeatable draws must run one goroutine at a time (GOMAXPROCS=1),
// so that all goroutines run on that thread. If seeding is not possible, Seed does nothing and returns false. The race detector
// ignores Seed, because only this thread uses these words.
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
	state[advance+seedWords] = advance << 32 // none is used, all are available
	*(*uint32)(unsafe.Pointer(uintptr(unsafe.Pointer(&state[advance+seedWords])) + 8)) = 0
	return true
}

// Variable is the name of an environment variable. Its value, a number, seeds the process before most packages are initialized, so
// that the runtime's caches stay empty (calm.go).
const Variable = "KUBESIM_CHANCE"

func init() {
	if seed, err := strconv.ParseUint(os.Getenv(Variable), 10, 64); err == nil {
		Seed(seed)
	}
}

// mix is a step of SplitMix64.
func mix(x *uint64) uint64 {
	*x += 0x9e3779b97f4a7c15
	z := *x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
