// Package bench compares kubesim with the fakes of client-go and controller-runtime, and with a floor: the same typed client with a
// RoundTripper that only copies bytes, which is a lower bound for any server in process. "floor" responds to a write with its own
// body, and "floor-answers" with the longer response of a real server. "kubesim-manager" and "floor-manager" are used through
// controller-runtime's client, like its fake.
//
//	go test -run '^$' -bench . ./bench               everything, as BenchmarkCreate/kubesim
//	go test -run '^TestGrowth$' -v ./bench -growth   the cost of operations with 1,000, 10,000 and 100,000 objects
//	go test -run '^TestTable$' -v ./bench -table     a table with each time as a multiple of the floor's
package bench
