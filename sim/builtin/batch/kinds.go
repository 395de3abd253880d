// Package batch defines Job and CronJob.
package batch

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
)

// Kinds returns the kinds of batch.
func Kinds() []kind.Kind { return []kind.Kind{jobKind(), cronJobKind()} }
