// Package bench compares kubesim with the fakes of client-go and controller-runtime, and with a floor: the same typed
// client over a RoundTripper that only moves bytes, which no server in process can beat. "floor" answers a write with
// its own body, "floor-answers" with the longer answer that a real server gives. "kubesim-manager" and "floor-manager" are
// used through controller-runtime's client, as its fake is.
//
//	go test -run '^$' -bench . ./bench               everything, as BenchmarkCreate/kubesim
//	go test -run '^TestGrowth$' -v ./bench -growth   what operations cost among 1,000, 10,000 and 100,000 objects
//	go test -run '^TestTable$' -v ./bench -table     a table with each time as a multiple of the floor's
package bench
