// Package gotest runs Go tests in virtual time: time stands still while code runs, and jumps to the next timer when all
// goroutines wait. If a test starts a program named etcd or kube-apiserver, kubesim's implementation runs instead, as
// goroutines of the test process. The sources and the go.mod of the tested module are not modified:
//
//	go.mod ─▶ module: a copy that requires kubesim ─▶ -modfile ─┐
//	GOROOT ─▶ edits, goroot/: the clock, processes, the network ┼▶ -overlay ─▶ go test ─▶ Exec ─▶ test binary ─▶ report ─▶ record
//	packages ─▶ a file each, if they may start programs ────────┘            -tags faketime                                  │
//	      └─ cannot run in virtual time ────────────────────────────────────▶ go test, in real time ◀── failed and has notes ┘
//
//	test process   runtime (goroot/runtime.go.txt)  the clock, jumps, signals, the choices of a seeded run, the watchdog
//	               os      (goroot/os.go.txt)       etcd and kube-apiserver as goroutines, the report
//	               net     (goroot/net.go.txt)      TCP between goroutines, in memory
//	               inside                           kubesim's etcd and kube-apiserver
package gotest
