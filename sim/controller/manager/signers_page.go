//go:build page

package manager

import "github.com/kubesim/kubesim/sim/controller"

// signers are none in a page: what reads and makes certificates weighs too much for it.
func (f Flags) signers() []func() controller.Controller { return nil }
