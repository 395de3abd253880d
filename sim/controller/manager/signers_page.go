//go:build page

package manager

import "github.com/kubesim/kubesim/sim/controller"

// signers returns nil in the web page, which omits these controllers because of their size.
func (f Flags) signers() []func() controller.Controller { return nil }
