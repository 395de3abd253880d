package fault

import (
	"math/rand/v2"
	"time"
)

// Random returns a plan of up to n faults for the resources, drawn from a seed. It is Legal: what a client does wrong
// under it, it does wrong in a correct cluster. Which kinds of faults there are at all is drawn first, so that some plans
// have only few of them; no fault happens more often than a client with patience can survive.
func Random(seed uint64, n int, resources ...string) Plan {
	r := rand.New(rand.NewPCG(seed, 0x6661756c74))
	if len(resources) == 0 {
		resources = []string{"*"}
	}
	var on []func(r *rand.Rand, resource string) Fault
	for _, one := range legal {
		if r.IntN(2) == 0 {
			on = append(on, one)
		}
	}
	if len(on) == 0 {
		on = legal
	}
	var p Plan
	for range n {
		p = append(p, on[r.IntN(len(on))](r, resources[r.IntN(len(resources))]))
	}
	return p
}

// scoped gives a fault a chance and an end.
func scoped(t Trigger, r *rand.Rand) Trigger {
	return t.Probability(float64(1+r.IntN(10)) / 20).Times(1 + r.IntN(5))
}

// seconds returns 100 ms to 10 s.
func seconds(r *rand.Rand) time.Duration {
	return time.Duration(1+r.IntN(100)) * 100 * time.Millisecond
}

const anyWrite = "create,update,patch,delete"

// legal makes one fault of each Legal kind.
var legal = []func(r *rand.Rand, resource string) Fault{
	func(r *rand.Rand, on string) Fault { return scoped(On("update,patch", on), r).Conflict() },
	func(r *rand.Rand, on string) Fault {
		return scoped(On("*", on), r).TooManyRequests().RetryAfter(1 + r.IntN(5))
	},
	func(r *rand.Rand, on string) Fault { return scoped(On("*", on), r).Unavailable().RetryAfter(1) },
	func(r *rand.Rand, on string) Fault { return scoped(On(anyWrite, on), r).Timeout() },
	func(r *rand.Rand, on string) Fault { return scoped(On("watch", on), r).Expired() },
	func(r *rand.Rand, on string) Fault { return scoped(On(anyWrite, on), r).CommitThenFail(Timeout) },
	func(r *rand.Rand, on string) Fault { return scoped(On("*", on), r).DelayRequest(seconds(r)) },
	func(r *rand.Rand, on string) Fault { return scoped(On("*", on), r).DelayAnswer(seconds(r)) },
	func(r *rand.Rand, on string) Fault { return scoped(On("get,list", on), r).Truncate(r.IntN(200)) },
	func(r *rand.Rand, on string) Fault { return scoped(On("watch", on), r).Delay(seconds(r)) },
	func(r *rand.Rand, on string) Fault { return scoped(On("watch", on), r).Close() },
	func(r *rand.Rand, on string) Fault { return scoped(On(anyWrite, on), r).Compact() },
	func(r *rand.Rand, on string) Fault { return scoped(On("list", on), r).Expire() },
}
