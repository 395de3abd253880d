// Package chance makes the random choices of the Go runtime repeatable: the iteration order of maps, the choice of a ready case in
// a select, the order of timers in a testing/synctest bubble that are due at the same instant, and the unseeded numbers of packages
// math/rand and math/rand/v2.
//
// All of them come from two generators in the runtime's record of the thread (runtime.m). Seed finds the generators by their
// behaviour: it draws and checks which words change. Then it overwrites their state. If it does not find them, it changes nothing
// and returns false. The iteration order of a large map also depends on a key that the runtime derives, when the process starts,
// from 16 bytes that Linux passes to it. Start starts a process with bytes that depend on a seed, and in which neither the scheduler
// nor a mutex depends on the real time.
//
// The package is only for processes that run tests: random values that are drawn after Seed are not secret.
package chance
