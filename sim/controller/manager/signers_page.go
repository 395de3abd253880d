//go:build page

package manager

import "github.com/kubesim/kubesim/sim/controller"

// signers returns nothing in a web page: code for certificates is too large for it.
func (f Flags) signers() []func() controller.Controller { return nil }
