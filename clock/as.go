package clock

import "time"

// As is a clock as another package declares it: its NewTimer and AfterFunc
// return a T, its NewTicker a K, so that it implements that package's interface.
//
// In Go a method implements an interface only if its result type is the same
// one, and k8s.io/utils/clock defines Timer and Ticker types of its own. They
// have the same methods as ours, so one line makes a controller under test
// share the simulator's clock, without this module requiring k8s.io/utils:
//
//	var c kclock.WithTickerAndDelayedExecution = clock.As[kclock.Timer, kclock.Ticker]{Clock: m}
//
// T and K must be interface types with no other methods than Timer and Ticker.
type As[T Timer, K Ticker] struct{ Clock }

// NewTimer returns a timer that sends the time on its channel once, after d.
func (a As[T, K]) NewTimer(d time.Duration) T { return a.Clock.NewTimer(d).(T) }

// NewTicker returns a ticker that sends the time on its channel every d.
func (a As[T, K]) NewTicker(d time.Duration) K { return a.Clock.NewTicker(d).(K) }

// AfterFunc calls f after d.
func (a As[T, K]) AfterFunc(d time.Duration, f func()) T { return a.Clock.AfterFunc(d, f).(T) }
