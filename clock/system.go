package clock

import "time"

// System is the clock of package time.
// Inside a testing/synctest bubble that is the bubble's virtual time.
// AfterFunc runs its function in a goroutine of its own, as time.AfterFunc does.
//
// It is the one place of the simulator that reads the machine's clock.
type System struct{}

var _ Clock = System{}

// Now returns the current time.
func (System) Now() time.Time { return time.Now() }

// Since returns the time that has passed since t.
func (System) Since(t time.Time) time.Duration { return time.Since(t) }

// NewTimer is time.NewTimer.
func (System) NewTimer(d time.Duration) Timer { return systemTimer{time.NewTimer(d)} }

// NewTicker is time.NewTicker.
func (System) NewTicker(d time.Duration) Ticker { return systemTicker{time.NewTicker(d)} }

// AfterFunc is time.AfterFunc.
func (System) AfterFunc(d time.Duration, f func()) Timer { return systemTimer{time.AfterFunc(d, f)} }

// After is time.After.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Tick is time.Tick.
func (System) Tick(d time.Duration) <-chan time.Time { return time.Tick(d) }

// Sleep is time.Sleep.
func (System) Sleep(d time.Duration) { time.Sleep(d) }

type systemTimer struct{ timer *time.Timer }

func (t systemTimer) C() <-chan time.Time        { return t.timer.C }
func (t systemTimer) Stop() bool                 { return t.timer.Stop() }
func (t systemTimer) Reset(d time.Duration) bool { return t.timer.Reset(d) }

type systemTicker struct{ ticker *time.Ticker }

func (t systemTicker) C() <-chan time.Time { return t.ticker.C }
func (t systemTicker) Stop()               { t.ticker.Stop() }
