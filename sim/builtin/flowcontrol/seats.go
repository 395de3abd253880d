package flowcontrol

import "github.com/kubesim/kubesim/sim/resource"

// seats is how many requests a server carries out at a time: kube-apiserver's --max-requests-inflight and
// --max-mutating-requests-inflight together, as they are by default.
const seats = 400 + 200

// NominalSeats returns how many of a server's seats each priority level has for itself, by name: its part of the shares of
// all, rounded up (API concepts, "API Priority and Fairness"; k8s.io/apiserver/pkg/util/flowcontrol). Nothing here waits
// for a seat.
func NominalSeats(objects resource.Reader) map[string]int {
	shares, sum := map[string]int{}, 0
	for _, level := range objects.All("prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "") {
		n := level.Int64("spec", "limited", "nominalConcurrencyShares")
		if !level.At("spec").Has("limited") {
			n = level.Int64("spec", "exempt", "nominalConcurrencyShares")
		}
		shares[level.Name()], sum = int(n), sum+int(n)
	}
	for name, n := range shares { // order does not matter
		if sum > 0 {
			shares[name] = (seats*n + sum - 1) / sum
		}
	}
	return shares
}
