//go:build !page

package manager

import (
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/account"
	"github.com/kubesim/kubesim/sim/controller/certificates"
)

// signers returns the controllers that parse and sign certificates, and those of bootstrap tokens.
func (f Flags) signers() []func() controller.Controller {
	return []func() controller.Controller{
		certificates.Approving,
		account.Signer,
		account.Cleaner,
		func() controller.Controller { return certificates.Signing(f.Seed) },
		func() controller.Controller { return certificates.Publishing(f.RootCA) },
	}
}
