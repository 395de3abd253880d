package resource

import "github.com/kubesim/kubesim/sim/builtin/kindtest"

// served returns the kinds of the group as a 1.36 server serves them.
var served = kindtest.Served(Kinds)
