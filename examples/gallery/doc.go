// Package gallery has small controllers with mistakes that real ones have made, each found by fake.Explore.
//
// A file is a controller, in two versions that differ in a few lines: with the mistake, and with the pattern that avoids it.
// The comment of a controller says what went wrong and where it was reported. Below stands an ordinary test, which knows
// nothing of faults but where they end. Explore runs it while other things go wrong: it must find the mistake, and must find
// nothing in the correct version.
//
//	file ─ exhibit ─┬─ the mistake ─▶ Explore ─▶ a plan under which the test fails
//	                └─ the pattern ─▶ Explore ─▶ nothing, whatever the seed
//
// ConfigMaps stand for the custom resources of the projects, and Secrets for what their controllers make. All is reduced to
// what the mistake needs; clients, caches, queues and leader election are those of client-go and controller-runtime.
//
// README.md says what there is, and after how many seeds each mistake is found (make gallery).
package gallery
