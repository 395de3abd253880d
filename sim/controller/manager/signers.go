//go:build !page

package manager

import (
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/account"
	"github.com/kubesim/kubesim/sim/controller/certificates"
	nodes "github.com/kubesim/kubesim/sim/controller/node"
	"github.com/kubesim/kubesim/sim/controller/resource"
	"github.com/kubesim/kubesim/sim/controller/volume"
)

// signers returns the controllers that parse and sign certificates, and others that the web page omits.
func (f Flags) signers() []func() controller.Controller {
	return []func() controller.Controller{
		volume.AttachDetach,
		volume.Attacher,
		resource.ResourceClaims,
		resource.DeviceTaintEviction,
		certificates.Approving,
		PodGroupProtection,
		StorageVersionGC,
		func() controller.Controller { return nodes.IPAM(f.Families) },
		account.Signer,
		account.Cleaner,
		func() controller.Controller { return certificates.Signing(f.Seed) },
		func() controller.Controller { return certificates.Publishing(f.RootCA) },
	}
}
