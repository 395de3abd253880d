// Package chance makes what the Go runtime draws repeatable: the order in which a map is ranged over, which of several ready
// cases a select takes, in which order timers of a testing/synctest bubble run that are due at the same instant, and what
// packages math/rand and math/rand/v2 give who does not seed them.
//
// All of it comes from two generators in the record that the runtime keeps of the thread (runtime.m). Seed finds them by
// what they do, draws and looks what has changed, and writes into them; where it does not find them, it changes nothing and
// says so. Which entries of a large map come first also hangs on a key that the runtime draws when the process starts: from
// 16 bytes that Linux hands over. Start starts a process with those that it is told.
//
// It is for processes that run tests, and for nothing else: nothing that is drawn after Seed is a secret.
package chance
