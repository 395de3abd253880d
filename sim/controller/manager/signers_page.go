//go:build page

package manager

import "github.com/kubesim/kubesim/sim/controller"

// signers returns nil in the web page, which omits the code for certificates and bootstrap tokens because of its size.
func (f Flags) signers() []func() controller.Controller { return nil }
