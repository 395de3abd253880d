package fake_test

import "github.com/kubesim/kubesim/sim/registry"

// Every test of this package, and with them the recorded cases, proves that objects kept in memory are those stored.
func init() { registry.CheckTrees = true }
