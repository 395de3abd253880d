package clock

import "time"

// System is the clock of package time. In a testing/synctest bubble that is the bubble's virtual time. Like time.AfterFunc, its
// AfterFunc runs the function in a separate goroutine.
//
// It is the only code in the simulator that reads the machine's clock.
type System struct{}

var _ Clock = System{}

// Now returns the current time.
func (System) Now() time.Time { return time.Now() }

// Since returns the time that has passed since t.
func (System) Since(t time.Time) time.Duration { return time.Since(t) }

// NewTimer calls time.NewTimer.
func (System) NewTimer(d time.Duration) Timer { return systemTimer{time.NewTimer(d)} }

// NewTicker calls time.NewTicker.
func (System) NewTicker(d time.Duration) Ticker { return systemTicker{time.NewTicker(d)} }

// AfterFunc calls time.AfterFunc.
func (System) AfterFunc(d time.Duration, f func()) Timer { return systemTimer{time.AfterFunc(d, f)} }

// After calls time.After.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Tick calls time.Tick.
func (System) Tick(d time.Duration) <-chan time.Time { return time.Tick(d) }

// Sleep calls time.Sleep.
func (System) Sleep(d time.Duration) { time.Sleep(d) }

type systemTimer struct{ timer *time.Timer }

func (t systemTimer) C() <-chan time.Time        { return t.timer.C }
func (t systemTimer) Stop() bool                 { return t.timer.Stop() }
func (t systemTimer) Reset(d time.Duration) bool { return t.timer.Reset(d) }

type systemTicker struct{ ticker *time.Ticker }

func (t systemTicker) C() <-chan time.Time { return t.ticker.C }
func (t systemTicker) Stop()               { t.ticker.Stop() }
