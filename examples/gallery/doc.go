// Package gallery contains small controllers with the mistakes of real ones. fake.Explore finds them.
//
// Each file contains a controller in two versions that differ in a few lines: with the mistake, and with the pattern that avoids
// it. The comment of a controller describes the mistake and where it was reported. The controller is followed by an ordinary test,
// which ignores faults except that it waits until they end. Explore runs the test with many faults: it must find the mistake, and
// must not find a failure of the correct version.
//
//	file ─ exhibit ─┬─ the mistake ─▶ Explore ─▶ a plan under which the test fails
//	                └─ the pattern ─▶ Explore ─▶ nothing, whatever the seed
//
// ConfigMaps replace the custom resources of the projects, and Secrets the objects that their controllers create. Everything is
// reduced to the mistake, but clients, caches, queues and leader election are those of client-go and controller-runtime.
//
// README.md lists the controllers and the number of seeds after which each mistake is found (make gallery).
package gallery
