package certificates

import "github.com/kubesim/kubesim/sim/builtin/kindtest"

// served are the kinds of the group as a 1.36 serves them.
var served = kindtest.Served(Kinds)
